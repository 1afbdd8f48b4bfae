"""A results tree with made-up but plausible content, to draw from."""

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table, write_tensors
from icl_core.demonstrations.files import SCHEMA
from icl_core.environments import WORLDS, make_world
from icl_core.learning.networks import Networks
from icl_core.measuring.loading import ROLLOUTS_SCHEMA
from icl_core.measuring.metrics import concatenate, metric_rows
from icl_core.showing.loading import TRAINING_SCHEMA
from icl_core.showing.sources import Sources


def make_results(root, methods=("icl",), groups=((1, 2),), epochs=120):
    """Write every kind of file that figures and tables read; the Sources over them."""
    for name in WORLDS:
        world = make_world(name)
        folder = root / "demonstrations" / name
        write_table(folder / "training.parquet", training(world, epochs), {})
        write_table(folder / "trajectories.parquet", steps(world, [0], 25), {})
        for method in methods:
            for first, last in groups:
                seeds = list(range(first, last + 1))
                final = root / "runs" / name / method / f"seeds-{first}-{last}" / "final"
                networks = fitted(world, seeds, method)
                write_tensors(final / "constraint.safetensors", networks.tensors(), {})
                write_table(final / "rollouts.parquet", steps(world, seeds, 25, seeded=True), {})
    write_table(root / "metrics.parquet", metrics(methods), {})
    paths = sorted(str(path) for path in root.rglob("*") if path.is_file())
    return Sources("quick", {name: make_world(name) for name in WORLDS}, tuple(paths))


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
            rows["action"] += [[float(a)] for a in actions]
            rows["reward"] += [1.0] * n
    schema = ROLLOUTS_SCHEMA if seeded else SCHEMA
    return pa.table({name: rows[name] for name in schema.names}, schema=schema)


def one_path(world, rng):
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


def fitted(world, seeds, method):
    """Networks fitted a little (plain gradient descent) to a blurred true constraint."""
    networks = Networks.initialise(
        [np.random.default_rng(seed) for seed in seeds], (world.input_size, 64, 64, 1)
    )
    nodes = world.grid.nodes.astype(np.float32)
    inputs = np.broadcast_to(nodes, (len(seeds), *nodes.shape)).astype(np.float32)
    rounds = {"icl": 400, "icrl": 60}.get(method, 20)
    for _ in range(rounds):
        logits, hidden = networks.trace(inputs)
        error = 1 / (1 + np.exp(-logits)) - world.true_on_grid[None, :, None]
        networks.parameters -= 0.3 * networks.gradient(hidden, (error / len(nodes)).astype("f4"))
    return networks


def metrics(methods):
    rng = np.random.default_rng(0)
    parts = []
    for name in WORLDS:
        for method in methods:
            for metric, size in (("cmse", 0.1), ("nad", 2.0)):
                values = size * rng.uniform(0.2, 1.5, size=2)
                rows = (name, name, method, metric, [1, 2], values)
                parts.append(metric_rows(*rows, iteration=10, reported=True))
                parts.append(metric_rows(*rows, iteration=1, reported=False))
    return concatenate(parts)
