"""Simulated recordings in the format of HighD, for those who have no copy of the data set.

A straight highway with two lanes per side, 420 m of it in view at 25 Hz. Each side is simulated
alone (`traffic`); what is in view is recorded (`tables`). The drivers' gaps follow the IDM, so the
true headway rule is known: it stands in `SIMULATED.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from icl_core.demonstrations.recordings.csv_tables import write_csv
from icl_core.demonstrations.recordings.highd import format as form
from icl_core.demonstrations.recordings.highd.tables import (
    FRAME_RATE,
    LOWER,
    RECORDING,
    UPPER,
    VIEW,
    recording_tables,
)
from icl_core.demonstrations.recordings.tracks import MARK, PARTS, csv_path
from icl_core.disk import atomic
from icl_core.randomness import generator
from icl_core.settings import SEED, check, plain, setting

if TYPE_CHECKING:  # it needs highway-env
    from icl_core.demonstrations.recordings.highd.traffic import Driver


@dataclass(frozen=True)
class DriverKind:
    """Cars or trucks; a pair is the range of a uniform draw, one for each vehicle."""

    name: str  # the "class" of the recordings
    length: tuple[float, float]  # [m]
    width: tuple[float, float]  # [m]
    desired_speed: tuple[float, float]  # [m/s], v0 of the IDM
    time_gap: tuple[float, float]  # [s], T of the IDM
    minimum_distance: tuple[float, float]  # [m], s0 of the IDM, bumper to bumper
    acceleration: float  # [m/s2], a of the IDM
    braking: float  # [m/s2], b of the IDM
    changes_lane: bool


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
class Settings:
    """How much is simulated; the defaults give about 100 egos that cross the whole view."""

    frames: int = setting(5000, "frames that are recorded", at_least=1, at_most=100_000)
    flow: float = setting(0.62, "vehicles per second on each carriageway", above=0, at_most=10)
    truck_share: float = setting(0.18, "share of trucks", at_least=0, at_most=1)
    upstream: float = setting(
        500.0,
        "metres of road before the view, where drivers find their places",
        at_least=0,
        at_most=10_000,
    )
    downstream: float = setting(
        300.0,
        "metres after it, so that nobody in view misses a leader who left",
        at_least=0,
        at_most=10_000,
    )
    warm_up: float = setting(
        48.0,
        "seconds before the recording begins, until the slowest have crossed the view",
        at_least=0,
        at_most=3600,
    )
    seed: int = setting(0, "seed of the drivers", **SEED)


def simulate(
    folder: str | os.PathLike, settings: Settings, progress: Callable[[int], None] | None = None
) -> None:
    """Write one recording's three CSV files and, beside them, how they came about.

    `progress` is given how many of `simulation_steps(settings)` are done. The files appear
    together at the end; the mark among the first, so that simulated rows cannot pass for recorded
    ones.
    """
    check(Settings, plain(settings), "simulation")  # an infinite flow would never end
    folder = Path(folder)
    sides = [_carriageway(settings, side, progress) for side in (form.LEFTWARD, form.RIGHTWARD)]
    tables = recording_tables(sides, settings.frames)
    with ExitStack() as stack:  # files are renamed in reverse order
        for part in PARTS:
            path = csv_path(folder, RECORDING, part)
            write_csv(stack.enter_context(atomic(path)), tables[part])
        mark = stack.enter_context(atomic(folder / MARK))
        text = json.dumps(_description(settings), indent=2, ensure_ascii=False)
        mark.write_text(text + "\n", encoding="utf-8")


def simulation_steps(settings: Settings) -> int:
    """How many frames are simulated in all, for a progress."""
    return 2 * (_warm_up(settings) + settings.frames + 1)


def _carriageway(
    settings: Settings, side: int, progress: Callable[[int], None] | None
) -> tuple[np.ndarray, list[Driver]]:
    """Rows and drivers of one side, in the frame of its drivers."""
    from icl_core.demonstrations.recordings.highd import traffic

    rng = generator(settings.seed, "highd", RECORDING, side)
    markings = LOWER if side == form.RIGHTWARD else -UPPER[::-1]
    ends = -settings.upstream - traffic.ENTRANCE, VIEW + settings.downstream + traffic.ENTRANCE
    road = traffic.straight_road(markings, ends, rng)
    shares = (1 - settings.truck_share, settings.truck_share)
    inflow = traffic.Inflow(road, (CAR, TRUCK), shares, settings.flow, rng)
    done = 0 if side == form.LEFTWARD else simulation_steps(settings) // 2

    def report(step: int) -> None:
        if progress is not None:
            progress(done + step + 1)

    return traffic.drive(inflow, _warm_up(settings), settings.frames, 1 / FRAME_RATE, report)


def _warm_up(settings: Settings) -> int:
    return round(settings.warm_up * FRAME_RATE)


def _description(settings: Settings) -> dict:
    """Settings, seed and the true headway rule, for whoever compares a learned one with it."""
    shares = ((CAR, 1 - settings.truck_share), (TRUCK, settings.truck_share))
    return {
        "format": "HighD",
        "simulator": {"highway-env": metadata.version("highway-env")},
        "seed": settings.seed,
        "settings": _all_settings(settings),
        "headway_rule": {
            "meaning": "a driver at v m/s wants a gap of at least minimum_distance + v * time_gap "
            "metres, bumper to bumper; both are drawn once a vehicle, uniformly in these ranges",
            **{
                kind.name: {
                    "share": share,
                    "minimum_distance": list(kind.minimum_distance),
                    "time_gap": list(kind.time_gap),
                }
                for kind, share in shares
            },
        },
    }


def _all_settings(settings: Settings) -> dict:
    """The settings, and what is fixed beside them."""
    return {
        "frames": settings.frames,
        "seed": settings.seed,
        "recording": RECORDING,
        "flow": settings.flow,
        "truck_share": settings.truck_share,
        "view": VIEW,
        "frame_rate": FRAME_RATE,
        "upstream": settings.upstream,
        "downstream": settings.downstream,
        "warm_up": settings.warm_up,
        "car": asdict(CAR),
        "truck": asdict(TRUCK),
    }
