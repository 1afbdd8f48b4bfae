"""ICRL's backward phase: how feasible a step is, by maximum likelihood (Malik et al., 2021).

zeta in (0, 1) is high on what the expert does and low on what only the agent does. It
learns from one sample of the agent for several passes, so that each pass corrects by
importance weights for how far zeta has moved since the sample was drawn, and ends the
phase when it has moved too far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.optimisers import Adam
from icl_core.settings import COUNT, POSITIVE, RATE, WEIGHT, setting

EPSILON = 1e-5
LARGEST_LOG = 700.0  # beyond it exp overflows


@dataclass(frozen=True)
class BackwardSettings:
    """Settings of the phase; defaults are the paper's (Table 9)."""

    passes: int = setting(
        5, "passes over the episodes and as many demonstrated steps, at most", **COUNT
    )
    learning_rate: float = setting(5e-4, "step size of zeta", **RATE)
    batch: int = setting(64, "steps of either side in a minibatch", **COUNT)
    regularisation: float = setting(0.6, "weight of mean(1 - zeta) on either side", **WEIGHT)
    kl_old_new: float = setting(10.0, "no further pass beyond this KL, old to new", **POSITIVE)
    kl_new_old: float = setting(2.5, "no further pass beyond this KL, new to old", **POSITIVE)
    ignore_weights: bool = setting(
        False, "a fault of the authors' code: every importance weight is 1"
    )


@dataclass(frozen=True)
class Sides:
    """What a backward phase learns from."""

    expert: Sequence[np.ndarray]  # (N_E, inputs) of each run
    agents: Sequence[np.ndarray]  # (N_A, inputs) of each run, episode after episode
    lengths: Sequence[np.ndarray]  # of each run's episodes


@dataclass(frozen=True)
class Importance:
    """How far zeta has moved since the agent's episodes were sampled."""

    weights: np.ndarray  # (steps,) mean 1
    kl_old_new: float
    kl_new_old: float

    def too_far(self, settings: BackwardSettings) -> bool:
        """Whether to make no further pass; what is not a number is too far."""
        near = self.kl_old_new <= settings.kl_old_new and self.kl_new_old <= settings.kl_new_old
        return not near


def importance(now: np.ndarray, then: np.ndarray, lengths: np.ndarray) -> Importance:
    """Compare zeta now and then on the agent's steps (steps,), episode after episode.

    rho = (zeta + eps) / (zeta_0 + eps) of a step, omega its product over an episode.
    In logarithms: over a thousand steps omega leaves what a number can hold in both directions.
    """
    rho = (now.astype(np.float64) + EPSILON) / (then.astype(np.float64) + EPSILON)
    starts = np.cumsum(lengths) - lengths
    log_omega = np.add.reduceat(np.log(rho), starts)
    logs = np.logaddexp(log_omega, np.log(EPSILON))  # log(omega + eps)
    # (omega - mean) / (mean + eps), all divided by the largest omega.
    largest = log_omega.max()
    omega = np.exp(log_omega - largest)
    floor = np.exp(min(np.log(EPSILON) - largest, LARGEST_LOG))
    spread = (omega - omega.mean()) / (omega.mean() + floor)
    return Importance(rho / rho.mean(), float(-logs.mean()), float((spread * logs).mean()))


def feasibility_slope(
    expert: np.ndarray, agent: np.ndarray, weights: np.ndarray, regularisation: float
) -> np.ndarray:
    """Gradient of the loss in the logits of zeta (..., n), the expert's steps, then the agent's.

    Loss = -mean log(zeta_E + eps) + mean[w log(zeta_A + eps)]
    + regularisation * (mean(1 - zeta_E) + mean(1 - zeta_A)).
    """
    zeta_e, zeta_a = sigmoid(expert), sigmoid(agent)
    theirs = -1.0 / (zeta_e + EPSILON) - regularisation
    ours = weights / (zeta_a + EPSILON) - regularisation
    return np.concatenate(
        [
            theirs * zeta_e * (1.0 - zeta_e) / expert.shape[-1],
            ours * zeta_a * (1.0 - zeta_a) / agent.shape[-1],
        ],
        axis=-1,
    )


def backward(
    networks: Networks,
    optimiser: Adam,
    sides: Sides,
    rngs: Sequence[np.random.Generator],
    settings: BackwardSettings,
) -> tuple[np.ndarray, list[Importance]]:
    """The phase for a stack of runs, in place.

    Returns how many passes each run made, and how far its zeta had moved at the last look.
    """
    then = [zeta(networks, run, steps) for run, steps in enumerate(sides.agents)]

    def look(run: int) -> Importance:
        return importance(zeta(networks, run, sides.agents[run]), then[run], sides.lengths[run])

    runs = range(len(rngs))
    made, moved = np.zeros(len(runs), np.int64), [look(run) for run in runs]
    for _ in range(settings.passes):
        going = [run for run in runs if not moved[run].too_far(settings)]
        drawn = {run: _draw(sides, run, moved[run], rngs[run], settings) for run in going}
        _pass(networks, optimiser, drawn, settings)
        for run in going:
            made[run] += 1
            moved[run] = look(run)
    return made, moved


Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # the expert's inputs, the agent's, weights


def _draw(
    sides: Sides,
    run: int,
    moved: Importance,
    rng: np.random.Generator,
    settings: BackwardSettings,
) -> Pairs:
    """What a run learns from in one pass: min(N_E, N_A) steps of either side, in random order."""
    expert, agent = sides.expert[run], sides.agents[run]
    n = min(len(expert), len(agent))
    theirs, ours = (rng.permutation(len(side))[:n] for side in (expert, agent))
    weights = np.ones(n) if settings.ignore_weights else moved.weights[ours]
    return expert[theirs], agent[ours], weights


def _pass(
    networks: Networks, optimiser: Adam, drawn: dict[int, Pairs], settings: BackwardSettings
) -> None:
    """One pass of some runs: together as long as all have whole batches, then each by itself."""
    if not drawn:
        return
    shortest = min(len(weights) for _, _, weights in drawn.values())
    shared = shortest - shortest % settings.batch
    together = [
        np.stack([part[:shared] for part in parts]) for parts in zip(*drawn.values(), strict=True)
    ]
    _steps(networks, optimiser, list(drawn), together, settings)
    for run, parts in drawn.items():
        _steps(networks, optimiser, [run], [part[None, shared:] for part in parts], settings)


def _steps(
    networks: Networks,
    optimiser: Adam,
    runs: list[int],
    parts: Sequence[np.ndarray],
    settings: BackwardSettings,
) -> None:
    """Batch after batch of (runs, n, ...) pairs."""
    some, adam = networks.pick(runs), optimiser.pick(runs)
    for start in range(0, parts[0].shape[1], settings.batch):
        expert, agent, weights = (part[:, start : start + settings.batch] for part in parts)
        logits, trace = some.trace(np.concatenate([expert, agent], axis=1))
        theirs, ours = np.split(logits[..., 0].astype(np.float64), 2, axis=1)
        slope = feasibility_slope(theirs, ours, weights, settings.regularisation)
        adam.step(some.parameters, some.gradient(trace, slope.astype(np.float32)[..., None]))
    networks.parameters[runs] = some.parameters
    optimiser.put(runs, adam)


def zeta(networks: Networks, run: int, inputs: np.ndarray) -> np.ndarray:
    """Feasibility of a run's steps: (n, inputs) -> (n,)."""
    return sigmoid(networks.pick([run])(inputs[None])[0, :, 0].astype(np.float64))
