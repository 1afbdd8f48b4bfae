"""From effects and their intervals to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
LICENSED = "needs the licensed recordings"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, LICENSED, NOT_RUN)  # as a reader wants them

FEWEST = 3  # seeds: two say nothing of the spread of others


class Effect(NamedTuple):
    """What a check has measured in one place, oriented so that the statement wants it positive."""

    part: str  # where, e.g. "Gridworld (A), against ICRL"
    size: float
    low: float  # ends of the 95 % interval
    high: float
    unit: str  # what a size of 1 is
    over: str  # what the interval is over: "5 seeds, paired"
    samples: int  # the smallest group behind it

    @property
    def verdict(self) -> str:
        """Of this part alone: nan compares as false, so an undefined effect decides nothing."""
        if self.samples < FEWEST:
            return INCONCLUSIVE
        if self.low > 0:
            return REPRODUCED
        return NOT_REPRODUCED if self.high < 0 else INCONCLUSIVE


def combined_verdict(effects: Sequence[Effect]) -> str:
    """A statement holds where all of its parts do, and fails where one of them fails."""
    found = {effect.verdict for effect in effects}
    if NOT_REPRODUCED in found:
        return NOT_REPRODUCED
    return REPRODUCED if found == {REPRODUCED} else INCONCLUSIVE


def weakest_effect(effects: Sequence[Effect]) -> Effect:
    """The part that the verdict hangs on: the one furthest from what the statement wants."""
    rank = (NOT_REPRODUCED, INCONCLUSIVE, REPRODUCED)
    return min(effects, key=lambda e: (rank.index(e.verdict), _standing(e)))


def _standing(effect: Effect) -> float:
    """The effect in half-widths of its interval, so that parts of several units compare."""
    half = (effect.high - effect.low) / 2
    return effect.size / half if half > 0 else effect.size
