"""A folder of results with made-up but plausible content, to draw from and to measure."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pyarrow as pa
import yaml

from icl_core.artifacts import read_tensors, write_table, write_tensors
from icl_core.demonstrations.accruals import visits
from icl_core.demonstrations.files import SCHEMA, SEEDED_SCHEMA, read_sets
from icl_core.job_times import Record, write_time
from icl_core.layout import ALL, group_of, path, seeds_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA, log_table
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.true_fit import FitSettings, fit_true_constraint
from icl_core.measuring.determined import (
    DETERMINED,
    DETERMINED_FORBIDDEN,
    EDGE_ABOVE,
    EDGE_BELOW,
    EXCESS_COST,
    INSIDE,
    LEAST_CMSE,
    MOST_CMSE,
    NOBODY,
    REWARD_LEFT_OUT,
    REWARD_SILENT,
    TRUTH_INSIDE,
    UNEXPLAINED,
)
from icl_core.measuring.evaluation import Evaluation, stored
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.measuring.results import Results
from icl_core.measuring.transfer import TRANSFER_SCHEMA, words
from icl_core.randomness import generators
from tests.worlds import ROBOTS, SYNTHETIC, random_actions, small_world, some_policies
from workflow.lib.configuration import resolve

CONFIG = yaml.safe_load((Path(__file__).parents[1] / "config.yaml").read_text())
MAIN = tuple(CONFIG["experiments"])  # the others are variants of them
CONFIGURATION = resolve({**CONFIG, "scale": "quick"})
EXPERIMENTS = CONFIGURATION.experiments
ITERATIONS = 3
TITLES = {"gail-constraint": "GAIL-Constraint", "icrl": "ICRL", "icl": "ICL", "icl-plus": "ICL+"}
# The jobs of a method: the rules of one job, and those of one for each iteration.
JOBS = {
    "gail-constraint": (["learn"], []),
    "icrl": (["learn"], []),
    "icl-plus": (["learn"], []),
    "icl": (["icl_density", "icl_initial_constraint", "icl_select"], ["icl_policy", "icl_adjust"]),
}


def make_results(root, methods=tuple(TITLES), groups=((1, 2), (3,)), epochs=120):
    """Write every kind of file that figures and tables read; the Results over them."""
    with mock.patch("os.fsync"):  # more than a thousand files, none of which need last
        write_results(root, methods, groups, epochs)
    return results_in(root, methods)


def write_results(root, methods, groups, epochs):
    """The files, under the folder of a scale."""
    for name, one in EXPERIMENTS.items():
        if one.demonstrations_of is None:
            write_demonstrations(root, name, groups, epochs)
    for name in EXPERIMENTS:
        for method in methods_of(name, methods):
            for seeds in groups:
                write_run(root, name, method, seeds)
    write_true_fits(root, groups)
    write_transfers(root, [seed for seeds in groups for seed in seeds])
    write_table(root / path("metrics"), metrics(methods, groups), {})


def methods_of(name, methods):
    """The methods of an experiment; a variant has its own, whatever is asked for."""
    return methods if name in MAIN else EXPERIMENTS[name].methods


def write_demonstrations(root, name, groups=((1, 2, 3),), epochs=120):
    """What is demonstrated in an experiment, to each seed or to all; and the experts' training."""
    world = world_of(EXPERIMENTS[name])
    if EXPERIMENTS[name].source != "expert":
        file = root / path("demonstrations", experiment=name, group=ALL)
        write_table(file, steps(world.name, (0,), 25), {})
        return
    for seeds in groups:
        known = {"experiment": name, "group": group_of(seeds)}
        log = pa.concat_tables([training(world, epochs, seed) for seed in seeds])
        write_table(root / path("expert_training", **known), log, {})
        shown = steps(world.name, tuple(seeds), 25, seeded=True)
        write_table(root / path("demonstrations", **known), shown, {})


def results_in(root, methods):
    """The Results over all files of a folder."""
    paths = sorted(str(found) for found in root.rglob("*") if found.is_file())
    worlds = {name: world_of(one) for name, one in EXPERIMENTS.items()}
    settings = {name: settings_of(one, methods) for name, one in EXPERIMENTS.items()}
    given = {name: one.learning["threshold"] for name, one in EXPERIMENTS.items()}
    betas = {name: beta for name, beta in given.items() if beta is not None}
    return Results("quick", worlds, tuple(paths), TITLES, settings, betas)


def world_of(experiment):
    return small_world(experiment.environment, **experiment.world)


