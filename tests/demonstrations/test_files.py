"""Demonstrations in Parquet: what is written comes back, and each fault is refused."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icl_core.artifacts import read_provenance
from icl_core.demonstrations.dataset import Demonstrations
from icl_core.demonstrations.files import (
    SCHEMA,
    SEEDED_SCHEMA,
    read_demonstrations,
    read_sets,
    read_shown,
    write_demonstrations,
)
from icl_core.demonstrations.trajectories import Trajectories, side_by_side, zero_after_end
from icl_core.environments import make_world
from icl_core.errors import InputError
from tests.worlds import NAMES, random_actions, small_world

GRID, CART = make_world("gridworld-a"), make_world("cartpole-mr")
NUMBERS = st.integers(0, 2**32 - 1)


def random_episodes(world, seed, episodes, longest):
    """Episodes of random lengths with random content, padded to the longest of them."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, size=episodes, endpoint=True)
    steps = lengths.max()
    mask = np.arange(steps) < lengths[:, None]
    low = np.clip(world.observation_low, -1e4, 1e4)
    high = np.clip(world.observation_high, -1e4, 1e4)
    size = (episodes, steps, world.observation_size)
    states = rng.uniform(low, high, size=size).astype(np.float32)
    actions = random_actions(world, rng, episodes, steps)
    rewards = rng.normal(size=(episodes, steps)).astype(np.float32)
    return Trajectories(
        *(zero_after_end(part, mask) for part in (states, actions, rewards)), lengths
    )


def rows(lengths=(3, 2), size=2):
    """A good file of gridworld-a in plain Python, for a test to spoil."""
    return [
        {"trajectory": k, "step": t, "state": [float(t)] * size, "action": [1.0], "reward": 0.0}
        for k, length in enumerate(lengths)
        for t in range(length)
    ]


def save(path, records, schema=SCHEMA, metadata=None):
    pq.write_table(
        pa.Table.from_pylist(records, schema=schema).replace_schema_metadata(metadata), path
    )
    return path


def assert_equal(found, expected):
    for name in ("states", "actions", "rewards", "lengths"):
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype and np.array_equal(a, b), name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.parquet"


# --- What is written comes back


@pytest.mark.parametrize("name", NAMES)
@given(NUMBERS, st.integers(1, 8), st.integers(1, 50))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_round_trip(path, name, seed, episodes, longest):
    world = small_world(name)
    trajectories = random_episodes(world, seed, episodes, min(longest, world.horizon))
    write_demonstrations(path, trajectories, world, {"seeds": [seed]})
    assert_equal(read_demonstrations(path, world), trajectories)
    assert read_provenance(path) == {"seeds": [seed]}
    assert_equal(read_shown(path, world, [1, 2]), trajectories)  # all runs share them


@pytest.mark.parametrize("name", ["gridworld-b", "highd", "halfcheetah"])
def test_each_run_is_shown_its_own_experts_episodes(path, name):
    world, seeds = small_world(name), [7, 2, 30]
    sets = [random_episodes(world, seed, 4, 5 + seed) for seed in seeds]
    write_demonstrations(path, side_by_side(sets), world, {}, seeds)
    found = read_sets(path, world)
    assert sorted(found) == sorted(seeds)
    for seed, one in zip(seeds, sets, strict=True):
        assert_equal(found[seed], one.trimmed())
    shown = read_shown(path, world, [30, 7])
    assert shown.lengths.shape == (2, 4)
    assert_equal(shown[0].trimmed(), sets[2].trimmed())
    assert_equal(shown[1].trimmed(), sets[0].trimmed())
    with pytest.raises(InputError, match="of an expert with seed 3, found those of 2, 7, 30; "):
        read_shown(path, world, [7, 3])
    # Whoever does not look at the seeds reads one set.
    assert len(read_demonstrations(path, world)) == len(Demonstrations.from_parquet(path)) == 12
    assert pq.read_schema(path).names == SEEDED_SCHEMA.names


