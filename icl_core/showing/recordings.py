"""What pictures and tables of driving say of the traffic behind them."""

from __future__ import annotations

from icl_core.environments.world import World


def traffic_source(world: World) -> str:
    """ "simulated recordings", or "HighD recordings" where the user has brought the real ones."""
    if world.source == "simulated":
        return "simulated recordings"
    return f"{world.title} recordings"
