"""ICRL's backward phase: how feasible a step is, by maximum likelihood (Malik et al., 2021).

zeta in (0, 1) is high on what the expert does and low on what only the agent does. It
learns from one sample of the agent for several passes, so that each pass corrects by
importance weights for how far zeta has moved since the sample was drawn, and ends the
phase when it has moved too far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icl_core.learning.networks import Adam, Networks, sigmoid

EPSILON = 1e-5


@dataclass(frozen=True)
class BackwardSettings:
    """Settings of the phase; defaults are the paper's (Table 9)."""

    passes: int = 5
    learning_rate: float = 5e-4
    batch: int = 64
    regularisation: float = 0.6  # weight of mean(1 - zeta) on either side
    kl_old_new: float = 10.0  # no further pass beyond either
    kl_new_old: float = 2.5
    # Fault of the authors' code: an extra axis made every weight the mean weight, 1.
    ignore_weights: bool = False


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
    """
    rho = (now.astype(np.float64) + EPSILON) / (then.astype(np.float64) + EPSILON)
    starts = np.cumsum(lengths) - lengths
    with np.errstate(over="ignore", invalid="ignore"):
        omega = np.exp(np.add.reduceat(np.log(rho), starts))
        logs, mean = np.log(omega + EPSILON), omega.mean()
        forth, back = -logs.mean(), ((omega - mean) * logs).mean() / (mean + EPSILON)
    return Importance(rho / rho.mean(), float(forth), float(back))


def feasibility_slope(
    expert: np.ndarray, agent: np.ndarray, weights: np.ndarray, regularisation: float
) -> np.ndarray:
    """Gradient of the loss in the logits of zeta, the expert's steps (n,) first, then the agent's.

    Loss = -mean log(zeta_E + eps) + mean[w log(zeta_A + eps)]
    + regularisation * (mean(1 - zeta_E) + mean(1 - zeta_A)).
    """
    zeta_e, zeta_a = sigmoid(expert), sigmoid(agent)
    theirs = -1.0 / (zeta_e + EPSILON) - regularisation
    ours = weights / (zeta_a + EPSILON) - regularisation
    return np.concatenate(
        [
            theirs * zeta_e * (1.0 - zeta_e) / len(expert),
            ours * zeta_a * (1.0 - zeta_a) / len(agent),
        ]
    )


def backward(
    network: Networks,
    optimiser: Adam,
    expert: np.ndarray,
    agent: np.ndarray,
    lengths: np.ndarray,
    rng: np.random.Generator,
    settings: BackwardSettings,
) -> tuple[int, Importance]:
    """The phase for one run, in place; how many passes it made, and how far zeta had moved
    at its last look.

    `expert` (N_E, inputs), `agent` (N_A, inputs) with episodes of `lengths`. A run at a time:
    the agents' samples differ in size.
    """
    then = zeta(network, agent)
    for made in range(settings.passes):
        moved = importance(zeta(network, agent), then, lengths)
        if moved.too_far(settings):
            return made, moved
        weights = np.ones_like(moved.weights) if settings.ignore_weights else moved.weights
        n = min(len(expert), len(agent))
        theirs, ours = (rng.permutation(len(side))[:n] for side in (expert, agent))
        for start in range(0, n, settings.batch):
            a, b = theirs[start : start + settings.batch], ours[start : start + settings.batch]
            logits, trace = network.trace(np.concatenate([expert[a], agent[b]])[None])
            flat = logits[0, :, 0].astype(np.float64)
            slope = feasibility_slope(
                flat[: len(a)], flat[len(a) :], weights[b], settings.regularisation
            )
            slope = slope.astype(np.float32)[None, :, None]
            optimiser.step(network.parameters, network.gradient(trace, slope))
    return settings.passes, importance(zeta(network, agent), then, lengths)


def zeta(network: Networks, inputs: np.ndarray) -> np.ndarray:
    """Feasibility of a run's steps: (n, inputs) -> (n,)."""
    return sigmoid(network(inputs[None])[0, :, 0].astype(np.float64))
