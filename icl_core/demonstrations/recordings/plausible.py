"""Whether recordings can be what they say: units, signs, the frame rate, and the place of vehicles.

A file may be well formed and still say something else than it means: speeds in km/h, lengths in
feet, an axis turned round, the map of another place. Each check is of one kind of quantity against
another that must agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings.csv_tables import CsvFile
from icl_core.errors import InputError

MOTION_TOLERANCE = 0.1  # of velocities against positions, as a share of the speed
FRAME_RATES = (5.0, 60.0)  # Hz; both data sets have 25
MOST_SPEED = 100.0  # m/s
MOST_ACCELERATION = 50.0  # m/s2: five times what tyres can do
SIZES = (
    ("v", "Velocity", MOST_SPEED, "m/s"),
    ("a", "Acceleration", MOST_ACCELERATION, "m/s2"),
)
SLOW = 5.0  # m/s; who is slower is measured as if he drove so fast, for positions are rounded
JUMP = 10.0  # metres that a vehicle may jump in one frame at a tolerance of 1
OFF_ROAD = 0.05  # share of positions that may lie off all lanes
PLACES = 1000  # of a recording that are looked up
OFF_CENTRE = 0.5  # metres from the middle of the lane within which half of all positions lie
SEVERAL = 4  # vehicles; of fewer, one that keeps to a side of its lane proves nothing
UNITS = "give metres and seconds in the data set's own frame, or relax motion_tolerance"


def check_motion(
    file: CsvFile,
    rows: Mapping[str, np.ndarray],
    first: np.ndarray,
    order: np.ndarray,
    rate: float,
    tolerance: float | None,
) -> None:
    """Velocities against the change of positions, and sane sizes.

    `rows` are sorted by vehicle and frame, each vehicle's begin at `first`, and they stand in the
    file in the order `order`. On average over a track the two may differ by `tolerance` times the
    speed; from one frame to the next a vehicle may jump by `JUMP` times `tolerance`. Beyond its
    default it makes room for larger speeds and accelerations, too.
    """
    if tolerance is None:
        return
    relaxed = max(1, tolerance / MOTION_TOLERANCE)
    for kind, column, most, unit in SIZES:
        expected = f"at most {relaxed * most:g} {unit} either way"
        for axis in "xy":
            right = np.abs(rows[kind + axis]) <= relaxed * most
            file.check(right, axis + column, expected, UNITS, order)
    frames = np.diff(first, append=len(order))
    off, mean_off, speed = (np.zeros(n) for n in (len(order), len(first), len(first)))
    for axis in "xy":
        apart = _apart(rows[axis], rows["v" + axis], first, rate)
        off = np.hypot(off, apart)
        mean_off = np.hypot(mean_off, np.add.reduceat(apart, first) / np.maximum(frames - 1, 1))
        speed = np.hypot(speed, np.add.reduceat(rows["v" + axis], first) / frames)
    wrong = mean_off > tolerance * np.maximum(speed, SLOW)
    if wrong.any():
        k = int(np.argmax(wrong))
        expected = f"velocities as positions change from frame to frame, at {rate:g} Hz"
        found = f"a difference of {mean_off[k]:.3g} m/s at {speed[k]:.3g} m/s over the track"
        raise file.fault(expected, found, UNITS, int(order[first[k]]), "xVelocity")
    jumps = off > JUMP * tolerance * rate
    if jumps.any():
        k = int(np.argmax(jumps))
        expected = f"a next place at most {JUMP * tolerance:g} m from where the velocity leads"
        raise file.fault(expected, f"{off[k] / rate:.3g} m", UNITS, int(order[k]), "frame")


def _apart(place: np.ndarray, v: np.ndarray, first: np.ndarray, rate: float) -> np.ndarray:
    """(rows,) displacement to the next frame, per second, less the mean of both ends' velocity."""
    apart = np.zeros(len(place))
    with np.errstate(over="ignore"):  # what is beyond all numbers is wrong anyway
        apart[:-1] = np.diff(place) * rate - (v[:-1] + v[1:]) / 2
    apart[first[1:] - 1] = 0  # a track's last row leads nowhere
    return apart


def some_rows(tracks: pa.Table, recording: int) -> np.ndarray:
    """Rows of a recording, evenly spread: enough to see where its vehicles drive."""
    rows = np.flatnonzero(tracks["recording"].to_numpy() == recording)
    return rows[:: max(1, len(rows) // PLACES)]


class Places(NamedTuple):
    """Some positions of vehicles, (n,) each."""

    vehicle: np.ndarray
    off_centre: np.ndarray  # metres from the middle of the lane, NaN off all lanes


def check_places(where: str, places: Places, off_road: float) -> None:
    """Vehicles are in their lanes; `off_road` is the share of positions that may be off them."""
    advice = "check units, origin, axes and the map or markings, or relax scene.off_road"
    outside = np.isnan(places.off_centre)
    share = float(outside.mean()) if len(outside) else 0.0
    if share > off_road:
        raise InputError(
            f"{where}: expected at most {off_road:.0%} of the vehicles' positions off all lanes, "
            f"found {share:.0%}; {advice}"
        )
    if len(np.unique(places.vehicle)) >= SEVERAL:
        middle = float(np.nanmedian(np.abs(places.off_centre)))
        if middle > OFF_CENTRE:
            raise InputError(
                f"{where}: expected half of the vehicles' positions within {OFF_CENTRE:g} m of "
                f"the middle of a lane, found half within {middle:.2g} m; {advice}"
            )
