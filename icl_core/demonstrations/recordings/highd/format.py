"""The three CSV files of a HighD recording: their columns, types, frame and sentinels.

Lengths are in metres, times in seconds. The frame is that of the image: x to the right, y
down, and (x, y) of a row is the upper left corner of the vehicle's box, whose `width` is the
vehicle's length and whose `height` its width. Direction 1 drives to the left on the upper
carriageway, direction 2 to the right on the lower one. Frames and ids count from 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

NO_VEHICLE = 0  # an id where there is no such neighbour; dhw, thw, ttc are then 0 too
NO_MINIMUM = -1.0  # minDHW, minTHW, minTTC of a vehicle that never follows one
NO_LIMIT = -1.0  # speedLimit of a road without one
LEFTWARD, RIGHTWARD = 1, 2  # drivingDirection
CAR, TRUCK = "Car", "Truck"  # class
LISTS = ";"  # separates the numbers of a list

PARTS = ("recordingMeta", "tracksMeta", "tracks")
ALIASES = {"rightAlsongsideId": "rightAlongsideId"}  # so misspelt in some files


def _needed(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def _same(kind: pa.DataType, names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names.split(), kind)


INT, REAL, TEXT = pa.int32(), pa.float64(), pa.string()

RECORDING_META = _needed(
    id=INT,
    frameRate=REAL,
    locationId=INT,
    speedLimit=REAL,
    **_same(TEXT, "month weekDay startTime"),
    **_same(REAL, "duration totalDrivenDistance totalDrivenTime"),
    **_same(INT, "numVehicles numCars numTrucks"),
    **_same(TEXT, "upperLaneMarkings lowerLaneMarkings"),
)
TRACKS_META = _needed(
    id=INT,
    **_same(REAL, "width height"),
    **_same(INT, "initialFrame finalFrame numFrames"),
    **{"class": TEXT},
    drivingDirection=INT,
    **_same(REAL, "traveledDistance minXVelocity maxXVelocity meanXVelocity"),
    **_same(REAL, "minDHW minTHW minTTC"),
    numLaneChanges=INT,
)
TRACKS = _needed(
    **_same(INT, "frame id"),
    **_same(REAL, "x y width height xVelocity yVelocity xAcceleration yAcceleration"),
    **_same(REAL, "frontSightDistance backSightDistance dhw thw ttc precedingXVelocity"),
    **_same(INT, "precedingId followingId leftPrecedingId leftAlongsideId leftFollowingId"),
    **_same(INT, "rightPrecedingId rightAlongsideId rightFollowingId laneId"),
)


def lane_ids(y: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The lane of a centre: 1 above all markings, then one more below each.

    So the lanes of a road with two a side are 2, 3 and 5, 6, and the median is 4.
    """
    return 1 + np.searchsorted(np.concatenate([upper, lower]), y, side="right")
