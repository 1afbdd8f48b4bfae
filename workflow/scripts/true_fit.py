"""Fit stacks of networks of several architectures to a true constraint (Tables 13 and 14)."""

from icl_core.artifacts import write_table
from icl_core.learning.engine.training import Job
from icl_core.learning.true_fit import FitSettings, TrueFitsSettings, fit_true_constraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Fit one after the other, write."""
    given, world = stage.build(TrueFitsSettings, "true_fits"), stage.world()
    logs = {}
    for name, hidden in given.architectures.items():
        settings = FitSettings(tuple(hidden), given.learning_rate, given.steps)
        _, logs[name] = fit_true_constraint(world, stage.seeds, settings, Job(stage.progress()))
    for name, log in logs.items():
        write_table(stage.output[name], log, stage.provenance())


if __name__ == "__main__":
    run(main)
