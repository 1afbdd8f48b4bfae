"""What demonstrations tell of the constraint, and what no method can learn from them."""

from __future__ import annotations

import argparse

import numpy as np

from icl_core import discovery
from icl_core.environments import make_world
from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.measuring.budget import Bounds
from icl_core.measuring.edges import Edges, allowed_edges
from icl_core.measuring.identified import Identified
from icl_core.using.commands import sources

ROUND = 5e-3  # values that are 0 or 1 to two digits are said to be so


def arguments(parser: argparse.ArgumentParser) -> None:
    """The environment, the demonstrations, and when an expert counts as optimal."""
    parser.add_argument("env", metavar="ENV", help="gridworld-a, ..., or an id of Gymnasium")
    parser.add_argument("demonstrations", metavar="DEMOS", help=sources.DEMONSTRATIONS)
    parser.add_argument("--cost-limit", help="beta, a number (the world's own)")
    parser.add_argument(
        "--tolerance",
        type=float,
        help="what an expert may earn less than the best (two standard errors of its mean return)",
    )
    parser.add_argument("--inputs", nargs="+", metavar="NAME", help="what c sees (the world's own)")
    parser.add_argument("--discount", type=float, help="gamma (the environment's, or 0.99)")
    parser.add_argument("--horizon", type=int, help="steps of an episode (the environment's)")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="KEY=VALUE", help="of the world: slip=0.1"
    )


def main(given: argparse.Namespace) -> int:
    """One sentence for each result."""
    from icl_core.using.surroundings import FROM_DEMONSTRATIONS, Options, task_of

    env, limit = _environment(given), given.cost_limit
    if limit is None:
        limit = env.threshold if isinstance(env, World) else FROM_DEMONSTRATIONS
    options = Options(
        inputs=given.inputs and [sources.number_or_word(one) for one in given.inputs],
        cost_limit=sources.number_or_word(str(limit)),
        discount=given.discount,
        horizon=given.horizon,
    )
    task = task_of(env, sources.demonstrations(given.demonstrations), options, rows=1)
    world, beta = task.world, task.world.threshold
    if isinstance(world, Gridworld) and given.inputs is None:
        lines = grid_sentences(Identified(world, task.trajectories, beta, given.tolerance))
    else:
        lines = edge_sentences(allowed_edges(world, task.trajectories, beta), beta)
    print("\n".join(lines))
    return 0


def _environment(given: argparse.Namespace) -> World | str:
    """A world of ours by its name or by its id, or the id of somebody else's."""
    names = discovery.names(discovery.WORLDS)
    if given.env in names:
        return make_world(given.env, **sources.settings(given.set))
    if given.set:
        raise InputError(
            f"--set: expected a world by its name ({', '.join(names)}), found {given.env!r}; name "
            "one, or leave the settings out"
        )
    return given.env


def grid_sentences(found: Identified) -> list[str]:
    """What is known of each cell."""
    earned = found.enough - found.tolerance
    lines = [
        f"the demonstrations earn {earned:.3g} on average; with a tolerance of "
        f"{found.tolerance:.3g} they are optimal where nobody who keeps the constraint earns more "
        f"than {found.enough:.3g}"
    ]
    if found.empty:
        return [
            *lines,
            "no constraint explains the demonstrations: under each that they keep another policy "
            f"earns more; the least tolerance at which one does is {found.least_tolerance:.3g}",
        ]
    if found.silent:
        lines.append(
            f"nobody earns more than that even without a constraint ({found.best_return:.3g}): the "
            "reward tells nothing, and c = 0 everywhere explains the demonstrations too"
        )
    bounds = found.bounds
    lines += [_cell_sentence(bounds, cell) for cell in range(SIZE * SIZE)]
    told, forbidden = int(bounds.told.sum()), int(bounds.forbidden.sum())
    return [
        *lines,
        f"of {SIZE * SIZE} cells {told} are determined: {forbidden} forbidden, {told - forbidden} "
        "free",
    ]


def _cell_sentence(bounds: Bounds, cell: int) -> str:
    where = f"({cell // SIZE}, {cell % SIZE})"
    reach = f"{_number(bounds.least[cell])} to {_number(bounds.greatest[cell])}"
    if bounds.told[cell]:
        kind = "forbidden" if bounds.forbidden[cell] else "free"
        return f"{where} is {kind}: c is from {reach}"
    return (
        f"the demonstrations cannot tell whether {where} is forbidden: c may be anything from "
        f"{reach}"
    )


def edge_sentences(edges: Edges, beta: float) -> list[str]:
    """Where the edge of a forbidden side can lie."""
    name = edges.axis.name
    sides = (("below", "up to", edges.below), ("above", "from", edges.above))
    return [
        f"{name} {side} an edge can be forbidden for every edge, for the demonstrations spend no "
        f"more than {beta:g} in all"
        if not np.isfinite(edge)
        else f"{name} {side} an edge can be forbidden for edges {reach} {edge:.4g}: beyond, the "
        f"demonstrations would spend more than {beta:g}"
        for side, reach, edge in sides
    ]


def _number(value: float) -> str:
    rounded = round(float(value)) if abs(value - round(float(value))) < ROUND else value
    return f"{rounded:.2g}"
