"""The evaluation grid on which worlds are compared, and how a world gets its name."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.environments import make_world
from icl_core.environments.gridworld import Gridworld
from icl_core.environments.world import Axis, EvaluationGrid

AXES = st.builds(
    lambda low, spacing, n: Axis("z", low + spacing * np.arange(n)),
    st.floats(-100, 100),
    st.floats(0.01, 10),
    st.integers(2, 60),
)


@given(axis=AXES, share=st.floats(-0.3, 1.3))
@settings(max_examples=300)
def test_nearest_is_the_nearest_node_or_none(axis, share):
    low, high = axis.nodes[0], axis.nodes[-1]
    half = (axis.nodes[1] - axis.nodes[0]) / 2
    value = low + share * (high - low)
    index = int(axis.nearest(np.array(value)))
    distances = np.abs(axis.nodes - value)
    if index == -1:
        assert value <= low - half + 1e-9 or value >= high + half - 1e-9
    else:
        assert distances[index] <= distances.min() + 1e-9 and distances[index] <= half + 1e-9


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=20))
@settings(max_examples=200)
def test_locate_takes_any_number(pairs):
    """Huge, infinite and undefined inputs are outside, without a warning."""
    grid = make_world("gridworld-a").grid
    inputs = np.array(pairs, dtype=np.float32)
    with np.errstate(all="raise"):
        found = grid.locate(inputs)
    for (i, j), index in zip(inputs.astype(np.float64), found, strict=True):
        inside = -0.5 <= i <= 6.5 and -0.5 <= j <= 6.5
        assert (index >= 0) == inside
        if inside:
            assert max(abs(grid.nodes[index] - (i, j))) <= 0.5


def test_locate_counts_the_last_axis_fastest():
    grid = EvaluationGrid((Axis("a", np.arange(3.0)), Axis("b", np.arange(4.0))))
    assert grid.locate(np.array([[0, 1], [1, 0], [2, 3], [3, 0], [0, -1]])).tolist() == [
        1,
        4,
        11,
        -1,
        -1,
    ]
    assert grid.shape == (3, 4) and grid.nodes[4].tolist() == [1, 0]


def test_a_world_is_named_by_its_file_unless_it_says_otherwise():
    class Plain(Gridworld):
        pass

    class Named(Gridworld):
        name = "another"

    assert Plain.name == "test-world" and Named.name == "another"