def test_demonstrations_and_experts_must_agree(path):
    stack = side_by_side([random_episodes(GRID, seed, 4, 9) for seed in (1, 2)])
    for episodes, experts in [(stack, []), (stack[0], [1])]:
        with pytest.raises(ValueError, match="one set of episodes"):
            write_demonstrations(path, episodes, GRID, {}, experts)


def test_the_file_is_as_documented(path):
    write_demonstrations(path, random_episodes(GRID, 0, 4, 9), GRID, {})
    schema = pq.read_schema(path)
    assert schema.remove_metadata().equals(SCHEMA)
    assert schema.metadata[b"environment"] == b"gridworld-a"


def test_equal_episodes_give_equal_bytes(path):
    contents = []
    for _ in range(2):
        write_demonstrations(path, random_episodes(CART, 1, 5, 30), CART, {"code": "x"})
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


def test_a_stack_or_an_empty_episode_is_not_written(path):
    stack = random_episodes(GRID, 0, 2, 3)
    stack = Trajectories(
        stack.states[None], stack.actions[None], stack.rewards[None], stack.lengths[None]
    )
    empty = Trajectories(
        np.zeros((1, 1, 2)), np.zeros((1, 1), int), np.zeros((1, 1)), np.zeros(1, int)
    )
    for wrong in (stack, empty):
        with pytest.raises(ValueError, match="at least one step each"):
            write_demonstrations(path, wrong, GRID, {})
    assert not path.exists()


# --- A user's own file


@given(seed=NUMBERS)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_rows_may_come_in_any_order(path, seed):
    trajectories = random_episodes(GRID, seed, 5, 12)
    write_demonstrations(path, trajectories, GRID, {})
    table = pq.read_table(path)
    pq.write_table(table.take(np.random.default_rng(seed).permutation(len(table))), path)
    assert_equal(read_demonstrations(path, GRID), trajectories)


@pytest.mark.parametrize(
    "make_list",
    [pa.list_, pa.large_list, lambda kind: pa.list_(kind, 2)],
    ids=["list", "large", "fixed"],
)
def test_wider_types_and_more_columns_are_welcome(path, make_list):
    schema = pa.schema(
        {
            "note": pa.string(),
            "reward": pa.float64(),
            "step": pa.uint64(),
            "trajectory": pa.float64(),
            "action": pa.list_(pa.int64()),
            "state": make_list(pa.float64()),
        }
    )
    save(path, rows(), schema)
    expected = path.with_name("plain.parquet")
    save(expected, rows())
    assert_equal(read_demonstrations(path, GRID), read_demonstrations(expected, GRID))


def test_a_file_with_the_types_that_others_infer_is_good(path):
    """64-bit numbers throughout, as pandas or a plain pyarrow script would write them."""
    table = pa.Table.from_pylist(rows((4, 1)))
    assert table.schema.field("step").type == pa.int64()
    pq.write_table(table, path)
    found = read_demonstrations(path, GRID)
    assert found.lengths.tolist() == [4, 1] and found.actions[0].tolist() == [1] * 4


def test_many_row_groups_and_any_trajectory_numbers(path):
    records = rows((5, 4, 3))
    for record in records:
        record["trajectory"] = [70, -4, 12][record["trajectory"]]
    pq.write_table(pa.Table.from_pylist(records, SCHEMA), path, row_group_size=2)
    assert read_demonstrations(path, GRID).lengths.tolist() == [4, 3, 5]  # in order of the numbers


def test_the_whole_horizon_may_be_used(path):
    write_demonstrations(path, random_episodes(GRID, 3, 40, 50), GRID, {})
    records = [{**row, "state": [0.0, 0.0]} for row in rows((50,))]
    assert read_demonstrations(save(path, records), GRID).lengths.tolist() == [50]


# --- Faults: each names file, row and what to do, in one sentence


