"""What the catalogue says of an item, and the names that it uses for what items are made from."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from icl_core.showing.naming import ENVIRONMENTS

GRIDWORLDS = ("gridworld-a", "gridworld-b")
CARTPOLES = ("cartpole-mr", "cartpole-mid")
SYNTHETIC = GRIDWORLDS + CARTPOLES
ROBOTS = ("ant", "halfcheetah")

# What an item may be made from, as paths under results/{scale}/.
TRAINING = "demonstrations/{experiment}/training.parquet"
DEMONSTRATIONS = "demonstrations/{experiment}/trajectories.parquet"
CONSTRAINT = "runs/{experiment}/{method}/seeds-{group}/final/constraint.safetensors"
ICL_CONSTRAINT = "runs/{experiment}/icl/seeds-{group}/final/constraint.safetensors"
ROLLOUTS = "runs/{experiment}/{method}/seeds-{group}/final/rollouts.parquet"
METRICS = "metrics.parquet"
ICRL_TRAINING = "runs/{experiment}/icrl/seeds-{group}/final/training.parquet"
# Of ICL, the first iteration: what it starts from, learns and ends with.
FIRST_CONSTRAINTS = (
    "runs/{experiment}/icl/seeds-{group}/iteration-00/constraint.safetensors",
    "runs/{experiment}/icl/seeds-{group}/iteration-01/constraint.safetensors",
)
FIRST_POLICY = "runs/{experiment}/icl/seeds-{group}/iteration-01/policy.safetensors"
# Of ICL, once for every iteration that there is.
ADJUSTMENTS = "runs/{experiment}/icl/seeds-{group}/iteration-{iteration}/adjustment.parquet"
ICL_TRAINING = "runs/{experiment}/icl/seeds-{group}/iteration-{iteration}/training.parquet"
# Of ICL, the training after the last adjustment.
ICL_LAST_TRAINING = "runs/{experiment}/icl/seeds-{group}/final/training.parquet"
# Lower bounds of CMSE, once for every {architecture} of the configuration.
ARCHITECTURES = "architectures/{experiment}/{architecture}/seeds-{group}.parquet"
# How long the jobs of each of an experiment's methods took: all patterns of these methods.
TIMES = "benchmarks"
TIMES_OF_METHODS = {
    "gail-constraint": ("benchmarks/gail_constraint/{experiment}/seeds-{group}.tsv",),
    "icrl": ("benchmarks/icrl/{experiment}/seeds-{group}.tsv",),
    "icl": (
        "benchmarks/density/{experiment}/seeds-{group}.tsv",
        "benchmarks/initial_constraint/{experiment}/seeds-{group}.tsv",
        "benchmarks/constrained_rl/{experiment}/seeds-{group}/iteration-{iteration}.tsv",
        "benchmarks/adjust/{experiment}/seeds-{group}/iteration-{iteration}.tsv",
        "benchmarks/conclude/{experiment}/seeds-{group}.tsv",
    ),
}


@dataclass(frozen=True)
class Item:
    """A figure or table. `name` is the stem of its files."""

    kind: str  # "figure" or "table"
    number: int  # in the paper
    slug: str
    title: str
    category: str  # what it is about, on the report page
    needs: tuple[str, ...]  # patterns from above
    experiments: tuple[str, ...]
    address: str  # "module:function" of what draws it
    suffix: str = ""  # "b": ours, beside the paper's item of that number
    method: str = ""  # the one method that it is about
    fewest: int = 1  # experiments: a comparison of fewer shows nothing
    told_settings: bool = False  # whether it shows the settings of its experiments

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

    @property
    def provenance(self) -> str:
        """Path of what says how it was made."""
        return f"{self.kind}s/{self.name}.json"

    def load(self) -> Callable:
        """The drawing function: (Sources, experiments) -> Figure or Table."""
        module, _, function = self.address.partition(":")
        return getattr(importlib.import_module(module), function)


def figure_of(
    experiment: str, number: int, slug: str, title: str, category: str, needs: tuple, address: str
) -> Item:
    """A figure of one experiment, named after it; `{}` in the title stands for its environment."""
    name, told = f"{slug}-{experiment}", title.format(ENVIRONMENTS[experiment])
    return Item("figure", number, name, told, category, needs, (experiment,), address)


def constraints_and_accruals(number: int, experiment: str, module: str) -> tuple[Item, Item]:
    """The pair of figures that the paper's App. D gives each environment."""
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
