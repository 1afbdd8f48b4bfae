"""The other methods, called as ICL is."""

from __future__ import annotations

from icl_core.using.learner import Learner


class ICLPlus(Learner):
    """ICL+: ICL with what the development suite chose, on worlds on which nothing is reported."""

    method = "icl-plus"


class GAILConstraint(Learner):
    """GAIL-Constraint: imitation whose discriminator is read as a constraint."""

    method = "gail-constraint"


class ICRL(Learner):
    """ICRL: inverse constrained RL by maximum likelihood (Malik et al., 2021)."""

    method = "icrl"
