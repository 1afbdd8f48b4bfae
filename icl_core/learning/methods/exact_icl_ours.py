"""Exact ICL with the objective of `icl`, between trajectories, in place of the paper's."""

from __future__ import annotations

from icl_core.learning.methods.exact_icl.algorithm import OursSettings as Settings
from icl_core.learning.methods.exact_icl.algorithm import learn

__all__ = ["PLACE", "SIZES", "TITLE", "Settings", "learn"]
TITLE = "Exact ICL, our objective"
PLACE = 6
SIZES = {"quick": {"iterations": 10}, "smoke": {"iterations": 3, "episodes": 4}}
