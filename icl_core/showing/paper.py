"""What the paper has: every table and figure in our own words, and its settings.

Its numbers stand in `icl_core.measuring.paper`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from icl_core.measuring.paper import MINUTES_OF

TABLES = {
    1: "CMSE of three methods on the synthetic environments",
    2: "NAD of three methods on the synthetic environments",
    3: "CMSE of ICL on Gridworld (A) with slips",
    4: "NAD of ICL on Gridworld (A) with slips",
    5: "CMSE of three methods on the robots",
    6: "NAD of three methods on the robots",
    7: "settings that all methods share",
    8: "settings of GAIL-Constraint",
    9: "settings of ICRL",
    10: "settings of ICL with PPO-penalty",
    11: "settings of ICL with PPO-Lagrange",
    12: "training times",
    13: "lower bounds of CMSE for networks of several widths",
    14: "lower bounds of CMSE for networks of several depths",
}

FIGURES = {
    1: "expert and agent, and where the constraint goes down and up",
    2: "recovered constraints, HighD",
    3: "the experts' reward in training",
    4: "the experts' constraint value in training",
    5: "CMSE by iteration: ICL, without reweighting, without mixture",
    6: "recovered constraints on Gridworld (A) with slips",
    7: "adjustment by a Lagrange multiplier: constraint, multiplier, satisfied demonstrations",
    8: "recovered constraints at three thresholds, Gridworld (A)",
    9: "recovered constraints at three thresholds, Gridworld (B)",
    10: "reward and cost in training, HalfCheetah",
    11: "recovered constraints, ExiD",
    12: "the synthetic environments",
    13: "the HighD environment",
    14: "the robots",
    15: "the ExiD environment",
    16: "constraints, Gridworld (A)",
    17: "accruals, Gridworld (A)",
    18: "constraints, Gridworld (B)",
    19: "accruals, Gridworld (B)",
    20: "constraints, CartPole (MR)",
    21: "accruals, CartPole (MR)",
    22: "constraints, CartPole (Mid)",
    23: "accruals, CartPole (Mid)",
    24: "constraints, Ant",
    25: "accruals, Ant",
    26: "constraints, HalfCheetah",
    27: "accruals, HalfCheetah",
    28: "accruals, HighD",
    29: "accruals, ExiD",
}

UNKNOWN = object()  # the paper does not say


class Line(NamedTuple):
    """A line of Tables 7 to 11: our setting and the paper's value."""

    label: str
    # Where the setting stands in an experiment's settings (`world.`: in its world) and how it is
    # written. What an experiment has of several is shown; none: we have no such setting.
    paths: Mapping[str, str]
    paper: object = UNKNOWN  # one value, or a value for each environment

    def of_paper(self, environment: str) -> object:
        """The paper's value for an environment."""
        given = self.paper
        return given.get(environment, UNKNOWN) if isinstance(given, Mapping) else given


def _at(*paths: str, form: str = "{}") -> dict[str, str]:
    return dict.fromkeys(paths, form)


def _each(*values: object) -> dict[str, object]:
    """A value for each environment, in the order of Table 12."""
    return dict(zip(MINUTES_OF, values, strict=True))


_ICL, _GAIL, _ICRL = "learning.icl", "learning.gail-constraint", "learning.icrl"
_RL, _ADJUSTMENT = f"{_ICL}.constrained_rl", f"{_ICL}.adjustment"
# PPO of ICL, by its two procedures, and of the baselines. That of ICL's second is the baselines'.
_PENALTY, _LAGRANGE = f"{_RL}.penalty.ppo", f"{_RL}.lagrangian.on_policy"
_LAYERS, _TANH, _PASSES = "64, 64 (ReLU)", "{} (tanh)", "{} passes over all steps"


def _ppo(key: str) -> dict[str, str]:
    """A setting of ICL's PPO, of the procedure that was run."""
    return _at(f"{_PENALTY}.{key}", f"{_LAGRANGE}.{key}")


def _baselines(key: str, form: str = "{}") -> dict[str, str]:
    return _at(f"{_GAIL}.on_policy.{key}", f"{_ICRL}.on_policy.{key}", form=form)


COMMON = (
    Line("PPO learning rate, ICL (eta_2)", _ppo("learning_rate"), 5e-4),
    Line("PPO learning rate, baselines", _baselines("learning_rate"), 5e-4),
    Line("constraint learning rate, ICL (eta_3)", _at(f"{_ADJUSTMENT}.learning_rate"), 5e-4),
    Line("discriminator learning rate, GAIL-Constraint", _at(f"{_GAIL}.learning_rate"), 5e-4),
    Line("constraint learning rate, ICRL", _at(f"{_ICRL}.backward.learning_rate"), 5e-4),
    Line(
        "constraint layers, then a sigmoid",
        _at(f"{_ICL}.constraint.hidden", f"{_GAIL}.hidden", f"{_ICRL}.hidden", form="{} (ReLU)"),
        _LAYERS,
    ),
    Line(
        "policy and value layers, ICL",
        _at(f"{_PENALTY}.hidden", form="{} (ReLU)") | _at(f"{_LAGRANGE}.hidden", form=_TANH),
        _LAYERS,
    ),
    Line("policy and value layers, baselines", _baselines("hidden", _TANH), _LAYERS),
    Line("minibatch, ICL", _ppo("batch"), 64),
    Line("minibatch, baselines", _baselines("batch"), 64),
    Line("minibatch of the discriminator, GAIL-Constraint", _at(f"{_GAIL}.batch"), 64),
    Line("minibatch of the constraint, ICRL", _at(f"{_ICRL}.backward.batch"), 64),
    Line("PPO clip, ICL (epsilon)", _ppo("clip"), 0.1),
    Line("PPO clip, baselines", _baselines("clip"), 0.1),
    Line("entropy bonus, ICL", _ppo("entropy"), 0.01),
    Line("entropy bonus, baselines", _baselines("entropy"), 0.01),
    Line(
        "PPO updates per epoch, ICL",
        _at(f"{_PENALTY}.updates") | _at(f"{_LAGRANGE}.passes", form=_PASSES),
        25,
    ),
    Line("PPO updates per epoch, baselines", _baselines("passes", _PASSES), 25),
    Line("demonstrations", _at("demonstrations.trajectories"), 50),
    Line("trajectories per adjustment round, ICL", _at(f"{_ADJUSTMENT}.episodes"), 50),
    Line("trajectories per backward phase, ICRL", _at(f"{_ICRL}.episodes"), 50),
    Line("trajectories behind the metrics", _at("measuring.report_episodes"), 50),
    Line("seeds, ICL", _at("seeds.icl", "seeds.icl-plus"), "1, 2, 3, 4, 5"),
    Line("seeds, baselines", _at("seeds.gail-constraint", "seeds.icrl"), "1, 2, 3, 4, 5"),
)

