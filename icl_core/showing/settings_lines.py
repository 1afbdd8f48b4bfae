"""What Tables 7 to 11 list: each line's setting in our configuration, and the paper's value.

A line's `path` leads into an experiment's settings, or with `world.` to its world.
`paper` is one value, or a value for each environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NOT_TOLD = object()  # the paper says nothing of it


class Line(NamedTuple):
    """A line of a table."""

    label: str
    path: str  # "" where we have no such thing
    paper: object = NOT_TOLD
    form: str = "{}"  # how ours is written

    def of_paper(self, environment: str) -> object:
        """The paper's value for an environment."""
        if isinstance(self.paper, Mapping):
            return self.paper.get(environment, NOT_TOLD)
        return self.paper


_ORDER = (
    *("gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"),
    *("highd", "ant", "halfcheetah", "exid"),
)


def _each(*values: object) -> dict[str, object]:
    return dict(zip(_ORDER, values, strict=True))


_ICL, _PPO = "learning.constrained_rl", "learning.constrained_rl.ppo"
_BASELINES, _GAIL, _ICRL = "learning.on_policy", "learning.gail_constraint", "learning.icrl"
_LAYERS = "64, 64 (ReLU)"
_DISCOUNT = Line("discount, gamma", "world.discount", _each(1.0, 1.0, *[0.99] * 6))
_STEPS = Line("PPO steps per epoch", f"{_BASELINES}.steps", _each(*[2000] * 5, 4000, 4000, 1000))
_VALUE = Line("weight of the value loss", f"{_BASELINES}.value_weight", 0.5)
_NORM = Line("gradient clip", f"{_BASELINES}.gradient_norm", 0.5)

COMMON = (
    Line("PPO learning rate, ICL (eta_2)", f"{_PPO}.learning_rate", 5e-4),
    Line("PPO learning rate, baselines", f"{_BASELINES}.learning_rate", 5e-4),
    Line("constraint learning rate, ICL (eta_3)", "learning.adjustment.learning_rate", 5e-4),
    Line("discriminator learning rate, GAIL-Constraint", f"{_GAIL}.learning_rate", 5e-4),
    Line("constraint learning rate, ICRL", f"{_ICRL}.backward.learning_rate", 5e-4),
    Line("constraint layers, then a sigmoid", "learning.constraint.hidden", _LAYERS, "{} (ReLU)"),
    Line("policy and value layers, ICL", f"{_PPO}.hidden", _LAYERS, "{} (ReLU)"),
    Line("policy and value layers, baselines", f"{_BASELINES}.hidden", _LAYERS, "{} (tanh)"),
    Line("minibatch, ICL", f"{_PPO}.batch", 64),
    Line("minibatch, baselines", f"{_BASELINES}.batch", 64),
    Line("minibatch of the discriminator, GAIL-Constraint", f"{_GAIL}.batch", 64),
    Line("minibatch of the constraint, ICRL", f"{_ICRL}.backward.batch", 64),
    Line("PPO clip, ICL (epsilon)", f"{_PPO}.clip", 0.1),
    Line("PPO clip, baselines", f"{_BASELINES}.clip", 0.1),
    Line("entropy bonus, ICL", f"{_PPO}.entropy", 0.01),
    Line("entropy bonus, baselines", f"{_BASELINES}.entropy", 0.01),
    Line("PPO updates per epoch, ICL", f"{_PPO}.updates", 25),
    Line(
        "PPO updates per epoch, baselines", f"{_BASELINES}.passes", 25, "{} passes over all steps"
    ),
    Line("demonstrations", "demonstrations.trajectories", 50),
    Line("trajectories per adjustment round, ICL", "learning.adjustment.episodes", 50),
    Line("trajectories per backward phase, ICRL", f"{_ICRL}.episodes", 50),
    Line("trajectories behind the metrics", "measuring.rollouts", 50),
    Line("seeds", "seeds", "1, 2, 3, 4, 5"),
)

GAIL = (
    _DISCOUNT,
    _STEPS,
    _VALUE,
    _NORM,
    Line("total steps", f"{_GAIL}.total_steps", _each(*[2_000_000] * 4, 400_000, *[3_500_000] * 3)),
)

ICRL = (
    _DISCOUNT,
    _STEPS,
    Line("weight of the value losses, reward and cost", f"{_BASELINES}.value_weight", 0.5),
    _NORM,
    Line("evaluation episodes, for its log alone", "", 100),
    Line("iterations", f"{_ICRL}.iterations", _each(*[200] * 4, 40, 125, 125, 250)),
    Line("forward steps per iteration", f"{_ICRL}.forward_steps", 10_000),
    Line("budget", f"{_ICRL}.budget", 0.0),
    Line("initial multiplier, nu", f"{_ICRL}.multiplier", 0.1),
    Line("learning rate of the multiplier", f"{_ICRL}.multiplier_rate", 0.01),
    Line("per-step importance weights left out", f"{_ICRL}.backward.ignore_weights", False),
    Line("KL bound, old to new", f"{_ICRL}.backward.kl_old_new", 10.0),
    Line("KL bound, new to old", f"{_ICRL}.backward.kl_new_old", 2.5),
    Line("backward passes", f"{_ICRL}.backward.passes", 5),
    Line("regularisation", f"{_ICRL}.backward.regularisation", 0.6),
)

_BETAS = _each(0.99, 0.99, 50.0, 30.0, 0.1, 5.0, 15.0, 5.0)
_ITERATIONS = Line("iterations (n)", "learning.icl.iterations", _each(*[10] * 4, 3, 5, 5, 5))
_THRESHOLD = Line("threshold, beta", "world.threshold", _BETAS)
_ROUNDS = Line("adjustment rounds (e)", "learning.adjustment.rounds", _each(*[20] * 4, *[25] * 4))
_EPOCHS = Line("PPO epochs (m)", f"{_ICL}.epochs", _each(500, 500, 300, 300, *[50] * 4))

ICL = (
    _DISCOUNT,
    _ITERATIONS,
    Line("correction rate (eta_1); 0: none", f"{_ICL}.feasibility_rate", 2.5e-5),
    Line("episodes per PPO epoch", f"{_ICL}.episodes", 20),
    _THRESHOLD,
    _ROUNDS,
    Line("gradient steps per round", "learning.adjustment.steps", 1),
    _EPOCHS,
    Line("soft loss weight, lambda", "learning.adjustment.penalty", 15.0),
)

_LAGRANGIAN = "learning.constrained_rl.lagrangian.on_policy"
ICL_LAGRANGE = (
    _DISCOUNT,
    Line("lambda of the advantages", f"{_LAGRANGIAN}.gae_lambda", 0.97),
    _ITERATIONS,
    Line("PPO steps per epoch", f"{_LAGRANGIAN}.steps", _each(*[""] * 5, 4000, 4000, 1000)),
    _THRESHOLD,
    _ROUNDS,
    _EPOCHS,
)

# Sections whose settings belong to a table also where the paper's does not list them.
SECTIONS = {
    "common": ("demonstrations", "measuring", "learning.density", "learning.constraint"),
    "gail-constraint": (_GAIL, _BASELINES),
    "icrl": (_ICRL, _BASELINES),
    "icl": ("learning.icl", _ICL, "learning.adjustment"),
}
