"""The settings of measuring. Nothing heavy is imported: planning a run reads them."""

from __future__ import annotations

from dataclasses import dataclass

from icl_core.settings import setting


@dataclass(frozen=True)
class MeasuringSettings:
    """How runs are measured."""

    report_episodes: int = setting(
        50,
        "episodes of the final policy behind the reported NAD and the accruals",
        at_least=1,
    )