def settings_of(experiment, methods=tuple(TITLES), seeds=(1, 2)):
    """Everything that an experiment was run with, as figures and tables are given it."""
    chosen = [method for method in experiment.methods if method in methods]
    return {
        "methods": chosen,
        "seeds": {method: list(seeds) for method in chosen},
        "demonstrations": experiment.demonstrations,
        "learning": experiment.learning,
        "measuring": experiment.measuring,
    }


def write_run(root, name, method, seeds):
    """What a method leaves of one group of seeds."""
    world = world_of(EXPERIMENTS[name])
    run = {"experiment": name, "method": method, "group": group_of(seeds)}
    networks = fitted(world, seeds, method)
    write_tensors(root / path("constraint", **run), networks.tensors(), {})
    if name in MAIN:
        write_evaluation(root, run, world)
    if method == "icl":
        write_iterations(root, run, world, networks)
    if name in ROBOTS:
        write_training(root, run, world)
    write_benchmarks(root, run)


def fail(root, name, method, group, bad):
    """Let a seed of a group have failed: its networks are marked, its rollouts are not there."""
    run, seeds = {"experiment": name, "method": method, "group": group}, seeds_of(group)
    marks = np.array([7 * (seed == bad) for seed in seeds])
    kinds = [("constraint", {})]
    if method == "icl":
        kinds.append(("iteration_constraint", {"iteration": "01"}))
    for kind, more in kinds:
        file = root / path(kind, **run, **more)
        write_tensors(file, read_tensors(file) | {"failed": marks}, {})
    file = root / path("evaluation", **run)
    if file.is_file():
        tensors = read_tensors(file)
        kept = tensors["seeds"] != bad
        of_runs = {name: part[kept] for name, part in tensors.items() if name != "reported"}
        write_tensors(file, tensors | of_runs, {})


def write_evaluation(root, run, world):
    """What the last policies did in two sets of episodes."""
    seeds = seeds_of(run["group"])
    named = stored(seeds, "last", {"last": played(world.name, seeds)})
    write_tensors(root / path("evaluation", **run), named, {})


