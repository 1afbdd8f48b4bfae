"""A results tree with made-up but plausible content, to draw from."""

from functools import cache

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table, write_tensors
from icl_core.configuration import resolve
from icl_core.demonstrations.files import SCHEMA
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, log_table
from icl_core.learning.engine.networks import Networks
from icl_core.learning.true_fit import FitSettings, fit_true_constraint
from icl_core.measuring.loading import ROLLOUTS_SCHEMA
from icl_core.measuring.metrics import concatenate, metric_rows
from icl_core.randomness import generators
from icl_core.showing.catalogue.item import TIMES_OF_METHODS
from icl_core.showing.loading import TRAINING_SCHEMA
from icl_core.showing.sources import Sources
from tests import test_configuration as settings_files
from tests.worlds import ROBOTS, random_actions, small_world

CONFIG = settings_files.CONFIG
MAIN = tuple(CONFIG["experiments"])  # the others are variants of them
EXPERIMENTS = resolve({**CONFIG, "scale": "quick"}, settings_files.SCHEMA).experiments
ITERATIONS = 3


def make_results(root, methods=("icl",), groups=((1, 2),), epochs=120):
    """Write every kind of file that figures and tables read; the Sources over them."""
    for name in MAIN:
        world = world_of(EXPERIMENTS[name])
        folder = root / "demonstrations" / name
        if EXPERIMENTS[name].generated:
            write_table(folder / "training.parquet", training(world, epochs), {})
        write_table(folder / "trajectories.parquet", steps(world, [0], 25), {})
    for name, experiment in EXPERIMENTS.items():
        world = world_of(experiment)
        for method in methods if name in MAIN else ("icl",):
            for first, last in groups:
                seeds = list(range(first, last + 1))
                final = root / "runs" / name / method / f"seeds-{first}-{last}" / "final"
                networks = fitted(world, seeds, method)
                write_tensors(final / "constraint.safetensors", networks.tensors(), {})
                if name in MAIN:
                    rollouts = steps(world, seeds, 25, seeded=True)
                    write_table(final / "rollouts.parquet", rollouts, {})
                if method == "icl":
                    write_iterations(final.parent, world, seeds, networks)
                if name in ROBOTS:
                    write_training(final.parent, world, seeds)
                write_benchmarks(root / "benchmarks", name, method, final.parent.name)
    write_architectures(root / "architectures", groups)
    write_table(root / "metrics.parquet", metrics(methods, groups), {})
    paths = sorted(str(path) for path in root.rglob("*") if path.is_file())
    worlds = {name: world_of(experiment) for name, experiment in EXPERIMENTS.items()}
    settings = {name: told(experiment, methods) for name, experiment in EXPERIMENTS.items()}
    return Sources("quick", worlds, tuple(paths), settings)


def world_of(experiment):
    world = small_world(experiment.environment, **experiment.world)
    world.threshold = experiment.learning["threshold"] or world.threshold
    return world


def told(experiment, methods):
    """Everything that an experiment was run with."""
    sections = {s: getattr(experiment, s) for s in ("demonstrations", "learning", "measuring")}
    return {"methods": [m for m in experiment.methods if m in methods], "seeds": [1, 2], **sections}


def write_iterations(folder, world, seeds, networks):
    """What the iterations of ICL leave behind, as far as figures read it."""
    rng = np.random.default_rng(0)
    write_tensors(
        folder / "iteration-00" / "constraint.safetensors",
        Networks.blank(len(seeds), networks.sizes).tensors("constraint."),
        {},
    )
    policy = Networks.initialise(generators(seeds, "policy"), (2, 8, 8))
    state = PolicyState(policy, policy, np.ones(len(seeds)))
    for iteration in range(1, ITERATIONS + 1):
        one = folder / f"iteration-{iteration:02d}"
        write_tensors(one / "constraint.safetensors", networks.tensors("constraint."), {})
        if world.name.startswith("gridworld"):
            write_tensors(one / "policy.safetensors", state.tensors(), {})
        columns = {name: rng.random((40, len(seeds))) for name in ADJUSTMENT_SCHEMA.names[2:]}
        write_table(one / "adjustment.parquet", log_table(ADJUSTMENT_SCHEMA, columns, seeds), {})


def write_training(folder, world, seeds, epochs=20):
    """Logs of the final policy and of ICL's iterations; an episode ends in every second epoch."""
    parts = ["final"]
    if folder.parent.name == "icl":
        parts += [f"iteration-{iteration:02d}" for iteration in range(1, ITERATIONS + 1)]
    curves = [training(world, epochs + seed).slice(0, epochs) for seed in seeds]
    columns = {
        name: np.stack([curve[name].to_numpy() for curve in curves], axis=1)
        for name in TRAINING_SCHEMA.names[2:]
    }
    for values in columns.values():
        values[::2] = np.nan
    for part in parts:
        write_table(
            folder / part / "training.parquet", log_table(TRAINING_SCHEMA, columns, seeds), {}
        )


