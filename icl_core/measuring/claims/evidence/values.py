"""The values that tables print, and those of iterations; and how means are compared."""

from __future__ import annotations

import numpy as np

from icl_core.learning.problem import LAST
from icl_core.measuring.claims.effects import (
    Range,
    mean_effect,
    paired_effect,
    sample_effect,
    separate_effect,
)
from icl_core.measuring.claims.evidence.base import ICL, Base
from icl_core.measuring.claims.intervals import Sample, above_zero, printed, sample_of
from icl_core.measuring.claims.verdicts import Effect
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.metrics import NAD
from icl_core.measuring.paper import PAPER, SEEDS

Key = tuple[str, str]  # experiment and method


class OfMetrics(Base):
    """The table of metrics."""

    def reported(
        self, metric: str, experiment: str, method: str = ICL, selection: str = LAST
    ) -> dict[int, float]:
        """The values at the end, by seed: of the last policies, as the paper has it, or the best.

        Of policies that were measured with different numbers of episodes, those with the most.
        """
        rows = self._ends(metric, experiment, method, selection)
        found = {row["seed"]: row["value"] for row in rows}
        return self._run(dict(sorted(found.items())), method, experiment)

    def tabled(self, metric: str, experiment: str, method: str = ICL) -> dict[int, float]:
        """The values behind our tables, by seed: those of as few episodes as the paper's.

        A sample of few is further from the expert than one of many, whoever plays it.
        """
        rows = self._ends(metric, experiment, method, LAST)
        found = {row["seed"]: row["value"] for row in reversed(rows)}
        return self._run(dict(sorted(found.items())), method, experiment)

    def played(self, experiment: str) -> MeasuringSettings:
        """In how many sets of how many episodes each ICL's last policies were played."""
        rows = self._ends(NAD, experiment, ICL, LAST)
        counts = {row["episodes"] for row in self._run(rows, ICL, experiment)}
        return MeasuringSettings(min(counts), max(counts) // min(counts))

    def by_iteration(self, metric: str, experiment: str) -> dict[int, np.ndarray]:
        """A metric after each iteration of ICL from the first that has it on, by seed."""
        rows = [
            row
            for row in self._rows(metric, experiment, ICL)
            if not (row["reported"] or row["selection"])
        ]
        curves: dict[int, dict[int, float]] = {}
        for row in rows:
            curves.setdefault(row["seed"], {})[row["iteration"]] = row["value"]
        found = {
            seed: np.array([curve[i] for i in sorted(curve)])
            for seed, curve in sorted(curves.items())
        }
        return self._run(found, ICL, experiment)

    def lower(
        self,
        metric: str,
        first: Key,
        second: Key,
        part: str,
        paired: bool | None = None,
        selection: str = LAST,
    ) -> Effect:
        """How far the mean of the first lies below that of the second.

        In pairs where the experts are the same: within one experiment, or where it is said.
        """
        unit = f"{metric.upper()}, difference of means"
        values = [self.reported(metric, *key, selection) for key in (first, second)]
        same = first[0] == second[0] if paired is None else paired
        return (paired_effect if same else separate_effect)(part, unit, *values)

    def below(self, metric: str, key: Key, bound: float, part: str, unit: str = "") -> Effect:
        """How far the mean lies below a bound."""
        values = self.reported(metric, *key)
        unit = unit or f"{bound:.3g} less {metric.upper()}"
        return mean_effect(part, unit, {seed: bound - value for seed, value in values.items()})

    def above(self, metric: str, key: Key, bound: float, part: str) -> Effect:
        """How far the mean lies above a bound."""
        values = self.reported(metric, *key)
        unit = f"{metric.upper()} less {bound:.3g}"
        return mean_effect(part, unit, {seed: value - bound for seed, value in values.items()})

    def beside_the_paper(self, metric: str, key: Key, part: str, within: Range) -> Effect:
        """Our mean less the paper's, and how far that is inside a range."""
        theirs = printed(*self.printed(metric, key), SEEDS)
        ours = sample_of([*self.tabled(metric, *key).values()])
        over = f"{ours.number} of our runs and the paper's {theirs.number}, Welch"
        apart = ours.less(theirs)._replace(number=ours.number)
        low, high = within
        ends = f"to {high:.2g} at most" if np.isinf(low) else f"inside [{low:.2g}, {high:.2g}]"
        unit = f"{metric.upper()}: less the paper's {_with_interval(apart)}, distance {ends}"
        return sample_effect(part, unit, apart, over, within)

    def printed(self, metric: str, key: Key) -> tuple[float, float]:
        """The mean and deviation that the paper prints."""
        return PAPER[metric][key]

    def _ends(self, metric: str, experiment: str, method: str, selection: str) -> list[dict]:
        """The rows of a selection at the end, those of the fewest episodes first."""
        rows = [r for r in self._rows(metric, experiment, method) if r["selection"] == selection]
        return sorted(rows, key=lambda row: row["episodes"])

    def _rows(self, metric: str, experiment: str, method: str) -> list[dict]:
        """Of a metric, without the seeds that are left out."""
        self._look_for_failed(experiment, method)
        found = self._metrics.get((experiment, method, metric), [])
        return [row for row in found if row["seed"] not in self.without]


def _with_interval(sample: Sample) -> str:
    """ "-0.02 [-0.03, -0.01]"."""
    mean, low, high, _ = above_zero(sample)
    return f"{mean:+.2g} [{low:+.2g}, {high:+.2g}]"
