"""What all tests share: kernels that give the same bits everywhere, and how hypothesis runs."""

import os
import sys

from hypothesis import settings

from icl_core import kernels

# Before NumPy and PyTorch choose theirs: a test that trains passes on every processor, or on none.
os.environ.update(kernels.variables())
assert not {"numpy", "torch"} & sys.modules.keys(), "loaded before their kernels were held"

# Its deadlines are of wall time: on a busy machine they fail tests that are right.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
