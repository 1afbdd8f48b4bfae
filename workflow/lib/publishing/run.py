"""A run as it is published: its configuration, what of it is there, and what is missing and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from icl_core.artifacts import read_record
from icl_core.discovery import METHODS, title
from icl_core.errors import InputError
from icl_core.layout import path
from icl_core.showing.item import Item, read_items
from icl_core.showing.page.make import is_simulated, missing_of_paper, on_simulated_traffic
from workflow.lib.configuration import Configuration, read_configuration
from workflow.lib.finished import experiments_shown, learned, only_finished


@dataclass(frozen=True)
class Run:
    """The results of a scale, seen from the checkout that made them."""

    root: Path  # the checkout
    results: Path
    wanted: Configuration  # all that config.yaml asks for
    done: Configuration  # what of it is finished
    items: tuple[Item, ...]  # that there are, in the paper's order
    absent: tuple[Item, ...]  # that there are not
    simulated: frozenset[str]  # environments whose traffic is

    @property
    def scale(self) -> str:
        return self.wanted.scale

    @property
    def learned(self) -> list[tuple[str, str]]:
        """Experiments and methods that are finished."""
        return [(e.name, m) for e in self.done.experiments.values() for m in e.methods]

    def on_simulated_traffic(self, item: Item) -> bool:
        return on_simulated_traffic(item, self.simulated)


def read_run(root: Path, scale: str) -> Run:
    """Find out what is there; the claims and metrics must be, and all files as they were made."""
    wanted = read_configuration(root, scale)
    results = root / "results" / scale
    for name in ("claims.md", "claims.parquet", "metrics.parquet"):
        if not (results / name).is_file():
            raise InputError(
                f"{results / name}: expected the verdicts and metrics of a run, found no such "
                f"file; make it with `snakemake --config scale={scale} only_finished=True`"
            )
    read_record(results / path("claims"))
    done = only_finished(wanted, results)
    items: list[Item] = []
    absent: list[Item] = []
    for item in read_items():
        there = experiments_shown(item, done) and _there(item, results)
        if there:
            read_record(results / item.provenance)
        (items if there else absent).append(item)
    scenes = sorted(results.glob(path("scene", environment="*")))
    return Run(
        root,
        results,
        wanted,
        done,
        tuple(items),
        tuple(absent),
        frozenset(scene.parent.name for scene in scenes if is_simulated(scene)),
    )


def _there(item: Item, results: Path) -> bool:
    return all((results / file).is_file() for file in (*item.outputs, item.provenance))


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
    unfinished = [name for name in known if not learned(item, run.done.experiments[name])]
    return f"not finished: {method}{', '.join(unfinished)}"
