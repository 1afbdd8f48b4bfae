"""What is compared, as data: each line changes one thing of where a method starts from.

A line more is a choice more. ICL starts as the paper has it, and as the authors' code does where
the paper is silent or says something else; only that is open for it. For GAIL-Constraint its
warm-up is, on which the paper is silent; for ICL+ everything. Starts are written out, so that a
default that follows a choice leaves what was measured as it is. The rows of the methods are what
was chosen, taken together.
"""

from __future__ import annotations

from typing import Any

from develop.effects import METHOD, TOGETHER
from develop.unit import Choice, Sizes
from icl_core.settings import merge

ICL_START: dict[str, Any] = {
    "constraint": {"initial": 0.5},
    "constrained_rl": {"penalty": {"feasibility_rate": 2.5e-5, "truncate": True}},
    "adjustment": {
        "rounds": 20,
        "steps": 20,
        "hinge": "trajectory",
        "policies_per_iteration": 2,
    },
    "loop": {"tolerance": None},
}
PLUS_START: dict[str, Any] = {
    "held_out": 0.0,
    "choose": "nad",
    "networks": 1,
    "allowance": 0.0,
    "fading": True,
    "smoothness": 0.0,
    "sparseness": 3.0,
    "constraint": {"initial": "demonstrations"},
    "constrained_rl": {"penalty": {"feasibility_rate": 0.0, "truncate": True}},
    "adjustment": {
        "rounds": 20,
        "steps": 100,
        "learning_rate": 2e-3,
        "penalty": 15.0,
        "hinge": "trajectory",
        "reweight": False,
        "max_agent_cost": 0.0,
        "policies_per_iteration": 2,
    },
    "loop": {
        "unconstrained_first_policy": True,
        "tolerance": "demonstrations",
        "keep": "closest",
    },
}
GAIL_START: dict[str, Any] = {"warm_up": 0.0}
STARTS = {"icl": ICL_START, "icl-plus": PLUS_START, "gail-constraint": GAIL_START}
# What the suite has changed of the starts. Both together are the defaults of the methods.
CHOSEN: dict[str, dict[str, Any]] = {
    "icl": {},
    "icl-plus": {"sparseness": 1.0, "adjustment": {"penalty": 1.5}},
    "gail-constraint": {"warm_up": 0.1},
}


def method(name: str) -> Choice:
    """A method as it is now."""
    return Choice(name, METHOD, merge(STARTS[name], CHOSEN[name]), name)


def icl(name: str, subject: str, **changes: Any) -> Choice:
    """A choice of ICL."""
    return Choice(name, f"ICL: {subject}", merge(ICL_START, changes), "icl", "icl-start")


def plus(name: str, subject: str, **changes: Any) -> Choice:
    """A choice of ICL+."""
    changes = merge(PLUS_START, changes)
    return Choice(f"plus-{name}", f"ICL+: {subject}", changes, "icl-plus", "plus-start")


def gail(name: str, subject: str, **changes: Any) -> Choice:
    """A choice of GAIL-Constraint."""
    changes = merge(GAIL_START, changes)
    return Choice(f"gail-{name}", f"GAIL: {subject}", changes, "gail-constraint", "gail-start")


def together(name: str, **changes: Any) -> Choice:
    """A choice of ICL+ that changes several things: what helped a little each, at once."""
    adjustment = merge({"reweight": True, "penalty": 1.5}, changes.pop("adjustment", {}))
    return plus(name, TOGETHER, adjustment=adjustment, **changes)


CHOICES = [
    method("icl"),
    method("icl-plus"),
    method("gail-constraint"),
    icl("icl-start", "start"),
    icl("hinge-of-mean", "hinge", adjustment={"hinge": "mean"}),
    icl("steps-1x20", "steps", adjustment={"rounds": 1}),
    icl("steps-20x250", "steps", adjustment={"steps": 250}),
    icl("one-policy", "policies", adjustment={"policies_per_iteration": 1}),
    icl("initial-demonstrations", "initial", constraint={"initial": "demonstrations"}),
    icl("stop-near", "stop", loop={"tolerance": "demonstrations"}),
    icl("no-projection", "projection", constrained_rl={"penalty": {"feasibility_rate": 0.0}}),
    icl("no-truncation", "projection", constrained_rl={"penalty": {"truncate": False}}),
    gail("start", "start"),
    gail("warm-up", "warm-up", warm_up=0.1),
    plus("start", "start"),
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
    plus("hinge-of-mean", "hinge", adjustment={"hinge": "mean"}),
    plus("reweighting", "reweighting", adjustment={"reweight": True}),
    plus(
        "reweighting-5-epochs",
        "reweighting",
        adjustment={"reweight": True},
        density={"epochs": 5},
    ),
    plus("steps-20x40", "steps", adjustment={"steps": 40}),
    plus("rate-5e-4", "rate", adjustment={"learning_rate": 5e-4}),
    plus("penalty-1.5", "penalty", adjustment={"penalty": 1.5}),
    plus("penalty-5", "penalty", adjustment={"penalty": 5.0}),
    plus("penalty-1.5-smooth", "penalty", smoothness=1.0, adjustment={"penalty": 1.5}),
    plus("penalty-5-smooth", "penalty", smoothness=1.0, adjustment={"penalty": 5.0}),
    plus("one-policy", "policies", adjustment={"policies_per_iteration": 1}),
    plus("initial-half", "initial", constraint={"initial": 0.5}),
    plus("first-constrained", "first policy", loop={"unconstrained_first_policy": False}),
    plus("last", "kept iteration", loop={"keep": "last"}),
    plus("never-stop", "stop", loop={"tolerance": None}),
    plus("projection", "projection", constrained_rl={"penalty": {"feasibility_rate": 2.5e-5}}),
    together("weights-penalty"),
    together("weights-penalty-sparse-1", sparseness=1.0),
    together("weights-penalty-sparse-1-smooth", sparseness=1.0, smoothness=1.0),
    together("weights-penalty-unfaded-10", sparseness=10.0, fading=False),
    together("weights-penalty-bound-10", fading=False, adjustment={"max_agent_cost": 10.0}),
    together("weights-unfaded-10", sparseness=10.0, fading=False, adjustment={"penalty": 15.0}),
    together("penalty-sparse-1", sparseness=1.0, adjustment={"reweight": False}),
    plus("no-truncation", "projection", constrained_rl={"penalty": {"truncate": False}}),
]

# Smaller than the paper's, so that all of it takes less than two hours on two cores. What is a
# choice above stands here with its default, and nowhere smaller.
LEARNING = {
    "constrained_rl": {"epochs": 120},
    "loop": {"iterations": 3, "selection_episodes": 100},
}
# Half of the paper's iterations: it has fewer steps in each.
ICL_LEARNING = merge(LEARNING, {"loop": {"iterations": 5}})
SIZES = Sizes(
    learning={
        "icl": ICL_LEARNING,
        "icl-plus": LEARNING,
        "gail-constraint": {"total_steps": 60_000},
    },
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
    learning={
        "icl": FEW,
        "icl-plus": FEW,
        "gail-constraint": {
            "total_steps": 800,
            "on_policy": {"steps": 200, "environments": 10, "passes": 2},
        },
    },
    expert={"trajectories": 5, "constrained_rl": {"epochs": 2}},
    report_episodes=5,
)
