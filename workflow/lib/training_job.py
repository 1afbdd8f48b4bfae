"""What the scripts that train share: the problem, a job that can be killed, and its outcome."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.files import read_shown
from icl_core.errors import InputError
from icl_core.learning.engine.divergence import lost, marked
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.problem import Outcome, Problem
from workflow.lib.stage import Stage


def problem_of(stage: Stage) -> Problem:
    """What a job learns, each seed from what it is shown."""
    world = stage.world()
    demonstrations = read_shown(stage.input.demonstrations, world, stage.seeds)
    beta = stage.settings.get("learning", {}).get("threshold")
    return Problem(
        world, demonstrations, stage.seeds, world.threshold if beta is None else float(beta)
    )


def job_of(stage: Stage) -> Job:
    """The job's saved state lies beside its outputs: Snakemake deletes those before a job runs."""
    path = Path(stage.output[0]).with_name("checkpoint.safetensors")
    return Job(stage.progress(), Store(path, stage.provenance()))


def finish(job: Job) -> None:
    """The outputs are written: the saved state is not needed any more."""
    if job.store:
        job.store.clear()


def write_outcome(stage: Stage, outcome: Outcome) -> None:
    """Write the constraint, the policy and the training log: the same files for every method."""
    _check_finite(stage, outcome)
    provenance, failed = stage.provenance(), outcome.failed
    constraint = outcome.constraint.tensors() | dict(outcome.extras)
    write_tensors(stage.output.constraint, marked(constraint, failed), provenance)
    write_tensors(stage.output.policy, marked(outcome.policy.tensors(), failed), provenance)
    write_tensors(stage.output.selections, selections(outcome), provenance)
    write_table(stage.output.training, outcome.log, provenance)


def selections(outcome: Outcome) -> dict[str, np.ndarray]:
    """Which policies a method reports, and those of the other selection, where there is one."""
    named = {"reported": np.frombuffer(outcome.selection.encode(), np.uint8)}
    for name, pair in outcome.others.items():
        named |= pair.constraint.tensors(f"{name}.constraint.")
        named |= pair.policy.tensors(f"{name}.policy.") | {f"{name}.place": pair.place}
    return named


def _check_finite(stage: Stage, outcome: Outcome) -> None:
    """A method may train by itself, without a job's look at its weights: here they are seen."""
    for name, networks in (("constraint", outcome.constraint), ("policy", outcome.policy)):
        finite = np.isfinite(networks.parameters).all(axis=1)
        wrong = np.flatnonzero(~finite & ~lost(outcome.failed, networks.runs))
        if len(wrong):
            raise InputError(
                f"{getattr(stage.output, name)}: expected finite weights, found other ones in seed "
                f"{stage.seeds[wrong[0]]}; lower the method's learning rates"
            )
