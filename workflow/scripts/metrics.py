"""CMSE and NAD of every seed of a run: of each iteration, and of what it ended with.

Also the constraint as one file that needs no pipeline.
"""

import numpy as np

from icl_core.artifacts import read_tensors, write_table
from icl_core.demonstrations.files import read_shown
from icl_core.learning.engine.divergence import marks
from icl_core.learning.engine.networks import Networks
from icl_core.learning.problem import Problem
from icl_core.measuring.determined import learned_excess
from icl_core.measuring.loading import constraint_on_grid, expert_visits, rollout_visits
from icl_core.measuring.metrics import Learned, Run, reported_means, run_metrics
from icl_core.measuring.rollouts import report_rollouts
from icl_core.using.portable import PortableConstraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Roll out the final policies, measure, write. Seeds that have failed are left out."""
    world, provenance = stage.world(), stage.provenance()
    tensors = read_tensors(stage.input.policy)
    policy, failed = Networks.from_tensors(tensors), marks(tensors, len(stage.seeds))
    there = np.flatnonzero(failed == 0).tolist()
    seeds = [stage.seeds[run] for run in there]
    episodes = stage.section("measuring.report_episodes")
    rollouts = report_rollouts(world, policy.pick(there), seeds, episodes)
    write_table(stage.output.rollouts, rollouts, provenance)
    beta = stage.section("learning.threshold") or world.threshold
    found = Networks.from_tensors(read_tensors(stage.input.constraint)).pick(there)
    given = read_shown(stage.input.demonstrations, world, seeds)
    constraints = enumerate(stage.input.constraints)  # from 0, the initial constraint
    policies = enumerate(stage.input.policies, start=1)
    learned = Learned(
        constraint_on_grid(stage.input.constraint, world)[there],
        rollout_visits([stage.output.rollouts], world),
        {i: constraint_on_grid(path, world)[there] for i, path in constraints},
        {i: read_tensors(path)["nad"][there] for i, path in policies},
        learned_excess(Problem(world, given, seeds, beta), found),
    )
    steps = dict(zip(stage.seeds, failed.tolist(), strict=True))
    lost = {seed: step for seed, step in steps.items() if step}
    own = Run(stage.wildcards.experiment, stage.wildcards.method, world, seeds, lost)
    shown = expert_visits([stage.input.demonstrations], world).to(seeds)
    metrics = run_metrics(own, shown, learned)
    write_table(stage.output.metrics, metrics, provenance)
    constraint = PortableConstraint.of_run(stage.input.constraint, world, beta, provenance)
    constraint.save(stage.output.portable)
    stage.note(**reported_means(metrics))


if __name__ == "__main__":
    run(main)