def write_benchmarks(folder, experiment, method, group):
    """Ten seconds of wall time and eight of CPU for every job."""
    parts = []
    for pattern in TIMES_OF_METHODS[method]:
        iterations = range(1, ITERATIONS + 1) if "{iteration}" in pattern else [0]
        place = pattern.removeprefix("benchmarks/").replace("seeds-{group}", group)
        parts += [place.format(experiment=experiment, iteration=f"{i:02d}") for i in iterations]
    for part in parts:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).write_text("s\th:m:s\tcpu_time\n10.0\t0:00:10\t8.0\n")


def write_architectures(folder, groups):
    """The same small fit for all of them: what it found does not matter to who draws it."""
    settings = FitSettings((2,), 1e-2, 1500)
    for first, last in groups:
        _, log = fit_true_constraint(small_world("gridworld-a"), range(first, last + 1), settings)
        for name in CONFIG["architectures"]["environments"]:
            for shape in CONFIG["architectures"]["hidden"]:
                write_table(folder / name / shape / f"seeds-{first}-{last}.parquet", log, {})


def training(world, epochs):
    rng = np.random.default_rng(epochs)
    t = np.arange(1, epochs + 1)
    best = 200.0 if world.name.startswith("cart") else 1.0
    rise = 1 - np.exp(-5 * t / epochs)
    noise = rng.normal(size=(3, epochs))
    columns = {
        "seed": np.ones(epochs),
        "epoch": t,
        "return": np.clip(best * (rise + 0.06 * noise[0]), 0, best),
        "constraint_value": np.maximum(world.threshold * (2.2 - 1.6 * rise + 0.1 * noise[1]), 0),
        "violations": np.clip(1.05 - rise + 0.05 * noise[2], 0, 1),
        "length": np.full(epochs, 20.0),
        "entropy": 1.9 - rise,
    }
    return pa.table(
        {name: np.asarray(column) for name, column in columns.items()},
    ).cast(TRAINING_SCHEMA)


def steps(world, seeds, episodes, seeded=False):
    """Episodes that drift from the start towards the goal, or to where c is 0."""
    rows = {name: [] for name in ("seed", "trajectory", "step", "state", "action", "reward")}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for episode in range(episodes):
            path, actions = one_path(world, rng)
            n = len(path)
            rows["seed"] += [seed] * n
            rows["trajectory"] += [episode] * n
            rows["step"] += range(n)
            rows["state"] += list(path.astype(np.float32))
            rows["action"] += [[float(number) for number in np.atleast_1d(a)] for a in actions]
            rows["reward"] += [1.0] * n
    schema = ROLLOUTS_SCHEMA if seeded else SCHEMA
    return pa.table({name: rows[name] for name in schema.names}, schema=schema)


def one_path(world, rng):
    if world.name in ROBOTS:
        return running(world, rng)
    if not world.discrete:
        return drifting(world, rng)
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
            path.append(state[0])
            actions.append(rng.integers(2))
            aim = 0.9 if world.name == "cartpole-mr" else 0.0
            state = state + 0.04 * (aim - state) + rng.normal(0, 0.05, size=(1, 4))
    return np.array(path), np.array(actions)


def drifting(world, rng):
    """An episode of small random actions."""
    state, path, actions = world.initial_states(rng, 1), [], []
    for _ in range(120):
        path.append(world.observe(state)[0])
        actions.append(0.5 * random_actions(world, rng))
        state, _, ended = world.step(state, actions[-1][None])
        if ended[0]:
            break
    return np.array(path), actions


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
    networks = Networks.initialise(
        [np.random.default_rng(seed) for seed in seeds], (world.input_size, 64, 64, 1)
    )
    nodes = world.grid.nodes.astype(np.float32)
    inputs = np.broadcast_to(nodes, (len(seeds), *nodes.shape)).astype(np.float32)
    # Where nobody knows the truth: too fast for the gap, or away from the line.
    true = nodes[:, 0] > nodes[:, 1] if world.true_on_grid is None else world.true_on_grid
    rounds = {"icl": 400, "icrl": 60}.get(method, 20)
    rounds = rounds if len(nodes) < 200 else 10
    for _ in range(rounds):
        logits, hidden = networks.trace(inputs)
        error = 1 / (1 + np.exp(-logits)) - true[None, :, None]
        networks.parameters -= 0.3 * networks.gradient(hidden, (error / len(nodes)).astype("f4"))
    return networks


def metrics(methods, groups):
    rng = np.random.default_rng(0)
    seeds = [seed for first, last in groups for seed in range(first, last + 1)]
    parts = []
    for name, experiment in EXPERIMENTS.items():
        known = {} if experiment.driving else {"cmse": 0.1}
        for method in methods if name in MAIN else ("icl",):
            for metric, size in {**known, "nad": 2.0}.items():
                for iteration in range(ITERATIONS + 2):
                    values = size * rng.uniform(0.2, 1.5, size=len(seeds))
                    last = iteration == ITERATIONS + 1
                    rows = (name, name, method, metric, seeds, values)
                    parts.append(metric_rows(*rows, iteration=iteration, reported=last))
    return concatenate(parts)