@cache
def played(name, seeds):
    """Two sets of the episodes that `steps` makes."""
    with TemporaryDirectory() as folder:
        file, world = Path(folder, "steps.parquet"), small_world(name)
        write_table(file, steps(name, seeds, 25, seeded=True), {})
        every = read_sets(file, world)
    parts = [
        Evaluation.of(world, [one[None, :12], one[None, 12:24]], visits(world, one[None]))
        for one in every.values()
    ]
    return Evaluation(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def write_iterations(root, run, world, networks):
    """What the iterations of ICL leave behind, as far as figures read it."""
    rng, seeds = np.random.default_rng(0), seeds_of(run["group"])
    blank = Networks.blank(len(seeds), networks.sizes).tensors("constraint.")
    write_tensors(root / path("iteration_constraint", **run, iteration="00"), blank, {})
    policy = some_policies(world, generators(seeds, "policy"))
    state = PolicyState(policy, policy, np.ones(len(seeds)), np.zeros(len(seeds), np.int64))
    learned = networks.tensors("constraint.")
    for iteration in iterations():
        here = {**run, "iteration": iteration}
        write_tensors(root / path("iteration_constraint", **here), learned, {})
        if world.name in SYNTHETIC:
            write_tensors(root / path("iteration_policy", **here), state.tensors(), {})
        columns = {name: rng.random((40, len(seeds))) for name in ADJUSTMENT_SCHEMA.names[2:]}
        log = log_table(ADJUSTMENT_SCHEMA, columns, seeds)
        write_table(root / path("adjustment", **here), log, {})


def write_training(root, run, world, epochs=20):
    """Logs of the final policy and of ICL's iterations; an episode ends in every second epoch."""
    seeds = seeds_of(run["group"])
    curves = [training(world, epochs + seed).slice(0, epochs) for seed in seeds]
    columns = {
        name: np.stack([curve[name].to_numpy() for curve in curves], axis=1)
        for name in TRAINING_SCHEMA.names[2:]
    }
    for name, values in columns.items():
        values[::2] = values[::2] if name == "steps" else np.nan
    log = log_table(TRAINING_SCHEMA, columns, seeds)
    write_table(root / path("training", **run), log, {})
    for iteration in iterations() if run["method"] == "icl" else ():
        write_table(root / path("iteration_training", **run, iteration=iteration), log, {})


def write_benchmarks(root, run):
    """Ten seconds of wall time and eight of CPU for every job."""
    once, repeated = JOBS.get(run["method"], (["learn"], []))
    files = [path("job_time", rule=rule, **run) for rule in once]
    for i in iterations():
        files += [path("iteration_time", rule=rule, **run, iteration=i) for rule in repeated]
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        write_time(root / file, Record(8.0, 10.0, ""))


def iterations():
    """The iterations of ICL, as paths write them."""
    return [f"{iteration:02d}" for iteration in range(1, ITERATIONS + 1)]


def write_true_fits(root, groups):
    """The same small fit for all of them: what it found does not matter to who draws it."""
    settings = FitSettings((2,), 1e-2, 1500)
    for seeds in groups:
        _, log = fit_true_constraint(small_world("gridworld-a"), seeds, settings)
        for name in CONFIGURATION.true_fits.environments:
            for shape in CONFIGURATION.true_fits.architectures:
                fields = {"experiment": name, "architecture": shape, "group": group_of(seeds)}
                write_table(root / path("true_fit", **fields), log, {})


def write_transfers(root, seeds):
    """Agents that keep a learned constraint almost as well as the true one."""
    rng, spent = np.random.default_rng(0), {"none": 2.0, "learned": 0.6, "true": 0.4}
    for name, change in CONFIGURATION.transfers.experiments.items():
        known = {"experiment": name, "agent": "PPO", "change": words(change), "episodes": 10}
        beta = world_of(EXPERIMENTS[name]).threshold
        rows = [
            {
                **known,
                **{"condition": condition, "seed": seed, "length": 20.0},
                **{"return": rng.normal(9, 1), "true_cost": beta * share + rng.uniform(0, 0.1)},
            }
            for condition, share in spent.items()
            for seed in seeds
        ]
        table = pa.Table.from_pylist(rows, schema=TRANSFER_SCHEMA)
        write_table(root / path("transfer", experiment=name), table, {})


def training(world, epochs, seed=1):
    rng = np.random.default_rng([epochs, seed])
    t = np.arange(1, epochs + 1)
    best = 200.0 if world.name.startswith("cart") else 1.0
    rise = 1 - np.exp(-5 * t / epochs)
    noise = rng.normal(size=(3, epochs))
    columns = {
        "seed": np.full(epochs, seed),
        "epoch": t,
        "return": np.clip(best * (rise + 0.06 * noise[0]), 0, best),
        "constraint_value": np.maximum(world.threshold * (2.2 - 1.6 * rise + 0.1 * noise[1]), 0),
        "violations": np.clip(1.05 - rise + 0.05 * noise[2], 0, 1),
        "length": np.full(epochs, 20.0),
        "entropy": 1.9 - rise,
        "steps": np.full(epochs, 400),
    }
    table = pa.table({name: np.asarray(column) for name, column in columns.items()})
    return table.cast(TRAINING_SCHEMA)


@cache
def steps(environment, seeds, episodes, seeded=False):
    """Episodes that drift from the start towards the goal, or to where c is 0."""
    world = small_world(environment)
    rows = {name: [] for name in ("seed", "trajectory", "step", "state", "action", "reward")}
    for k, seed in enumerate(seeds):
        paths = some_paths(world, np.random.default_rng(seed), episodes)
        for episode, (states, actions) in enumerate(paths):
            n = len(states)
            rows["seed"] += [seed] * n
            rows["trajectory"] += [k * episodes + episode] * n
            rows["step"] += range(n)
            rows["state"] += list(np.asarray(states, np.float32))
            rows["action"] += [[float(number) for number in np.atleast_1d(a)] for a in actions]
            rows["reward"] += [1.0] * n
    schema = SEEDED_SCHEMA if seeded else SCHEMA
    return pa.table({name: rows[name] for name in schema.names}, schema=schema)


def some_paths(world, rng, episodes):
    """States and actions of each episode."""
    if world.name in ROBOTS:
        return [running(world, rng) for _ in range(episodes)]
    if not world.discrete:
        return drifting(world, rng, episodes)
    return [one_path(world, rng) for _ in range(episodes)]


def one_path(world, rng):
    """An episode on a gridworld or of CartPole."""
    state = world.initial_states(rng, 1)
    path, actions = [], []
    for _ in range(min(world.horizon, 120)):
        if world.name.startswith("grid"):
            target = np.array(world.goal) - state[0]
            detour = np.array([0, 5]) - state[0] if state[0][0] < 4 and state[0][1] < 4 else target
            lean = np.sign(detour) if rng.uniform() < 0.6 else rng.integers(-1, 2, size=2)
            new = np.clip(state[0] + lean, 0, 6)
            blocked = world.constrained[tuple(new.astype(int))] and rng.uniform() < 0.97
            path.append(state[0])
            actions.append(rng.integers(8))
            if tuple(state[0].astype(int)) == world.goal:
                break
            state = state if blocked else new[None]
        else:
            path.append(np.clip(state[0], world.observation_low, world.observation_high))
            actions.append(rng.integers(2))
            aim = 0.9 if world.name == "cartpole-mr" else 0.0
            state = state + 0.04 * (aim - state) + rng.normal(0, 0.05, size=(1, 4))
    return np.array(path), np.array(actions)


def drifting(world, rng, episodes):
    """Episodes of small random actions, all of them simulated together."""
    states = world.initial_states(rng, episodes)
    going, paths = np.full(episodes, True), [([], []) for _ in range(episodes)]
    for _ in range(min(world.horizon, 120)):
        seen, actions = world.observe(states), 0.5 * random_actions(world, rng, episodes)
        for k in np.flatnonzero(going):
            paths[k][0].append(seen[k])
            paths[k][1].append(actions[k])
        states, _, ended = world.step(states, actions)
        going &= ~ended
    return paths


def running(world, rng):
    """A robot that comes to z = 1 or so, without the cost of simulating it."""
    states = rng.normal(size=(120, world.observation_size))
    states[:, 0] = np.linspace(0, 1, 120) + 0.1 * rng.normal(size=120).cumsum()
    return states, list(random_actions(world, rng, 120))


def fitted(world, seeds, method):
    """Networks that know a little of the true constraint; the same for the same arguments."""
    return _fitted(world.name, tuple(seeds), method).copy()


@cache
def _fitted(name, seeds, method):
    """Networks fitted a little (plain gradient descent) to a blurred true constraint."""
    world = small_world(name)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    networks = Networks.initialise(rngs, (world.input_size, 16, 16, 1))
    every = max(1, len(world.grid.nodes) // 100)  # some of a large grid's nodes are enough
    nodes = world.grid.nodes[::every].astype(np.float32)
    inputs = np.broadcast_to(nodes, (len(seeds), *nodes.shape)).astype(np.float32)
    # Where nobody knows the truth: too fast for the gap, or away from the line.
    true = nodes[:, 0] > nodes[:, 1] if world.true_on_grid is None else world.true_on_grid[::every]
    rounds = {"icl": 200, "icrl": 60}.get(method, 20)
    for _ in range(rounds):
        logits, hidden = networks.trace(inputs)
        error = 1 / (1 + np.exp(-logits)) - true[None, :, None]
        networks.parameters -= 0.3 * networks.gradient(hidden, (error / len(nodes)).astype("f4"))
    return networks


def determined_rows():
    """What the demonstrations determine: a tenth of a gridworld's cells, and edges up to 0.5."""
    of_cells = {DETERMINED: 0.1, DETERMINED_FORBIDDEN: 0.0, LEAST_CMSE: 0.01, MOST_CMSE: 0.9}
    of_cells |= {TRUTH_INSIDE: 1.0, REWARD_SILENT: 1.0, REWARD_LEFT_OUT: 0.0, UNEXPLAINED: 0.0}
    rows = []
    for name, one in EXPERIMENTS.items():
        if one.demonstrations_of is None and not one.recorded and one.environment != "nav":
            grid = one.environment.startswith("gridworld")
            known = of_cells if grid else {EDGE_BELOW: 0.5, EDGE_ABOVE: -1.0}
            kind = name, one.environment, NOBODY
            rows += [(*kind, m, 0, value, 0, True, "", 0) for m, value in known.items()]
    return rows


def metrics(methods, groups):
    """Metrics of every iteration, and the reported ones after the last."""
    rng = np.random.default_rng(0)
    seeds = [seed for group in groups for seed in group]
    rows = []
    for name, one in EXPERIMENTS.items():
        known = {} if one.recorded else {"cmse": 0.1}
        for method in methods_of(name, methods):
            rows += [
                (name, one.environment, method, metric, seed, value, ITERATIONS + 1, True, "", 0)
                for seed in seeds
                for metric, value in {EXCESS_COST: 0.25 * (seed == 1), INSIDE: seed != 1}.items()
            ]
            for metric, size in {**known, "nad": 2.0}.items():
                for iteration in range(ITERATIONS + 2):
                    values = size * rng.uniform(0.2, 1.5, size=len(seeds))
                    last = iteration == ITERATIONS + 1
                    ends = [("last", True), ("best", False)] if last else [("", False)]
                    episodes = 12 if last and metric == "nad" else 0
                    rows += [
                        (name, name, method, metric, seed, value, iteration, shown, end, episodes)
                        for seed, value in zip(seeds, values, strict=True)
                        for end, shown in ends
                    ]
    names = ("experiment", "environment", "method", "metric", "seed", "value")
    rows += determined_rows()
    names += ("iteration", "reported", "selection", "episodes")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table({name: columns[name] for name in METRICS_SCHEMA.names}, METRICS_SCHEMA)
