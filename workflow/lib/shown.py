"""What figures, tables, claims and the page are made from, and what of it can be shown."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from icl_core import discovery, layout
from icl_core.layout import Need
from icl_core.measuring import paper
from icl_core.measuring.claims.claim import find_checks, read_claims
from icl_core.settings import plain
from icl_core.showing.item import Item, read_items
from workflow.lib.configuration import Configuration, Experiment
from workflow.lib.plan import Plan, canonical

CLAIMS = "docs/claims.yaml"


def only_finished(config: Configuration, results: Path) -> Configuration:
    """The configuration with those methods of each experiment whose metrics are there.

    An experiment that has finished nothing keeps its place, without a method: tables show a
    dash for it, and who shares its demonstrations finds them by its name.
    """

    def there(kind: str, **fields: str) -> bool:
        paths = [layout.path(kind, group=group, **fields) for group in config.groups]
        return all((results / path).is_file() for path in paths)

    def finished(one: Experiment) -> Experiment:
        done = [m for m in one.methods if there("run_metrics", experiment=one.name, method=m)]
        alone = one.expert_alone and there("expert_training", experiment=one.name)
        return replace(one, methods=tuple(done), expert_alone=alone)

    fits = config.true_fits
    fitted = [
        name
        for name in fits.environments
        if all(there("true_fit", experiment=name, architecture=a) for a in fits.architectures)
    ]
    moved = config.transfers.experiments
    there_too = {n: own for n, own in moved.items() if there("transfer", experiment=n)}
    return replace(
        config,
        experiments={name: finished(one) for name, one in config.experiments.items()},
        true_fits=replace(fits, environments=tuple(fitted)),
        transfers=replace(config.transfers, experiments=there_too),
    )


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


class Shown:
    """The items and claims of a plan."""

    def __init__(self, plan: Plan):
        self.plan, self.config = plan, plan.config
        self.items = {item.name: item for item in read_items()}
        self.claims_file = os.path.relpath(plan.root / CLAIMS)

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
        made = [p for need in item.needs for one in known for p in self.expanded(need, one)]
        return list(dict.fromkeys(made)) + self.plan.scenes(known)

    def expanded(self, need: Need, experiment: Experiment) -> list[str]:
        """The paths that a need stands for in one experiment."""
        return [
            self.plan.path(need.kind, **fields)
            for method in self._methods(need, experiment)
            for fields in self._fields(need.kind, experiment, method)
            if all(fields[name] == value for name, value in need.fixed.items())
        ]

    def _methods(self, need: Need, experiment: Experiment) -> list[str]:
        """The methods that a need is asked of; one blank where its files know no methods."""
        if "method" not in layout.wildcards(need.kind):
            return [""]
        wanted = need.fixed.get("method")
        return [m for m in experiment.methods if wanted in (None, m)]

    def _fields(self, kind: str, experiment: Experiment, method: str) -> list[dict[str, str]]:
        """What the wildcards of a kind stand for in one experiment and method."""
        n = experiment.iterations(method) if method else 0
        first = 0 if kind == "iteration_constraint" else 1
        values = {
            "experiment": self._owners(kind, experiment),
            "method": [method],
            "group": list(self.config.groups),
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
            "worlds": {one.name: self._world(one) for one in known},
            "methods": list(self._titles(known).items()),
            "experiments": shown,
        }
        return canonical(settings)

    def _titles(self, experiments: Iterable[Experiment]) -> dict[str, str]:
        """Titles of the paper's methods, which tables show though they were not run, and of those
        that these experiments run: another method elsewhere changes nothing here.
        """
        used = {method for one in experiments for method in one.methods}
        return self.plan.titles({*paper.METHODS, *used})

    def _world(self, experiment: Experiment) -> dict:
        return self.plan.world(experiment) | {"threshold": experiment.learning["threshold"]}

    def _all_settings(self, experiment: Experiment) -> dict:
        """Everything that an experiment was run with, for the tables that show it."""
        return {
            "methods": list(experiment.methods),
            "seeds": [seed for group in self.config.groups.values() for seed in group],
            "demonstrations": experiment.demonstrations,
            "learning": experiment.learning,
            "measuring": experiment.measuring,
        }

    def code(self, wildcards: Any) -> str:
        """Digest of the code that draws this item and no other."""
        item = self.item(wildcards)
        worlds = self.plan.worlds_code(experiments_shown(item, self.config))
        return self.plan.code_of("show_item.py", item.module, *worlds)

    # The drive of Figure 13, moving

    @cached_property
    def film(self) -> list[Experiment]:
        """The experiments whose world has a film: HighD."""
        return [one for one in self.config.learned if one.environment == "highd"][:1]

    def film_settings(self, wildcards: Any) -> dict:
        """The world that is filmed."""
        return canonical(self.plan.world(self.film[0]))

    # Claims

    @cached_property
    def claims(self) -> list:
        return read_claims(self.claims_file)

    @cached_property
    def checked(self) -> list[Experiment]:
        """The experiments that learn something, or train experts and nothing else."""
        every = self.config.experiments.values()
        return [one for one in every if one.methods or one.expert_alone]

    def claim_inputs(self, wildcards: Any) -> list[str]:
        """What the checks read, for those of the claims' experiments that learn something."""
        known, checks = {one.name: one for one in self.checked}, find_checks()
        return sorted(
            {
                path
                for claim in self.claims
                for need in checks[claim.check].needs
                for name in claim.experiments
                if name in known
                for path in self.expanded(need, known[name])
            }
        )

    def claim_settings(self, wildcards: Any) -> dict:
        """What the verdicts depend on besides the inputs."""
        worlds = {one.name: self._world(one) for one in self.checked}
        titles = list(self._titles(self.checked).items())
        return canonical({"scale": self.config.scale, "worlds": worlds, "methods": titles})

    def claims_code(self, wildcards: Any) -> str:
        """Digest of the code that checks the claims."""
        checks = find_checks()
        used = sorted({checks[claim.check].module for claim in self.claims})
        worlds = self.plan.worlds_code(self.checked)
        return self.plan.code_of("claims.py", *used, *worlds)

    # The page

    def page_settings(self, wildcards: Any) -> dict:
        """The items with their words, so that an edited caption gives a new page; all titles."""
        items = [self.items[name] for kind in ("figure", "table") for name in self.names(kind)]
        used = sorted({one.environment for one in self.config.experiments.values()})
        worlds = {name: discovery.title(discovery.WORLDS, name) for name in used}
        words = [[item.name, item.title, item.caption] for item in items]
        titles = worlds | self._titles(self.config.learned)
        return canonical({"scale": self.config.scale, "items": words, "titles": titles})

    def page_layout(self) -> list[str]:
        """What the page is laid out with, which is not code and so in no digest."""
        folder = self.plan.root / "icl_core/showing/page"
        return [os.path.relpath(folder / name) for name in ("page.html", "page.css")]
