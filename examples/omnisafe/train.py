"""Train omnisafe's PPO-Lagrangian on a cost that was learned, and say what it truly costs.

.venv/bin/python train.py --seed 1            # the learned cost, limited to the constraint's beta
.venv/bin/python train.py --seed 1 --free     # a limit that nothing reaches: plain PPO
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import omnisafe
import torch
from gymnasium import spaces
from omnisafe.envs.core import CMDP, env_register

import icl_core as icl

HERE = Path(__file__).parent
CONSTRAINT = icl.Constraint.load(HERE / "constraint.safetensors")
WORLD = icl.make_world("nav")  # the point robot and the disc, in NumPy
NO_LIMIT = 1e6


class Plane:
    """Some point robots side by side; the cost of a step is the learned c(s_t, a_t)."""

    def __init__(self, count: int, seed: int = 0):
        self.rng = np.random.default_rng(seed)
        self.places = WORLD.initial_states(self.rng, count)
        self.steps = np.zeros(count, int)

    def seen(self) -> np.ndarray:
        """The observations."""
        return self.places.astype(np.float32)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """Move all; rewards, learned costs, true costs, who has arrived, whose time is over."""
        learned = CONSTRAINT.predict(self.seen(), actions)
        true = WORLD.true_constraint(self.places)
        self.places, rewards, arrived = WORLD.step(self.places, actions)
        self.steps += 1
        return rewards, learned, true, arrived, self.steps >= WORLD.horizon

    def begin(self, rows: np.ndarray) -> None:
        """New episodes in some rows."""
        self.places[rows] = WORLD.initial_states(self.rng, int(rows.sum()))
        self.steps[rows] = 0


@env_register
class LearnedNav(CMDP):
    """The plane as omnisafe wants it: tensors, six values, rows that begin anew by themselves."""

    _support_envs: ClassVar[list[str]] = ["LearnedNav-v0"]
    _metadata: ClassVar[dict[str, Any]] = {}
    need_auto_reset_wrapper = False
    need_time_limit_wrapper = False

    def __init__(self, env_id: str, num_envs: int = 1, **_: Any):
        super().__init__(env_id)
        self._num_envs = num_envs
        self._plane = Plane(num_envs)
        self._observation_space = spaces.Box(WORLD.observation_low, WORLD.observation_high)
        self._action_space = spaces.Box(WORLD.action_low, WORLD.action_high)

    @property
    def max_episode_steps(self) -> int:
        """After which an episode is cut."""
        return WORLD.horizon

    def set_seed(self, seed: int) -> None:
        """Starts are drawn from this seed."""
        self._plane.rng = np.random.default_rng(seed)

    def reset(self, seed: int | None = None, options: dict | None = None):
        """Begin everywhere."""
        if seed is not None:
            self.set_seed(seed)
        self._plane.begin(np.ones(self._num_envs, bool))
        return self._shown(self._plane.seen()), {}

    def step(self, action: torch.Tensor):
        """Observation, reward, cost, terminated, truncated, info."""
        acted = np.clip(action.detach().numpy().reshape(self._num_envs, 2), -1, 1)
        reward, learned, _, arrived, late = self._plane.step(acted)
        info = {"final_observation": self._shown(self._plane.seen())}
        self._plane.begin(arrived | late)
        paid = (self._shown(np.asarray(value, np.float32)) for value in (reward, learned))
        ends = (self._shown(value) for value in (arrived, late))
        return self._shown(self._plane.seen()), *paid, *ends, info

    def _shown(self, rows: np.ndarray) -> torch.Tensor:
        """A single environment has no axis of rows."""
        return torch.as_tensor(rows if self._num_envs > 1 else rows[0])

    def render(self) -> Any:
        """There is no picture."""

    def close(self) -> None:
        """Nothing is open."""


def configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    """What differs from omnisafe's defaults of PPOLag."""
    return {
        "seed": arguments.seed,
        "train_cfgs": {
            "total_steps": arguments.steps,
            "vector_env_nums": 40,
            "torch_threads": 1,
        },
        "algo_cfgs": {
            "steps_per_epoch": 8000,
            "batch_size": 500,
            "update_iters": 10,
            "obs_normalize": False,  # places are about as large as 1 by themselves
            "cost_gamma": CONSTRAINT.discount,
            "gamma": CONSTRAINT.discount,
        },
        "model_cfgs": {"actor": {"lr": 1e-3}, "critic": {"lr": 1e-3}},
        "lagrange_cfgs": {
            # omnisafe compares the undiscounted cost, which is never less than the discounted one.
            "cost_limit": NO_LIMIT if arguments.free else CONSTRAINT.beta,
            "lagrangian_multiplier_init": 0.0 if arguments.free else 0.5,
        },
        "logger_cfgs": {"use_tensorboard": False, "log_dir": str(HERE / "runs")},
    }


def evaluate(agent: omnisafe.Agent, episodes: int = 200) -> dict[str, float]:
    """What the last policy does, most probable actions, in episodes that it has not seen."""
    actor = agent.agent._actor_critic.actor
    plane, going = Plane(episodes), np.ones(episodes, bool)
    discount = 1.0
    sums = dict.fromkeys(("return", "learned_cost", "true_cost", "steps", "in_disc", "arrived"), 0)
    while going.any():
        with torch.no_grad():
            actions = actor.predict(torch.as_tensor(plane.seen()), deterministic=True).numpy()
        reward, learned, true, arrived, late = plane.step(np.clip(actions, -1, 1))
        sums["return"] += reward[going].sum()
        sums["learned_cost"] += discount * learned[going].sum()
        sums["true_cost"] += discount * true[going].sum()
        sums["in_disc"] += true[going].sum()
        sums["steps"] += going.sum()
        sums["arrived"] += (arrived & going).sum()
        going, discount = going & ~arrived & ~late, discount * CONSTRAINT.discount
    share = sums.pop("in_disc") / sums["steps"]
    means = {name: value / episodes for name, value in sums.items()}
    return {name: round(float(value), 3) for name, value in {**means, "in_disc": share}.items()}


def main() -> None:
    """Train, evaluate, print one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--free", action="store_true", help="no limit on the cost")
    parser.add_argument("--steps", type=int, default=320_000)
    arguments = parser.parse_args()
    began = time.process_time()
    agent = omnisafe.Agent("PPOLag", "LearnedNav-v0", custom_cfgs=configuration(arguments))
    agent.learn()
    seconds = round(time.process_time() - began)
    told = {"seed": arguments.seed, "free": arguments.free, "cpu_seconds": seconds}
    print(json.dumps(told | evaluate(agent)))


if __name__ == "__main__":
    main()
