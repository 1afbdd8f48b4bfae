"""Robots: Ant and HalfCheetah."""

from __future__ import annotations

from icl_core.showing.catalogue.item import (
    ICL_LAST_TRAINING,
    ICL_TRAINING,
    ICRL_TRAINING,
    METRICS,
    ROBOTS,
    Item,
    constraints_and_accruals,
)

ROBOT_ITEMS = (
    Item(
        "table",
        5,
        "cmse-robots",
        "Constraint mean squared error, robots",
        "Results",
        (METRICS,),
        ROBOTS,
        "icl_core.showing.results_table:cmse_table",
    ),
    Item(
        "table",
        6,
        "nad-robots",
        "Normalised accrual dissimilarity, robots",
        "Results",
        (METRICS,),
        ROBOTS,
        "icl_core.showing.results_table:nad_table",
    ),
    Item(
        "figure",
        10,
        "training-halfcheetah",
        "Reward and cost in training, HalfCheetah-Constrained",
        "Results",
        (ICRL_TRAINING, ICL_TRAINING, ICL_LAST_TRAINING),
        ("halfcheetah",),
        "icl_core.showing.training_curves:training_figure",
        told_settings=True,
    ),
    Item(
        "figure",
        14,
        "robots",
        "The robots",
        "Environments",
        (),
        ROBOTS,
        "icl_core.showing.robots_picture:robots_figure",
    ),
    *constraints_and_accruals(24, "ant", "position_curves"),
    *constraints_and_accruals(26, "halfcheetah", "position_curves"),
)
