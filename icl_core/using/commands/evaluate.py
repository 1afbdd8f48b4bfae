"""What demonstrations, or any recorded episodes, cost under a constraint."""

from __future__ import annotations

import argparse

import numpy as np

from icl_core.demonstrations.trajectories import accumulate
from icl_core.using.commands import sources
from icl_core.using.constraint import Constraint


def arguments(parser: argparse.ArgumentParser) -> None:
    """A constraint and episodes."""
    sources.constraint_file(parser)
    parser.add_argument("demonstrations", metavar="DEMOS", help=sources.DEMONSTRATIONS)


def main(given: argparse.Namespace) -> int:
    """Three lines: what it is, what the episodes cost, and how sure the seeds are."""
    constraint = Constraint.load(given.file)
    shown = sources.demonstrations(given.demonstrations).trajectories()
    values = constraint.predict_all(shown.states, shown.actions) * shown.mask
    costs = accumulate(values, shown.mask, constraint.discount)  # (seeds, episodes)
    each, mean = costs.mean(axis=1), costs.mean(axis=0)
    above = float((mean > constraint.beta).mean())
    taken = values[:, shown.mask]
    print(f"{given.file}: {constraint}")
    print(
        f"{len(shown)} episodes cost {mean.mean():.3g} on average ({each.min():.3g} to "
        f"{each.max():.3g} by seed), {above:.0%} of them more than beta"
    )
    print(f"c at their steps: mean {taken.mean():.3g}, seeds differ by {_spread(taken):.3g}")
    return 0


def _spread(values: np.ndarray) -> float:
    return float(values.std(axis=0).mean())
