"""What runs have left: constraints, behaviour, logs, times; each by seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from icl_core.artifacts import read_table, read_tensors
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.gridworld import SIZE, Gridworld
from icl_core.layout import Found, seeds_of
from icl_core.learning.engine.costs import ConstraintFunction
from icl_core.learning.engine.networks import Networks, log_softmax, sigmoid
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA
from icl_core.learning.exact_policies import Cells, as_gridworld
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.problem import LAST
from icl_core.learning.true_fit import FIT_SCHEMA, failed_fits
from icl_core.measuring.claims.evidence.base import ICL, MissingError, by_seed
from icl_core.measuring.claims.evidence.episodes import episode_costs
from icl_core.measuring.claims.evidence.experts import OfExperts, own
from icl_core.measuring.claims.intervals import Sample, sample_of
from icl_core.measuring.evaluation import (
    Evaluation,
    MeasuringSettings,
    dissimilarities,
    evaluate,
)
from icl_core.measuring.loading import constraint_values, evaluations, failed_runs
from icl_core.measuring.times import training_time

NEAR = 0.005  # CMSE that is printed as 0.00


class OfRuns(OfExperts):
    """Files of the runs themselves."""

    def constraints(self, experiment: str, method: str = ICL) -> dict[int, np.ndarray]:
        """Recovered constraints on the grid, (*grid.shape)."""
        world = self.world(experiment)
        return {
            seed: constraint_values(networks, world)[0]
            for seed, networks in self.networks(experiment, method).items()
        }

    def networks(self, experiment: str, method: str = ICL) -> dict[int, Networks]:
        """The networks of the recovered constraints."""
        found = {}
        for one in self._files("constraint", experiment, method):
            stack = Networks.from_tensors(read_tensors(one.path))
            lost = failed_runs(one.path, stack.runs)
            for run, seed in self._kept(one):
                if lost[run] == 0:
                    found[seed] = stack.pick([run])
        return self._run(dict(sorted(found.items())), method, experiment)

    def satisfied(self, experiment: str, episodes: dict[int, Trajectories]) -> dict[int, float]:
        """The share of each run's expert's episodes that keep the constraint which it learned."""
        world, beta = self.world(experiment), self.beta(experiment)
        return {
            seed: float((episode_costs(world, as_function(c), own(episodes, seed)) <= beta).mean())
            for seed, c in self.networks(experiment).items()
        }

    def evaluations(self, experiment: str, method: str = ICL) -> dict[int, Evaluation]:
        """What the last policies do, in episodes of their own."""
        found = {
            seed: one
            for file in self._files("evaluation", experiment, method)
            for seed, one in evaluations(file.path, LAST).items()
            if seed not in self.without
        }
        return self._run(dict(sorted(found.items())), method, experiment)

    def visits(self, experiment: str, method: str = ICL) -> dict[int, np.ndarray]:
        """Visits of the last policies, of the grid's shape."""
        found = self.evaluations(experiment, method)
        return {seed: one.visits for seed, one in found.items()}

    def returns(self, experiment: str, method: str = ICL) -> dict[int, float]:
        """What each seed's last policy earns in an episode."""
        found = self.evaluations(experiment, method)
        return {seed: float(one.returns.mean()) for seed, one in found.items()}

    def costs(self, experiment: str, method: str = ICL) -> dict[int, float]:
        """What each seed's last policy costs in an episode, by the true constraint."""
        found = self.evaluations(experiment, method)
        if self.world(experiment).true_constraint is None:
            raise MissingError(f"nobody knows the true constraint of {experiment}")
        return {seed: float(one.costs.mean()) for seed, one in found.items()}

    def nad_of_sets(self, experiment: str) -> dict[int, np.ndarray]:
        """NAD of ICL's last policies, measured again and again on as many new episodes."""
        found = {seed: one.nads for seed, one in self.evaluations(experiment).items()}
        if any(len(nads) < 2 for nads in found.values()):
            raise MissingError(
                f"{experiment} has one set of reported episodes a run; measuring.sets of 2 or "
                "more has not been run"
            )
        return found

    def first_nad(self, experiment: str, played: MeasuringSettings) -> dict[int, float]:
        """NAD of ICL's first policies, of so many new episodes: ICL itself looked at fewer."""
        world, shown = self.world(experiment), self.expert_visits(experiment)
        found: dict[int, float] = {}
        for file in self._files("iteration_policy", experiment, ICL):
            runs = dict(self._kept(file))
            if not runs or int(file.fields["iteration"]) > 1:
                continue
            agents = PolicyState.from_tensors(read_tensors(file.path)).final.pick([*runs])
            seeds = [*runs.values()]
            expert = np.stack([own(shown, seed) for seed in seeds])
            made = evaluate(world, agents, seeds, expert, played)
            nads = dissimilarities(world, expert, made.visits)
            found |= dict(zip(seeds, nads.tolist(), strict=True))
        return self._run(found, ICL, experiment)

    def member_costs(self, experiment: str) -> dict[int, list[np.ndarray]]:
        """For each adjustment what the policies so far cost before it and after, (2, policies).

        Exactly, from the chances of the policies and the moves of a gridworld. A run that has
        stopped leaves blank files: its iterations are as many as its adjustments.
        """
        world = as_gridworld(self.world(experiment))
        constraints = self._files("iteration_constraint", experiment, ICL)
        policies = self._files("iteration_policy", experiment, ICL)
        values: dict[int, list[np.ndarray]] = {}
        visited: dict[int, list[np.ndarray]] = {}
        for one in constraints:
            networks = Networks.from_tensors(read_tensors(one.path), "constraint.")
            flat = constraint_values(networks, world).reshape(networks.runs, -1)
            for run, seed in self._kept(one):
                values.setdefault(seed, []).append(flat[run])
        for one in policies:
            agents = PolicyState.from_tensors(read_tensors(one.path)).final
            for run, seed in self._kept(one):
                visited.setdefault(seed, []).append(expected_visits(world, agents.pick([run])))
        made = self.adjustments(experiment)
        found = {
            seed: [
                np.stack([np.stack(visited[seed][:i]) @ c for c in (cs[i - 1], cs[i])])
                for i in range(1, len(made[seed]) + 1)
            ]
            for seed, cs in values.items()
            if seed in made
        }
        return self._run(found, ICL, experiment)

    def adjustments(self, experiment: str) -> dict[int, list[pa.Table]]:
        """The logs of ICL's adjustments, one for each iteration."""
        found: dict[int, list[pa.Table]] = {}
        for seed, table in self._logs("adjustment", experiment, ICL, ADJUSTMENT_SCHEMA):
            found.setdefault(seed, []).append(table)
        return self._run(found, ICL, experiment)

    def training(self, experiment: str, method: str = ICL) -> dict[int, pa.Table]:
        """The logs of the final policies' training."""
        found = dict(self._logs("training", experiment, method, TRAINING_SCHEMA))
        return self._run(dict(sorted(found.items())), method, experiment)

    def steps(self, experiment: str, method: str = ICL) -> dict[int, float]:
        """The steps in the environment that each run has made."""
        kinds = ("training", "iteration_training") if method == ICL else ("training",)
        total: dict[int, float] = {}
        for kind in kinds:
            for seed, log in self._logs(kind, experiment, method, TRAINING_SCHEMA):
                total[seed] = total.get(seed, 0.0) + float(np.nansum(log["steps"].to_numpy()))
        return self._run(total, method, experiment)

    def seconds(self, experiment: str, method: str = ICL) -> float:
        """CPU seconds for each seed; ICL's as if no run had stopped before its end."""
        self.world(experiment)
        time = training_time(self.results, experiment, method)
        if time is None:
            raise MissingError(f"{self.method(method)} on {experiment} was not run")
        cpu, _ = time.per_seed
        if method != ICL:
            return cpu
        made = [len(logs) for logs in self.adjustments(experiment).values()]
        asked = len({one.fields["iteration"] for one in self._files("adjustment", experiment, ICL)})
        return cpu * asked / float(np.mean(made))

    def error(self, experiment: str, architecture: str, like: str = "") -> Sample:
        """CMSE of networks fitted to the truth: at the end, or at the step at which the mean error
        of network `like` first falls under `NEAR`.
        """
        logs = self.fits(experiment, architecture)
        step = self._first_near(experiment, like) if like else None
        errors = [log["cmse"].to_numpy() for log in logs.values()]
        steps = next(iter(logs.values()))["step"].to_numpy()
        row = len(steps) - 1 if step is None else int(np.searchsorted(steps, step))
        return sample_of([own[row] for own in errors])

    def _first_near(self, experiment: str, architecture: str) -> int | None:
        logs = [*self.fits(experiment, architecture).values()]
        near = np.mean([log["cmse"].to_numpy() for log in logs], axis=0) < NEAR
        return int(logs[0]["step"].to_numpy()[near.argmax()]) if near.any() else None

    def fits(self, experiment: str, architecture: str) -> dict[int, pa.Table]:
        """The errors of networks on their way to the true constraint."""
        self.world(experiment)
        files = self.results.find("true_fit", experiment=experiment, architecture=architecture)
        if not files:
            raise MissingError(f"network {architecture} was not fitted to {experiment}")
        tables = [read_table(one.path, FIT_SCHEMA) for one in files]
        failed = sorted(seed for table in tables for seed in failed_fits(table))
        self.leave_out(f"network {architecture} on {experiment}", failed)
        logs = {seed: log for table in tables for seed, log in by_seed(table).items()}
        left = {seed: log for seed, log in sorted(logs.items()) if seed not in self.without}
        if not left:
            raise MissingError(f"network {architecture} on {experiment} has no seed left")
        return left

    def _logs(
        self, kind: str, experiment: str, method: str, schema: pa.Schema
    ) -> Iterator[tuple[int, pa.Table]]:
        for one in self._files(kind, experiment, method):
            for seed, table in by_seed(read_table(one.path, schema)).items():
                if seed not in self.without:
                    yield seed, table

    def _kept(self, file: Found) -> list[tuple[int, int]]:
        """The runs of a stack that are not left out, each with its seed."""
        seeds = enumerate(seeds_of(file.fields["group"]))
        return [(run, seed) for run, seed in seeds if seed not in self.without]


def as_function(networks: Networks) -> ConstraintFunction:
    """A recovered constraint as a function on (runs, n, inputs)."""
    return lambda inputs: sigmoid(networks(inputs.astype(np.float32))[..., 0].astype(np.float64))


def expected_visits(world: Gridworld, policy: Networks) -> np.ndarray:
    """Expected discounted visits of each cell, (cells,)."""
    cells = Cells(world)
    states = np.indices((SIZE, SIZE)).reshape(2, -1).T.astype(np.float32)
    chances = np.exp(log_softmax(policy(world.observe(states)[None])[0]))
    moves = np.einsum("sa,sat->st", chances, cells.moves)
    present, total = cells.starts, np.zeros(len(states))
    for t in range(cells.horizon):
        total += cells.discount**t * present
        present = present @ moves
    return total
