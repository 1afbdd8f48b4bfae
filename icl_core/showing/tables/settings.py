"""Tables 7 to 11: what was run with which settings."""

from __future__ import annotations

from collections.abc import Sequence

from icl_core.measuring.results import Results
from icl_core.showing.paper import COMMON, GAIL, ICL, ICL_LAGRANGE, ICRL, SECTIONS
from icl_core.showing.save import Table
from icl_core.showing.settings_table import of_method, settings_table

ITEMS = [
    {
        "number": 7,
        "name": "settings-common",
        "draw": "common_table",
        "title": "Settings that methods share",
        "caption": (
            "Settings that methods share, as they were run, from the configuration itself; the "
            "paper's value stands beside ours wherever it is another."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["main"],
        "shows_settings": True,
    },
    {
        "number": 8,
        "name": "settings-gail-constraint",
        "draw": "gail_constraint_table",
        "title": "Settings of GAIL-Constraint",
        "caption": (
            "Settings of GAIL-Constraint, as they were run, from the configuration itself; the "
            "paper's value stands beside ours wherever it is another. What methods share stands "
            "in Table 7."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["main"],
        "method": "gail-constraint",
        "shows_settings": True,
    },
    {
        "number": 9,
        "name": "settings-icrl",
        "draw": "icrl_table",
        "title": "Settings of ICRL",
        "caption": (
            "Settings of ICRL, as they were run, from the configuration itself; the paper's "
            "value stands beside ours wherever it is another. What methods share stands in Table "
            "7."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["main"],
        "method": "icrl",
        "shows_settings": True,
    },
    {
        "number": 10,
        "name": "settings-icl",
        "draw": "icl_table",
        "title": "Settings of ICL with PPO-penalty",
        "caption": (
            "Settings of ICL with PPO-penalty, as they were run, from the configuration itself; "
            "the paper's value stands beside ours wherever it is another. What methods share "
            "stands in Table 7."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid", "highd"],
        "method": "icl",
        "shows_settings": True,
    },
    {
        "number": 11,
        "name": "settings-icl-lagrange",
        "draw": "icl_lagrange_table",
        "title": "Settings of ICL with PPO-Lagrange",
        "caption": (
            "Settings of ICL with PPO-Lagrange, as they were run, from the configuration itself; "
            "the paper's value stands beside ours wherever it is another. What methods share "
            "stands in Table 7."
        ),
        "category": "Settings and times",
        "needs": [],
        "experiments": ["ant", "halfcheetah", "exid"],
        "method": "icl",
        "shows_settings": True,
    },
]


def common_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 7."""
    heading = "Settings that methods share"
    return settings_table(results, experiments, COMMON, SECTIONS["common"], heading)


def gail_constraint_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 8."""
    return of_method(results, experiments, "gail-constraint", GAIL)


def icrl_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 9."""
    return of_method(results, experiments, "icrl", ICRL)


def icl_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 10."""
    return of_method(results, experiments, "icl", ICL)


def icl_lagrange_table(results: Results, experiments: Sequence[str]) -> Table:
    """Table 11."""
    return of_method(results, experiments, "icl", ICL_LAGRANGE, " with PPO-Lagrange")
