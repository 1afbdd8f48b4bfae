"""CMSE and NAD of every seed of a run: of each iteration, and of what it ended with.

Also the constraint as one file that needs no pipeline.
"""

from typing import NamedTuple

import numpy as np

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.files import read_shown
from icl_core.learning.engine.divergence import marks
from icl_core.learning.engine.networks import Networks
from icl_core.learning.problem import BEST, LAST, Problem
from icl_core.measuring.determined import learned_excess
from icl_core.measuring.evaluation import MeasuringSettings, dissimilarities, evaluate, stored
from icl_core.measuring.loading import (
    constraint_on_grid,
    constraint_values,
    expert_visits,
    name_in,
)
from icl_core.measuring.metrics import End, Learned, Run, reported_means, run_metrics
from icl_core.using.portable import PortableConstraint
from workflow.lib.stage import Stage, run


class Ended(NamedTuple):
    """The networks of a selection."""

    constraint: Networks
    policy: Networks


def main(stage: Stage) -> None:
    """Play the final policies, measure, write. Seeds that have failed are left out."""
    world, provenance = stage.world(), stage.provenance()
    failed = marks(read_tensors(stage.input.policy), len(stage.seeds))
    there = np.flatnonzero(failed == 0).tolist()
    seeds = [stage.seeds[run] for run in there]
    own, pairs = pairs_of(stage, there)
    settings = stage.build(MeasuringSettings, "measuring")
    expert = expert_visits([stage.input.demonstrations], world).to(seeds)
    played = {
        name: evaluate(world, pair.policy, seeds, expert, settings) for name, pair in pairs.items()
    }
    write_tensors(stage.output.evaluation, stored(seeds, own, played), provenance)
    beta = stage.section("learning.threshold") or world.threshold
    given = read_shown(stage.input.demonstrations, world, seeds)
    constraints = enumerate(stage.input.constraints)  # from 0, the initial constraint
    policies = enumerate(stage.input.policies, start=1)
    learned = Learned(
        {
            name: End(
                constraint_values(pair.constraint, world),
                played[name].nads,
                dissimilarities(world, expert, played[name].visits),
            )
            for name, pair in pairs.items()
        },
        settings.report_episodes,
        own,
        {i: constraint_on_grid(path, world)[there] for i, path in constraints},
        {i: read_tensors(path)["nad"][there] for i, path in policies},
        learned_excess(Problem(world, given, seeds, beta), pairs[own].constraint),
    )
    steps = dict(zip(stage.seeds, failed.tolist(), strict=True))
    lost = {seed: step for seed, step in steps.items() if step}
    whose = Run(stage.wildcards.experiment, stage.wildcards.method, world, seeds, lost)
    metrics = run_metrics(whose, expert, learned)
    write_table(stage.output.metrics, metrics, provenance)
    constraint = PortableConstraint.of_run(stage.input.constraint, world, beta, provenance)
    constraint.save(stage.output.portable)
    stage.note(**reported_means(metrics))


def pairs_of(stage: Stage, there: list[int]) -> tuple[str, dict[str, Ended]]:
    """What the method reports, and by selection the networks of the runs that are there."""
    given = (stage.input.constraint, stage.input.policy, stage.input.selections)
    constraint, policy, others = map(read_tensors, given)
    own = name_in(others)
    places = {own: ((constraint, ""), (policy, ""))}
    for name in {BEST, LAST} - {own}:
        if f"{name}.place" in others:
            places[name] = ((others, f"{name}.constraint."), (others, f"{name}.policy."))
    found = {
        name: Ended(*(Networks.from_tensors(*place).pick(there) for place in both))
        for name, both in places.items()
    }
    return own, found


if __name__ == "__main__":
    run(main)
