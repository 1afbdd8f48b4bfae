"""Demonstration files: real rollouts with a fault, and healthy ones that must pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from icl_core.demonstrations.brought import read_brought
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.learning.engine.rollouts import roll_out
from tests.campaign.cases import Kind, Place, Seen, accepted, choose, refused
from tests.campaign.demonstration_files import FILE_FAULTS, flipped, table_of
from tests.worlds import ROBOTS, SYNTHETIC, short_world, some_policies

WORLDS = (*SYNTHETIC, *SYNTHETIC, *ROBOTS)  # what is cheap, twice as often
CLEAR = 5  # times the room that a world gives: a fault that is drawn is no matter of rounding
TRIES = 100


@cache
def world_of(name: str) -> World:
    return short_world(name, 40)


def rollouts(rng: np.random.Generator, world: World) -> Trajectories:
    """Episodes of a random policy."""
    policy = some_policies(world, [rng], scale=float(rng.uniform(0.5, 3)))
    return roll_out(world, policy, [rng], int(rng.integers(2, 6)))[0]


def copy_of(found: Trajectories) -> Trajectories:
    return Trajectories(*(np.array(part) for part in found.parts()))


# ------------------------------------------------------------------ whether a change is a fault


def contradicts(world: World, given: Trajectories) -> bool:
    """Whether episodes cannot be the world's, clearly: one step after another, by its `step`."""
    begins = world.observe(world.initial_states(np.random.default_rng(0), 2000))
    room = CLEAR * np.asarray(world.step_room)
    low, high = begins.min(axis=0) - room, begins.max(axis=0) + room
    for k, length in enumerate(given.lengths):
        if not np.all((given.states[k, 0] >= low) & (given.states[k, 0] <= high)):
            return True
        for t in range(length):
            state = given.states[k, t : t + 1].astype(np.float64)
            after, reward, over = world.step(state, given.actions[k, t : t + 1])
            if abs(reward[0] - given.rewards[k, t]) > CLEAR * world.reward_room * max(
                1, abs(given.rewards[k, t])
            ):
                return True
            if t + 1 < length and np.any(
                np.abs(world.observe(after)[0] - given.states[k, t + 1]) > room
            ):
                return True
            if t + 1 < length and over[0] and _surely(world, state, given.actions[k, t : t + 1]):
                return True
    return False


def _surely(world: World, state: np.ndarray, action: np.ndarray) -> bool:
    """Whether the episode ends after this step whatever the rounding."""
    if np.array_equal(state, np.rint(state)):
        return True
    room = CLEAR * np.asarray(world.step_room)
    return all(world.step(state + d, action)[2][0] for d in (-room, room))


# ------------------------------------------------------------------ changes


def row(rng: np.random.Generator, e: Trajectories, first: int = 0) -> tuple[int, int]:
    """Any step, but for the first ones."""
    k = choose(rng, np.flatnonzero(e.lengths > first) if np.any(e.lengths > first) else [0])
    return int(k), int(rng.integers(min(first, e.lengths[k] - 1), e.lengths[k]))


def some_size(rng: np.random.Generator, low: float, high: float) -> float:
    """A number of either sign, its size spread over powers of ten."""
    return float(choose(rng, (-1, 1)) * 10 ** rng.uniform(np.log10(low), np.log10(high)))


def teleport(rng, world, e):
    at = row(rng, e, 1)
    k = int(rng.integers(e.states.shape[2]))
    room = np.broadcast_to(world.step_room, e.states.shape[2])[k]
    e.states[(*at, k)] += np.float32(some_size(rng, max(4 * CLEAR * room, 0.5), 1e3))


def swapped_axes(rng, world, e):
    e.states[...] = e.states[..., rng.permutation(e.states.shape[2])]


def units(rng, world, e):
    e.states[...] *= np.float32(choose(rng, (100, 1000, 0.01, 3.28, 57.3, -1)))


def undefined(rng, world, e):
    part = choose(rng, (e.states, e.rewards) if world.discrete else (e.states, e.actions))
    part[row(rng, e)] = choose(rng, (np.nan, np.inf, -np.inf))


def huge(rng, world, e):
    part = choose(rng, (e.states, e.rewards) if world.discrete else (e.states, e.actions))
    part[row(rng, e)] = np.float32(some_size(rng, 2e6, 3e38))


def other_rewards(rng, world, e):
    at = row(rng, e) if rng.random() < 0.5 else ...
    e.rewards[at] += np.float32(some_size(rng, 2 * CLEAR * world.reward_room * 10, 1e3))


def another_start(rng, world, e):
    e.states[row(rng, e)[0], 0] += rng.normal(0, 30, e.states.shape[2]).astype(np.float32)


def from_the_middle(rng, world, e):
    k, t = row(rng, e, 1)
    for part in e.parts()[:3]:
        part[k, : part.shape[1] - t] = part[k, t:].copy()
    e.lengths[k] -= t


