"""Simulated recordings in the format of HighD, for those who have no copy of the data set.

A straight highway with two lanes a side, as recording 17 has, 420 m of it in view at 25 Hz.
Each side is simulated alone (`highd_traffic`); what is in view is recorded. The drivers' gaps
follow the IDM, so the true headway rule is known: it stands in `SIMULATED.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from icl_core.artifacts import atomic
from icl_core.demonstrations.recordings import MARK
from icl_core.demonstrations.recordings import highd_format as form
from icl_core.demonstrations.recordings import highd_traffic as traffic
from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.highd_tables import recording_tables
from icl_core.demonstrations.recordings.highd_traffic import DriverKind
from icl_core.errors import InputError
from icl_core.randomness import generator

UPPER, LOWER = (7.68, 11.89, 15.73), (20.53, 24.50, 28.46)  # lane markings of recording 17 [m]

CAR = DriverKind(
    name=form.CAR,
    length=(3.9, 5.2),
    width=(1.75, 2.1),
    desired_speed=(30.0, 52.0),
    time_gap=(0.9, 1.5),
    minimum_distance=(2.0, 4.0),
    acceleration=1.5,
    braking=2.0,
    changes_lane=True,
)
TRUCK = DriverKind(
    name=form.TRUCK,
    length=(8.0, 18.0),
    width=(2.4, 2.55),
    desired_speed=(21.5, 26.0),
    time_gap=(1.2, 1.8),
    minimum_distance=(2.0, 4.0),
    acceleration=0.8,
    braking=2.0,
    changes_lane=False,
)


@dataclass(frozen=True)
class HighDSimulationSettings:
    """How much is simulated; the defaults give about 100 egos that cross the whole view."""

    frames: int = 5000
    seed: int = 0
    recording: int = 1  # its number, XX in the names of the files
    flow: float = 0.62  # vehicles a second on each carriageway
    truck_share: float = 0.18
    view: float = 420.0  # [m]
    frame_rate: float = 25.0  # [Hz]
    upstream: float = 500.0  # [m] simulated before the view, where drivers find their places
    downstream: float = 300.0  # [m] and after it, so that nobody in view misses a leader who left
    warm_up: float = 48.0  # [s] until the slowest have come from the entrance to the view's end
    car: DriverKind = CAR
    truck: DriverKind = TRUCK

    def __post_init__(self):
        """Refuse what would make no traffic."""
        for name in ("frames", "flow", "view", "frame_rate"):
            if not getattr(self, name) > 0:
                raise _wrong(name, "a number above 0", getattr(self, name))
        for name in ("upstream", "downstream", "warm_up"):
            if not getattr(self, name) >= 0:
                raise _wrong(name, "0 or a number above", getattr(self, name))
        if not 0 <= self.truck_share <= 1:
            raise _wrong("truck_share", "a share from 0 to 1", self.truck_share)


def simulate_highd(
    folder: str | os.PathLike,
    settings: HighDSimulationSettings,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write one recording's three CSV files and, beside them, how they came about.

    `progress` is told how many of `simulation_steps(settings)` are done. The files appear
    together at the end; the mark among the first, lest simulated rows pass for recorded ones.
    """
    folder = Path(folder)
    sides = [_carriageway(settings, side, progress) for side in (form.LEFTWARD, form.RIGHTWARD)]
    tables = recording_tables(sides, settings, np.array(UPPER), np.array(LOWER))
    with ExitStack() as stack:  # files are renamed in reverse order
        for part in form.PARTS:
            path = folder / f"{settings.recording:02d}_{part}.csv"
            write_csv(stack.enter_context(atomic(path)), tables[part])
        mark = stack.enter_context(atomic(folder / MARK))
        text = json.dumps(_description(settings), indent=2, ensure_ascii=False)
        mark.write_text(text + "\n", encoding="utf-8")


def simulation_steps(settings: HighDSimulationSettings) -> int:
    """How many frames are simulated in all, for a progress."""
    return 2 * (_warm_up(settings) + settings.frames + 1)


def _wrong(name: str, expected: str, found) -> InputError:
    return InputError(
        f"simulated HighD recordings: expected {expected} as {name!r}, found {found}; correct it "
        "in the configuration"
    )


def _carriageway(settings: HighDSimulationSettings, side: int, progress: Callable | None):
    """Rows and drivers of one side, in the frame of its drivers."""
    rng = generator(settings.seed, "highd", settings.recording, side)
    markings = np.array(LOWER) if side == form.RIGHTWARD else -np.array(UPPER)[::-1]
    centres, widths = (markings[1:] + markings[:-1]) / 2, np.diff(markings)
    start, end = (
        -settings.upstream - traffic.ENTRANCE,
        settings.view + settings.downstream + traffic.ENTRANCE,
    )
    road = traffic.straight_road(centres, widths, start, end, rng)
    shares = (1 - settings.truck_share, settings.truck_share)
    kinds = (settings.car, settings.truck)
    inflow = traffic.Inflow(road, kinds, shares, settings.flow, rng)
    done = 0 if side == form.LEFTWARD else simulation_steps(settings) // 2

    def tell(step: int) -> None:
        if progress is not None:
            progress(done + step + 1)

    dt = 1 / settings.frame_rate
    return traffic.drive(road, inflow, _warm_up(settings), settings.frames, dt, tell)


def _warm_up(settings: HighDSimulationSettings) -> int:
    return round(settings.warm_up * settings.frame_rate)


def _description(settings: HighDSimulationSettings) -> dict:
    """Settings, seed and the true headway rule, for whoever compares a learned one with it."""
    cars = settings.car
    return {
        "format": "HighD",
        "simulator": {"highway-env": metadata.version("highway-env")},
        "seed": settings.seed,
        "settings": asdict(settings),
        "headway_rule": {
            "meaning": "a driver at v m/s wants a gap of at least minimum_distance + v * time_gap "
            "metres, bumper to bumper; both are drawn once a vehicle, uniformly in these ranges",
            **{
                kind.name: {
                    "share": share,
                    "minimum_distance": list(kind.minimum_distance),
                    "time_gap": list(kind.time_gap),
                }
                for kind, share in (
                    (cars, 1 - settings.truck_share),
                    (settings.truck, settings.truck_share),
                )
            },
        },
    }
