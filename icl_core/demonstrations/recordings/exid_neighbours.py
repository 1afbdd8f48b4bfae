"""Who drives ahead, behind and alongside, as ExiD's columns tell it.

Ahead and behind are counted along the arc. In the own lane a neighbour is the next
vehicle whose centre is ahead or behind; in a neighbouring lane those whose boxes
overlap lengthwise with the own are alongside, and the next that do not are lead and rear.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings import exid_format as form


def neighbour_columns(
    track: np.ndarray,
    frame: np.ndarray,
    lane: np.ndarray,
    angle: np.ndarray,
    lane_radius: np.ndarray,
    length: np.ndarray,
    speed: np.ndarray,
) -> dict[str, np.ndarray | pa.Array]:
    """The columns leadDHW to rightAlongsideId, one entry a row.

    `angle` is the place along the road in radians, `lane_radius` the radius of the own
    lane's centre line: their product is a length along that lane.
    """
    slots = _Slots(frame)
    ahead = slots.pairs(angle, _difference) * lane_radius[:, None]  # metres to each other vehicle
    halves = slots.pairs(length, _mean)
    lanes = slots.pairs(lane, _difference)
    others = slots.present & (slots.other != np.arange(len(track))[:, None])
    own = others & (lanes == 0)
    columns = {
        "lead": slots.nearest(own & (ahead > 0), ahead),
        "rear": slots.nearest(own & (ahead < 0), -ahead),
    }
    beside = {}
    for side, step in (("left", 1), ("right", -1)):
        there = others & (lanes == step)
        columns[f"{side}Lead"] = slots.nearest(there & (ahead >= halves), ahead)
        columns[f"{side}Rear"] = slots.nearest(there & (-ahead >= halves), -ahead)
        numbers = np.where(there & (np.abs(ahead) < halves), track[slots.other], -1)
        beside[f"{side}AlongsideId"] = pa.array(_joined(numbers), pa.string())
    lead = columns["lead"]
    found = {f"{name}Id": np.where(row >= 0, track[row], -1) for name, row in columns.items()}
    gap = slots.between(ahead - halves, lead)
    return {**found, **beside, **_headway(gap, speed, speed[lead], lead >= 0)}


def _headway(gap, own, leader, led) -> dict[str, np.ndarray]:
    """Gap from bumper to bumper, speed difference, and the times that they mean."""
    closing = own - leader
    with np.errstate(divide="ignore", invalid="ignore"):
        time_gap = gap / own
        collision = np.where(closing > 0, gap / closing, -1.0)
    return {
        "leadDHW": np.where(led, gap, -1.0),
        "leadDV": np.where(led, closing, form.NO_SPEED_DIFFERENCE),
        "leadTHW": np.where(led & (own > 0), time_gap, -1.0),
        "leadTTC": np.where(led, collision, -1.0),
    }


class _Slots:
    """Rows of the same frame laid side by side: `other` (rows, slots) are row numbers."""

    def __init__(self, frame: np.ndarray):
        frame = frame - frame.min()
        counts = np.bincount(frame)
        order = np.argsort(frame, kind="stable")
        slot = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.full((len(counts), counts.max()), -1, dtype=np.int64)
        table[frame[order], slot] = order
        self.other = table[frame]
        self.present = self.other >= 0

    def pairs(self, values: np.ndarray, combine) -> np.ndarray:
        return combine(values[self.other], values[:, None])

    def nearest(self, candidates: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Row of the nearest candidate of each row, or -1."""
        slot = np.argmin(np.where(candidates, distance, np.inf), axis=1)
        rows = np.take_along_axis(self.other, slot[:, None], axis=1)[:, 0]
        return np.where(candidates.any(axis=1), rows, -1)

    def between(self, values: np.ndarray, row: np.ndarray) -> np.ndarray:
        """The entry of each row that belongs to another row of its frame."""
        slot = np.argmax(self.other == row[:, None], axis=1)
        return np.take_along_axis(values, slot[:, None], axis=1)[:, 0]


def _difference(other, own):
    return other - own


def _mean(other, own):
    return (other + own) / 2


def _joined(numbers: np.ndarray) -> list[str]:
    """Each row's numbers as a list in text; "-1" where there is none."""
    texts = ["-1"] * len(numbers)
    for row in np.flatnonzero((numbers >= 0).any(axis=1)):
        texts[row] = form.LISTS.join(str(n) for n in numbers[row] if n >= 0)
    return texts
