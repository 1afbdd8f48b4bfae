"""Learning a constraint in the conventions of the field: environment, demonstrations, `learn`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from icl_core import discovery
from icl_core.artifacts import make_provenance
from icl_core.demonstrations.accruals import accrual_dissimilarity, visits
from icl_core.demonstrations.dataset import Demonstrations
from icl_core.demonstrations.trajectories import accumulate
from icl_core.errors import InputError
from icl_core.learning.engine.costs import constraint_values
from icl_core.learning.engine.divergence import lost
from icl_core.learning.engine.networks import sigmoid
from icl_core.learning.engine.rollouts import roll_out
from icl_core.learning.engine.training import Job, Store
from icl_core.learning.problem import Outcome, Problem
from icl_core.progress import Bar, Progress
from icl_core.randomness import generators
from icl_core.settings import build
from icl_core.using.constraint import Constraint
from icl_core.using.policy import Policy
from icl_core.using.surroundings import Environment, Options, task_of

ROWS = 20  # environments of each seed, where they are made here
EPISODES = 300  # behind the last NAD of a method that measures none itself
SAVE = 5.0  # seconds between two savings of a state
HISTORY = pa.schema(
    {
        "seed": pa.int64(),
        "iteration": pa.int32(),
        "nad": pa.float64(),  # distance of the policy's behaviour from the demonstrations'
        "expert_value": pa.float64(),  # J(c) of the demonstrations, nan where it was not measured
        "agent_value": pa.float64(),  # J(c) of the policies
        "kept": pa.bool_(),  # whether constraint and policy are of this iteration
    }
)
Callback = Callable[[list[dict[str, Any]]], bool | None]


class Learner:
    """A method, an environment and demonstrations; `learn` makes a constraint of them.

    `env`: an id of Gymnasium, a function that makes an environment, a vector environment or a
    `World`. `settings`: those of the method in the pipeline, as an object or as a mapping of what
    differs from the defaults. The other options:

    - `inputs`: what the constraint sees, by names or numbers of components of observation and
      action, or a function of both. By default what the world says, or all that is observed.
    - `bounds`: {name: (low, high)} of inputs, where the demonstrations do not show them.
    - `cost_limit`: beta, a number, or "demonstrations".
    - `discount` and `horizon`: where the environment does not say them, or to change them.
    """

    method: ClassVar[str]

    def __init__(
        self,
        env: Environment,
        demonstrations: Demonstrations,
        *,
        seeds: Sequence[int] = (1, 2, 3),
        settings: Any = None,
        **options: Any,
    ):
        self.seeds = _checked_seeds(seeds)
        self.settings = _settings(self.method, settings)
        self.options = _options(options)
        self.demonstrations = demonstrations
        self.task = task_of(env, demonstrations, self.options, ROWS * len(self.seeds))
        world = self.task.world
        self.problem = Problem(world, self.task.trajectories, self.seeds, world.threshold)
        self.outcome: Outcome | None = None
        self._rows: list[dict[str, Any]] = []

    def learn(
        self,
        callback: Callback | None = None,
        progress_bar: bool = False,
        checkpoint: str | os.PathLike | None = None,
    ) -> Learner:
        """Learn, and return the learner itself.

        `callback` is given the rows of `history` after each iteration, and ends the learning where
        it returns False. `checkpoint` names a file that keeps the state of what is under way: the
        same call goes on from it after an interruption.
        """
        self._rows = []
        progress = Bar(self.method) if progress_bar else Progress.silent()
        store = Store(checkpoint, self._about(), SAVE) if checkpoint else None

        def hear(iteration: int, columns: Mapping[str, np.ndarray]) -> bool | None:
            rows = self._heard(iteration, columns)
            if isinstance(progress, Bar):
                progress.iteration = iteration
            return callback(rows) if callback else None

        job = Job(progress, store, listener=hear)
        method = discovery.load(discovery.METHODS, self.method)
        self.outcome = method.learn(self.problem, self.settings, job)
        progress.end()
        if not self._rows:
            self._measure_end(callback)
        self._mark_kept()
        if store:
            store.clear()
        return self

    @property
    def constraint(self) -> Constraint:
        """The mean of what the seeds have learned; `disagreement` is their spread."""
        outcome = self._learned()
        world = self.task.world
        return Constraint(
            outcome.constraint,
            self.task.inputs,
            beta=world.threshold,
            discount=world.discount,
            seeds=self.seeds,
            failed=outcome.failed,
            about=self._about(),
        )

    @property
    def policies(self) -> list[Policy]:
        """The policy of each seed that has not failed."""
        outcome = self._learned()
        kept = np.flatnonzero(~lost(outcome.failed, len(self.seeds))).tolist()
        return [
            Policy(outcome.policy.pick([run]), self.task.world, self.seeds[run]) for run in kept
        ]

    @property
    def policy(self) -> Policy:
        """The one whose behaviour is closest to the demonstrations."""
        kept = {row["seed"]: row["nad"] for row in self._rows if row["kept"]}
        far = float("inf")
        return min(self.policies, key=lambda one: np.nan_to_num(kept.get(one.seed, far), nan=far))

    @property
    def history(self) -> pa.Table:
        """A row for each seed and iteration (`HISTORY`)."""
        return pa.Table.from_pylist(self._rows, HISTORY)

    def _learned(self) -> Outcome:
        if self.outcome is None:
            raise InputError(
                f"{type(self).__name__}: expected a learner that has learned, found a new one; "
                "call learn() first"
            )
        return self.outcome

    def _heard(self, iteration: int, columns: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        """Rows of the history, without those of runs that had stopped."""
        blank = np.full(len(self.seeds), np.nan)
        found = {name: columns.get(name, blank) for name in HISTORY.names[2:5]}
        rows = [
            {
                "seed": seed,
                "iteration": iteration,
                **{name: float(column[run]) for name, column in found.items()},
                "kept": False,
            }
            for run, seed in enumerate(self.seeds)
            if not np.isposinf(found["nad"][run])
        ]
        self._rows += rows
        return rows

    def _measure_end(self, callback: Callback | None) -> None:
        """One row a seed, of a method that does not say how its iterations went."""
        outcome, world = self._learned(), self.problem.world
        rngs = generators(self.seeds, "choice", 0)
        episodes = roll_out(world, outcome.policy, rngs, EPISODES)
        demonstrated = self.task.trajectories  # one set, which all seeds share
        expert, shown = visits(world, demonstrated), visits(world, episodes)

        def values(trajectories) -> np.ndarray:
            def cost(inputs):
                return sigmoid(outcome.constraint(inputs)[..., 0])

            costs = constraint_values(world, cost, trajectories)
            return accumulate(costs, trajectories.mask, world.discount).mean(axis=-1)

        runs = [0] * len(self.seeds)
        rows = self._heard(
            1,
            {
                "nad": np.array([accrual_dissimilarity(world.grid, expert, one) for one in shown]),
                "expert_value": values(demonstrated[None][runs]),
                "agent_value": values(episodes),
            },
        )
        if callback:
            callback(rows)

    def _mark_kept(self) -> None:
        """All rows are of the iteration that was kept, or are not; a failed run keeps none."""
        outcome = self._learned()
        kept = outcome.extras.get("kept", np.ones(len(self.seeds), np.int64))
        failed = lost(outcome.failed, len(self.seeds))
        by_seed = dict(zip(self.seeds, np.where(failed, 0, kept).tolist(), strict=True))
        for row in self._rows:
            row["kept"] = row["iteration"] == by_seed[row["seed"]]

    def _about(self) -> dict[str, Any]:
        """What a file says of its making."""
        seen = self.task.inputs
        arrays = (*self.task.trajectories.parts(), seen.weights, seen.offset)
        parts = b"".join(part.tobytes() for part in arrays)
        # A function cannot be written down: what it is called must do.
        given = asdict(self.options) | {"inputs": list(seen.names)}
        said = {"method": self.method, "settings": asdict(self.settings), **given}
        provenance = make_provenance(f"icl-core {version('icl-core')}", said, seeds=self.seeds)
        provenance["inputs"] = {"demonstrations": hashlib.sha256(parts).hexdigest()}
        return provenance


class ICL(Learner):
    """Inverse constraint learning, the paper's method (Algorithm 1)."""

    method = "icl"


