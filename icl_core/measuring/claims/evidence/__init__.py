"""What checks may look at: the results, by experiment, method and seed.

`base` has what all of it shares, `values` the table of metrics, `learned` the files of runs,
`experts` those of demonstrations.
"""

from __future__ import annotations

from icl_core.measuring.claims.evidence.base import (
    ICL,
    FailedSeedsError,
    Failures,
    MissingError,
)
from icl_core.measuring.claims.evidence.learned import OfRuns
from icl_core.measuring.claims.evidence.values import OfMetrics

__all__ = ["ICL", "Evidence", "FailedSeedsError", "Failures", "MissingError"]


class Evidence(OfMetrics, OfRuns):
    """The results for one claim."""
