"""Checks on experts and their demonstrations. A value belongs to an expert."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.measuring.claims.claim import reads
from icl_core.measuring.claims.effects import (
    differences,
    mean_effect,
    paired_effect,
    ratio,
    separate_effect,
)
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.claims.verdicts import Effect

PART = 10  # the beginning and the end are a tenth of the epochs each


@reads("expert_training")
def expert_earns(evidence: Evidence, share: float, best: Mapping[str, float]) -> list[Effect]:
    """In the last tenth of its epochs an expert earns at least this share of the best return."""
    parts = []
    for name in evidence.experiments:
        found = {
            expert: _tenth(log, "return", -1) / best[name] - share
            for expert, log in evidence.expert_training(name).items()
        }
        unit = f"return, share of {best[name]:g}, less {share:g}"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("expert_training")
def expert_violates_less(evidence: Evidence) -> list[Effect]:
    """In the last tenth of its epochs an expert breaks the constraint less often than at first."""
    parts = []
    for name in evidence.experiments:
        found = {
            expert: _tenth(log, "violations", 0) - _tenth(log, "violations", -1)
            for expert, log in evidence.expert_training(name).items()
        }
        unit = "share of episodes that break it, first tenth less last"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("expert_training")
def experts_settle(evidence: Evidence, margin: float) -> list[Effect]:
    """From the last tenth but one to the last an expert's return changes by less than `margin`."""
    parts = []
    for name in evidence.experiments:
        found = {}
        for expert, log in evidence.expert_training(name).items():
            before, last = _tenth(log, "return", -2), _tenth(log, "return", -1)
            found[expert] = margin - ratio(abs(last - before), abs(last))
        unit = f"{margin:g} less the change of the return, share of it"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("expert_training")
def learns_worse(evidence: Evidence, margin: float) -> list[Effect]:
    """In the first experiment of each two, experts earn less in training than in the second.

    And not because they keep the constraint: they break it less often by at most `margin`. Means
    over all epochs: what is hard to learn comes late.
    """
    parts = []
    for start in range(0, len(evidence.experiments), 2):
        first, second = evidence.experiments[start : start + 2]
        logs = [evidence.expert_training(name) for name in (first, second)]
        part = f"{evidence.title(first)}, against {evidence.title(second)}"
        earned = [_whole(log, "return") for log in logs]
        parts.append(paired_effect(part, "mean return of all epochs", *earned))
        fewer = differences(*(_whole(log, "violations") for log in logs))
        room = {expert: margin - less for expert, less in fewer.items()}
        unit = f"{margin:g} less by how much less often it breaks the constraint"
        parts.append(mean_effect(part, unit, room, paired=True))
    return parts


@reads("expert_policy")
def expert_feasible(evidence: Evidence, times: float) -> list[Effect]:
    """Episodes of an expert as they come cost at most so many betas on average."""
    parts = []
    for name in evidence.experiments:
        beta = evidence.world(name).threshold
        found = {
            expert: times - float(evidence.true_costs(name, taken).mean()) / beta
            for expert, taken in evidence.expert_episodes(name).items()
        }
        unit = f"{times:g} less J over beta, new episodes"
        parts.append(mean_effect(evidence.title(name), unit, found))
    return parts


@reads("expert_policy")
def regret_grows(evidence: Evidence) -> list[Effect]:
    """From each experiment to the next experts lose more of the best return within the budget."""
    regrets = []
    for name in evidence.experiments:
        best = evidence.best_return(name)
        regrets.append(
            {
                expert: best - float(taken.returns.mean(dtype=np.float64))
                for expert, taken in evidence.expert_episodes(name).items()
            }
        )
    return _steps(evidence, "regret, difference of means", regrets)


@reads("demonstrations")
def demonstrations_noisier(evidence: Evidence) -> list[Effect]:
    """From each experiment to the next, less is known of the next state by the state before it.

    The measure is the entropy of the next node of the grid given the node.
    """
    noise = []
    for name in evidence.experiments:
        locate = evidence.nodes_of(name)
        shown = evidence.demonstrations(name)
        noise.append({expert: next_entropy(locate(one), one) for expert, one in shown.items()})
    return _steps(evidence, "entropy of the next node [bits], difference of means", noise)


@reads("demonstrations")
def demonstrations_wider(evidence: Evidence) -> list[Effect]:
    """From each experiment to the next, demonstrations visit more nodes."""
    visited = [
        {
            expert: float(np.count_nonzero(visits))
            for expert, visits in evidence.expert_visits(name).items()
        }
        for name in evidence.experiments
    ]
    return _steps(evidence, "nodes that are visited, difference of means", visited)


@reads("constraint", "demonstrations", "expert_policy", "metrics")
def keeps_new_demonstrations(evidence: Evidence, most: float) -> list[Effect]:
    """New episodes of the expert keep the learned constraint about as often as those it had."""
    parts = []
    for name in evidence.experiments:
        had = evidence.satisfied(name, evidence.demonstrations(name))
        new = evidence.satisfied(name, evidence.expert_episodes(name))
        room = {seed: most - (had[seed] - new[seed]) for seed in had}
        unit = f"{most:g} less the fall of the share that keeps it"
        parts.append(mean_effect(evidence.title(name), unit, room))
    return parts


def next_entropy(nodes: np.ndarray, taken: Trajectories) -> float:
    """Mean entropy of the next node given the node, in bits; `nodes` are (episodes, steps)."""
    moving = taken.mask[:, :-1] & taken.mask[:, 1:]
    pairs = np.stack([nodes[:, :-1][moving], nodes[:, 1:][moving]], axis=1)
    _, joint = np.unique(pairs, axis=0, return_counts=True)
    _, here = np.unique(pairs[:, 0], return_counts=True)
    return _entropy(joint) - _entropy(here)


def _entropy(counts: np.ndarray) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _steps(evidence: Evidence, unit: str, found: list[dict[int, float]]) -> list[Effect]:
    """That values of different experts grow from each experiment to the next."""
    titles = [evidence.title(name) for name in evidence.experiments]
    return [
        separate_effect(f"{titles[k]}, against {titles[k + 1]}", unit, found[k], found[k + 1])
        for k in range(len(found) - 1)
    ]


def _whole(logs: Mapping[int, pa.Table], column: str) -> dict[int, float]:
    """The mean over each expert's training."""
    return {expert: float(np.nanmean(log[column].to_numpy())) for expert, log in logs.items()}


def _tenth(log: pa.Table, column: str, which: int) -> float:
    """The mean of one of the ten parts of a training, from 0 or from the end, -1."""
    values = log[column].to_numpy()
    part = max(1, len(values) // PART)
    start = which * part if which >= 0 else len(values) + which * part
    return float(np.nanmean(values[start : start + part]))
