"""What is shown and said of a plan: its figures and tables, claims, the page; and what of it can
be shown by now.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from icl_core import discovery, layout
from icl_core.layout import Need
from icl_core.measuring.claims.claim import find_checks, read_claims
from workflow.lib.configuration import Configuration, Experiment
from workflow.lib.items import Items
from workflow.lib.plan import Plan, canonical

CLAIMS = "docs/claims.yaml"


def only_finished(config: Configuration, results: Path) -> Configuration:
    """The configuration with those methods of each experiment whose metrics are there.

    An experiment that has finished nothing keeps its place, without a method: tables show a
    dash for it, and who shares its demonstrations finds them by its name.
    """

    def there(kind: str, groups: Iterable[str], **fields: str) -> bool:
        paths = [layout.path(kind, group=group, **fields) for group in groups]
        return all((results / path).is_file() for path in paths)

    def ended(one: Experiment, method: str) -> bool:
        groups = config.groups_of(one, method)
        return there("run_metrics", groups, experiment=one.name, method=method)

    def finished(one: Experiment) -> Experiment:
        trained = there("expert_training", config.expert_groups(one), experiment=one.name)
        return replace(
            one,
            methods=tuple(m for m in one.methods if ended(one, m)),
            expert_alone=one.expert_alone and trained,
        )

    fits, groups = config.true_fits, config.fit_groups

    def fitted(name: str) -> bool:
        shapes = fits.architectures
        return all(there("true_fit", groups, experiment=name, architecture=a) for a in shapes)

    moved = config.transfers.experiments
    there_too = {n: own for n, own in moved.items() if there("transfer", [""], experiment=n)}
    return replace(
        config,
        experiments={name: finished(one) for name, one in config.experiments.items()},
        true_fits=replace(fits, environments=tuple(filter(fitted, fits.environments))),
        transfers=replace(config.transfers, experiments=there_too),
    )


def _loops(experiment: Experiment) -> dict:
    """Of each method with a loop, which of its policies it keeps."""
    loops = {method: experiment.learning[method].get("loop", {}) for method in experiment.methods}
    return {m: {"loop": {"keep": own["keep"]}} for m, own in loops.items() if "keep" in own}


class Shown(Items):
    """The items, the claims and the page of a plan."""

    def __init__(self, plan: Plan):
        super().__init__(plan)
        self.claims_file = os.path.relpath(plan.root / CLAIMS)

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
        worlds = {one.name: self.world(one) for one in self.shown_to_learners}
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
        worlds = {one.name: self.world(one) for one in self.checked}
        titles = list(self.titles_of_all().items())
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
        return self.plan.code_of("claims.py", *used, *worlds)

    # The page

    def page_settings(self, wildcards: Any) -> dict:
        """The items with their words, so that an edited caption gives a new page; all titles."""
        items = [self.items[name] for kind in ("figure", "table") for name in self.names(kind)]
        used = sorted({one.environment for one in self.config.experiments.values()})
        worlds = {name: discovery.title(discovery.WORLDS, name) for name in used}
        words = [[item.name, item.title, item.caption] for item in items]
        titles = worlds | self.titles_of_all()
        return canonical({"scale": self.config.scale, "items": words, "titles": titles})

    def page_layout(self) -> list[str]:
        """What the page is laid out with, which is not code and so in no digest."""
        folder = self.plan.root / "icl_core/showing/page"
        return [os.path.relpath(folder / name) for name in ("page.html", "page.css")]
