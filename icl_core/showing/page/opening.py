"""What the page opens with: ours beside the paper's at one glance, and what training took."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from icl_core.artifacts import read_table
from icl_core.layout import find, path
from icl_core.learning.problem import BEST
from icl_core.measuring.metrics import CMSE, FAILED, METRICS_SCHEMA, NAD
from icl_core.measuring.paper import METHODS, PAPER, SEEDS
from icl_core.measuring.statistics import reported
from icl_core.showing.item import Item, find_item
from icl_core.showing.numbers import lowest
from icl_core.showing.page.tables import Number, failed_seeds
from icl_core.tables import counted, failed_of

# By metric: the table that it is read from, what it is, and how many digits of ours are shown.
METRICS = {
    CMSE: ("table-01-cmse", "error of the recovered constraint", 3),
    NAD: ("table-02-nad", "distance from the expert's behaviour", 2),
}
TIMES = "table-12-training-times"
PICTURE = "figure-18"  # the true constraint beside the recovered ones
PAPER_SEEDS = SEEDS

Values = Mapping[tuple[str, str], tuple[float, float]]  # mean and deviation by experiment, method
Failed = Mapping[tuple[str, str], tuple[int, int]]  # so many of so many seeds, where some have


@dataclass(frozen=True)
class Pair:
    """The paper's mean and ours; None where there is none."""

    paper: Number | None
    ours: Number | None
    deviation: str  # of ours, and how many seeds have failed
    best: bool  # ours is the lowest of ours
    best_of_paper: bool


@dataclass(frozen=True)
class Compared:
    """A metric: the paper's values and ours."""

    name: str
    about: str
    label: str  # of the table that has all of it
    digits: int
    paper: Values
    ours: Values
    failed: Failed

    def pair(self, experiment: str, method: str) -> Pair:
        """What stands in one place."""
        key = experiment, method
        theirs, (mean, deviation) = self.paper.get(key), self.ours.get(key, (None, math.nan))
        spread = f"± {deviation:.{self.digits}f}" if math.isfinite(deviation) else ""
        lost = failed_of(*self.failed.get(key, (0, 0)))
        ours = Number("failed", "failed") if lost else None
        if mean is not None:
            ours, spread = Number(str(mean), self._shown(mean)), f"{spread}{lost}".strip()
        return Pair(
            Number(str(theirs[0]), f"{theirs[0]:.2f}") if theirs else None,
            ours,
            spread,
            method in self.lowest(experiment),
            method in lowest_at(self.paper, experiment),
        )

    def lowest(self, experiment: str) -> set[str]:
        """Our methods with the lowest mean; a mean over what has not failed is none of them."""
        whole = {key: value for key, value in self.ours.items() if key not in self.failed}
        return lowest_at(whole, experiment)

    def _shown(self, mean: float) -> str:
        return f"{mean:.{self.digits}f}" if math.isfinite(mean) else "undefined"


@dataclass(frozen=True)
class Comparison:
    """Tables 1 and 2 in one; methods and experiments by name."""

    experiments: tuple[str, ...]
    methods: tuple[str, ...]
    metrics: tuple[Compared, ...]
    seeds: int  # of ours; 0 where nothing was run

    def wins(self, of_paper: bool = False) -> list[tuple[str, int]]:
        """How often each method has the lowest mean, the most frequent first."""
        found = Counter(
            method
            for metric in self.metrics
            for experiment in self.experiments
            for method in (
                lowest_at(metric.paper, experiment) if of_paper else metric.lowest(experiment)
            )
        )
        return found.most_common()

    @property
    def places(self) -> int:
        """How often a method can be the lowest."""
        return len(self.metrics) * len(self.experiments)


def lowest_at(values: Values, experiment: str) -> set[str]:
    """The methods with the lowest mean on an experiment."""
    return lowest({method: mean for (at, method), (mean, _) in values.items() if at == experiment})


def read_comparison(folder: Path, made: Collection[str]) -> Comparison:
    """Tables 1 and 2, from the CSV files of those that are among the names of what was `made`.

    The paper's values stand there whatever was run.
    """
    items = {metric: find_item(name) for metric, (name, *_) in METRICS.items()}
    found = {metric: _rows(folder, item, made) for metric, item in items.items()}
    rows = [row for one in found.values() for row in one]
    return Comparison(
        tuple(dict.fromkeys(name for item in items.values() for name in item.experiments)),
        tuple(dict.fromkeys([*(row["method"] for row in rows), *METHODS])),
        tuple(
            Compared(
                metric.upper(),
                about,
                items[metric].label,
                digits,
                paper=PAPER[metric],
                ours=_values(found[metric]),
                failed=_failed(found[metric]),
            )
            for metric, (_, about, digits) in METRICS.items()
        ),
        max((int(float(row["seeds"])) for row in rows if row["seeds"]), default=0),
    )


def _values(rows: Iterable[Mapping[str, str]]) -> Values:
    """Ours, without what was not run."""
    return {
        (row["experiment"], row["method"]): (float(row["mean"]), float(row["std"] or "nan"))
        for row in rows
        if row["mean"]
    }


def _failed(rows: Iterable[Mapping[str, str]]) -> Failed:
    """Where seeds have failed."""
    found = {(row["experiment"], row["method"]): failed_seeds(row) for row in rows}
    return {key: share for key, share in found.items() if share[0]}


def _rows(folder: Path, item: Item, made: Collection[str]) -> list[dict[str, str]]:
    """The rows of a table, those of last policies, as the paper's are; none where it was not made,
    though an older file may lie there.
    """
    if item.name not in made:
        return []
    with (folder / item.outputs[0]).open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row.get("selection") != BEST]


def read_failures(folder: Path, titles: Mapping[str, str]) -> list[str]:
    """Which seeds have failed, in words: "ICL on Gridworld (A), seed 2"."""
    file = folder / path("metrics")
    if not file.is_file():
        return []
    found = reported(read_table(file, METRICS_SCHEMA), FAILED)
    return [
        f"{titles.get(method, method)} on {titles.get(experiment, experiment)}, "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
        for (experiment, method), seeds in found.items()
    ]


def training_took(folder: Path, made: Collection[str], inputs: Iterable[str]) -> str:
    """What the runs of Table 12 took, which was made from `inputs`; empty where it was not made.

    "24 training runs took 11 min of CPU time in 70 jobs".
    """
    rows = _rows(folder, find_item(TIMES), made)
    if not rows:
        return ""
    seconds = sum(float(row["cpu_seconds_per_seed"]) * float(row["seeds"]) for row in rows)
    time = f"{seconds / 3600:.1f} h" if seconds >= 7200 else f"{seconds / 60:.0f} min"
    files = list(inputs)
    jobs = len(find(files, "job_time")) + len(find(files, "iteration_time"))
    among = f" in {counted(jobs, 'job')}" if jobs else ""
    return f"{counted(len(rows), 'training run')} took {time} of CPU time{among}"
