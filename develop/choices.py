"""What is compared, as data: each line changes one thing of a method's defaults.

A line more is a choice more. For ICL only that is open which the paper and the authors' code leave
open, or on which they contradict each other; for ICL+ everything is.
"""

from __future__ import annotations

from typing import Any

from develop.unit import Choice, Sizes


def plus(name: str, subject: str, **changes: Any) -> Choice:
    """A choice of ICL+."""
    return Choice(f"plus-{name}", f"ICL+: {subject}", changes, "icl-plus")


CHOICES = [
    Choice("icl", "method", {}),
    Choice("hinge-of-mean", "ICL: hinge", {"adjustment": {"hinge": "mean"}}),
    Choice("steps-1x20", "ICL: steps", {"adjustment": {"rounds": 1, "steps": 20}}),
    Choice("steps-20x20", "ICL: steps", {"adjustment": {"steps": 20}}),
    Choice("steps-20x50", "ICL: steps", {"adjustment": {"steps": 50}}),
    Choice("one-policy", "ICL: policies", {"adjustment": {"policies_per_iteration": 1}}),
    Choice("density-5", "ICL: density", {"density": {"epochs": 5}}),
    Choice("initial-half", "ICL: initial", {"constraint": {"initial": 0.5}}),
    Choice("never-stop", "ICL: stop", {"loop": {"tolerance": None}}),
    Choice("icl-plus", "method", {}, "icl-plus"),
    plus("held-out", "held out", held_out=0.3),
    plus("held-out-kept", "held out", held_out=0.3, choose="held-out"),
    plus("networks-3", "networks", networks=3),
    plus("allowance-4", "allowance", allowance=0.04),
    plus("allowance-chosen", "allowance", allowance="held-out", held_out=0.3),
    plus("smooth", "smoothness", smoothness=1.0),
    plus("not-sparse", "sparseness", sparseness=0.0),
    plus("sparse-1", "sparseness", sparseness=1.0),
    plus("sparse-10", "sparseness", sparseness=10.0),
    plus("not-fading", "bound", fading=False),
    plus("bound-3-instead", "bound", fading=False, adjustment={"max_agent_cost": 3.0}),
    plus("bound-10", "bound", adjustment={"max_agent_cost": 10.0}),
    plus("hinge-of-mean", "hinge", adjustment={"hinge": "mean"}),
    plus("reweighting", "reweighting", adjustment={"reweight": True}, density={"epochs": 20}),
    plus("steps-1x2000", "steps", adjustment={"rounds": 1, "steps": 2000}),
    plus("steps-20x250", "steps", adjustment={"steps": 250}),
    plus("rate-5e-4", "rate", adjustment={"learning_rate": 5e-4}),
    plus("penalty-1.5", "penalty", adjustment={"penalty": 1.5}),
    plus("penalty-150", "penalty", adjustment={"penalty": 150.0}),
    plus("one-policy", "policies", adjustment={"policies_per_iteration": 1}),
    plus("initial-half", "initial", constraint={"initial": 0.5}),
    plus("first-constrained", "first policy", loop={"unconstrained_first_policy": False}),
    plus("last", "kept iteration", loop={"keep": "last"}),
]

# Smaller than the paper's, so that all of it takes less than two hours on two cores. What is a
# choice above stands here with its default, and nowhere smaller.
LEARNING = {
    "constrained_rl": {"epochs": 120},
    "loop": {"iterations": 3, "selection_episodes": 100},
}
SIZES = Sizes(
    learning={"icl": LEARNING, "icl-plus": LEARNING},
    expert={"constrained_rl": {"epochs": 240}},
)
# Every step runs; the numbers mean nothing. For tests.
FEW = {
    "density": {"epochs": 1},
    "constrained_rl": {"epochs": 2, "penalty": {"episodes": 4, "ppo": {"updates": 2}}},
    "adjustment": {"rounds": 2, "steps": 2, "episodes": 4},
    "loop": {"iterations": 1, "selection_episodes": 5},
}
TINY = Sizes(
    learning={"icl": FEW, "icl-plus": FEW},
    expert={"trajectories": 5, "constrained_rl": {"epochs": 2}},
    report_episodes=5,
)
