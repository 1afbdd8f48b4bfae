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
)


def _constraints_and_accruals(number: int, experiment: str, title: str) -> tuple[Item, Item]:
    """The pair of figures that the paper's App. D gives each environment."""
    module = "grid_maps" if experiment in GRIDWORLDS else "position_curves"
    constraint = Item(
        "figure",
        number,
        f"constraint-{experiment}",
        f"Constraint function, {title}",
        "Recovered constraints",
        (CONSTRAINT,),
        (experiment,),
        f"icl_core.showing.{module}:constraint_figure",
    )
    accruals = Item(
        "figure",
        number + 1,
        f"accruals-{experiment}",
        f"Normalised accruals, {title}",
        "Accruals",
        (DEMONSTRATIONS, ROLLOUTS),
        (experiment,),
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
    *_constraints_and_accruals(16, "gridworld-a", "Gridworld (A)"),
    *_constraints_and_accruals(18, "gridworld-b", "Gridworld (B)"),
    *_constraints_and_accruals(20, "cartpole-mr", "CartPole (MR)"),
    *_constraints_and_accruals(22, "cartpole-mid", "CartPole (Mid)"),
)
