"""Driving: HighD and ExiD."""

from __future__ import annotations

from icl_core.showing.catalogue.item import CONSTRAINT, DEMONSTRATIONS, ROLLOUTS, Item, figure_of


def _figures(experiment: str, environment: int, constraint: int, accruals: int) -> tuple[Item, ...]:
    """The three figures of an experiment, by their numbers."""
    maps = "icl_core.showing.driving_maps"
    learned = ("constraint", "Constraint function, {}", "Recovered constraints")
    visited = ("accruals", "Accruals, {}", "Accruals")
    place = ("environment", "The environment {}", "Environments")
    picture = f"icl_core.showing.{experiment}_picture:environment_figure"
    needs = (CONSTRAINT, DEMONSTRATIONS)
    return (
        figure_of(experiment, constraint, *learned, needs, f"{maps}:constraint_figure"),
        figure_of(experiment, environment, *place, (), picture),
        figure_of(
            experiment, accruals, *visited, (DEMONSTRATIONS, ROLLOUTS), f"{maps}:accruals_figure"
        ),
    )


DRIVING = (
    *_figures("highd", environment=13, constraint=2, accruals=28),
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
    *_figures("exid", environment=15, constraint=11, accruals=29),
)
