"""ICRL: inverse constrained RL by maximum likelihood (Malik et al., 2021; paper, Section 5).

Forward: PPO-Lagrange on the reward and the cost c = 1 - zeta. Backward: zeta learns from
the demonstrations and fresh episodes of the policy (`feasibility`). Policy, multiplier
and zeta live through all iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.environments.world import World
from icl_core.learning.candidates import Candidates, CandidateSettings
from icl_core.learning.engine.costs import fresh_constraints, visited_inputs
from icl_core.learning.engine.divergence import Part
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.on_policy_settings import OnPolicySettings
from icl_core.learning.engine.on_policy_trainer import OnPolicyTrainer
from icl_core.learning.engine.optimisers import Adam, Multiplier
from icl_core.learning.engine.rollouts import roll_out, roll_out_without_reset
from icl_core.learning.engine.training import Job
from icl_core.learning.methods.icrl.feasibility import BackwardSettings, Sides, backward
from icl_core.learning.problem import Outcome, Problem
from icl_core.randomness import generators
from icl_core.settings import COUNT, LAYERS, POSITIVE, section, setting

TITLE = "ICRL"
PLACE = 2
SIZES = {
    "quick": {"iterations": 4, "on_policy": {"passes": 8}},
    "smoke": {
        "iterations": 2,
        "forward_steps": 400,
        "episodes": 4,
        "backward": {"passes": 2},
        "on_policy": {"steps": 200, "environments": 10, "passes": 2},
    },
}

KL_SLACK = 1.5  # passes end when the policy has moved by more than this many targets


@dataclass(frozen=True)
class Settings:
    """Settings of the method; defaults are the paper's (Table 9)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the feasibility network", **LAYERS)
    iterations: int = setting(200, "iterations, of a forward and a backward phase", **COUNT)
    forward_steps: int = setting(
        10_000, "steps of an iteration's forward phase; whole rollouts", at_least=1, at_most=10**8
    )
    target_kl: float | None = setting(
        0.02, "passes over a rollout end beyond 1.5 times this; null: never early", **POSITIVE
    )
    multiplier: float = setting(0.1, "nu at the start", **POSITIVE)
    multiplier_rate: float = setting(0.01, "step size of nu", **POSITIVE)
    budget: float = setting(0.0, "mean cost of a step that is allowed", at_least=0, at_most=1)
    episodes: int = setting(50, "episodes of the agent for each backward phase", **COUNT)
    never_reset: bool = setting(
        False, "a fault of the authors' code: all but the first of them are one step long"
    )
    backward: BackwardSettings = section(BackwardSettings, "settings of the backward phase")
    on_policy: OnPolicySettings = section(OnPolicySettings, "settings of PPO")
    candidates: CandidateSettings = section(CandidateSettings, "what stands for selection")

    def conflict_with(self, world: type[World]) -> str:
        """Whoever goes on from an observation must know the whole state by it."""
        if not self.never_reset or world.state_size is World.state_size:
            return ""
        return (
            f"never_reset: expected false in {world.name}, where a state is more than what is "
            "observed, found true; set it to false"
        )


def learn(problem: Problem, settings: Settings, job: Job) -> Outcome:
    """Train a stack of runs."""
    learner = _Learner(problem, settings)
    failed = job.of(problem.seeds, "learning.icrl").run(learner, settings.iterations)
    learner.look()
    return learner.candidates.beside(
        learner.policies.outcome(learner.feasibility.negated(), failed)
    )


