"""What a user may choose of HighD's recordings."""

from __future__ import annotations

from dataclasses import dataclass

from icl_core.demonstrations.recordings.highd import scene as scenes
from icl_core.demonstrations.recordings.highd import simulation as simulations
from icl_core.settings import section, setting


@dataclass(frozen=True)
class Settings:
    """The recordings and what is made of them."""

    recordings: str | None = setting(
        None, "the folder of your own copy of HighD (data/README.md); null: simulated"
    )
    numbers: tuple[int, ...] | None = setting(
        None,
        "which of its recordings, the paper's is [17]; null: all that are there",
        at_least=0,
        each_once=True,
    )
    scene: scenes.Settings = section(scenes.Settings, "what is cut out of a recording")
    simulation: simulations.Settings = section(
        simulations.Settings, "with highway-env, where there is no copy"
    )
