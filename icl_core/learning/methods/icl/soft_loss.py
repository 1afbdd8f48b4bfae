"""Constraint adjustment: raise c where the agents go, keep it low on the expert (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories, discounts
from icl_core.environments.world import World
from icl_core.learning.engine.costs import visited_inputs
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.optimisers import Adam
from icl_core.settings import COUNT, POSITIVE, RATE, WEIGHT, setting


@dataclass(frozen=True)
class AdjustmentSettings:
    """Settings of the adjustment; docs/decisions.md says where they differ from the paper's."""

    rounds: int = setting(20, "e, each with fresh trajectories of the mixture", **COUNT)
    steps: int = setting(20, "gradient steps per round", **COUNT)
    episodes: int = setting(50, "trajectories of the mixture per round (|D_A|)", **COUNT)
    learning_rate: float = setting(5e-4, "step size (eta_3)", **RATE)
    objective: str = setting(
        "soft",
        "soft: a penalty on demonstrations beyond beta, the paper's method; lagrangian: a learned "
        "multiplier on their mean (App. B.4, for comparison)",
        choices=("soft", "lagrangian"),
    )
    penalty: float = setting(15.0, "lambda", **WEIGHT)
    multiplier_initial: float = setting(
        1.0, "of the objective lagrangian: lambda at the start", **WEIGHT
    )
    multiplier_rate: float = setting(
        0.05, "of the objective lagrangian: step of lambda, times J_E - beta", **POSITIVE
    )
    hinge: str = setting(
        "trajectory",
        "trajectory: mean of the demonstrations' hinges; mean: hinge of their mean, the paper's "
        "letter",
        choices=("trajectory", "mean"),
    )
    mixture: bool = setting(
        True, "all policies so far, weighed by dissimilarity; false: the newest one"
    )
    reweight: bool = setting(True, "weigh trajectories by their dissimilarity w")
    max_agent_cost: float = setting(
        0.0, "agents that cost more than this many betas push no further; 0: no limit", **WEIGHT
    )
    policies_per_iteration: int = setting(
        2, "policies per iteration in the mixture: 2 (half-way, end) or 1 (end)", choices=(1, 2)
    )


class Visits:
    """Sets of trajectories as visits of a shared list of distinct constraint inputs.

    c^gamma(tau) = sum_t gamma^t c(s_t, a_t) is linear in c, so with the distinct
    inputs as columns it is one product, and a gridworld takes 49 network
    evaluations in place of thousands.
    """

    def __init__(self, world: World, *sets: Trajectories):
        inputs = [visited_inputs(world, episodes) for episodes in sets]
        keys = np.rint(np.concatenate(inputs) / world.input_resolution).astype(np.int64)
        distinct, column = np.unique(keys, axis=0, return_inverse=True)
        self.inputs = (distinct * world.input_resolution).astype(np.float32)  # (n, inputs)
        columns = np.split(column.ravel(), np.cumsum([len(i) for i in inputs])[:-1])
        pairs, n = list(zip(sets, columns, strict=True)), len(distinct)
        self.discounted = [_visit_matrix(t, c, n, world.discount) for t, c in pairs]
        self.shares = [_visit_matrix(t, c, n, 1.0) / t.lengths[:, None] for t, c in pairs]


def _visit_matrix(
    trajectories: Trajectories, columns: np.ndarray, width: int, discount: float
) -> np.ndarray:
    """(episodes, n): how often each episode saw each input, step t counting discount^t."""
    episode, step = np.nonzero(trajectories.mask)
    weights = discounts(discount, trajectories.rewards.shape[-1])[step]
    flat = np.bincount(episode * width + columns, weights, minlength=len(trajectories) * width)
    return flat.reshape(len(trajectories), width)


