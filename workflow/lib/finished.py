"""What of a configuration has been run: the part that can be shown before all of it is done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from icl_core.configuration import Configuration, Experiment
from icl_core.showing.catalogue.item import ARCHITECTURES, METRICS, Item

METRICS_OF_RUN = "runs/{experiment}/{method}/seeds-{group}/metrics.parquet"


def only_finished(config: Configuration, results: Path) -> Configuration:
    """The configuration with those methods of each experiment whose metrics are there.

    An experiment that has finished nothing keeps its place, without a method: tables show a
    dash for it, and who shares its demonstrations finds them by its name.
    """

    def there(pattern: str, **names: str) -> bool:
        return all((results / pattern.format(group=g, **names)).is_file() for g in config.groups)

    def finished(one: Experiment) -> Experiment:
        done = (m for m in one.methods if there(METRICS_OF_RUN, experiment=one.name, method=m))
        return replace(one, methods=tuple(done))

    shapes = config.architectures
    fitted = [
        name
        for name in shapes["environments"]
        if all(there(ARCHITECTURES, experiment=name, architecture=a) for a in shapes["hidden"])
    ]
    return replace(
        config,
        experiments={name: finished(one) for name, one in config.experiments.items()},
        architectures={**shapes, "environments": fitted},
    )


def experiments_shown(item: Item, config: Configuration) -> list[Experiment]:
    """The experiments of an item that it can show; none where it would show nothing.

    Tables of results show all that are configured, with a dash for what was not run.
    """
    configured = [config.experiments[n] for n in item.experiments if n in config.experiments]
    able = [one for one in configured if _able(item, one, config)]
    if len(able) < item.fewest:
        return []
    of_results = item.kind == "table" and item.needs in ((METRICS,), (ARCHITECTURES,))
    return configured if of_results else able


def _able(item: Item, experiment: Experiment, config: Configuration) -> bool:
    """Whether all that an item needs of an experiment has been made."""
    if ARCHITECTURES in item.needs:
        return experiment.name in config.architectures["environments"]
    return learned(item, experiment)


def learned(item: Item, experiment: Experiment) -> bool:
    """Whether the method that an item is about, or any, has been run on an experiment."""
    return item.method in experiment.methods if item.method else bool(experiment.methods)
