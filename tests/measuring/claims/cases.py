"""For each check what it is to be shown (`made_up`): the table that every check must be in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.learning.engine.training import LOG_EVERY
from icl_core.measuring.claims.evidence.experts import SHARED
from icl_core.measuring.claims.intervals import Sample
from icl_core.measuring.paper import PAPER
from tests.measuring.claims.made_up import world_of

# Of one number, without chance: they come out as stated or otherwise, and there is no third case.
DESCRIBED = {"times_comparable", "fewer_settings"}


def of_methods(e):
    """The favoured method has 1; the others more, less or as much."""

    def reported(metric, experiment, method="icl", selection="last"):
        return e.around(1.0 if method == e.given["method"] else 1 + 0.5 * e.lean, 0.05)

    return {"reported": reported}


def a_row(e):
    def tabled(metric, experiment, method="icl"):
        mean, deviation = PAPER[metric][experiment, method]
        margin = max(0.25 * mean, 2 * deviation, 0.01)
        return e.around(mean + margin * e.pick(0, 8, 1), 0.1 * deviation + 0.0005)

    return {"tabled": tabled}


def beside_a_constant(e):
    def reported(metric, experiment, method="icl", selection="last"):
        return e.around(world_of(experiment).true_on_grid.var() + 0.1 * e.lean)

    return {"reported": reported}


def in_an_order(e):
    order = [e.given[key] for key in ("better", "method", "worse")]
    levels = e.pick((0.05, 0.15, 0.4), (0.4, 0.3, 0.1), (0.15, 0.15, 0.15))

    def reported(metric, experiment, method="icl", selection="last"):
        return e.around(levels[order.index(method)])

    return {"reported": reported}


def a_share_left(e):
    share = e.pick(0.1, 0.6, e.given["at_most"])
    return {
        "noise_floor": lambda experiment: {SHARED: 0.1},
        "played": lambda experiment: None,
        "first_nad": lambda experiment, played: e.around(1.1, 0),
        "reported": lambda *key: e.around(0.1 + share),
    }


def beside_the_first(e):
    def reported(metric, experiment, method):
        return e.around(1 + 0.5 * e.lean * (experiment == e.given["experiment"]), 0.1)

    def first(metric, experiment):
        return e.each(lambda _: np.ones(3), 0)

    return {"reported": reported, "by_iteration": first}


def a_ladder(e):
    def reported(metric, experiment, method="icl", selection="last"):
        return e.around(3 + 0.5 * e.lean * e.place(experiment, e.given.get("steps", 2)), 0.05)

    return {"reported": reported}


def deviating(e, metric, experiment):
    """Values that deviate by much more than the bound, by nothing, or by just as much."""
    bound = e.given["share"] * PAPER[metric][experiment, "icl"][1]
    spread = bound / np.linspace(-1, 1, e.runs).std(ddof=1)
    return e.around(5.0, spread * e.pick(8, 0.001, 1))


def sets_of_episodes(e):
    noise = 1e-4 * np.array([-1, 1, -1, 1])
    return {
        "nad_of_sets": lambda experiment: {
            run: value + noise for run, value in deviating(e, "nad", experiment).items()
        }
    }


def ends(e):
    def by_iteration(metric, experiment):
        name = experiment.removesuffix(f"-{e.given['variant']}")
        return {run: np.full(4, v) for run, v in deviating(e, metric, name).items()}

    return {"by_iteration": by_iteration}


# ------------------------------------------------------------------ behaviour


def on_a_line(e):
    z = world_of(e.experiments[0]).grid.nodes[:, 0]

    def visits(experiment, method="icl"):
        side = 1 if method == e.given["method"] else -1
        right = np.where(z >= 2, 1 / np.sum(z >= 2), 0)
        left = np.where(z <= 0, 1 / np.sum(z <= 0), 0)
        return e.each(lambda share: share * right + (1 - share) * left, 0.5 + 0.2 * e.lean * side)

    return {"visits": visits}


def shifted(e):
    z = world_of(e.experiments[0]).grid.nodes[:, 0]

    def at(place):
        return (np.abs(z - place) == np.abs(z - place).min()).astype(float)

    return {
        "expert_visits": lambda experiment: {SHARED: at(0.0)},
        "visits": lambda experiment, method="icl": e.each(at, 1.0 * e.lean, 0.4),
    }


def earning(e):
    beta = world_of(e.experiments[0]).threshold
    return {
        "returns": lambda name, method: e.around(5 + e.lean * (method == e.given["method"]), 0.1),
        "costs": lambda name, method: e.around(beta * e.pick(0.5, 1.5, 0.5), 0.1 * beta),
    }


def episodes(count=4, steps=3, reward=1.0):
    shape = (count, steps)
    rewards = np.full(shape, reward, np.float32)
    states, actions = np.zeros((*shape, 1), np.float32), np.zeros(shape, np.int64)
    return Trajectories(states, actions, rewards, np.full(count, steps))


def earning_like_experts(e):
    return {
        "demonstrations": lambda name: {SHARED: episodes()},
        "returns": lambda name, method="icl": e.around(3 * (e.given["share"] + 0.1 * e.lean)),
    }


# ------------------------------------------------------------------ constraints


def like_the_truth(e):
    def constraints(experiment, method="icl"):
        truth = world_of(experiment).true_on_grid.reshape(world_of(experiment).grid.shape)
        found = 1.0 - truth if e.lean < 0 else truth
        return e.each(lambda value: 0.8 * found + value, 0.1)

    def reported(metric, experiment, method="icl", selection="last"):
        bound = (1 - e.given["explained"]) * world_of(experiment).true_on_grid.var()
        return e.around(bound * (1 - 0.5 * e.lean), 0.1 * bound)

    return {"constraints": constraints, "reported": reported}


def ranked(world, area):
    """Values whose constrained nodes stand above the others with this probability."""
    truth = world.true_on_grid
    zeros = np.random.default_rng(0).permutation(int(np.sum(truth == 0)))
    values = np.where(truth == 1, min(area, 1.0) * len(zeros), 0.0)
    values[truth == 0] = zeros + 0.5
    return (values / values.max()).reshape(world.grid.shape)


def in_place(e):
    def constraints(experiment, method="icl"):
        above = e.given["above"]
        bound = above.get(experiment, e.given["below"].get(experiment))
        wanted = bound + 0.15 * e.lean * (1 if experiment in above else -1)
        return e.each(lambda area: ranked(world_of(experiment), area), wanted)

    return {"constraints": constraints}


def more_in_place(e):
    def constraints(experiment, method="icl"):
        side = 1 if method == e.given["method"] else -1
        area = 0.75 + 0.1 * e.lean * side
        return e.each(lambda value: ranked(world_of(experiment), value), area, 0.02)

    return {"constraints": constraints}


def better_than_constants(metric, experiment, method="icl", selection="last"):
    bound = world_of(experiment).true_on_grid.var()
    return {run: bound * (0.5 + 0.01 * run) for run in range(1, 6)}


def flat(e, experiment, level, spread=0.02):
    return e.each(lambda value: np.full(world_of(experiment).grid.shape, value), level, spread)


def spilling(e):
    def constraints(experiment, method="icl"):
        level = 0.4 if method == e.given["method"] else 0.4 + 0.2 * e.lean
        return flat(e, experiment, level)

    return {"constraints": constraints, "reported": better_than_constants}


def blurred(e):
    def constraints(experiment, method="icl"):
        levels = e.pick((0.95, 0.8), (0.8, 0.95), (0.95, 0.95))
        return flat(e, experiment, levels[method != e.given["method"]], 0.01)

    return {"constraints": constraints, "reported": better_than_constants}


def hardened(e):
    def constraints(experiment, method="icl"):
        shape = world_of(experiment).grid.shape
        half = np.arange(np.prod(shape)).reshape(shape) % 2
        level = e.pick(0.02, 0.4, 0.067)
        return e.each(lambda low: np.where(half, low, 1 - low), level, 0.005)

    return {"constraints": constraints}


def rough(e):
    def constraints(experiment, method="icl"):
        shape = world_of(experiment).grid.shape
        half = np.indices(shape).sum(axis=0) % 2
        high = 0.3 + 0.1 * e.lean * (experiment == e.experiments[0])
        return e.each(lambda size: half * size, high)

    return {"constraints": constraints}


def more_cells(e):
    def constraints(experiment, method="icl"):
        world = world_of(experiment)
        nodes = (np.arange(world.true_on_grid.size) + 0.5) / world.true_on_grid.size
        share = 0.5 + 0.2 * e.lean * e.place(experiment, e.given["steps"])
        make = lambda value: (nodes < value).astype(float).reshape(world.grid.shape)  # noqa: E731
        return e.each(make, share, 0.08)

    return {"constraints": constraints}


# ------------------------------------------------------------------ driving


def edges(e, slope, offset=0.0):
    """c is 1 up to a gap that grows with speed."""
    speed, gap = (axis.physical for axis in world_of("highd").grid.axes)
    ends = slope * speed + offset
    make = lambda more: 1 / (1 + np.exp(gap[None] - ends[:, None] - more))  # noqa: E731
    return e.each(make, 0.0, 3.0)


def growing_gaps(e):
    return {"constraints": lambda name, method: edges(e, 2.0 * e.lean, 100.0)}


def time_gaps(e):
    return {"constraints": lambda name, method: edges(e, e.pick(3.75, 2.0, 3.0))}


def gaps_at(e):
    def constraints(name, method):
        low, high = e.given["ranges"][method]
        aim = e.pick((low + high) / 2, low - 20, low)
        return edges(e, aim / e.given["speed"])

    return {"constraints": constraints}


def far_nodes(e):
    order = np.random.default_rng(0).uniform(size=world_of("highd").grid.shape)

    def constraints(name, method):
        few = method == e.given["method"]
        share = e.pick(0.001 if few else 0.3, 0.3 if few else 0.001, 0.01 if few else 0.3)
        return e.each(lambda level: (order < level).astype(float), share, 0.3 * share)

    return {"constraints": constraints}


def what_experts_do(e):
    """Half of the other nodes are high; of the expert's hundred none, many or about five."""
    shape = world_of(e.experiments[0]).grid.shape
    visited, half = np.zeros(shape, bool), np.arange(np.prod(shape)).reshape(shape) % 2 == 1
    visited[5:15, 5:15] = True

    def constraints(name, method):
        good = method in e.given["methods"]
        many = e.pick(
            0 if good else 60, 60 if good else 0, 5 if good or not e.given["methods"] else 60
        )

        def make(share):
            values = np.where(visited, 0.0, half)
            values[visited] = np.arange(100) < round(share)
            return values

        return e.each(make, many, 3.0 if many else 0.0)

    return {
        "constraints": constraints,
        "expert_visits": lambda name: {SHARED: visited.astype(float)},
    }


