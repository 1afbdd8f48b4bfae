"""What pictures and tables of driving say of the traffic behind them."""

from __future__ import annotations

import os

import pyarrow.parquet as pq

from icl_core.artifacts import SIMULATED, SOURCE
from icl_core.environments.world import World


def traffic_source(world: World) -> str:
    """ "simulated recordings", or "HighD recordings" where the user has brought the real ones."""
    if world.source == SIMULATED:
        return "simulated recordings"
    return f"{world.title} recordings"


def is_simulated(scene: str | os.PathLike) -> bool:
    """Whether the traffic of a scene.parquet is simulated, by what the file itself says."""
    return (pq.read_schema(scene).metadata or {}).get(SOURCE) == SIMULATED.encode()
