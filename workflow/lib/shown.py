"""What figures, tables, claims and the page are made from, and what of it can be shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import product
from typing import Any

from icl_core import discovery, layout
from icl_core.layout import Need
from icl_core.measuring import paper
from icl_core.measuring.claims.claim import find_checks, read_claims
from icl_core.settings import plain
from icl_core.showing.item import Item, read_items
from workflow.lib.configuration import Experiment
from workflow.lib.finished import experiments_shown, methods_shown
from workflow.lib.iterations import Iterations
from workflow.lib.plan import Plan, canonical

CLAIMS = "docs/claims.yaml"


def _loops(experiment: Experiment) -> dict:
    """Of each method with a loop, which of its policies it keeps."""
    loops = {method: experiment.learning[method].get("loop", {}) for method in experiment.methods}
    return {m: {"loop": {"keep": own["keep"]}} for m, own in loops.items() if "keep" in own}


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
            and self._is_own(experiment, fields)
        ]

    def _is_own(self, experiment: Experiment, fields: Mapping[str, str]) -> bool:
        """Whether times are of a job of its own: to ask for a shared one would run it twice."""
        rule, iteration = fields.get("rule"), fields.get("iteration", "")
        return rule is None or Iterations(self.plan).runs(experiment, rule, iteration)

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
            "worlds": {one.name: self._world(one) for one in known},
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

    def _titles_of_all(self) -> dict[str, str]:
        used = {method for one in self.config.learned for method in one.methods}
        return self.plan.titles({*paper.METHODS, *used})

    def _world(self, experiment: Experiment) -> dict:
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

    # What demonstrations determine

    @cached_property
    def shown_to_learners(self) -> list[Experiment]:
        """The experiments with demonstrations of their own, but recorded traffic: nothing can be
        said of that.
        """
        own = [one for one in self.config.learned if one.demonstrations_of is None]
        return [one for one in own if not one.recorded]

    def shown_demonstrations(self, wildcards: Any) -> list[str]:
        """Their demonstrations."""
        need = Need("demonstrations", {})
        return [path for one in self.shown_to_learners for path in self.expanded(need, one)]

    def determine_settings(self, wildcards: Any) -> dict:
        """Their worlds and thresholds."""
        worlds = {one.name: self._world(one) for one in self.shown_to_learners}
        return canonical({"scale": self.config.scale, "worlds": worlds, "methods": []})

    def determine_code(self, wildcards: Any) -> str:
        """Digest of the code that asks them."""
        return self.plan.code_of("determine.py", *self.plan.worlds_code(self.shown_to_learners))

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
        titles = list(self._titles_of_all().items())
        return canonical(
            {
                "scale": self.config.scale,
                "worlds": worlds,
                "methods": titles,
                "experiments": {one.name: {"learning": _loops(one)} for one in self.checked},
            }
        )

    def claims_code(self, wildcards: Any) -> str:
        """Digest of the code that checks the claims."""
        checks = find_checks()
        used = sorted({checks[claim.check].module for claim in self.claims})
        worlds = self.plan.worlds_code(self.checked)
        # A check counts the settings of the paper's methods, and so loads them by their names.
        methods = [discovery.module_name(discovery.METHODS, name) for name in paper.METHODS]
        return self.plan.code_of("claims.py", *used, *methods, *worlds)

    # The page

    def page_settings(self, wildcards: Any) -> dict:
        """The items with their words, so that an edited caption gives a new page; all titles."""
        items = [self.items[name] for kind in ("figure", "table") for name in self.names(kind)]
        used = sorted({one.environment for one in self.config.experiments.values()})
        worlds = {name: discovery.title(discovery.WORLDS, name) for name in used}
        words = [[item.name, item.title, item.caption] for item in items]
        titles = worlds | self._changed_worlds(worlds) | self._titles_of_all()
        return canonical({"scale": self.config.scale, "items": words, "titles": titles})

    def _changed_worlds(self, titles: Mapping[str, str]) -> dict[str, str]:
        """Titles of experiments in a world that was changed: "Gridworld (A), slip 0.1"."""
        found = {}
        for one in self.config.experiments.values():
            own = self.config.experiments.get(one.environment, one).world
            changed = {name: value for name, value in one.world.items() if value != own.get(name)}
            words = [f"{name.replace('_', ' ')} {value}" for name, value in changed.items()]
            if words:
                found[one.name] = ", ".join([titles[one.environment], *words])
        return found

    def page_layout(self) -> list[str]:
        """What the page is laid out with, which is not code and so in no digest."""
        folder = self.plan.root / "icl_core/showing/page"
        return [os.path.relpath(folder / name) for name in ("page.html", "page.css")]