def quadrants(e):
    d, v = (axis.physical for axis in world_of("exid").grid.axes)
    sign = np.sign(d[:, None] * v[None])
    return {"constraints": lambda *key: e.each(lambda s: 0.5 + s * sign, 0.3 * e.lean, 0.1)}


def narrowing(e):
    d, v = (axis.physical for axis in world_of("exid").grid.axes)
    far = np.where(v > e.given["towards"] + 1e-9, 0.3, -0.3) * e.lean
    values = np.where(np.abs(d)[:, None] > 5, far, np.full_like(v, -0.3 * e.lean))
    return {"constraints": lambda *key: e.each(lambda more: 0.5 + values + more, 0, 0.1)}


# ------------------------------------------------------------------ iterations


def curves(e, make):
    """A curve for each run, of (metric, variant, value); the value is 0 on average."""

    def by_iteration(metric, experiment):
        known = [e.given.get("variant"), e.given.get("other"), *e.given.get("others", [])]
        known += e.given.get("variants", [])
        variant = next(one for one in known if one and experiment.endswith(one))
        return e.each(lambda value: np.asarray(make(metric, variant, value), float), 0.0, 1.0)

    return {"by_iteration": by_iteration}


def zigzag(size):
    return size * np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])


def settling(e):
    def make(metric, variant, value):
        if metric == "nad":
            return np.ones(10)
        move = e.pick(0.0, 3.0, 1.0) * e.given["margin"]
        return 0.1 + zigzag(move + 0.002 * value)

    return curves(e, make)


