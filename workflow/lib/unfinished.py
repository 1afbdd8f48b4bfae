"""Where a job that may be killed keeps its state."""

from __future__ import annotations

from pathlib import Path

from icl_core.learning.resume import Store
from workflow.lib.stage import Stage


def store_of(stage: Stage) -> Store:
    """The job's saved state, beside its outputs: Snakemake deletes those before a job runs."""
    path = Path(stage.output[0]).with_name("unfinished.safetensors")
    return Store(path, stage.provenance())
