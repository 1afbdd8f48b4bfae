"""A point robot as a user would write it, its careful expert, and sizes that learn in a second."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces

from icl_core.demonstrations.dataset import Demonstrations

HORIZON = 20
ICL = {
    "density": {"epochs": 1},
    "constrained_rl": {"epochs": 2, "penalty": {"episodes": 4, "ppo": {"updates": 2}}},
    "adjustment": {"rounds": 2, "steps": 2, "episodes": 4},
    "loop": {"iterations": 2, "selection_episodes": 5, "tolerance": None, "patience": None},
}
TINY = {
    "icl": ICL,
    "icl-plus": ICL,
    "gail-constraint": {
        "total_steps": 160,
        "warm_up": 0.5,
        "on_policy": {"steps": 80, "environments": 4, "passes": 1},
    },
    "icrl": {
        "iterations": 2,
        "forward_steps": 80,
        "episodes": 4,
        "backward": {"passes": 1},
        "on_policy": {"steps": 80, "environments": 4, "passes": 1},
    },
}


class Robot(gymnasium.Env):
    """It moves right along a line of sight to the goal; a disc lies on the way."""

    metadata = {  # noqa: RUF012
        "render_modes": [],
        "observation_names": ("x", "y"),
        "action_names": ("vx", "vy"),
    }
    observation_space = spaces.Box(-2, 2, (2,), np.float32)
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.array([-1.0, 0.0]) + self.np_random.uniform(-0.2, 0.2, 2)
        return self.place.astype(np.float32), {}

    def step(self, action):
        before = np.hypot(*(self.place - [1, 0]))
        self.place = np.clip(self.place + 0.2 * np.clip(action, -1, 1), -2, 2)
        after = np.hypot(*(self.place - [1, 0]))
        return self.place.astype(np.float32), float(before - after), bool(after < 0.3), False, {}


class Choosing(Robot):
    """The same with four directions, numbered from 1."""

    action_space = spaces.Discrete(4, start=1)
    WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))

    def step(self, action):
        return super().step(np.array(self.WAYS[int(action) - 1]))


def careful(seen, rng):
    """Round the disc, above or below."""
    x, y = seen
    wanted = (
        np.array([0.5, np.sign(y) or 1]) if x < 0.5 and abs(y) < 0.6 else np.array([1, 0]) - seen
    )
    wanted = wanted / np.hypot(*wanted)
    return np.clip(wanted + rng.normal(0, 0.1, 2), -1, 1).astype(np.float32)


def demonstrations(count=12, choosing=False, seed=0):
    """Episodes of it; with choices, the one that is nearest to what it wants."""
    env, rng, episodes = (Choosing() if choosing else Robot()), np.random.default_rng(seed), []
    for number in range(count):
        seen, _ = env.reset(seed=number)
        rows = {"observations": [seen], "actions": [], "rewards": []}
        over = False
        while not over and len(rows["rewards"]) < HORIZON:
            action = careful(seen, rng)
            if choosing:
                action = int(np.argmax(np.array(Choosing.WAYS) @ action)) + 1
            seen, reward, over, _, _ = env.step(action)
            rows["observations"].append(seen)
            rows["actions"].append(action - 1 if choosing else action)
            rows["rewards"].append(reward)
        episodes.append(rows | {"terminated": over})
    return Demonstrations.from_episodes(episodes)


gymnasium.register("Robot-v0", Robot, max_episode_steps=HORIZON)