_DISCOUNT = Line("discount, gamma", _at("world.discount"), _each(1.0, 1.0, *[0.99] * 6))
_STEPS = _each(*[2000] * 5, 4000, 4000, 1000)
_TOTAL = _each(*[2_000_000] * 4, 400_000, *[3_500_000] * 3)

GAIL = (
    _DISCOUNT,
    Line("PPO steps per epoch", _at(f"{_GAIL}.on_policy.steps"), _STEPS),
    Line("weight of the value loss", _at(f"{_GAIL}.on_policy.value_weight"), 0.5),
    Line("gradient clip", _at(f"{_GAIL}.on_policy.gradient_norm"), 0.5),
    Line("total steps", _at(f"{_GAIL}.total_steps"), _TOTAL),
)

ICRL = (
    _DISCOUNT,
    Line("PPO steps per epoch", _at(f"{_ICRL}.on_policy.steps"), _STEPS),
    Line("weight of both value losses", _at(f"{_ICRL}.on_policy.value_weight"), 0.5),
    Line("gradient clip", _at(f"{_ICRL}.on_policy.gradient_norm"), 0.5),
    Line("evaluation episodes, for its log alone", {}, 100),
    Line("iterations", _at(f"{_ICRL}.iterations"), _each(*[200] * 4, 40, 125, 125, 250)),
    Line("forward steps per iteration", _at(f"{_ICRL}.forward_steps"), 10_000),
    Line("budget", _at(f"{_ICRL}.budget"), 0.0),
    Line("initial multiplier, nu", _at(f"{_ICRL}.multiplier"), 0.1),
    Line("learning rate of the multiplier", _at(f"{_ICRL}.multiplier_rate"), 0.01),
    Line("per-step importance weights left out", _at(f"{_ICRL}.backward.ignore_weights"), False),
    Line("KL bound, old to new", _at(f"{_ICRL}.backward.kl_old_new"), 10.0),
    Line("KL bound, new to old", _at(f"{_ICRL}.backward.kl_new_old"), 2.5),
    Line("backward passes", _at(f"{_ICRL}.backward.passes"), 5),
    Line("regularisation", _at(f"{_ICRL}.backward.regularisation"), 0.6),
)

_BETAS = _each(0.99, 0.99, 50.0, 30.0, 0.1, 5.0, 15.0, 5.0)
_ITERATIONS = Line("iterations (n)", _at(f"{_ICL}.loop.iterations"), _each(*[10] * 4, 3, 5, 5, 5))
_THRESHOLD = Line("threshold, beta", _at("world.threshold"), _BETAS)
_ROUNDS = Line("adjustment rounds (e)", _at(f"{_ADJUSTMENT}.rounds"), _each(*[20] * 4, *[25] * 4))
_EPOCHS = Line("PPO epochs (m)", _at(f"{_RL}.epochs"), _each(500, 500, 300, 300, *[50] * 4))

ICL = (
    _DISCOUNT,
    _ITERATIONS,
    Line("correction rate (eta_1); 0: none", _at(f"{_RL}.penalty.feasibility_rate"), 2.5e-5),
    Line("episodes per PPO epoch", _at(f"{_RL}.penalty.episodes"), 20),
    _THRESHOLD,
    _ROUNDS,
    Line("gradient steps per round", _at(f"{_ADJUSTMENT}.steps"), 1),
    _EPOCHS,
    Line("soft loss weight, lambda", _at(f"{_ADJUSTMENT}.penalty"), 15.0),
)

ICL_LAGRANGE = (
    _DISCOUNT,
    Line("lambda of the advantages", _at(f"{_LAGRANGE}.gae_lambda"), 0.97),
    _ITERATIONS,
    Line("PPO steps per epoch", _at(f"{_LAGRANGE}.steps"), _each(*[""] * 5, 4000, 4000, 1000)),
    _THRESHOLD,
    _ROUNDS,
    _EPOCHS,
)

# Sections whose settings belong to a table also where the paper's does not list them. What stands
# in Table 7 does not stand in the others again.
SECTIONS = {
    "common": ("demonstrations", "measuring", f"{_ICL}.density", f"{_ICL}.constraint"),
    "gail-constraint": (_GAIL,),
    "icrl": (_ICRL,),
    "icl": (f"{_ICL}.loop", _RL, _ADJUSTMENT),
}