def level(e, margin=0.0, size=0.05):
    """The variant in hand is at 0.2, the others above, below or alike."""

    def make(metric, variant, value):
        mine = variant == e.given["variant"]
        return np.full(11, 0.2 + 0.003 * value + (0 if mine else size * e.lean - margin))

    return curves(e, make)


def worse(e):
    def make(metric, variant, value):
        mine = variant == e.given["variant"]
        return np.full(11, 0.2 + 0.003 * value + 0.05 * e.lean * mine)

    return curves(e, make)


def moving(e):
    def make(metric, variant, value):
        mine = variant == e.given["variant"]
        return zigzag(1 + 0.5 * e.lean * mine + 0.05 * value)

    return curves(e, make)


def cycling(e):
    def make(metric, variant, value):
        turns = e.lean > 0 or (e.lean == 0 and value > 0)
        size = 1 + 0.1 * value
        return zigzag(size) if turns else size * np.arange(11)

    return curves(e, make)


def slower(e):
    def make(metric, variant, value):
        side = 0.5 if variant == e.given["variant"] else -0.5
        arrives = round(4 + 4 * e.lean * side + value)
        first = 0.3 + 0.1 * e.lean * side + 0.005 * value
        way = np.linspace(first, 0.05, arrives) if arrives > 1 else [first]
        return np.concatenate([[0.5], way, np.full(11, 0.05)])[:12]

    return curves(e, make)


