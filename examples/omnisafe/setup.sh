#!/bin/sh
# Makes .venv here with omnisafe 0.5.0 and safety-gymnasium 1.0.0. Python 3.11; a minute or three.
set -eu
cd "$(dirname "$0")"
${PYTHON:-python3.11} -m venv --clear .venv
PIP=".venv/bin/python -m pip install --quiet --disable-pip-version-check"

# PyTorch first, by its exact version. It comes with CUDA where PyPI is all that pip knows; on Linux
# without a GPU, PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu should bring the small build.
$PIP "$(grep '^torch==' requirements.lock)"
# --no-deps: gymnasium-robotics wants NumPy below 1.24 and icl_core 2; both work with 1.26. The lock also
# leaves out what training does not import (pygame, typer, grpcio, ...).
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
