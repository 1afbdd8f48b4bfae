"""Several constraint networks of each run, and the one network that stands for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from icl_core.learning.engine.networks import Networks
from icl_core.learning.methods.icl.state import (
    ConstraintSettings,
    ConstraintState,
    initial_constraint,
)
from icl_core.learning.problem import Problem
from icl_core.randomness import generators


def averaged(members: Sequence[Networks]) -> Networks:
    """One network for each run whose output is the mean of the members' outputs, exactly.

    The members lie side by side: blocks on the diagonal, and a last layer that takes their mean.
    With c = sigmoid(output) this is the mean of the logits, and not of c. It is a network like any
    other, so that every reader of a file understands it.
    """
    inputs, *inner, output = members[0].sizes
    count = len(members)
    sizes = (inputs, *(count * size for size in inner), output)
    joined = Networks.blank(members[0].runs, sizes, members[0].activation)
    last = len(joined.layers) - 1
    for k, member in enumerate(members):
        for depth, (weights, biases) in enumerate(member.layers):
            rows, columns = (slice(k * size, (k + 1) * size) for size in weights.shape[1:])
            rows = slice(None) if depth == 0 else rows
            columns = slice(None) if depth == last else columns
            share = np.float32(1.0 / count if depth == last else 1.0)
            slot, bias = joined.layers[depth]
            slot[:, rows, columns] += share * weights
            bias[:, :, columns] += share * biases
    return joined


@dataclass(frozen=True)
class Ensemble:
    """A state of ICL for each member; all say the same of who has stopped or failed."""

    members: tuple[ConstraintState, ...]

    @classmethod
    def initial(cls, problem: Problem, settings: ConstraintSettings, count: int) -> Ensemble:
        """Fresh networks; the first is ICL's own."""
        states = [initial_constraint(problem, settings)]
        first = states[0].networks
        for member in range(1, count):
            rngs = generators(problem.seeds, "constraint", member)
            networks = Networks.initialise(rngs, first.sizes)
            networks.layers[-1][1][...] = first.layers[-1][1]  # c is `initial` here too
            states.append(replace(states[0].with_room(0), networks=networks))
        return cls(tuple(states))

    @property
    def joined(self) -> ConstraintState:
        """The state whose network is the members' mean; Adam's moments in it mean nothing."""
        networks = averaged([member.networks for member in self.members])
        return replace(self.members[0], networks=networks)

    def stop(self, runs: np.ndarray) -> Ensemble:
        """The same, with the runs (runs,) bool stopped besides those that had."""
        return Ensemble(tuple(member.stop(runs) for member in self.members))

    def fail(self, runs: np.ndarray, iteration: int) -> Ensemble:
        """The same, with the runs (runs,) bool failed in this iteration."""
        return Ensemble(tuple(member.fail(runs, iteration) for member in self.members))

    def with_room(self, policies: int) -> Ensemble:
        """A copy with room for the weights of so many policies."""
        return Ensemble(tuple(member.with_room(policies) for member in self.members))

    def pick(self, run: int) -> Ensemble:
        """A copy of one run."""
        return Ensemble(tuple(member.pick([run]) for member in self.members))

    def put(self, run: int, one: Ensemble) -> None:
        """Take such a copy back, in place."""
        for mine, theirs in zip(self.members, one.members, strict=True):
            mine.networks.parameters[run] = theirs.networks.parameters[0]
            for part in fields(mine)[1:]:
                getattr(mine, part.name)[run] = getattr(theirs, part.name)[0]
