"""CMSE and NAD of every seed of a run: of each iteration, and of what it ended with."""

from icl_core.artifacts import read_tensors, write_table
from icl_core.measuring.loading import constraint_on_grid, expert_visits, rollout_visits
from icl_core.measuring.metrics import Learned, Run, run_metrics
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Measure, write."""
    world = stage.world()
    constraints = enumerate(stage.input.constraints)  # from 0, the initial constraint
    policies = enumerate(stage.input.policies, start=1)
    learned = Learned(
        constraint_on_grid(stage.input.constraint, world),
        rollout_visits([stage.input.rollouts], world),
        {i: constraint_on_grid(path, world) for i, path in constraints},
        {i: read_tensors(path)["nad"] for i, path in policies},
    )
    own = Run(stage.wildcards.experiment, stage.wildcards.method, world, stage.seeds)
    expert = expert_visits(stage.input.demonstrations, world)
    write_table(stage.output[0], run_metrics(own, expert, learned), stage.provenance())


if __name__ == "__main__":
    run(main)
