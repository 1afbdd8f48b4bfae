"""From effects and their intervals to a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"
DESCRIPTIVE = "descriptive"  # one number without chance, or one run: no interval decides
LICENSED = "needs the licensed recordings"
NOT_RUN = "not run"
# As a reader wants them.
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, DESCRIPTIVE, LICENSED, NOT_RUN)

FEWEST = 4  # experts: three say too little of the spread of others
WRONG = 0.025  # how often a part may fail by chance: that of one end of a 95 % interval
AS_STATED, OTHERWISE = "as stated", "otherwise"  # of a part that is only described
RANK = (NOT_REPRODUCED, OTHERWISE, INCONCLUSIVE, REPRODUCED, AS_STATED)


class Effect(NamedTuple):
    """What a check has measured in one place, oriented so that the statement wants it positive."""

    part: str  # where, e.g. "Gridworld (A), against ICRL"
    size: float
    low: float  # ends of the 95 % interval
    high: float
    unit: str  # what a size of 1 is
    over: str  # what the interval is over: "5 experts, paired"
    samples: int  # the smallest group behind it; 0: of one run, described only
    fails: float = math.nan  # P(so small a size) if the true one is not below 0

    @property
    def verdict(self) -> str:
        """Of this part alone: nan compares as false, so an undefined effect decides nothing."""
        if self.samples == 0:
            return AS_STATED if self.size > 0 else OTHERWISE
        if self.samples < FEWEST:
            return INCONCLUSIVE
        if self.low > 0:
            return REPRODUCED
        return NOT_REPRODUCED if self.high < 0 else INCONCLUSIVE


def part_verdicts(effects: Sequence[Effect]) -> list[str]:
    """The verdict of each part among the others.

    A statement fails where one part does, and of many parts one fails by chance: so which ones
    fail is decided by Holm's rule. That all parts hold is asked of each without it: whether a wrong
    part passes does not grow more probable with their number.
    """
    found = [effect.verdict for effect in effects]
    chance = [1.0 if math.isnan(effect.fails) else effect.fails for effect in effects]
    tested = [k for k, effect in enumerate(effects) if effect.samples >= FEWEST]
    failed = set()
    for rank, k in enumerate(sorted(tested, key=lambda k: chance[k])):
        if chance[k] * (len(tested) - rank) > WRONG:
            break
        failed.add(k)
    return [
        INCONCLUSIVE if verdict == NOT_REPRODUCED and k not in failed else verdict
        for k, verdict in enumerate(found)
    ]


def combined_verdict(effects: Sequence[Effect]) -> str:
    """A statement holds where all of its parts do, and fails where one of them fails."""
    if any(effect.samples == 0 for effect in effects):
        return DESCRIPTIVE
    found = set(part_verdicts(effects))
    if NOT_REPRODUCED in found:
        return NOT_REPRODUCED
    return REPRODUCED if found == {REPRODUCED} else INCONCLUSIVE


def weakest_effect(effects: Sequence[Effect]) -> Effect:
    """The part that the verdict hangs on: the one furthest from what the statement wants.

    In half-widths of its interval, so that parts of several units compare; a part whose interval
    has no width has no such measure, and comes after those of the same verdict that have one.
    """
    verdicts = part_verdicts(effects)

    def place(k: int) -> tuple[int, bool, float]:
        one = effects[k]
        half = (one.high - one.low) / 2
        sharp = not half > 0
        return RANK.index(verdicts[k]), sharp, one.size if sharp else one.size / half

    return effects[min(range(len(effects)), key=place)]
