"""What a run has not: methods that were not finished, and what cannot be shown without them."""

from __future__ import annotations

from icl_core.discovery import METHODS, title
from icl_core.showing.item import Item, read_items
from icl_core.showing.page.make import missing_of_paper
from workflow.lib.configuration import Experiment
from workflow.lib.publishing.run import Run
from workflow.lib.shown import experiments_shown


def missing_runs(run: Run) -> list[tuple[str, str, str]]:
    """Experiment, method, and how far it has come."""
    return [
        (name, title(METHODS, method), _state(run, name, method))
        for name, experiment in run.wanted.experiments.items()
        for method in experiment.methods
        if method not in run.done.experiments[name].methods
    ]


def missing_items(run: Run) -> list[tuple[str, str, str]]:
    """Items that are not there: label, title and why."""
    return [(item.label, item.title, _why(run, item)) for item in run.absent]


def never_made() -> list[tuple[str, str]]:
    """What the paper has and nothing here makes yet."""
    return missing_of_paper(item.label for item in read_items())


def _state(run: Run, name: str, method: str) -> str:
    begun = (run.results / "runs" / name / method).is_dir()
    return "begun, not finished" if begun else "not begun"


def _why(run: Run, item: Item) -> str:
    known = item.experiments_among(run.wanted.experiments)
    if not known:
        return f"config.yaml has no experiment {' or '.join(item.experiments)}"
    if experiments_shown(item, run.done):
        return "all that it needs has been learned, but it was not made"
    if any(need.kind == "true_fit" for need in item.needs):
        return f"not fitted: networks of all shapes to {', '.join(known)}"
    method = f"{title(METHODS, item.method)} on " if item.method else ""
    unfinished = [name for name in known if not _learned(item, run.done.experiments[name])]
    return f"not finished: {method}{', '.join(unfinished)}"


def _learned(item: Item, experiment: Experiment) -> bool:
    """Whether the method that an item is about, or any, has been run on an experiment."""
    return item.method in experiment.methods if item.method else bool(experiment.methods)
