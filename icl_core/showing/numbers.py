"""What tables and the page say of numbers: which mean is the best, and how long something took."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def lowest(means: Mapping[K, float]) -> set[K]:
    """Whose mean is the lowest; nobody's where there is nothing to choose between.

    >>> lowest({"a": 0.2, "b": 0.1, "c": float("nan")}), lowest({"a": 0.2})
    ({'b'}, set())
    """
    known = {key: mean for key, mean in means.items() if math.isfinite(mean)}
    return {k for k in known if known[k] == min(known.values())} if len(known) > 1 else set()


def duration(seconds: float) -> str:
    """ "7 h 15 min", "3.2 min" or "4.5 s"."""
    if seconds >= 3600:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"
