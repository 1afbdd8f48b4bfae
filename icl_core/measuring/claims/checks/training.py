"""Checks on the experts' training curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from icl_core.measuring.claims.check import reads
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.intervals import difference_of_means, mean_above
from icl_core.measuring.claims.verdicts import Effect

PART = 10  # the beginning and the end are a tenth of the epochs each


@reads("expert_training")
def expert_earns(evidence: Evidence, share: float, best: Mapping[str, float]) -> list[Effect]:
    """At the end an expert's return is at least this share of the best possible one.

    There is one expert: the interval is over the epochs of the last tenth.
    """
    parts = []
    for name in evidence.experiments:
        log = evidence.expert_training(name)
        last = _ends(log, "return")[1] / best[name]
        unit = f"return, share of {best[name]:g}, less {share:g}"
        parts.append(
            evidence.effect(evidence.title(name), unit, mean_above(share), [last], of="epochs")
        )
    return parts


@reads("expert_training")
def expert_violates_less(evidence: Evidence) -> list[Effect]:
    """Over training, fewer and fewer of an expert's episodes break the constraint.

    There is one expert: the interval is over the epochs of the first and the last tenth.
    """
    parts = []
    for name in evidence.experiments:
        log = evidence.expert_training(name)
        first, last = _ends(log, "violations")
        unit = "share of episodes that break it, first tenth less last"
        groups = [last, first]
        parts.append(
            evidence.effect(evidence.title(name), unit, difference_of_means, groups, of="epochs")
        )
    return parts


def _ends(log: pa.Table, column: str) -> tuple[np.ndarray, np.ndarray]:
    values = log[column].to_numpy()
    part = max(1, len(values) // PART)
    return values[:part], values[-part:]
