"""Evidence that is made up to say what the paper says, the contrary, or nothing.

`lean` is +1, -1 or 0. `CASES` has a maker for each check: it says what the check is to be shown,
by the names of what it asks of evidence. The checks themselves are not consulted. `sizes` is for
numbers that one works out by hand.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from icl_core.environments import make_world
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.errors import InputError
from icl_core.measuring.claims.claim import Claim, find_checks
from icl_core.measuring.claims.evidence import Evidence
from icl_core.measuring.results import Results

CHECKS = find_checks()
METHODS = {"gail-constraint": "GAIL-Constraint", "icrl": "ICRL", "icl": "ICL"}


class Line:
    """Just enough of a driving world: a grid."""

    def __init__(self, name, *axes):
        self.name = self.title = name
        self.source, self.grid, self.true_on_grid = "recorded", EvaluationGrid(axes), None


HIGHD = Line("highd", Axis("v", np.arange(41.0)), Axis("g", 2.5 * np.arange(81)))
EXID = Line("exid", Axis("d", np.linspace(-10, 10, 41)), Axis("v", np.linspace(-2.5, 2.5, 51)))


def world_of(experiment):
    """The world that an experiment's name begins with."""
    special = {"highd": HIGHD, "exid": EXID}
    if experiment in special:
        return special[experiment]
    words = experiment.split("-")
    for end in range(len(words), 0, -1):
        with suppress(InputError):
            return make_world("-".join(words[:end]))
    raise ValueError(f"no world for {experiment}")


class MadeUp(Evidence):
    """Evidence for one claim: what a case shows, and no files."""

    def __init__(self, claim, case, lean, runs=5):
        super().__init__(Results("paper", {}, (), METHODS), claim.experiments, claim.id)
        self.claim, self.given, self.lean, self.runs = claim, claim.arguments, lean, runs
        self.noise = np.random.default_rng(3)
        for name, shown in case(self).items():
            assert hasattr(Evidence, name), name
            setattr(self, name, shown)

    def world(self, experiment):
        return world_of(experiment)

    def beta(self, experiment):
        return world_of(experiment).threshold

    def around(self, centre, spread=0.01):
        """A value for each run, in some order; their mean is the centre itself."""
        draws = np.linspace(-1, 1, self.runs)
        self.noise.shuffle(draws)
        return dict(enumerate(centre + spread * draws, start=1))

    def each(self, make, centre, spread=0.01):
        """Something for each run, made of such a value."""
        return {run: make(value) for run, value in self.around(centre, spread).items()}

    def pick(self, good, bad, middle):
        """One of the three, by where this evidence leans."""
        return {1: good, -1: bad, 0: middle}[self.lean]

    def place(self, experiment, steps):
        """Where an experiment stands in its row of so many."""
        return self.experiments.index(experiment) % steps


def sizes(check, experiments, shown, **arguments):
    """The sizes of a check's effects, over what it is shown: a mapping of what it asks for."""
    claim = Claim("a-claim", "So it is.", ("Table 1",), check, tuple(experiments), arguments)
    effects = CHECKS[check].load()(MadeUp(claim, lambda _: shown, 1), **arguments)
    return [effect.size for effect in effects]


def runs(value):
    """The same for each of four runs."""
    return dict.fromkeys(range(1, 5), value)


def by(which, **values):
    """A function that gives four runs what stands under one of its arguments, - written as _."""
    return lambda *given: runs(values[given[which].replace("-", "_")])
