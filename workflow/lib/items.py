"""What figures and tables are made from: those of their experiments and methods that are shown."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from icl_core import layout
from icl_core.layout import Need
from icl_core.measuring import paper
from icl_core.settings import plain
from icl_core.showing.item import Item, read_items
from workflow.lib.configuration import Configuration, Experiment
from workflow.lib.plan import Plan, canonical


def experiments_shown(item: Item, config: Configuration) -> list[Experiment]:
    """The experiments of an item that it can show; none where it would show nothing.

    Tables of results show all that are configured, with a dash for what was not run.
    """
    configured = [config.experiments[n] for n in item.experiments_among(config.experiments)]
    able = [one for one in configured if _able(item, one, config)]
    if len(able) < item.fewest:
        return []
    kinds = {need.kind for need in item.needs}
    of_results = item.kind == "table" and item.experiments and kinds in ({"metrics"}, {"true_fit"})
    return configured if of_results else able


def _able(item: Item, experiment: Experiment, config: Configuration) -> bool:
    """Whether all that an item needs of an experiment has been made."""
    if any(need.kind == "true_fit" for need in item.needs):
        return experiment.name in config.true_fits.environments
    if any(need.kind == "transfer" for need in item.needs):
        return experiment.name in config.transfers.experiments
    return learned(item, experiment)


def learned(item: Item, experiment: Experiment) -> bool:
    """Whether the method that an item is about, or any, has been run on an experiment."""
    return item.method in experiment.methods if item.method else bool(experiment.methods)


def methods_shown(item: Item, experiment: Experiment) -> list[str]:
    """The methods of an experiment in an item: the paper's figures keep the paper's panels."""
    of_paper = item.kind == "figure" and item.number is not None and not item.suffix
    return [m for m in experiment.methods if m in paper.METHODS or not of_paper]


class Items:
    """The figures and tables of a plan."""

    def __init__(self, plan: Plan):
        self.plan, self.config = plan, plan.config
        self.items = {item.name: item for item in read_items()}

    def names(self, kind: str) -> list[str]:
        """Names of the figures or tables that have something to show."""
        return [
            name
            for name, item in self.items.items()
            if item.kind == kind and experiments_shown(item, self.config)
        ]

    def outputs(self, kind: str) -> list[str]:
        """All files of the figures or tables."""
        items = [self.items[name] for name in self.names(kind)]
        paths = [path for item in items for path in (*item.outputs, item.provenance)]
        return [f"{self.plan.results}/{path}" for path in paths]

    def item(self, wildcards: Any) -> Item:
        """The item that a job makes."""
        return self.items[wildcards.get("figure") or wildcards.get("table")]

    def inputs(self, wildcards: Any) -> list[str]:
        """What an item is made from, for those of its experiments that it shows."""
        item = self.item(wildcards)
        known = experiments_shown(item, self.config)
        made = [
            path
            for need in item.needs
            for one in known
            for path in self.expanded(need, one, methods_shown(item, one))
        ]
        return list(dict.fromkeys(made)) + self.plan.scenes(known)

    def expanded(
        self, need: Need, experiment: Experiment, methods: Iterable[str] | None = None
    ) -> list[str]:
        """The paths that a need stands for in one experiment, of some of its methods or of all."""
        asked = experiment.methods if methods is None else methods
        return [
            self.plan.path(need.kind, **fields)
            for method in self._methods(need, asked)
            for fields in self._fields(need.kind, experiment, method)
            if all(fields[name] == value for name, value in need.fixed.items())
        ]

    def _methods(self, need: Need, asked: Iterable[str]) -> list[str]:
        """The methods that a need is asked of; one blank where its files know no methods."""
        if "method" not in layout.wildcards(need.kind):
            return [""]
        wanted = need.fixed.get("method")
        return [m for m in asked if wanted in (None, m)]

    def _fields(self, kind: str, experiment: Experiment, method: str) -> list[dict[str, str]]:
        """What the wildcards of a kind stand for in one experiment and method."""
        n = experiment.iterations(method) if method else 0
        first = 0 if kind == "iteration_constraint" else 1
        values = {
            "experiment": self._owners(kind, experiment),
            "method": [method],
            "group": self._groups(kind, experiment, method),
            "architecture": list(self.config.true_fits.architectures),
            "iteration": [f"{i:02d}" for i in range(first, n + 1)],
            "rule": self._rules(kind, method) if method else [],
        }
        names = layout.wildcards(kind)
        chosen = product(*(values[name] for name in names))
        return [dict(zip(names, one, strict=True)) for one in chosen]

    def _owners(self, kind: str, experiment: Experiment) -> list[str]:
        """The experiment in whose folder files of a kind lie; none where there are none."""
        if kind == "true_fit":
            fitted = experiment.name in self.config.true_fits.environments
            return [experiment.name] if fitted else []
        if kind == "transfer":
            return [experiment.name] if experiment.name in self.config.transfers.experiments else []
        if kind not in ("demonstrations", "expert_training", "expert_policy"):
            return [experiment.name]
        owner = self.config.experiments[experiment.demonstrations_from]
        # Who was not trained here has no training curve, and no policy.
        missing = kind != "demonstrations" and owner.source != "expert"
        return [] if missing else [owner.name]

    def _groups(self, kind: str, experiment: Experiment, method: str) -> list[str]:
        """The groups of seeds that files of a kind are of."""
        if method:
            return list(self.config.groups_of(experiment, method))
        if kind == "true_fit":
            return list(self.config.fit_groups)
        return self.config.expert_groups(experiment) or [layout.ALL]

    def _rules(self, kind: str, method: str) -> list[str]:
        """The rules of a method's jobs: those of each iteration, or the others."""
        repeated = self.plan.declared(method, "ITERATED", [])
        if kind == "iteration_time":
            return repeated
        return [rule for rule in self.plan.jobs_of(method) if rule not in repeated]

    def settings(self, wildcards: Any) -> dict:
        """What drawing depends on besides its inputs."""
        item = self.item(wildcards)
        known = experiments_shown(item, self.config)
        shown = {one.name: self._all_settings(one) for one in known} if item.shows_settings else {}
        settings = {
            "scale": self.config.scale,
            "draw": item.draw,
            "showing": plain(self.config.showing) if item.kind == "figure" else {},
            "worlds": {one.name: self.world(one) for one in known},
            "methods": list(self._titles(item, known).items()),
            "experiments": shown,
        }
        return canonical(settings)

    def _titles(self, item: Item, experiments: Iterable[Experiment]) -> dict[str, str]:
        """Titles of the paper's methods, which tables show though they were not run, and of those
        that these experiments show: another method elsewhere changes nothing here.
        """
        used = {method for one in experiments for method in methods_shown(item, one)}
        return self.plan.titles({*paper.METHODS, *used})

    def titles_of_all(self) -> dict[str, str]:
        used = {method for one in self.config.learned for method in one.methods}
        return self.plan.titles({*paper.METHODS, *used})

    def world(self, experiment: Experiment) -> dict:
        return self.plan.world(experiment) | {"threshold": experiment.learning["threshold"]}

    def _all_settings(self, experiment: Experiment) -> dict:
        """Everything that an experiment was run with, for the tables that show it."""
        return {
            "methods": list(experiment.methods),
            "seeds": {method: list(experiment.seeds[method]) for method in experiment.methods},
            "demonstrations": experiment.demonstrations,
            "learning": experiment.learning,
            "measuring": experiment.measuring,
        }

    def code(self, wildcards: Any) -> str:
        """Digest of the code that draws this item and no other."""
        item = self.item(wildcards)
        worlds = self.plan.worlds_code(experiments_shown(item, self.config))
        return self.plan.code_of("show_item.py", item.module, *worlds)
