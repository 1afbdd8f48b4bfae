"""Who drives around whom: neighbours, and distance, time gap and time to collision ahead.

For the vehicles of one frame and one driving direction, from their boxes alone. "Ahead" and
"left" are the driver's. Alongside is a vehicle of the next lane whose box overlaps along the
road; preceding and following in a next lane are those that do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.demonstrations.recordings.highd_format import NO_VEHICLE

NEIGHBOURS = (
    *("precedingId", "followingId"),
    *("leftPrecedingId", "leftAlongsideId", "leftFollowingId"),
    *("rightPrecedingId", "rightAlongsideId", "rightFollowingId"),
)


@dataclass(frozen=True)
class Vehicles:
    """Vehicles of one frame that drive the same way, as arrays (n,)."""

    ids: np.ndarray
    ahead: np.ndarray  # position of the centre in driving direction [m]
    length: np.ndarray  # [m]
    speed: np.ndarray  # in driving direction [m/s]
    lane: np.ndarray  # counted from the driver's left to the right


def relations(vehicles: Vehicles) -> dict[str, np.ndarray]:
    """Ids of the neighbours, and dhw, thw, ttc, precedingXVelocity (as a speed ahead)."""
    v = vehicles
    distance = v.ahead[None, :] - v.ahead[:, None]  # [i, j]: how far j is ahead of i
    bumpers = np.abs(distance) - (v.length[None, :] + v.length[:, None]) / 2
    right = v.lane[None, :] - v.lane[:, None]
    itself = np.eye(len(v.ids), dtype=bool)
    found = {
        "precedingId": _nearest(v.ids, distance, (right == 0) & (distance >= 0) & ~itself),
        "followingId": _nearest(v.ids, distance, (right == 0) & (distance < 0)),
    }
    for side, step in (("left", -1), ("right", 1)):
        beside, overlaps = right == step, bumpers < 0
        apart = beside & ~overlaps
        found[f"{side}PrecedingId"] = _nearest(v.ids, distance, apart & (distance > 0))
        found[f"{side}AlongsideId"] = _nearest(v.ids, distance, beside & overlaps)
        found[f"{side}FollowingId"] = _nearest(v.ids, distance, apart & (distance < 0))
    return found | _following(v, found["precedingId"], bumpers)


def _nearest(ids: np.ndarray, distance: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    far = np.where(eligible, np.abs(distance), np.inf)
    return np.where(eligible.any(axis=1), ids[np.argmin(far, axis=1)], NO_VEHICLE)


def _following(v: Vehicles, preceding: np.ndarray, bumpers: np.ndarray) -> dict[str, np.ndarray]:
    """Distance, time gap and time to collision; negative where the distance grows."""
    follows = preceding != NO_VEHICLE
    leader = np.argmax(v.ids[None, :] == preceding[:, None], axis=1)
    dhw = np.where(follows, bumpers[np.arange(len(leader)), leader], 0.0)
    closing = np.where(follows, v.speed - v.speed[leader], 0.0)
    return {
        "dhw": dhw,
        "thw": np.divide(dhw, np.abs(v.speed), out=np.zeros_like(dhw), where=v.speed != 0),
        "ttc": np.divide(dhw, closing, out=np.zeros_like(dhw), where=closing != 0),
        "precedingXVelocity": np.where(follows, v.speed[leader], 0.0),
    }