@dataclass(frozen=True)
class SoftLoss:
    """L_soft(c) = -J_mix(c) + lambda * hinge(J_E(c) - beta), with agents bounded (Equation 7)."""

    agent: np.ndarray  # (agent trajectories, n) discounted visits
    expert: np.ndarray  # (demonstrations, n)
    weights: np.ndarray  # (agent trajectories,) normalised dissimilarities
    threshold: float
    settings: AdjustmentSettings

    @property
    def multiplier(self) -> float:
        """The weight of the demonstrations' term, here a constant."""
        return self.settings.penalty

    @property
    def ceiling(self) -> float:
        """The cost beyond which an agent's trajectory pushes no further."""
        limit = self.settings.max_agent_cost
        return limit * self.threshold if limit else np.inf

    def gradient(self, c: np.ndarray) -> np.ndarray:
        """Gradient in c at the distinct inputs, (n,)."""
        pushing = self.weights * self._push(self.agent @ c)
        return self._expert_slope(c) @ self.expert - pushing @ self.agent

    def _push(self, costs: np.ndarray) -> np.ndarray:
        """How much each agent's trajectory pushes c up: the slope of its worth."""
        return costs < self.ceiling

    def _worth(self, costs: np.ndarray) -> np.ndarray:
        """What the costs of agents' trajectories count for."""
        return np.minimum(costs, self.ceiling)

    def _expert_slope(self, c: np.ndarray) -> np.ndarray:
        """Derivative of the demonstrations' term in each of their costs."""
        costs = self.expert @ c
        if self.settings.hinge == "mean":
            costs = np.full(len(costs), costs.mean())
        return (costs > self.threshold) * (self.settings.penalty / len(costs))

    def follow(self, c: np.ndarray) -> None:
        """What the loss itself learns between two steps on c: nothing."""

    def log(self, c: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
        """The log's columns for c at several steps, (steps, n) -> (steps,)."""
        agent_costs, expert_costs = c @ self.agent.T, c @ self.expert.T
        worth = self._worth(agent_costs) @ self.weights
        return {
            "loss": multipliers * self._excess(expert_costs) - worth,
            "agent_value": agent_costs @ self.weights,
            "expert_value": expert_costs.mean(axis=1),
            "expert_satisfaction": (expert_costs <= self.threshold).mean(axis=1),
            "multiplier": multipliers,
        }

    def _excess(self, expert_costs: np.ndarray) -> np.ndarray:
        """What the multiplier weighs, for costs (steps, demonstrations) -> (steps,)."""
        excess = expert_costs - self.threshold
        if self.settings.hinge == "mean":
            excess = excess.mean(axis=1, keepdims=True)
        return np.maximum(0.0, excess).mean(axis=1)


@dataclass(frozen=True)
class LagrangianLoss(SoftLoss):
    """-J_mix(c) + lambda * (J_E(c) - beta), in turns with lambda >= 0 (App. B.4).

    `multipliers` holds the run's lambda, which outlives the round: it is moved in place.
    """

    multipliers: np.ndarray = field(default_factory=lambda: np.ones(1))  # (1,)

    @property
    def multiplier(self) -> float:
        return float(self.multipliers[0])

    def _expert_slope(self, c: np.ndarray) -> np.ndarray:
        return np.full(len(self.expert), self.multiplier / len(self.expert))

    def follow(self, c: np.ndarray) -> None:
        """One step of lambda, along J_E - beta, projected to lambda >= 0."""
        excess = (self.expert @ c).mean() - self.threshold
        self.multipliers[0] = max(0.0, self.multiplier + self.settings.multiplier_rate * excess)

    def _excess(self, expert_costs: np.ndarray) -> np.ndarray:
        return expert_costs.mean(axis=1) - self.threshold


def descend(
    network: Networks, optimiser: Adam, visits: Visits, loss: SoftLoss
) -> dict[str, np.ndarray]:
    """One round of gradient steps on a run's constraint network, in place; the log's columns."""
    inputs = visits.inputs[None]
    values = np.empty((loss.settings.steps, len(visits.inputs)))
    multipliers = np.empty(loss.settings.steps)
    for step in range(loss.settings.steps):
        logits, trace = network.trace(inputs)
        c = values[step] = sigmoid(logits[0, :, 0].astype(np.float64))
        loss.follow(c)
        multipliers[step] = loss.multiplier
        slope = (loss.gradient(c) * c * (1.0 - c)).astype(np.float32)
        optimiser.step(network.parameters, network.gradient(trace, slope[None, :, None]))
    return loss.log(values, multipliers)


def normalised(weights: np.ndarray) -> np.ndarray:
    """Weights that sum to 1; uniform where nothing is dissimilar."""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
