"""Where exact ICL and the networks learn from the same demonstrations: worlds and experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.results import Results
from icl_core.showing.loading import world_as

# In the order of rows.
METHODS = {
    "exact-icl": "Exact, the paper's objective",
    "exact-icl-ours": "Exact, our objective",
    "icl": "Networks (ICL)",
}


@dataclass(frozen=True)
class Place:
    """A world, and the experiments in it: the networks', and that of exact ICL."""

    name: str  # of the world
    world: Gridworld
    experiments: tuple[str, ...]

    @property
    def title(self) -> str:
        """As a column's head."""
        return f"{self.world.title}, slip {self.world.slip:g}"


def places_of(results: Results, experiments: Sequence[str]) -> list[Place]:
    """The worlds of some experiments, in their order."""
    found: dict[tuple[str, float], list[str]] = {}
    for name in experiments:
        world = world_as(results, name, Gridworld)
        found.setdefault((world.name, world.slip), []).append(name)
    return [
        Place(key[0], world_as(results, names[0], Gridworld), tuple(names))
        for key, names in found.items()
    ]