def other_action(rng, world, e):
    at = row(rng, e)
    if world.discrete:
        e.actions[at] = choose(rng, [*range(-2, world.n_actions + 3)])
    else:
        e.actions[at] = np.float32(some_size(rng, 1e3, 1e6))


def after_the_end(rng, world, e):
    """Episodes that go on although the world has ended them."""
    k = row(rng, e)[0]
    n = int(e.lengths[k])
    if n >= min(world.horizon, e.rewards.shape[1]):
        return
    state = e.states[k, n - 1 : n].astype(np.float64)
    e.states[k, n] = world.observe(world.step(state, e.actions[k, n - 1 : n])[0])[0]
    e.actions[k, n] = e.actions[k, n - 1]
    e.rewards[k, n] = e.rewards[k, n - 1]
    e.lengths[k] += 1


def step_left_out(rng, world, e):
    k, t = row(rng, e, 1)
    for part in e.parts()[:3]:
        part[k, t:-1] = part[k, t + 1 :].copy()
    e.lengths[k] -= 1


def episodes_joined(rng, world, e):
    """The second half of one episode behind the first of another."""
    (a, s), (b, t) = row(rng, e, 1), row(rng, e, 1)
    n = min(int(e.lengths[b]) - t, e.rewards.shape[1] - s)
    for part in e.parts()[:3]:
        part[a, s : s + n] = part[b, t : t + n].copy()
    e.lengths[a] = s + n


EVERYWHERE = (teleport, units, undefined, huge, other_rewards, another_start, other_action)
WHOLE_STATE = (swapped_axes, from_the_middle, after_the_end, step_left_out, episodes_joined)


def spoilt(
    rng: np.random.Generator, world: World
) -> tuple[Callable[[np.random.Generator, World, Trajectories], None], Trajectories]:
    """Episodes with a fault that is one."""
    healthy, synthetic = rollouts(rng, world), world.name in SYNTHETIC
    for _ in range(TRIES):
        change = choose(rng, (*EVERYWHERE, *WHOLE_STATE) if synthetic else EVERYWHERE)
        e = copy_of(healthy)
        change(rng, world, e)
        odd = change in (undefined, huge) or (
            world.discrete and bool(np.any((e.actions < 0) | (e.actions >= world.n_actions)))
        )
        if np.any(e.lengths < 1):
            continue
        if not synthetic or odd or contradicts(world, e):
            return change, e
    raise AssertionError(f"no fault found for {world.name}")


def bad_episodes(rng: np.random.Generator, place: Place) -> Seen:
    """A file of the right form with something in it that cannot be."""
    world, path = world_of(choose(rng, WORLDS)), place.folder / "mine.parquet"
    change, e = spoilt(rng, world)
    write_demonstrations(path, e, world, {})
    drawn = f"{world.name}: {change.__name__}"
    return refused(drawn, lambda: read_brought(path, world, 1.0), "mine.parquet")


def bad_form(rng: np.random.Generator, place: Place) -> Seen:
    """Right episodes in a file that is not right."""
    world, path = world_of(choose(rng, WORLDS)), place.folder / "mine.parquet"
    healthy, fault = rollouts(rng, world), choose(rng, FILE_FAULTS)
    write_demonstrations(path, healthy, world, {})
    drawn = f"{world.name}: {fault.__name__}"
    if not fault(rng, path, world):
        return Seen("right", f"{drawn}: changes nothing")

    def read() -> None:
        found = read_brought(path, world, 1.0)
        # A flip may hit what nobody reads: then nothing is wrong.
        if fault is flipped and same(found, healthy):
            raise InputError(f"{path}: the same content")

    return refused(drawn, read, "mine.parquet")


def same(one: Trajectories, other: Trajectories) -> bool:
    """Whether the steps taken are the same, bit for bit."""
    pairs = zip(one.parts()[:3], other.parts()[:3], strict=True)
    return np.array_equal(one.lengths, other.lengths) and all(
        np.array_equal(a[one.mask], b[other.mask]) for a, b in pairs
    )


def healthy(rng: np.random.Generator, place: Place) -> Seen:
    """Rows in any order, wider types, more columns, no metadata."""
    world, path = world_of(choose(rng, WORLDS)), place.folder / "mine.parquet"
    e = rollouts(rng, world)
    write_demonstrations(path, e, world, {})
    table = table_of(path)
    if rng.random() < 0.5:
        table = table.take(rng.permutation(table.num_rows))
    if rng.random() < 0.5:
        table = table.append_column("note", pa.array(["x"] * table.num_rows))
    if rng.random() < 0.5:
        wide = [pa.int64(), pa.int64(), pa.list_(pa.float64()), pa.list_(pa.float64())]
        for k, kind in enumerate([*wide, pa.float64()]):
            table = table.set_column(k, table.column_names[k], table.column(k).cast(kind))
    pq.write_table(table, path)
    return accepted(f"{world.name}: healthy", lambda: read_brought(path, world, 1.0))


KINDS = (
    Kind("demonstrations", 150, bad_episodes),
    Kind("demonstration-files", 100, bad_form),
    Kind("healthy-demonstrations", 60, healthy),
)
