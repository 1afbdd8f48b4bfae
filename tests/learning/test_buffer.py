"""The memory of steps, against a queue."""

from collections import deque

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.learning.engine.actions import Choices
from icl_core.learning.engine.ppo import Batch, StepBuffer
from icl_core.randomness import generators


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 12), st.lists(st.integers(0, 30), min_size=1, max_size=5), st.integers(0, 999)
)
def test_buffer_holds_what_a_queue_would_hold(capacity, sizes, seed):
    rng = np.random.default_rng(seed)
    buffer = StepBuffer(2, capacity, 3, Choices(40))
    queues = [deque(maxlen=capacity) for _ in range(2)]
    label = 0
    for size in sizes:
        names = label + np.arange(2 * size).reshape(2, size)
        label += 2 * size
        mask = rng.random((2, size)) < 0.6
        buffer.add(labelled(names), mask)
        for queue, row, taken in zip(queues, names, mask, strict=True):
            queue.extend(row[taken].tolist())
    for run, queue in enumerate(queues):
        held = min(buffer.written[run], capacity)
        assert sorted(buffer.actions[run, :held]) == sorted(queue)
    if all(queues):
        drawn = buffer.draw(rng.spawn(2), batches=6, size=10)
        for batch in drawn:
            again = labelled(batch.actions)
            np.testing.assert_array_equal(batch.states, again.states)
            np.testing.assert_array_equal(batch.targets, again.targets)
            np.testing.assert_array_equal(batch.old_log_probabilities, again.old_log_probabilities)
            for row, queue in zip(batch.actions, queues, strict=True):
                assert set(row) <= set(queue)


def labelled(names):
    """Steps whose every field tells their name, (2, n) distinct integers."""
    names = np.asarray(names)
    states = names[..., None] + np.array([0.0, 0.25, 0.5])
    return Batch(states.astype(np.float32), names, -names.astype(np.float32), names + 0.5)


def test_buffer_draws_every_step_equally_often():
    buffer = StepBuffer(1, 8, 3, Choices(40))
    buffer.add(labelled(np.arange(11)[None]), np.ones((1, 11), bool))
    drawn = buffer.draw(generators([1], "d"), batches=100, size=80)
    counts = np.bincount(np.concatenate([batch.actions[0] for batch in drawn]), minlength=11)
    assert not counts[:3].any()  # the oldest three made room
    np.testing.assert_allclose(counts[3:], 1000, atol=150)
    buffer.clear()
    buffer.add(labelled(np.array([[20]])), np.ones((1, 1), bool))
    assert (buffer.draw(generators([1], "d"), 1, 5)[0].actions == 20).all()
