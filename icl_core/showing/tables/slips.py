"""Tables 3 and 4: ICL on Gridworld (A) where moves slip, the paper's value beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.environments.gridworld import Gridworld
from icl_core.measuring.metrics import CMSE, NAD
from icl_core.measuring.results import Results
from icl_core.showing.loading import world_as
from icl_core.showing.results_table import build, cells_of
from icl_core.showing.save import Table

ITEMS = [
    {
        "number": 3,
        "name": "cmse-slip",
        "draw": "slip_cmse_table",
        "title": "Constraint mean squared error where moves slip",
        "caption": (
            "Constraint mean squared error (CMSE) of ICL on Gridworld (A) where moves slip with "
            "probability p_slip, each world with experts of its own. Mean and standard "
            "deviation over seeds; lower is better. The paper's value stands beside ours; the "
            "first column repeats Table 1."
        ),
        "category": "Variations of ICL",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-a-slip-50",
        ],
        "method": "icl",
        "fewest": 2,
    },
    {
        "number": 4,
        "name": "nad-slip",
        "draw": "slip_nad_table",
        "title": "Normalised accrual dissimilarity where moves slip",
        "caption": (
            "Normalised accrual dissimilarity (NAD) of ICL on Gridworld (A) where moves slip "
            "with probability p_slip, each world with experts of its own. Mean and standard "
            "deviation over seeds; lower is better. The paper's value stands beside ours; the "
            "first column repeats Table 2."
        ),
        "category": "Variations of ICL",
        "needs": ["metrics"],
        "experiments": [
            "gridworld-a",
            "gridworld-a-slip-10",
            "gridworld-a-slip-30",
            "gridworld-a-slip-50",
        ],
        "method": "icl",
        "fewest": 2,
    },
]


def slip_cmse_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 3, and Gridworld (A) without slips beside it."""
    return _of_slips(results, experiments, CMSE)


def slip_nad_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 4, and Gridworld (A) without slips beside it."""
    return _of_slips(results, experiments, NAD)


def _of_slips(results: Results, experiments: Sequence[str], metric: str) -> Table:
    worlds = {name: world_as(results, name, Gridworld) for name in experiments}
    columns = {name: f"p_slip = {world.slip:g}" for name, world in worlds.items()}
    cells = {
        selection: {key: cell for key, cell in found.items() if key[1] == "icl"}
        for selection, found in cells_of(results, metric).items()
    }
    place = ", Gridworld (A) where moves slip"
    return build(results, metric, cells, columns, ("icl",), place)
