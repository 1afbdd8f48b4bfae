"""What a run has not: methods that were not finished, and what cannot be shown without them."""

from __future__ import annotations

from icl_core.showing.catalogue import ITEMS, Item
from icl_core.showing.catalogue.item import ARCHITECTURES
from icl_core.showing.naming import METHODS
from icl_core.showing.page.make import missing_of_paper
from workflow.lib.finished import experiments_shown, learned
from workflow.lib.publishing.run import Run


def missing_runs(run: Run) -> list[tuple[str, str, str]]:
    """Experiment, method, and how far it has come."""
    return [
        (name, METHODS.get(method, method), _state(run, name, method))
        for name, experiment in run.wanted.experiments.items()
        for method in experiment.methods
        if method not in run.done.experiments[name].methods
    ]


def missing_items(run: Run) -> list[tuple[str, str, str]]:
    """Items of the catalogue that are not there: label, title and why."""
    absent = [item for item in ITEMS if item not in run.items]
    ordered = sorted(absent, key=lambda item: (item.kind != "table", item.number, item.suffix))
    return [(item.label, item.title, _why(run, item)) for item in ordered]


def not_in_catalogue() -> list[tuple[str, str]]:
    """What the paper has and nothing here makes yet."""
    return missing_of_paper(item.label for item in ITEMS)


def _state(run: Run, name: str, method: str) -> str:
    begun = (run.results / "runs" / name / method).is_dir()
    return "begun, not finished" if begun else "not begun"


def _why(run: Run, item: Item) -> str:
    known = [name for name in item.experiments if name in run.wanted.experiments]
    if not known:
        return f"config.yaml has no experiment {' or '.join(item.experiments)}"
    if experiments_shown(item, run.done):
        return "all that it needs has been learned, but it was not made"
    if ARCHITECTURES in item.needs:
        return f"not fitted: networks of all shapes to {', '.join(known)}"
    told = f"{METHODS[item.method]} on " if item.method else ""
    unfinished = [name for name in known if not learned(item, run.done.experiments[name])]
    return f"not finished: {told}{', '.join(unfinished)}"
