"""A recording of five vehicles, made by hand, that tests spoil cell by cell."""

import csv
from pathlib import Path

import pytest

from icl_core.demonstrations.recordings.highd.format import TRACKS as TRACKS_SCHEMA
from icl_core.demonstrations.recordings.highd.format import TRACKS_META

RECORDING = {
    "id": 3, "frameRate": 25, "locationId": 2, "speedLimit": -1.0, "month": "9.2017",
    "weekDay": "Tue", "startTime": "08:38", "duration": 0.4, "totalDrivenDistance": 60.0,
    "totalDrivenTime": 1.6, "numVehicles": 5, "numCars": 4, "numTrucks": 1,
    "upperLaneMarkings": "8.00;12.00;16.00", "lowerLaneMarkings": "20.00;24.00;28.00",
}  # fmt: skip

# id, length, width, first frame, frames, class, direction, left end of the box, its top, vx, lane,
# who is ahead
VEHICLES = (
    (1, 4.0, 2.0, 1, 10, "Car", 1, 300.0, 13.0, -30.0, 3, 0),
    (2, 4.5, 1.8, 1, 8, "Car", 2, 100.0, 25.0, 25.0, 6, 5),
    (4, 5.0, 2.0, 2, 9, "Car", 2, 50.0, 21.0, 35.0, 5, 0),
    (5, 12.0, 2.5, 1, 6, "Truck", 2, 150.0, 25.0, 22.0, 6, 0),
    (7, 4.2, 1.9, 3, 7, "Car", 1, 350.0, 13.0, -32.0, 3, 1),
)
META, TRACKS = TRACKS_META.names, TRACKS_SCHEMA.names


class HandMade:
    """Tables as lists of dicts, {part: rows}, and where they are written."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.tables = {"recordingMeta": [dict(RECORDING)], "tracksMeta": [], "tracks": []}
        self.columns = {"recordingMeta": list(RECORDING), "tracksMeta": META, "tracks": TRACKS}
        for vehicle in VEHICLES:
            self._add(*vehicle)

    def path(self, part: str) -> Path:
        return self.folder / f"03_{part}.csv"

    def rows_of(self, vehicle: int) -> list[int]:
        """Indices of the vehicle's rows in the tracks."""
        return [k for k, row in enumerate(self.tables["tracks"]) if row["id"] == vehicle]

    def write(self) -> Path:
        for part, rows in self.tables.items():
            with open(self.path(part), "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(self.columns[part])
                # by position: a renamed column keeps its values
                writer.writerows(list(row.values()) for row in rows)
        return self.folder

    def _add(self, k, length, width, first, frames, kind, direction, x, y, vx, lane, ahead):
        speed, last = abs(vx), first + frames - 1
        values = (k, length, width, first, last, frames, kind, direction, speed * frames / 25)
        values += (speed, speed, speed, -1.0, -1.0, -1.0, 0)
        self.tables["tracksMeta"].append(dict(zip(META, values, strict=True)))
        for frame in range(first, last + 1):
            now = round(x + vx * (frame - 1) / 25, 4)
            sight = (420 - now, now) if direction == 2 else (now, 420 - now)
            gap = (30.0, 1.2, -7.5, vx) if ahead else (0.0, 0.0, 0.0, 0.0)
            values = (frame, k, now, y, length, width, vx, 0.0, 0.0, 0.0, *sight, *gap, ahead)
            values += (0, 0, 0, 0, 0, 0, 0, lane)
            self.tables["tracks"].append(dict(zip(TRACKS, values, strict=True)))


@pytest.fixture
def hand_made(tmp_path):
    return HandMade(tmp_path)
