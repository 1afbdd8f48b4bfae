"""Evidence that is made up to say what the paper says, the contrary, or nothing.

`lean` is +1, -1 or 0. Each maker stands for one kind of source and shifts it so that the
check of the claim in hand gets what it should: the checks themselves are not consulted.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa

from icl_core.environments import make_world
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.errors import InputError
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.results import Results

METHODS = {"gail-constraint": "GAIL-Constraint", "icrl": "ICRL", "icl": "ICL"}


class Line:
    """Just enough of a driving world: a grid."""

    def __init__(self, name, *axes):
        self.name = self.title = name
        self.source, self.grid = "recorded", EvaluationGrid(axes)


HIGHD = Line("highd", Axis("v", np.arange(41.0)), Axis("g", 2.5 * np.arange(81)))
EXID = Line("exid", Axis("d", np.linspace(-10, 10, 41)), Axis("v", np.linspace(-2.5, 2.5, 51)))


def world_of(experiment):
    """The world that an experiment's name begins with."""
    special = {"highd": HIGHD, "exid": EXID}
    if experiment in special:
        return special[experiment]
    words = experiment.split("-")
    for end in range(len(words), 0, -1):
        with suppress(InputError):
            return make_world("-".join(words[:end]))
    raise ValueError(f"no world for {experiment}")


class MadeUp(Evidence):
    """Evidence for one claim."""

    def __init__(self, claim, lean, seeds=5):
        super().__init__(Results("paper", {}, (), METHODS), claim.experiments, claim.id)
        self.claim, self.lean, self.seeds = claim, lean, seeds
        self.noise = np.random.default_rng(3)

    def world(self, experiment):
        return world_of(experiment)

    def around(self, centre, spread=0.01):
        """A value for each seed; their mean is the centre itself."""
        draws = np.linspace(-1, 1, self.seeds)
        self.noise.shuffle(draws)
        return centre + spread * draws

    def shifted(self, favoured, step=0.5):
        """1 for the side that should be lower; the other is above it, below it or alike."""
        return self.around(1.0 if favoured else 1.0 + step * self.lean, 0.05)

    # ------------------------------------------------------------------ metrics

    def reported(self, metric, experiment, method="icl"):
        check, given = self.claim.check, self.claim.arguments
        if check == "lowest_of_methods":
            values = self.shifted(method == given["method"])
        elif check == "lower_than_experiment":
            values = self.shifted(experiment == self.experiments[0])
        elif check == "highest_experiment":
            values = self.shifted(experiment != given["experiment"])
        elif check == "grows_with":
            place = self.experiments.index(experiment) % len(given["values"])
            values = self.around(1 + 0.3 * self.lean * place, 0.2)
        elif check == "share_of_first_iteration":
            values = self.around(given["at_most"] - 0.2 * self.lean)
        elif check == "worse_than_constant":
            values = self.around(np.var(world_of(experiment).true_on_grid) + 0.1 * self.lean)
        elif check == "varies":
            values = self.around(1.0, {1: 0.9, -1: 0.01, 0: given["at_least"]}[self.lean])
        elif check == "most_variable":
            much = experiment == given["experiment"]
            values = self.around(1.0, 0.1 if not much else 0.1 * 8.0**self.lean)
        return dict(enumerate(values, start=1))

    def by_iteration(self, metric, experiment):
        check, given = self.claim.check, self.claim.arguments
        if check == "share_of_first_iteration":
            return np.ones((self.seeds, 4))
        mine = experiment.endswith(given["variant"])
        margin = given.get("margin", 0.0)
        flat = np.full((self.seeds, 11), 0.1)
        if check in ("ends_lower", "learns_faster"):
            return flat + self.around(0 if mine else 0.02 * self.lean - margin, 0.003)[:, None]
        if check == "ends_alike":
            return flat + self.around(0 if mine else margin * (1 - self.lean), 0.003)[:, None]
        if check == "mean_gain_is_small":
            gain = {1: 0.5 * given["at_most"], -1: -0.02, 0: 0.0}[self.lean]
            return flat + self.around(0 if mine else gain, 0.003)[:, None]
        grown = {1: 0.0, -1: 2 * margin, 0: margin}[self.lean]
        if check == "rises":
            grown = 0.05 * self.lean
        flat[:, -3:] += self.around(grown, 0.003)[:, None]
        return flat

    # ------------------------------------------------------------------ constraints and visits

    def constraints(self, experiment, method="icl"):
        world, check, given = world_of(experiment), self.claim.check, self.claim.arguments
        return MAKERS[check](self, world, experiment, method, given)

    def expert_visits(self, experiment):
        visits = np.zeros(world_of(experiment).grid.shape)
        visits[5:15, 5:15] = 1
        return visits

    def visits(self, experiment, method):
        favoured = method == self.claim.arguments["method"]
        z = world_of(experiment).grid.nodes[:, 0]
        right = self.around(0.5 + 0.2 * self.lean * (1 if favoured else -1), 0.02)[:, None]
        return np.where(z >= 2, right / np.sum(z >= 2), 0) + np.where(
            z <= 0, (1 - right) / np.sum(z <= 0), 0
        )

    # ------------------------------------------------------------------ logs

    def adjustments(self, experiment):
        steps = np.arange(400)
        logs = {}
        for seed, wobble in enumerate(self.around(0, 1.0), start=1):
            tables = []
            for iteration in range(4):
                done = (iteration + steps / 400) / 4
                turns = {1: 6, -1: 0.25, 0: 1 + 0.3 * wobble}[self.lean]
                margin = self.claim.arguments.get("margin", 0)
                fall = {1: 0.5, -1: -0.5, 0: 0.02 * wobble}[self.lean]
                if self.claim.check == "satisfaction_holds":
                    fall = {1: -0.1, -1: 0.5, 0: margin / 0.75 + 0.02 * wobble}[self.lean]
                level = 0.6
                if self.claim.check == "satisfaction_is_higher":
                    fall, lower = 0.2, experiment != self.experiments[0]
                    level = 0.7 - 0.2 * self.lean * lower + 0.02 * wobble
                gap = (self.lean + 0.1 * wobble) * steps / 400
                columns = {
                    "multiplier": 1 + np.sin(2 * np.pi * turns * steps / 400),
                    "expert_satisfaction": level - fall * done,
                    "agent_value": gap,
                    "expert_value": np.zeros(400),
                }
                tables.append(pa.table(columns))
            logs[seed] = tables
        return logs

    def expert_training(self, experiment):
        given = self.claim.arguments
        centre = 0
        if self.claim.check == "expert_earns":
            centre = given["best"][experiment] * (given["share"] + 0.08 * self.lean)
        noise, end = 0.02 * np.sin(2.0 * np.arange(100)), np.linspace(0, 1, 100)
        violations = 0.5 - 0.4 * self.lean * end + noise
        return pa.table({"return": centre * (1 + noise), "violations": violations})

    def returns(self, experiment, method):
        if self.claim.check == "earns_more":
            return self.around(1 + self.lean * (method == self.claim.arguments["method"]), 0.1)
        return self.around(1 - self.lean * self.experiments.index(experiment), 0.1)


