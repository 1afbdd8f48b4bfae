"""The inputs of ICL's jobs: which iterations they read, and whose.

Equal work is done once. Of experiments with the same demonstrations, one fits the density, draws
the first constraint and trains the first policy for all. A variant that differs from its original
only in that it never stops takes over every iteration that the original goes through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workflow.lib.configuration import Experiment
from workflow.lib.plan import Plan

# What the density, the first constraint and the first policy of a run depend on, beside its
# demonstrations.
DENSITY = ("learning.icl.density",)
CONSTRAINT = ("learning.icl.constraint", "learning.threshold")
FREE = "learning.icl.loop.unconstrained_first_policy"
POLICY = ("learning.icl.constrained_rl", FREE, "learning.icl.loop.selection_episodes")
STOPPING = ("tolerance", "patience")


class Iterations:
    """The files of ICL's iterations, as inputs of its jobs."""

    def __init__(self, plan: Plan):
        self.plan, self.experiments = plan, plan.config.experiments

    def density(self, wildcards: Any) -> str:
        """The density of the demonstrations."""
        owner = self._owner(self.plan.experiment(wildcards), DENSITY)
        return self.plan.path("density", experiment=owner, method="icl", group=wildcards.group)

    def runs(self, experiment: Experiment, rule: str, iteration: str = "") -> bool:
        """Whether ICL has a job of a rule in this experiment, or takes another's files for it."""
        if rule == "icl_policy" and iteration == "01":
            paths = first_policy(experiment)
        else:
            paths = {"icl_density": DENSITY, "icl_initial_constraint": CONSTRAINT}.get(rule, ())
        return not paths or self._owner(experiment, paths) == experiment.name

    def _owner(self, experiment: Experiment, paths: Iterable[str]) -> str:
        """Of experiments with the same demonstrations, the one that makes what depends on these
        settings alone.
        """
        other = self.experiments[experiment.demonstrations_from]
        same = "icl" in other.methods and all(
            experiment.setting(path) == other.setting(path) for path in paths
        )
        return other.name if same else experiment.name

    def previous_constraint(self, wildcards: Any) -> str:
        """What iteration i starts from: the constraint of iteration i - 1."""
        before = [int(wildcards.iteration) - 1]
        return self._files("iteration_constraint", wildcards, before)[0]

    def policies_so_far(self, wildcards: Any) -> list[str]:
        """The policies of iterations 1 to i."""
        so_far = range(1, int(wildcards.iteration) + 1)
        return self._files("iteration_policy", wildcards, so_far)

    def all_policies(self, wildcards: Any) -> list[str]:
        """The policies of all iterations of the job's method; none where it has no iterations."""
        n = self._iterations_of(wildcards)
        return self._files("iteration_policy", wildcards, range(1, n + 1))

    def all_constraints(self, wildcards: Any) -> list[str]:
        """The constraints of all iterations, the initial one first."""
        n = self._iterations_of(wildcards)
        return self._files("iteration_constraint", wildcards, range(n + 1) if n else [])

    def _iterations_of(self, wildcards: Any) -> int:
        return self.plan.experiment(wildcards).iterations(wildcards.get("method", "icl"))

    def _files(self, kind: str, wildcards: Any, numbers: Iterable[int]) -> list[str]:
        own = dict.fromkeys(numbers, wildcards.experiment)
        one = self.plan.experiment(wildcards)
        if kind == "iteration_constraint" and 0 in own:
            own[0] = self._owner(one, CONSTRAINT)
        if kind == "iteration_policy" and 1 in own:
            own[1] = self._owner(one, first_policy(one))
        method = wildcards.get("method", "icl")
        return [self._file(kind, name, method, wildcards.group, i) for i, name in own.items()]

    def _file(self, kind: str, experiment: str, method: str, group: str, number: int) -> str:
        fields = {"experiment": experiment, "method": method, "group": group}
        return self.plan.path(kind, iteration=f"{number:02d}", **fields)

    def original_policy(self, wildcards: Any) -> list[str]:
        """Where a run continues another: the constraint from which the same iteration of the
        other started, the policy that it trained, and its log.
        """
        kinds = {"iteration_constraint": -1, "iteration_policy": 0, "iteration_training": 0}
        return self._of_original(wildcards, kinds)

    def original_adjustment(self, wildcards: Any) -> list[str]:
        """Likewise the constraint with which the same iteration ended, and its log."""
        return self._of_original(wildcards, {"iteration_constraint": 0, "adjustment": 0})

    def _of_original(self, wildcards: Any, kinds: dict[str, int]) -> list[str]:
        one, i = self.plan.experiment(wildcards), int(wildcards.iteration)
        other = self.experiments[one.demonstrations_from]
        if not continues(one, other) or i > other.iterations("icl"):
            return []
        return [
            self._file(kind, other.name, "icl", wildcards.group, i + away)
            for kind, away in kinds.items()
        ]


def first_policy(one: Experiment) -> tuple[str, ...]:
    """What a first policy depends on: without a constraint, on none."""
    return POLICY if one.setting(FREE) else (*POLICY, *CONSTRAINT)


def continues(one: Experiment, other: Experiment) -> bool:
    """Whether an experiment never stops, and is the same as another in all else that it learns by.

    How many iterations there are at most, and which one is kept in the end, does not matter before.
    """
    if one is other or "icl" not in other.methods:
        return False
    if one.learning["threshold"] != other.learning["threshold"]:
        return False
    ours, theirs = dict(one.learning["icl"]), dict(other.learning["icl"])
    loop, other_loop = ours.pop("loop"), theirs.pop("loop")
    if any(loop[key] is not None for key in STOPPING) or ours != theirs:
        return False
    late = (*STOPPING, "iterations", "keep")
    return all(loop[key] == other_loop[key] for key in loop if key not in late)
