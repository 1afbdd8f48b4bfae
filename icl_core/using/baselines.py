"""The paper's other methods, called as ICL is."""

from __future__ import annotations

from icl_core.using.learner import Learner


class GAILConstraint(Learner):
    """GAIL-Constraint: imitation whose discriminator is read as a constraint."""

    method = "gail-constraint"


class ICRL(Learner):
    """ICRL: inverse constrained RL by maximum likelihood (Malik et al., 2021)."""

    method = "icrl"
