"""What of a configuration has been run, and which experiments and methods an item can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from icl_core import layout
from icl_core.measuring import paper
from icl_core.showing.item import Item
from workflow.lib.configuration import Configuration, Experiment


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
