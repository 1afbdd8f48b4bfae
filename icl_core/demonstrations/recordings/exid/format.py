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

from icl_core.errors import InputError

LISTS = ";"
NO_VEHICLE = -1  # an id where there is no such neighbour; DHW, THW and TTC are then -1 too
NO_SPEED_DIFFERENCE = -1000  # leadDV without a leader
NO_LANELET = -1

PARTS = ("recordingMeta", "tracksMeta", "tracks")
MAP_FOLDER = Path("maps", "lanelet2")

INT, REAL, TEXT = pa.int32(), pa.float64(), pa.string()


def _needed(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def _same(kind: pa.DataType, names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names.split(), kind)


RECORDING_META = _needed(
    **_same(INT, "recordingId locationId"),
    **_same(REAL, "frameRate speedLimit"),
    **_same(TEXT, "weekday startTime"),
    duration=REAL,
    **_same(INT, "numTracks numVehicles numVRUs"),
    **_same(REAL, "latLocation lonLocation xUtmOrigin yUtmOrigin orthoPxToMeter"),
)
TRACKS_META = _needed(
    **_same(INT, "recordingId trackId initialFrame finalFrame numFrames"),
    **_same(REAL, "width length"),
    **{"class": TEXT},
)
TRACKS = _needed(
    **_same(INT, "recordingId trackId frame trackLifetime"),
    **_same(REAL, "xCenter yCenter heading width length xVelocity yVelocity"),
    **_same(REAL, "xAcceleration yAcceleration lonVelocity latVelocity"),
    **_same(REAL, "lonAcceleration latAcceleration traveledDistance"),
    **_same(TEXT, "latLaneCenterOffset laneWidth laneletId"),
    laneChange=INT,
    **_same(TEXT, "lonLaneletPos laneletLength"),
    **_same(REAL, "leadDHW leadDV leadTHW leadTTC"),
    **_same(INT, "leadId rearId leftLeadId leftRearId"),
    leftAlongsideId=TEXT,
    **_same(INT, "rightLeadId rightRearId"),
    rightAlongsideId=TEXT,
    **_same(INT, "odrRoadId odrSectionNo odrLaneId"),
)


def csv_path(folder: str | os.PathLike, recording: int, part: str) -> Path:
    """Where one of a recording's three files stands."""
    return Path(folder) / f"{recording:02d}_{part}.csv"


def recording_numbers(folder: str | os.PathLike) -> list[int]:
    """The numbers of the recordings in a folder; InputError if there are none."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: expected a folder of ExiD recordings, found no such folder; "
            "correct the path"
        )
    pattern = re.compile(rf"(\d+)_({'|'.join(PARTS)})\.csv")
    names = [pattern.fullmatch(path.name) for path in folder.iterdir()]
    numbers = sorted({int(name[1]) for name in names if name})
    if not numbers:
        raise InputError(
            f"{folder}: expected files such as 01_tracks.csv, found none; "
            "name the folder with ExiD's CSV files"
        )
    return numbers


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
