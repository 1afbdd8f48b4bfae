"""Whether the paper's own means and deviations support what it says: the same checks on its tables.

Its runs are five and are not given, so all comparisons are Welch's. A check that asks for more than
the tables have has no answer.
"""

from __future__ import annotations

from collections.abc import Callable

from icl_core.learning.problem import LAST
from icl_core.measuring.claims.claim import Claim
from icl_core.measuring.claims.effects import Range, sample_effect, welch
from icl_core.measuring.claims.evidence import ICL, Evidence, FailedSeedsError, MissingError
from icl_core.measuring.claims.evidence.values import Key
from icl_core.measuring.claims.intervals import Sample, printed
from icl_core.measuring.claims.verdicts import (
    AS_STATED,
    DESCRIPTIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Effect,
    combined_verdict,
)
from icl_core.measuring.paper import LOWER_BOUNDS, MINUTES, PAPER, SEEDS, SETTINGS_OF
from icl_core.measuring.results import Results

SUPPORTED, UNCLEAR, CONTRADICTED, NO_NUMBERS = "yes", "unclear", "no", "no numbers"
OVER = "the paper's runs"


class PaperEvidence(Evidence):
    """The paper's tables in place of our results; all else is missing."""

    def sample(self, metric: str, key: Key) -> Sample:
        """A cell of Tables 1 to 6."""
        if key not in PAPER[metric]:
            raise MissingError(f"the paper prints no {metric} of {key[1]} on {key[0]}")
        return printed(*PAPER[metric][key], SEEDS)

    def lower(
        self,
        metric: str,
        first: Key,
        second: Key,
        part: str,
        paired: bool | None = None,
        selection: str = LAST,
    ) -> Effect:
        low, high = self.sample(metric, first), self.sample(metric, second)
        return sample_effect(part, metric, high.less(low), welch(low, high))

    def below(self, metric: str, key: Key, bound: float, part: str, unit: str = "") -> Effect:
        room = self.sample(metric, key).times(-1).plus(bound)
        return sample_effect(part, unit or metric, room, OVER)

    def above(self, metric: str, key: Key, bound: float, part: str) -> Effect:
        return sample_effect(part, metric, self.sample(metric, key).plus(-bound), OVER)

    def beside_the_paper(self, metric: str, key: Key, part: str, within: Range) -> Effect:
        raise MissingError("the paper says this of itself")

    def error(self, experiment: str, architecture: str, like: str = "") -> Sample:
        return printed(*LOWER_BOUNDS[experiment, architecture], SEEDS)

    def seconds(self, experiment: str, method: str = ICL) -> float:
        return 60.0 * MINUTES[experiment, method]

    def settings_of(self, method: str) -> int:
        return SETTINGS_OF[method]

    def alternations(self) -> dict[int, float]:
        raise MissingError("the paper proves it")


def paper_supports(claim: Claim, check: Callable[..., list[Effect]], results: Results) -> str:
    """What its own numbers say of a statement: yes, unclear, no; or that there are none."""
    blind = Results(results.scale, results.worlds, (), results.methods)
    try:
        effects = check(PaperEvidence(blind, claim.experiments, claim.id), **claim.arguments)
    except (MissingError, FailedSeedsError, KeyError):
        return NO_NUMBERS
    verdict = combined_verdict(effects)
    if verdict == DESCRIPTIVE:
        held = all(effect.verdict == AS_STATED for effect in effects)
        return SUPPORTED if held else CONTRADICTED
    return {REPRODUCED: SUPPORTED, NOT_REPRODUCED: CONTRADICTED}.get(verdict, UNCLEAR)
