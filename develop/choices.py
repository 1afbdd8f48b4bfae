"""What is compared, as data: each line changes one thing of a method's defaults.

A line more is a choice more. The first one is what all others are compared with.
"""

from __future__ import annotations

from develop.unit import Choice, Sizes

CHOICES = [
    Choice("default", "default", {}),
    Choice("no-reweighting", "reweighting", {"adjustment": {"reweight": False}}),
    Choice("no-bound", "bound", {"adjustment": {"max_agent_cost": 0.0}}),
    Choice("bound-1.5", "bound", {"adjustment": {"max_agent_cost": 1.5}}),
    Choice("bound-6", "bound", {"adjustment": {"max_agent_cost": 6.0}}),
    Choice("hinge-of-mean", "hinge", {"adjustment": {"hinge": "mean"}}),
    Choice("steps-20x20", "steps", {"adjustment": {"rounds": 20, "steps": 20}}),
    Choice("steps-20x50", "steps", {"adjustment": {"rounds": 20, "steps": 50}}),
    Choice("steps-1x2500", "steps", {"adjustment": {"rounds": 1, "steps": 2500}}),
    Choice("keep-last", "kept iteration", {"loop": {"keep": "last"}}),
    Choice("density-epochs-5", "density", {"density": {"epochs": 5}}),
    Choice("density-epochs-40", "density", {"density": {"epochs": 40}}),
    Choice("penalty-1.5", "penalty", {"adjustment": {"penalty": 1.5}}),
    Choice("penalty-150", "penalty", {"adjustment": {"penalty": 150.0}}),
    Choice("one-policy", "policies", {"adjustment": {"policies_per_iteration": 1}}),
]

# Smaller than the paper's, so that all of it takes less than two hours on two cores. What is a
# choice above stands here with its default, and nowhere smaller.
SIZES = Sizes(
    learning={
        "constrained_rl": {"epochs": 120},
        "loop": {"iterations": 3, "selection_episodes": 100},
    },
    expert={"constrained_rl": {"epochs": 240}},
)
# Every step runs; the numbers mean nothing. For tests.
TINY = Sizes(
    learning={
        "density": {"epochs": 1},
        "constrained_rl": {"epochs": 2, "penalty": {"episodes": 4, "ppo": {"updates": 2}}},
        "adjustment": {"rounds": 2, "steps": 2, "episodes": 4},
        "loop": {"iterations": 1, "selection_episodes": 5},
    },
    expert={"trajectories": 5, "constrained_rl": {"epochs": 2}},
    report_episodes=5,
)