def spoiled(change):
    records = rows()
    change(records)
    return records


FAULTS = {
    "nan": (
        lambda r: r[1].update(state=[1.0, float("nan")]),
        "row 1 (trajectory 0, step 1) expected finite numbers in 'state', found (1, nan); correct",
    ),
    "infinite": (
        lambda r: r[4].update(state=[float("inf"), 0.0]),
        "row 4 (trajectory 1, step 1) expected finite numbers in 'state', found (inf, 0); correct",
    ),
    "null inside": (
        lambda r: r[2].update(state=[None, 0.0]),
        "row 2 (trajectory 0, step 2) expected finite numbers in 'state', found (nan, 0); correct",
    ),
    "reward": (
        lambda r: r[3].update(reward=float("nan")),
        "row 3 (trajectory 1, step 0) expected a finite 'reward', found nan; correct",
    ),
    "null": (
        lambda r: r[2].update(state=None),
        "row 2 expected a value of 'state', found none; fill",
    ),
    "dimension": (
        lambda r: r[2].update(state=[1.0, 2.0, 3.0]),
        "row 2 (trajectory 0, step 2) expected 2 numbers in 'state', found 3; give",
    ),
    "action dimension": (
        lambda r: r[0].update(action=[]),
        "row 0 (trajectory 0, step 0) expected 1 number in 'action', found 0; give",
    ),
    "outside": (
        lambda r: r[4].update(state=[3.0, 7.0]),
        "row 4 (trajectory 1, step 1) expected a state of gridworld-a from (0, 0) to (6, 6), "
        "found (3, 7); check",
    ),
    "action": (
        lambda r: r[3].update(action=[8.0]),
        "row 3 (trajectory 1, step 0) expected an action of gridworld-a, a whole number from 0 "
        "to 7, found 8; number",
    ),
    "negative action": (
        lambda r: r[3].update(action=[-1.0]),
        "whole number from 0 to 7, found -1;",
    ),
    "half an action": (lambda r: r[3].update(action=[1.5]), "whole number from 0 to 7, found 1.5;"),
    "undefined action": (lambda r: r[3].update(action=[float("nan")]), "in 'action', found (nan);"),
    "gap": (
        lambda r: r.pop(1),
        "row 1 (trajectory 0, step 2) expected step 1 of trajectory 0, found step 2 in its place;",
    ),
    "from one": (
        lambda r: r.pop(3),
        "row 3 (trajectory 1, step 1) expected step 0 of trajectory 1, found step 1 in its place;",
    ),
    "twice": (
        lambda r: r[2].update(step=1),
        "row 2 (trajectory 0, step 1) expected step 2 of trajectory 0, "
        "found step 1 a second time; number",
    ),
    "negative step": (
        lambda r: r[3].update(step=-1),
        "row 3 (trajectory 1, step -1) expected step 0 of trajectory 1, "
        "found step -1 in its place;",
    ),
    "empty": (lambda r: r.clear(), " expected at least one trajectory, found no rows; record"),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_row_is_told(path, change, message):
    save(path, spoiled(change))
    with pytest.raises(InputError) as error:
        read_demonstrations(path, GRID)
    text = str(error.value)
    assert text.startswith(f"{path}:") and message in text and "\n" not in text


def test_the_row_is_that_of_the_file_not_of_the_sorted_table(path):
    records = spoiled(lambda r: r[1].update(action=[9.0]))[::-1]
    with pytest.raises(InputError, match=re.escape("row 3 (trajectory 0, step 1)")):
        read_demonstrations(save(path, records), GRID)
    records = spoiled(lambda r: r.pop(1))[::-1]
    with pytest.raises(InputError, match=re.escape("row 2 (trajectory 0, step 2) expected step 1")):
        read_demonstrations(save(path, records), GRID)


def test_too_long_a_trajectory_is_told(path):
    records = [{**row, "state": [0.0, 0.0]} for row in rows((2, 52))]
    message = (
        "row 52 (trajectory 1, step 50) expected at most 50 steps in a trajectory of gridworld-a, "
        "found 52 in trajectory 1; cut"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        read_demonstrations(save(path, records), GRID)


def test_a_missing_column_is_told(path):
    table = pa.Table.from_pylist(rows(), schema=SCHEMA).rename_columns(
        ["trajectory", "step", "state", "action", "gain"]
    )
    pq.write_table(table, path)
    message = "found trajectory, step, state, action, gain; add or rename reward"
    with pytest.raises(InputError, match=re.escape(message)):
        read_demonstrations(path, GRID)


@pytest.mark.parametrize(
    ("name", "kind", "value", "message"),
    [
        ("state", pa.string(), "1, 2", "expected lists of numbers in column 'state', found string"),
        ("state", pa.list_(pa.string()), ["a"], "in column 'state', found list<element: string>"),
        ("action", pa.int64(), 1, "expected lists of numbers in column 'action', found int64"),
        ("reward", pa.string(), "x", "expected numbers in column 'reward', found string"),
        ("step", pa.list_(pa.int32()), [1], "expected numbers in column 'step', found list"),
        ("step", pa.float64(), 0.5, "row 0 expected a whole number as 'step', found 0.5"),
        ("trajectory", pa.float64(), float("nan"), "row 0 expected a whole number as 'trajectory'"),
        ("trajectory", pa.uint64(), 2**63, "row 0 expected a whole number as 'trajectory'"),
    ],
)
def test_a_wrong_type_is_told(path, name, kind, value, message):
    schema = SCHEMA.set(SCHEMA.get_field_index(name), pa.field(name, kind))
    save(path, [{**row, name: value} for row in rows()], schema)
    with pytest.raises(InputError, match=re.escape(message)):
        read_demonstrations(path, GRID)


def test_another_environments_file_is_told(path):
    write_demonstrations(path, random_episodes(GRID, 0, 2, 3), GRID, {})
    message = "expected demonstrations of 'gridworld-b', found the environment 'gridworld-a' in its"
    with pytest.raises(InputError, match=re.escape(message)):
        read_demonstrations(path, make_world("gridworld-b"))
    save(path, rows(size=4), metadata={"environment": "cartpole-mid"})
    with pytest.raises(InputError, match="'cartpole-mid' in its metadata"):
        read_demonstrations(path, CART)


def test_too_large_for_float32_is_told(path):
    schema = SCHEMA.set(2, pa.field("state", pa.list_(pa.float64())))
    save(path, [{**row, "state": [0.0, 1e300, 0.0, 0.0]} for row in rows(size=4)], schema)
    with pytest.raises(
        InputError, match=re.escape("finite numbers in 'state', found (0, 1e+300, 0, 0)")
    ):
        read_demonstrations(path, CART)


def test_no_file_or_not_parquet_is_told(path, tmp_path):
    with pytest.raises(InputError, match=r"mine.parquet: expected .* found no such file"):
        read_demonstrations(path, GRID)
    with pytest.raises(InputError, match="found a folder; correct the path"):
        read_demonstrations(tmp_path, GRID)
    path.write_text("trajectory,step\n")
    with pytest.raises(InputError, match=r"mine.parquet: expected a complete Parquet file"):
        read_demonstrations(path, GRID)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="expected a complete Parquet file"):
        read_demonstrations(path, GRID)


def test_a_truncated_or_damaged_file_is_told(path):
    write_demonstrations(path, random_episodes(GRID, 0, 20, 50), GRID, {})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="expected a complete Parquet file"):
        read_demonstrations(path, GRID)
    path.write_bytes(content[:200] + bytes([content[200] ^ 255]) + content[201:])
    with pytest.raises(InputError, match="expected a complete Parquet file"):
        read_demonstrations(path, GRID)