def _ranked(evidence, world, experiment, method, given):
    """Constrained nodes above the others to the wanted degree, by shuffling some of the nodes."""
    above, below = given["above"], given["below"]
    bound = above.get(experiment, below.get(experiment))
    wanted = bound + 0.15 * evidence.lean * (1 if experiment in above else -1)
    truth = world.true_on_grid
    runs = []
    for area in evidence.around(min(wanted, 1.0), 0.01):
        rng = np.random.default_rng(0)
        zeros = np.argsort(rng.uniform(size=int(np.sum(truth == 0))))
        level = area * len(zeros)  # this many unconstrained nodes lie below all constrained ones
        values = np.where(truth == 1, level, 0.0)
        values[truth == 0] = zeros + 0.5
        runs.append(values / values.max())
    return np.array(runs).reshape(evidence.seeds, *world.grid.shape)


def _spilling(evidence, world, experiment, method, given):
    centre = 0.4 if method == given["method"] else 0.4 + 0.2 * evidence.lean
    return np.multiply.outer(evidence.around(centre, 0.02), np.ones(world.grid.shape))


def _blurred(evidence, world, experiment, method, given):
    centre = 0.8 if method == given["method"] else 0.8 - 0.1 * evidence.lean
    return np.multiply.outer(evidence.around(centre, 0.02), np.ones(world.grid.shape))


def _cells(evidence, world, experiment, method, given):
    place = evidence.experiments.index(experiment) % len(given["values"])
    share = evidence.around(0.4 + 0.15 * evidence.lean * place, 0.15)
    nodes = (np.arange(world.true_on_grid.size) + 0.5) / world.true_on_grid.size
    return (nodes < share[:, None]).astype(float).reshape(-1, *world.grid.shape)


def _headway(evidence, world, experiment, method, given):
    """c is 1 up to a gap that grows with speed."""
    speed, gap = (axis.physical for axis in world.grid.axes)
    lean, check = evidence.lean, evidence.claim.check
    slope, offset = 3.75, 0.0
    if check == "gap_grows_with_speed":
        slope, offset = 2.0 * lean, 100.0
    elif check == "time_gap_between":
        slope = {1: 3.75, -1: 2.0, 0: 3.0}[lean]
    elif check == "gap_between":
        low, high = given["ranges"][method]
        aim = {1: (low + high) / 2, -1: low - 20, 0: low}[lean]
        slope = aim / given["speed"]
    ends = slope * speed[None] + offset + evidence.around(0, 3.0)[:, None]
    return 1 / (1 + np.exp(gap[None, None] - ends[:, :, None]))


def _far(evidence, world, experiment, method, given):
    share = 0.3 if method == given["method"] else 0.3 + 0.2 * evidence.lean
    return _share_of_nodes(evidence, world, share)


def _share_of_nodes(evidence, world, share):
    """So large a share of all nodes is 1, spread evenly over the grid."""
    order = np.random.default_rng(0).uniform(size=world.grid.shape)
    return np.array([(order < one).astype(float) for one in evidence.around(share, 0.05)])


def _quadrants(evidence, world, experiment, method, given):
    d, v = (axis.physical for axis in world.grid.axes)
    levels = evidence.around(0.3 * evidence.lean, 0.1)
    return 0.5 + levels[:, None, None] * np.sign(d[:, None] * v[None])


def _narrowing(evidence, world, experiment, method, given):
    d, v = (axis.physical for axis in world.grid.axes)
    far = np.where(v > given["towards"] + 1e-9, 0.3, -0.3) * evidence.lean
    near = np.full_like(v, -0.3 * evidence.lean)
    values = np.where(np.abs(d)[:, None] > 5, far, near)
    return 0.5 + values[None] + evidence.around(0, 0.1)[:, None, None]


MAKERS = {
    "finds": _ranked,
    "spills_less": _spilling,
    "sharper": _blurred,
    "more_high_cells_with": _cells,
    "gap_grows_with_speed": _headway,
    "time_gap_between": _headway,
    "gap_between": _headway,
    "allows_large_gaps": _far,
    "forbids_fewer_expert_states": _far,
    "forbids_moving_away": _quadrants,
    "narrows_with_distance": _narrowing,
}
