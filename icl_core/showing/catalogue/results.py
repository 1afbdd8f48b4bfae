"""Tables 1 and 2 and their figures: methods and synthetic environments."""

from __future__ import annotations

from icl_core.showing.catalogue.item import (
    CONSTRAINT,
    DEMONSTRATIONS,
    GRIDWORLDS,
    METRICS,
    ROLLOUTS,
    SYNTHETIC,
    TRAINING,
    Item,
    figure_of,
)


def _constraints_and_accruals(number: int, experiment: str) -> tuple[Item, Item]:
    """The pair of figures that the paper's App. D gives each environment."""
    module = "grid_maps" if experiment in GRIDWORLDS else "position_curves"
    constraint = figure_of(
        experiment,
        number,
        "constraint",
        "Constraint function, {}",
        "Recovered constraints",
        (CONSTRAINT,),
        f"icl_core.showing.{module}:constraint_figure",
    )
    accruals = figure_of(
        experiment,
        number + 1,
        "accruals",
        "Normalised accruals, {}",
        "Accruals",
        (DEMONSTRATIONS, ROLLOUTS),
        f"icl_core.showing.{module}:accruals_figure",
    )
    return constraint, accruals


RESULTS = (
    Item(
        "table",
        1,
        "cmse",
        "Constraint mean squared error",
        "Results",
        (METRICS,),
        SYNTHETIC,
        "icl_core.showing.results_table:cmse_table",
    ),
    Item(
        "table",
        2,
        "nad",
        "Normalised accrual dissimilarity",
        "Results",
        (METRICS,),
        SYNTHETIC,
        "icl_core.showing.results_table:nad_table",
    ),
    Item(
        "table",
        1,
        "cmse-intervals",
        "Constraint mean squared error, interquartile means",
        "Results",
        (METRICS,),
        SYNTHETIC,
        "icl_core.showing.interval_table:cmse_table",
        suffix="b",
    ),
    Item(
        "table",
        2,
        "nad-intervals",
        "Normalised accrual dissimilarity, interquartile means",
        "Results",
        (METRICS,),
        SYNTHETIC,
        "icl_core.showing.interval_table:nad_table",
        suffix="b",
    ),
    Item(
        "figure",
        3,
        "expert-reward",
        "Expert's reward per PPO epoch",
        "Experts",
        (TRAINING,),
        SYNTHETIC,
        "icl_core.showing.expert_training:reward_figure",
    ),
    Item(
        "figure",
        4,
        "expert-constraint",
        "Expert's constraint value per PPO epoch",
        "Experts",
        (TRAINING,),
        SYNTHETIC,
        "icl_core.showing.expert_training:constraint_figure",
    ),
    Item(
        "figure",
        12,
        "environments",
        "The synthetic environments",
        "Environments",
        (),
        SYNTHETIC,
        "icl_core.showing.environment_sketches:environments_figure",
    ),
    *_constraints_and_accruals(16, "gridworld-a"),
    *_constraints_and_accruals(18, "gridworld-b"),
    *_constraints_and_accruals(20, "cartpole-mr"),
    *_constraints_and_accruals(22, "cartpole-mid"),
)