def alike(e):
    def make(metric, variant, value):
        mine = variant == e.given["variant"]
        gap = 0 if mine else e.given["margin"] * e.pick(0, 2, 1)
        return np.full(11, 0.1 + gap + 0.003 * value)

    return curves(e, make)


def arriving(e):
    def make(metric, variant, value):
        gap = e.given["margin"] * e.pick(0.0, 3.0, 1.0) + 0.002 * value
        return np.where(np.arange(11) > e.given["iteration"], 0.1, 0.1 + abs(gap))

    return curves(e, make)


def a_small_gain(e):
    def make(metric, variant, value):
        gain = e.pick(0.5 * e.given["at_most"], -0.02, 0.0)
        mine = variant == e.given["variant"]
        return np.full(11, 0.2 + 0.003 * value + (0 if mine else gain))

    return curves(e, make)


# ------------------------------------------------------------------ adjustments

STEPS = 1000


def logs(e, make, spread=1.0):
    """Four adjustments for each run: columns over all their steps, of (experiment, value, done)."""
    step = np.union1d(np.arange(1, STEPS + 1, LOG_EVERY), [STEPS])  # as logs keep them
    done = np.concatenate([k + (step - 1) / STEPS for k in range(4)]) / 4

    def of_run(experiment, value):
        table = pa.table({"step": np.tile(step, 4)} | {k: np.broadcast_to(v, len(done)) for k, v in
                          make(experiment, value, done).items()})  # fmt: skip
        return [table.slice(k * len(step), len(step)) for k in range(4)]

    return {"adjustments": lambda name: e.each(lambda v: of_run(name, v), 0.0, spread)}


def both_ways(e):
    def make(experiment, value, done):
        change = (e.lean + 0.1 * value) * done
        return {"expert_value": 3 - change, "agent_value": 1 + change}

    return logs(e, make)


def ends_at(e):
    def make(experiment, value, done):
        most, above = e.given["at_most"], e.given.get("above", {})
        bound = most.get(experiment, above.get(experiment))
        sign = 1 if experiment in above else -1
        end = bound + sign * 0.3 * e.lean + 0.02 * value
        return {"expert_value": world_of(experiment).threshold * end * np.ones_like(done)}

    return logs(e, make)


def swinging(e):
    def make(experiment, value, done):
        turns = 4 * e.pick(6.0, 0.25, 1 + 0.3 * value)
        beta = world_of(experiment).threshold
        return {"expert_value": beta * (1 + np.sin(2 * np.pi * turns * done + 0.1))}

    return logs(e, make)


def starting_at(e):
    def make(experiment, value, done):
        return {"expert_satisfaction": e.given["share"] + 0.1 * e.lean + 0.02 * value + 0 * done}

    return logs(e, make)


def falling(e):
    def make(experiment, value, done):
        fall = e.given["more_than"] + 0.2 * e.lean + 0.02 * value
        return {"expert_satisfaction": 0.9 - fall * (done > 0.5)}

    return logs(e, make)


