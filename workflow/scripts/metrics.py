"""CMSE and NAD of every seed of a run: of each iteration, and of what it ended with.

Also the constraint as one file that needs no pipeline.
"""

import numpy as np

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.files import read_shown
from icl_core.learning.engine.divergence import marks
from icl_core.learning.problem import Problem
from icl_core.measuring import metrics
from icl_core.measuring.determined import learned_excess
from icl_core.measuring.evaluation import MeasuringSettings, evaluate, stored
from icl_core.measuring.loading import constraint_on_grid, ends_of, expert_visits, measured
from icl_core.using.portable import PortableConstraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Play the final policies, measure, write. Seeds that have failed are left out."""
    world, provenance = stage.world(), stage.provenance()
    files = (stage.input.constraint, stage.input.policy, stage.input.selections)
    constraint, policy, others = map(read_tensors, files)
    failed = marks(policy, len(stage.seeds))
    there = np.flatnonzero(failed == 0).tolist()
    seeds = [stage.seeds[run] for run in there]
    own, ends = ends_of(constraint, policy, others, there)
    settings = stage.build(MeasuringSettings, "measuring")
    expert = expert_visits([stage.input.demonstrations], world).to(seeds)
    played = {
        name: evaluate(world, end.policy, seeds, expert, settings) for name, end in ends.items()
    }
    write_tensors(stage.output.evaluation, stored(seeds, own, played), provenance)
    beta = stage.section("learning.threshold") or world.threshold
    given = read_shown(stage.input.demonstrations, world, seeds)
    constraints = enumerate(stage.input.constraints)  # from 0, the initial constraint
    policies = enumerate(stage.input.policies, start=1)
    learned = metrics.Learned(
        {name: measured(world, end, expert, played[name]) for name, end in ends.items()},
        settings.report_episodes,
        own,
        {i: constraint_on_grid(path, world)[there] for i, path in constraints},
        {i: read_tensors(path)["nad"][there] for i, path in policies},
        learned_excess(Problem(world, given, seeds, beta), ends[own].constraint),
    )
    steps = dict(zip(stage.seeds, failed.tolist(), strict=True))
    lost = {seed: step for seed, step in steps.items() if step}
    whose = metrics.Run(stage.wildcards.experiment, stage.wildcards.method, world, seeds, lost)
    table = metrics.run_metrics(whose, expert, learned)
    write_table(stage.output.metrics, table, provenance)
    portable = PortableConstraint.of_run(stage.input.constraint, world, beta, provenance)
    portable.save(stage.output.portable)
    stage.note(**metrics.reported_means(table))


if __name__ == "__main__":
    run(main)
