"""The recordings of a job's environment, found by its name."""

from __future__ import annotations

import importlib
from typing import Any

from icl_core.discovery import RECORDINGS
from workflow.lib.stage import Stage


def part_of(stage: Stage, part: str) -> Any:
    """A module of the recordings of the job's environment: reader, simulation, scene or replay."""
    return importlib.import_module(f"icl_core.{RECORDINGS}.{stage.settings['environment']}.{part}")
