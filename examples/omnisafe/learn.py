"""Learn the constraint of a careful driver, and save it as constraint.safetensors.

Run it in the project's own environment, from anywhere:

    .venv/bin/python examples/omnisafe/learn.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import icl_core as icl
from icl_core.environments.worlds.nav import DISC, DISC_RADIUS, GOAL
from icl_core.using.learner import ICL

FILE = Path(__file__).with_name("constraint.safetensors")
EPISODES, SEED = 50, 1
KEEP_OFF = DISC_RADIUS + 0.08  # metres from the disc's middle; its stride is 0.1
COST_LIMIT = 0.5  # beta: less than one step in the disc
SETTINGS = {  # sizes for a minute of CPU; the rest is what constraint.safetensors was learned with
    "constraint": {"initial": 0.5},
    "density": {"epochs": 4},
    "constrained_rl": {"epochs": 300},
    "adjustment": {"rounds": 10, "max_agent_cost": 3.0},
    "loop": {
        "iterations": 6,
        "selection_episodes": 100,
        "unconstrained_first_policy": True,
        "patience": 3,
        "keep": "closest",
    },
}


class Careful:
    """Straight to the goal, or along the edge of the disc where that is in the way."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def __call__(self, place: np.ndarray) -> np.ndarray:
        way = GOAL - place
        way = way / max(np.hypot(*way), 1e-6)
        out = place - DISC
        apart = np.hypot(*out)
        ahead = float(-out @ way)  # how far on the way it is nearest to the disc's middle
        if ahead > 0 and np.hypot(*(out + ahead * way)) < KEEP_OFF:
            # The tangent that passes above the disc, and outwards where we are too near.
            lean = np.arcsin(min(KEEP_OFF / apart, 1.0))
            towards = np.arctan2(-out[1], -out[0]) + lean
            way = np.array([np.cos(towards), np.sin(towards)])
            way = way + max(KEEP_OFF - apart, 0) * 10 * out / apart
        action = way / np.hypot(*way) + self.rng.normal(0, 0.05, 2)
        return np.clip(action, -1, 1).astype(np.float32)


def main() -> None:
    """Record, learn, save, and say how well the disc was found."""
    shown = icl.Demonstrations.record("Nav-v0", Careful(SEED), episodes=EPISODES, seed=SEED)
    print(shown)
    learner = ICL("Nav-v0", shown, seeds=[1, 2, 3], settings=SETTINGS, cost_limit=COST_LIMIT)
    learner.learn(progress_bar=True)
    constraint = learner.constraint
    constraint.save(FILE)
    x, y = np.meshgrid(np.linspace(-1.5, 1.5, 61), np.linspace(-1.5, 1.5, 61))
    places = np.stack([x, y], axis=-1)
    inside = np.hypot(*np.moveaxis(places - DISC, -1, 0)) < DISC_RADIUS
    values = constraint.predict(places, np.zeros_like(places))
    print(constraint)
    print(f"mean c in the disc {values[inside].mean():.2f}, elsewhere {values[~inside].mean():.2f}")
    own = np.concatenate([one.states for one in shown])
    print(f"mean c where the driver went {constraint.predict(own, np.zeros_like(own)).mean():.3f}")


if __name__ == "__main__":
    main()
