"""Train agents elsewhere with a learned constraint, without one and with the true one."""

from icl_core.artifacts import write_table
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.measuring.transfer import TransfersSettings, by_condition
from icl_core.using.transfer import Transfer, joined, run_transfer
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of


def main(stage: Stage) -> None:
    """Read the constraint, train, score, write."""
    world, job = stage.world(), job_of(stage)
    beta = stage.section("learning.threshold")
    given = Transfer(
        stage.wildcards.experiment,
        world,
        joined(stage.input.constraint, world, beta),
        stage.seeds,
        stage.build(TransfersSettings, "transfers"),
        stage.build(ConstrainedRLSettings, "learning.icl.constrained_rl"),
    )
    table = run_transfer(given, job)
    write_table(stage.output[0], table, stage.provenance())
    finish(job)
    costs = by_condition(table, "true_cost")
    stage.note(**{f"J {condition}": values.mean() for condition, values in costs.items()})


if __name__ == "__main__":
    run(main)
