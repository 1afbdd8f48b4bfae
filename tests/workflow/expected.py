"""How many jobs the configuration should give, counted from it in another way than the rules do."""

from pathlib import Path

import yaml

from icl_core.configuration import resolve
from icl_core.showing.catalogue import ITEMS
from icl_core.showing.catalogue.item import CONSTRAINT, METRICS, ROLLOUTS, TIMES

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())


class Jobs:
    """Jobs of each kind at a scale."""

    def __init__(self, scale="smoke"):
        config = resolve({**CONFIG, "scale": scale}, SCHEMA)
        every = list(config.experiments.values())
        self.groups = len(config.groups)
        self.experts = sum(one.generated for one in every)
        self.densities = len({one.demonstrator for one in every}) * self.groups
        self.icl = sum("icl" in one.methods for one in every) * self.groups
        self.gail = sum("gail-constraint" in one.methods for one in every) * self.groups
        self.icrl = sum("icrl" in one.methods for one in every) * self.groups
        self.iterations = sum(one.iterations for one in every) * self.groups
        shapes = config.architectures
        fitted = set(shapes["environments"]) & set(config.experiments)
        self.fits = len(fitted) * len(shapes["hidden"]) * self.groups
        self.shown = [item for item in ITEMS if set(item.experiments) & set(config.experiments)]

    def items(self, kind, *needs):
        """Figures or tables; with `needs`, those that are made from any of these."""
        return sum(
            item.kind == kind and (not needs or not set(needs).isdisjoint(item.needs))
            for item in self.shown
        )

    def of_methods(self, kind):
        """Items that show what every method ended with."""
        return self.items(kind, CONSTRAINT, ROLLOUTS, METRICS, TIMES)