def holding(e):
    def make(experiment, value, done):
        held = experiment == e.experiments[0]
        fall = e.pick(0.0 if held else 0.5, 0.5 if held else 0.0, e.given["at_most"])
        return {"expert_satisfaction": 0.9 - (fall + 0.02 * value) * (done > 0.5)}

    return logs(e, make)


def members(e):
    def made(value):
        risen = np.arange(100) < round(100 * value)
        return [np.stack([np.zeros(100), np.where(risen, 1.0, -1.0)])]

    centre = e.given["share"] + 0.3 * e.lean
    return {"member_costs": lambda name: e.each(made, centre, 0.1)}


def overlapping(e):
    def adjustments(name):
        def made(value):
            lean = e.lean if e.lean else np.sign(value) or 1
            gains = [lean * k + 0.01 * value for k in range(4)]
            return [
                pa.table({"agent_value": [0.0, gain], "expert_value": [0.0, 0.0]}) for gain in gains
            ]

        return e.each(made, 0.0, 1.0)

    return {
        "adjustments": adjustments,
        "by_iteration": lambda *key: e.each(lambda v: np.array([1, 2, 3, 4.5]) + 0.1 * v, 0),
    }


# ------------------------------------------------------------------ experts


def trainings(e, make):
    """A training log for each expert, of (experiment, value, epochs done)."""
    done = np.arange(100) / 100
    return {
        "expert_training": lambda name: e.each(
            lambda v: pa.table({k: c + 0 * done for k, c in make(name, v, done).items()}), 0.0, 1.0
        )
    }


def high_returns(e):
    def make(name, value, done):
        end = e.given["share"] + 0.08 * e.lean + 0.01 * value
        return {"return": e.given["best"][name] * end * np.minimum(1, 2 * done)}

    return trainings(e, make)


def fewer_violations(e):
    return trainings(e, lambda name, v, done: {"violations": 0.5 - (0.4 * e.lean + 0.1 * v) * done})


def settled(e):
    def make(name, value, done):
        change = e.given["margin"] * e.pick(0.0, 4.0, 1.0) + 0.005 * value
        return {"return": np.where(done < 0.9, 1 - change, 1.0)}

    return trainings(e, make)


def worse_training(e):
    def make(name, value, done):
        side = e.lean * (e.experiments.index(name) % 2 == 0)
        broken = 0.5 + (0.1 + e.given["margin"]) * side + 0.02 * value
        return {"return": 5 - side + 0.2 * value + 0 * done, "violations": broken + 0 * done}

    return trainings(e, make)


def feasible(e):
    def taken(name):
        beta = world_of(name).threshold
        return e.around(beta * (e.given["times"] - 0.3 * e.lean), 0.1 * beta)

    return {"expert_episodes": taken, "true_costs": lambda name, cost: np.array([cost])}


def losing(e):
    def taken(name):
        earned = 5 - e.lean * e.experiments.index(name)
        return e.each(lambda v: SimpleNamespace(returns=np.array([v])), earned, 0.1)

    return {"best_return": lambda name: 9.0, "expert_episodes": taken}


def noisy_steps(e):
    def walk(chance):
        rng = np.random.default_rng(round(1e6 * chance))
        nodes = np.zeros((200, 20), int)
        for t in range(1, 20):
            jump = rng.random(200) < chance
            nodes[:, t] = np.where(jump, rng.integers(10, size=200), (nodes[:, t - 1] + 1) % 10)
        states = nodes[..., None].astype(np.float32)
        zeros = np.zeros(nodes.shape, np.float32)
        return Trajectories(states, zeros.astype(np.int64), zeros, np.full(200, 20))

    def shown(name):
        place = e.experiments.index(name)
        return e.each(walk, e.pick(0.2, 0.8, 0.5) + 0.2 * e.lean * place, 0.03)

    return {
        "demonstrations": shown,
        "nodes_of": lambda name: lambda taken: taken.states[..., 0].astype(int),
    }


def wide(e):
    def visits(name):
        count = 30 + 10 * e.lean * e.experiments.index(name)
        return e.each(lambda v: np.arange(49) < round(v), count, 4.0)

    return {"expert_visits": visits}


def held_out(e):
    def satisfied(name, taken):
        fall = e.given["most"] * e.pick(0, 4, 1) * (taken == "new")
        return e.around(0.9 - fall, 0.02)

    return {
        "satisfied": satisfied,
        "demonstrations": lambda name: "had",
        "expert_episodes": lambda name: "new",
    }


