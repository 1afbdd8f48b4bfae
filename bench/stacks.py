"""What an epoch of constrained RL costs a seed, by how many seeds are trained as one stack."""

from __future__ import annotations

from pathlib import Path

from bench.gridworld import learner_of, train
from bench.timing import Row, in_turn, time_row

STACKS = (1, 2, 5, 10, 20)
REPEATS = 5


def rows(root: Path) -> list[Row]:
    """A line for each size, beside the time of one seed alone."""
    learners = [learner_of(root, range(1, stack + 1)) for stack in STACKS]
    turns = [lambda each=each: train(each) * len(each.rngs) for each in learners]
    alone, *stacked = in_turn(REPEATS, *turns)
    lines = [time_row("An epoch of Gridworld A takes 1 seed", alone, alone, "for itself")]
    for stack, each in zip(STACKS[1:], stacked, strict=True):
        what = f"An epoch of Gridworld A takes each of {stack} stacked seeds"
        lines.append(time_row(what, each, alone, "for 1 seed alone"))
    return lines
