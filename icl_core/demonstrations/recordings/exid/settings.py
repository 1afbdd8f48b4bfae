"""What a user may choose of ExiD's recordings."""

from __future__ import annotations

from dataclasses import dataclass

from icl_core.demonstrations.recordings.exid import scene as scenes
from icl_core.demonstrations.recordings.exid import simulation as simulations
from icl_core.settings import section, setting


@dataclass(frozen=True)
class Settings:
    """The recordings and what is made of them."""

    recordings: str | None = setting(
        None, "the folder of your own copy of ExiD (data/README.md); null: simulated"
    )
    numbers: tuple[int, ...] | None = setting(
        None,
        "which of its recordings, the paper's are [1, 5, 30, 61, 75]; null: all that are there",
        at_least=0,
        each_once=True,
    )
    scene: scenes.Settings = section(scenes.Settings, "which lane changes are used")
    simulation: simulations.Settings = section(
        simulations.Settings, "with highway-env, where there is no copy"
    )
