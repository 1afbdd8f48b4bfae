"""Fit a stack of networks of one architecture to a true constraint (Tables 13 and 14)."""

from icl_core.artifacts import write_table
from icl_core.learning.true_fit import FitSettings, fit_true_constraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Fit, write."""
    settings = stage.build(FitSettings, "true_fit")
    progress = stage.progress(settings.steps)
    _, log = fit_true_constraint(stage.world(), stage.seeds, settings, progress)
    write_table(stage.output[0], log, stage.provenance())


if __name__ == "__main__":
    run(main)