# ------------------------------------------------------------------ conditions


def sample(e, mean, error=0.0005):
    few = e.runs < 4
    return Sample(mean, error, e.runs - 1, e.runs if not few else 2)


def near_errors(e):
    return {"error": lambda *key: sample(e, e.given["error"] - 0.004 * e.lean)}


def far_errors(e):
    return {"error": lambda *key: sample(e, e.given["error"] + 0.01 * e.lean)}


def errors_by_size(e):
    depth = {"a1": 0, "a2": 0, "b": 1, "c1": 2, "c2": 2}
    step = e.pick(-0.5, 5.0, 1.0) * e.given["margin"]
    return {"error": lambda name, architecture: sample(e, 0.1 + step * depth[architecture])}


def seconds(e):
    ratio = e.pick(1.0, 5.0, 1.0)
    return {"seconds": lambda name, method="icl": 100 * ratio if method == "icl" else 100}


def settings(e):
    return {"settings_of": lambda one: 20 - 10 * e.lean * (one == e.given["method"])}


def improving(e):
    done = np.arange(100) / 100

    def logs_of(name):
        return e.each(
            lambda v: pa.table(
                {
                    "return": 1 + (e.lean + 0.3 * v) * done,
                    "constraint_value": 5 - (e.lean + 0.3 * v) * done,
                }
            ),
            0.0,
            1.0,
        )

    return {"training": logs_of}


def many_steps(e):
    def steps(name, method="icl"):
        return e.around(100 * (e.given["times"] + e.lean if method == "icl" else 1), 3)

    return {"steps": steps}


def ends_at_experts(e):
    share = e.pick(1.0, 0.0, e.given["share"])
    return {
        "alternations": lambda: {n: float(n < share * 40) for n in range(40 if e.runs > 2 else 2)}
    }


CASES = {
    "adjusts_both_ways": both_ways,
    "allows_large_gaps": far_nodes,
    "alternation_ends_at_the_expert": ends_at_experts,
    "as_in_the_paper": a_row,
    "between_methods": in_an_order,
    "budget_is_crossed": swinging,
    "can_hold": near_errors,
    "cannot_hold": far_errors,
    "capacity_helps": errors_by_size,
    "converges_by": arriving,
    "cycles": cycling,
    "demonstrations_noisier": noisy_steps,
    "demonstrations_wider": wide,
    "earns_like_the_expert": earning_like_experts,
    "earns_more_within_budget": earning,
    "ends_alike": alike,
    "ends_lower": lambda e: level(e, e.given["margin"]),
    "ends_varied": ends,
    "ends_within_budget": ends_at,
    "expert_earns": high_returns,
    "expert_feasible": feasible,
    "expert_violates_less": fewer_violations,
    "experts_settle": settled,
    "fewer_settings": settings,
    "finds": in_place,
    "finds_more": more_in_place,
    "forbids_moving_away": quadrants,
    "furthest_on": beside_the_first,
    "gap_between": gaps_at,
    "gap_grows_with_speed": growing_gaps,
    "hard": hardened,
    "keeps_new_demonstrations": held_out,
    "learns_slower": slower,
    "learns_worse": worse_training,
    "lowest_of_methods": of_methods,
    "mean_gain_is_small": a_small_gain,
    "more_high_nodes": more_cells,
    "moves_more": moving,
    "narrows_with_distance": narrowing,
    "near_the_expert": a_share_left,
    "overlap_slows": overlapping,
    "raises_all_members": members,
    "regret_grows": losing,
    "resembles": like_the_truth,
    "rougher": rough,
    "satisfaction_falls": falling,
    "satisfaction_holds": holding,
    "satisfies": what_experts_do,
    "settles": settling,
    "sharper": blurred,
    "shifted_right": shifted,
    "spills_less": spilling,
    "starts_satisfied": starting_at,
    "steps_up": a_ladder,
    "takes_more_steps": many_steps,
    "time_gap_between": time_gaps,
    "times_comparable": seconds,
    "training_improves": improving,
    "varies_between_runs": sets_of_episodes,
    "visits_more": on_a_line,
    "worse_on_the_way": worse,
    "worse_than_constant": beside_a_constant,
}
