"""Driving: HighD and ExiD."""

from __future__ import annotations

from icl_core.showing.catalogue.item import CONSTRAINT, DEMONSTRATIONS, ROLLOUTS, Item

TITLES = {"highd": "HighD", "exid": "ExiD"}


def _recovered(number: int, experiment: str) -> Item:
    return Item(
        "figure",
        number,
        f"constraint-{experiment}",
        f"Constraint function, {TITLES[experiment]}",
        "Recovered constraints",
        (CONSTRAINT, DEMONSTRATIONS),
        (experiment,),
        "icl_core.showing.driving_maps:constraint_figure",
    )


def _accruals(number: int, experiment: str) -> Item:
    return Item(
        "figure",
        number,
        f"accruals-{experiment}",
        f"Accruals, {TITLES[experiment]}",
        "Accruals",
        (DEMONSTRATIONS, ROLLOUTS),
        (experiment,),
        "icl_core.showing.driving_maps:accruals_figure",
    )


def _environment(number: int, experiment: str) -> Item:
    return Item(
        "figure",
        number,
        f"environment-{experiment}",
        f"The environment {TITLES[experiment]}",
        "Environments",
        (),
        (experiment,),
        f"icl_core.showing.{experiment}_picture:environment_figure",
    )


DRIVING = (
    _recovered(2, "highd"),
    Item(
        "table",
        2,
        "headway",
        "Gaps at which the recovered constraints end, HighD",
        "Results",
        (CONSTRAINT,),
        ("highd",),
        "icl_core.showing.headway_table:headway_table",
        suffix="c",
    ),
    _recovered(11, "exid"),
    _environment(13, "highd"),
    _environment(15, "exid"),
    _accruals(28, "highd"),
    _accruals(29, "exid"),
)
