"""CMSE and NAD of every seed of a run: of each iteration, and of what it ended with."""

from icl_core.artifacts import read_tensors, write_table
from icl_core.learning.engine.networks import Networks
from icl_core.measuring.loading import constraint_on_grid, expert_visits, rollout_visits
from icl_core.measuring.metrics import Learned, Run, reported_means, run_metrics
from icl_core.measuring.rollouts import report_rollouts
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Roll out the final policies, measure, write."""
    world, provenance = stage.world(), stage.provenance()
    policy = Networks.from_tensors(read_tensors(stage.input.policy))
    episodes = stage.section("measuring.report_episodes")
    rollouts = report_rollouts(world, policy, stage.seeds, episodes)
    write_table(stage.output.rollouts, rollouts, provenance)
    constraints = enumerate(stage.input.constraints)  # from 0, the initial constraint
    policies = enumerate(stage.input.policies, start=1)
    learned = Learned(
        constraint_on_grid(stage.input.constraint, world),
        rollout_visits([stage.output.rollouts], world),
        {i: constraint_on_grid(path, world) for i, path in constraints},
        {i: read_tensors(path)["nad"] for i, path in policies},
    )
    own = Run(stage.wildcards.experiment, stage.wildcards.method, world, stage.seeds)
    expert = expert_visits(stage.input.demonstrations, world)
    metrics = run_metrics(own, expert, learned)
    write_table(stage.output.metrics, metrics, provenance)
    stage.note(**reported_means(metrics))


if __name__ == "__main__":
    run(main)
