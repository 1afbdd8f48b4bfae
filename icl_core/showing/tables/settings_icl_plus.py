"""Table 11b: the settings of ICL+. Ours."""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.measuring.results import Results
from icl_core.showing.save import Table
from icl_core.showing.settings_table import of_method

ITEMS = [
    {
        "number": 11,
        "suffix": "b",
        "name": "settings-icl-plus",
        "title": "Settings of ICL+",
        "caption": (
            "Settings of ICL+, as they were run, where they are others than ICL's (Tables 10 and "
            "11) or ICL has none of them."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["main"],
        "method": "icl-plus",
        "shows_settings": True,
    },
]


def draw(results: Results, experiments: Sequence[str]) -> Table:
    """What stands in Tables 10 and 11 already is left out."""
    return of_method(results, experiments, "icl-plus", ())
