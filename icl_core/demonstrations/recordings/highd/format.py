"""The three CSV files of a HighD recording: their columns, types, frame and sentinels.

Lengths are in metres, times in seconds. The frame is that of the image: x to the right, y
down, and (x, y) of a row is the upper left corner of the vehicle's box, whose `width` is the
vehicle's length and whose `height` its width. Direction 1 drives to the left on the upper
carriageway, direction 2 to the right on the lower one. Frames and ids count from 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.recordings.csv_tables import needed, same

NO_VEHICLE = 0  # an id where there is no such neighbour; dhw, thw, ttc are then 0 too
NO_MINIMUM = -1.0  # minDHW, minTHW, minTTC of a vehicle that never follows one
NO_LIMIT = -1.0  # speedLimit of a road without one
LEFTWARD, RIGHTWARD = 1, 2  # drivingDirection
CAR, TRUCK = "Car", "Truck"  # class
LANE_WIDTHS = (2.0, 8.0)  # [m] from one marking to the next
FARTHEST_MARKING = 1000.0  # [m] from the image's edge
LISTS = ";"  # separates the numbers of a list

ALIASES = {"rightAlsongsideId": "rightAlongsideId"}  # so misspelt in some files


INT, REAL, TEXT = pa.int32(), pa.float64(), pa.string()

RECORDING_META = needed(
    id=INT,
    frameRate=REAL,
    locationId=INT,
    speedLimit=REAL,
    **same(TEXT, "month weekDay startTime"),
    **same(REAL, "duration totalDrivenDistance totalDrivenTime"),
    **same(INT, "numVehicles numCars numTrucks"),
    **same(TEXT, "upperLaneMarkings lowerLaneMarkings"),
)
TRACKS_META = needed(
    id=INT,
    **same(REAL, "width height"),
    **same(INT, "initialFrame finalFrame numFrames"),
    **{"class": TEXT},
    drivingDirection=INT,
    **same(REAL, "traveledDistance minXVelocity maxXVelocity meanXVelocity"),
    **same(REAL, "minDHW minTHW minTTC"),
    numLaneChanges=INT,
)
TRACKS = needed(
    **same(INT, "frame id"),
    **same(REAL, "x y width height xVelocity yVelocity xAcceleration yAcceleration"),
    **same(REAL, "frontSightDistance backSightDistance dhw thw ttc precedingXVelocity"),
    **same(INT, "precedingId followingId leftPrecedingId leftAlongsideId leftFollowingId"),
    **same(INT, "rightPrecedingId rightAlongsideId rightFollowingId laneId"),
)


def lane_ids(y: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The lane of a centre: 1 above all markings, then one more below each.

    So the lanes of a road with two a side are 2, 3 and 5, 6, and the median is 4.
    """
    return 1 + np.searchsorted(np.concatenate([upper, lower]), y, side="right")