def make_learner(
    method: str, env: Environment, demonstrations: Demonstrations, **options: Any
) -> Learner:
    """A learner of any method that is found by name, those of other packages among them."""
    discovery.module_name(discovery.METHODS, method)  # an InputError lists those that exist
    kind = type("Learner", (Learner,), {"method": method})
    return kind(env, demonstrations, **options)


def _checked_seeds(given: Sequence[int]) -> tuple[int, ...]:
    seeds = tuple(given)
    right = seeds and all(isinstance(one, int) and 0 <= one < 2**31 for one in seeds)
    if not right or len(set(seeds)) < len(seeds):
        raise InputError(
            f"seeds: expected different whole numbers from 0 to {2**31 - 1}, found {list(given)}; "
            "give for example [1, 2, 3]"
        )
    return seeds


def _settings(method: str, given: Any) -> Any:
    kind = discovery.load(discovery.METHODS, method).Settings
    if isinstance(given, kind):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"settings: expected {kind.__module__}.Settings or a mapping, found "
            f"{type(given).__name__}; give one of these"
        )
    return build(kind, given or {}, f"learning.{method}")


def _options(given: Mapping[str, Any]) -> Options:
    known = [one.name for one in fields(Options)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(
            f"{', '.join(unknown)}: expected one of env, demonstrations, seeds, settings, "
            f"{', '.join(known)}, found another name; correct it"
        )
    return Options(**given)
