"""The CSV files and maps of the ExiD data set: names, columns, types and sentinels.

Lengths are in metres, angles in degrees, times in seconds. A row's (xCenter, yCenter)
is the middle of the vehicle's box, y up, in local UTM metres: with the recording's
(xUtmOrigin, yUtmOrigin) added it is the absolute place, which the Lanelet2 maps give
in latitude and longitude. Headings count counter-clockwise from x. Lists are
separated by ";", what belongs to the current lanelet stands first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa

from icl_core.demonstrations.recordings.csv_tables import needed, same
from icl_core.errors import InputError

LISTS = ";"
NO_VEHICLE = -1  # an id where there is no such neighbour; DHW, THW and TTC are then -1 too
NO_SPEED_DIFFERENCE = -1000  # leadDV without a leader
NO_LANELET = -1

MAP_FOLDER = Path("maps", "lanelet2")

INT, REAL, TEXT = pa.int32(), pa.float64(), pa.string()


RECORDING_META = needed(
    **same(INT, "recordingId locationId"),
    **same(REAL, "frameRate speedLimit"),
    **same(TEXT, "weekday startTime"),
    duration=REAL,
    **same(INT, "numTracks numVehicles numVRUs"),
    **same(REAL, "latLocation lonLocation xUtmOrigin yUtmOrigin orthoPxToMeter"),
)
TRACKS_META = needed(
    **same(INT, "recordingId trackId initialFrame finalFrame numFrames"),
    **same(REAL, "width length"),
    **{"class": TEXT},
)
TRACKS = needed(
    **same(INT, "recordingId trackId frame trackLifetime"),
    **same(REAL, "xCenter yCenter heading width length xVelocity yVelocity"),
    **same(REAL, "xAcceleration yAcceleration lonVelocity latVelocity"),
    **same(REAL, "lonAcceleration latAcceleration traveledDistance"),
    **same(TEXT, "latLaneCenterOffset laneWidth laneletId"),
    laneChange=INT,
    **same(TEXT, "lonLaneletPos laneletLength"),
    **same(REAL, "leadDHW leadDV leadTHW leadTTC"),
    **same(INT, "leadId rearId leftLeadId leftRearId"),
    leftAlongsideId=TEXT,
    **same(INT, "rightLeadId rightRearId"),
    rightAlongsideId=TEXT,
    **same(INT, "odrRoadId odrSectionNo odrLaneId"),
)


def find_map(folder: str | os.PathLike, location: int) -> Path:
    """The map of a location: below the folder of the CSV files, or beside that folder.

    In the data set as published the CSV files lie in `data`, next to `maps`.
    """
    folder = Path(folder)
    pattern = re.compile(rf"0*{location}(?!\d).*\.osm")
    for place in (folder / MAP_FOLDER, folder.absolute().parent / MAP_FOLDER):
        if place.is_dir():
            found = sorted(path for path in place.iterdir() if pattern.fullmatch(path.name))
            if found:
                return found[0]
    raise InputError(
        f"{folder / MAP_FOLDER}: expected the Lanelet2 map of location {location} "
        f"({location}_*.osm), found none there nor in {folder.absolute().parent / MAP_FOLDER}; "
        "copy the maps of ExiD there"
    )
