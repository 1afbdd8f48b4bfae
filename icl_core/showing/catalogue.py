"""Every figure and table of the paper that we make, and what each is made from.

The workflow reads this to know its targets and inputs, so nothing heavy is
imported here and a drawing function is named, not imported: editing one
changes the digest of its own items and of nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

GRIDWORLDS = ("gridworld-a", "gridworld-b")
CARTPOLES = ("cartpole-mr", "cartpole-mid")
SYNTHETIC = GRIDWORLDS + CARTPOLES

# What an item may be made from, as paths under results/{scale}/.
TRAINING = "demonstrations/{experiment}/training.parquet"
DEMONSTRATIONS = "demonstrations/{experiment}/trajectories.parquet"
CONSTRAINT = "runs/{experiment}/{method}/seeds-{group}/final/constraint.safetensors"
ROLLOUTS = "runs/{experiment}/{method}/seeds-{group}/final/rollouts.parquet"
METRICS = "metrics.parquet"


@dataclass(frozen=True)
class Item:
    """A figure or table. `name` is the stem of its files."""

    kind: str  # "figure" or "table"
    number: int  # in the paper
    slug: str
    title: str
    category: str  # chapter of the report page
    needs: tuple[str, ...]  # patterns from above
    experiments: tuple[str, ...]
    address: str  # "module:function" of what draws it
    suffix: str = ""  # "b": ours, beside the paper's item of that number

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.number:02d}{self.suffix}"

    @property
    def label(self) -> str:
        """As a caption calls it, "Table 1b"."""
        return f"{self.kind.title()} {self.number}{self.suffix}"

    @property
    def name(self) -> str:
        return f"{self.id}-{self.slug}"

    @property
    def caption(self) -> str:
        """File name of the caption in workflow/report/."""
        return f"{self.id}.rst"

    @property
    def module(self) -> str:
        """The module that draws it: what the item's code digest must cover."""
        return self.address.partition(":")[0]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Paths under results/{scale}/."""
        endings = ("svg", "png") if self.kind == "figure" else ("csv", "md")
        return tuple(f"{self.kind}s/{self.name}.{ending}" for ending in endings)

    def load(self) -> Callable:
        """The drawing function: (Sources, experiments) -> Figure or Table."""
        module, _, function = self.address.partition(":")
        return getattr(importlib.import_module(module), function)


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


ITEMS = (
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

CATALOGUE: dict[str, Item] = {item.name: item for item in ITEMS}