class _Learner:
    """The state of training between two iterations."""

    unit = "iteration"

    def __init__(self, problem: Problem, settings: Settings):
        self.world, self.seeds = problem.world, problem.seeds
        self.settings, self.done = settings, 0
        self.policies = OnPolicyTrainer(
            problem.world,
            problem.beta,
            problem.seeds,
            settings.on_policy,
            critics=2,
            purpose="icrl",
        )
        runs = len(problem.seeds)
        self.multiplier = Multiplier(runs, settings.multiplier, settings.multiplier_rate)
        # (N_E, inputs) of each run
        self.expert = problem.of_each(lambda shown: visited_inputs(problem.world, shown))
        self.feasibility = fresh_constraints(problem.world, problem.seeds, settings.hidden)
        self.optimiser = Adam(self.feasibility.parameters, settings.backward.learning_rate)
        self.candidates = Candidates(problem, settings.candidates, "icrl", 0, settings.iterations)

    def look(self) -> None:
        """Keep what is nearer to the expert than all before."""
        constraint, policy = self.feasibility.negated(), self.policies.agents.policy
        self.candidates.look(self.done, constraint, policy)

    def advance(self) -> dict[str, np.ndarray]:
        """One iteration; numbers of both phases."""
        self.look()
        numbers: dict[str, np.ndarray] = {}
        for _ in range(-(-self.settings.forward_steps // self.policies.settings.steps)):
            numbers = self._forward()
        numbers |= self._backward()
        self.done += 1
        return numbers

    def parts(self) -> list[Part]:
        """The weights of zeta and of the policies, and the multipliers."""
        zeta = Part("backward.learning_rate", self.feasibility.parameters, self.optimiser)
        nu = Part("multiplier_rate", self.multiplier.kappa, self.multiplier.optimiser)
        return [zeta, *self.policies.agents.parts("on_policy"), nu]

    def _forward(self) -> dict[str, np.ndarray]:
        """One rollout and what is learned from it."""
        segment, inputs, rngs = self.policies.roll()
        costs = sigmoid(-self.feasibility(inputs)[..., 0])
        row = self.policies.record(segment, costs.reshape(segment.rewards.shape))
        agents = self.policies.agents
        signals = [segment.rewards, costs.reshape(segment.rewards.shape)]
        samples = agents.samples(segment, signals, self.world.discount)
        nu = self.multiplier.value
        target = self.settings.target_kl
        max_kl = None if target is None else KL_SLACK * target
        passes = agents.learn(samples, rngs, nu, max_kl)
        self.multiplier.step(costs.mean(axis=1) - self.settings.budget)
        return {
            "forward reward": row["return"],
            "J": row["constraint_value"],
            "nu": nu,
            "passes": passes,
        }

    def _backward(self) -> dict[str, np.ndarray]:
        """Fresh episodes of the policies, then each run's zeta."""
        play = roll_out_without_reset if self.settings.never_reset else roll_out
        rngs = generators(self.seeds, "icrl", "backward", self.done)
        policy = self.policies.agents.policy
        episodes = play(self.world, policy, rngs, self.settings.episodes)
        self.policies.made(episodes.lengths.sum(axis=1))
        runs = range(len(rngs))
        sides = Sides(
            self.expert,
            [visited_inputs(self.world, episodes[run]) for run in runs],
            [episodes[run].lengths for run in runs],
        )
        made, moved = backward(
            self.feasibility, self.optimiser, sides, rngs, self.settings.backward
        )
        forth, back = np.array([(m.kl_old_new, m.kl_new_old) for m in moved]).T
        return {"backward passes": made, "KL old-new": forth, "KL new-old": back}

    def tensors(self) -> dict[str, np.ndarray]:
        own = self.feasibility.tensors("feasibility.") | self.optimiser.tensors("adam.")
        own |= self.multiplier.tensors() | {"done": np.array([self.done])}
        return own | self.policies.tensors() | self.candidates.tensors()

    def restore(self, named: dict[str, np.ndarray]) -> None:
        saved = Networks.from_tensors(named, "feasibility.")
        self.feasibility.parameters[...] = saved.parameters
        self.optimiser.restore(named, "adam.")
        self.multiplier.restore(named)
        self.done = int(named["done"][0])
        self.policies.restore(named)
        self.candidates.restore(named)
