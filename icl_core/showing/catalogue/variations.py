"""Appendix B on the synthetic environments: ablations, slips, thresholds; also Figure 1."""

from __future__ import annotations

from icl_core.showing.catalogue.item import (
    ADJUSTMENTS,
    DEMONSTRATIONS,
    FIRST_CONSTRAINTS,
    FIRST_POLICY,
    GRIDWORLDS,
    ICL_CONSTRAINT,
    METRICS,
    SYNTHETIC,
    Item,
)

ABLATIONS = ("all-iterations", "no-reweighting", "no-mixture")
SLIPS = ("gridworld-a", *(f"gridworld-a-slip-{percent}" for percent in (10, 30, 50)))
SWEEPS = "Variations of ICL"


def _thresholds(number: int, experiment: str, title: str) -> Item:
    return Item(
        "figure",
        number,
        f"thresholds-{experiment}",
        f"Thresholds, {title}",
        SWEEPS,
        (ICL_CONSTRAINT,),
        (experiment, f"{experiment}-beta-299", f"{experiment}-beta-599"),
        "icl_core.showing.sweep_maps:thresholds_figure",
        method="icl",
        fewest=2,
    )


VARIATIONS = (
    Item(
        "figure",
        1,
        "direction",
        "Expert, agents and the direction of an adjustment",
        "Results",
        (DEMONSTRATIONS, *FIRST_CONSTRAINTS, FIRST_POLICY),
        ("gridworld-a",),
        "icl_core.showing.direction:direction_figure",
        method="icl",
    ),
    Item(
        "figure",
        5,
        "ablations",
        "CMSE by iteration, without mixture and without reweighting",
        SWEEPS,
        (METRICS,),
        tuple(f"{name}-{ablation}" for name in SYNTHETIC for ablation in ABLATIONS),
        "icl_core.showing.ablation_curves:ablations_figure",
        method="icl",
    ),
    Item(
        "table",
        3,
        "cmse-slip",
        "Constraint mean squared error where moves slip",
        SWEEPS,
        (METRICS,),
        SLIPS,
        "icl_core.showing.results_table:slip_cmse_table",
        method="icl",
        fewest=2,
    ),
    Item(
        "table",
        4,
        "nad-slip",
        "Normalised accrual dissimilarity where moves slip",
        SWEEPS,
        (METRICS,),
        SLIPS,
        "icl_core.showing.results_table:slip_nad_table",
        method="icl",
        fewest=2,
    ),
    Item(
        "figure",
        6,
        "slip",
        "Recovered constraints where moves slip",
        SWEEPS,
        (ICL_CONSTRAINT,),
        SLIPS,
        "icl_core.showing.sweep_maps:slips_figure",
        method="icl",
        fewest=2,
    ),
    Item(
        "figure",
        7,
        "lagrangian",
        "Adjustment by a Lagrange multiplier",
        SWEEPS,
        (ICL_CONSTRAINT, ADJUSTMENTS),
        ("gridworld-a-lagrangian", "gridworld-a-all-iterations"),
        "icl_core.showing.lagrangian:lagrangian_figure",
        method="icl",
        fewest=2,
    ),
    *(_thresholds(8 + k, name, f"Gridworld ({'AB'[k]})") for k, name in enumerate(GRIDWORLDS)),
)
