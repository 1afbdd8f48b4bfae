#!/bin/sh
# Makes .venv here with omnisafe 0.5.0 and safety-gymnasium 1.0.0. Python 3.11; a minute or three.
set -eu
cd "$(dirname "$0")"
${PYTHON:-python3.11} -m venv --clear .venv
PIP=".venv/bin/python -m pip install --quiet --disable-pip-version-check"

# PyTorch first and by its exact version: asked for by others, it would come with CUDA. On Linux
# without a GPU, PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu should bring the small build.
$PIP "$(grep '^torch==' requirements.lock)"
# --no-deps: what omnisafe and safety-gymnasium declare (NumPy below 1.24, pygame 2.1.0, ...) has no
# files for Python 3.11. The lock holds what really is imported, and nothing else.
grep -v '^torch==' requirements.lock | $PIP --no-deps -r /dev/stdin
# icl_core without its own needs: to load and ask a constraint, NumPy, pyarrow and safetensors do.
$PIP --no-deps -e ../..

# safety-gymnasium has colours, arrays, as defaults of dataclasses; Python 3.11 refuses what has no
# hash. https://docs.python.org/3/library/dataclasses.html#mutable-default-values
cat >> .venv/lib/python3.11/site-packages/safety_gymnasium/assets/color.py << 'END'


class _Colour(np.ndarray):
    __hash__ = object.__hash__


COLOR = {name: np.asarray(colour).view(_Colour) for name, colour in COLOR.items()}
END
.venv/bin/python -c "import omnisafe, icl_core; icl_core.Constraint"
