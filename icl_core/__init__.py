"""Inverse constraint learning: the constraint that an expert keeps, from its trajectories.

The names below are loaded when they are first used, so that `import icl_core` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_PLACES = {
    "Learner": "icl_core.using.learner",
    "ICL": "icl_core.using.learner",
    "ICLPlus": "icl_core.using.baselines",
    "GAILConstraint": "icl_core.using.baselines",
    "ICRL": "icl_core.using.baselines",
    "make_learner": "icl_core.using.learner",
    "make_world": "icl_core.environments",
    "World": "icl_core.environments.world",
    "Demonstrations": "icl_core.demonstrations.dataset",
    "Episode": "icl_core.demonstrations.episodes",
    "Trajectories": "icl_core.demonstrations.trajectories",
    "read_demonstrations": "icl_core.demonstrations.files",
    "write_demonstrations": "icl_core.demonstrations.files",
    "Problem": "icl_core.learning.problem",
    "Outcome": "icl_core.learning.problem",
    "Job": "icl_core.learning.engine.training",
    "Constraint": "icl_core.using.constraint",
    "LearnedCost": "icl_core.using.wrappers",
    "PenaliseCost": "icl_core.using.wrappers",
    "CostBudget": "icl_core.using.wrappers",
    "InputError": "icl_core.errors",
}

__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
