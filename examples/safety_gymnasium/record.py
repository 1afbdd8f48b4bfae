"""Record demonstrations, with their costs, from an environment of safety-gymnasium.

    ../omnisafe/.venv/bin/python record.py

safety-gymnasium's own wrapper puts the cost of six values into info["cost"], where
`Demonstrations.record` looks for it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import safety_gymnasium
from safety_gymnasium.wrappers import SafetyGymnasium2Gymnasium

import icl_core as icl

NAME = "SafetyPointGoal1-v0"
FILE = Path(__file__).parent / "runs" / "point-goal.parquet"
EPISODES, SEED = 5, 1
BEAMS = 16  # of each lidar: goal, hazards, vases are the last three


def towards_goal(seen: np.ndarray) -> np.ndarray:
    """Turn to the goal and go there, slower while hazards are near: a simple, imperfect driver."""
    goal, hazards = seen[-3 * BEAMS : -2 * BEAMS], seen[-2 * BEAMS : -BEAMS]
    angle = 2 * np.pi * (np.argmax(goal) + 0.5) / BEAMS
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    ahead = max(hazards[0], hazards[1], hazards[-1])
    if ahead > 0.9 and abs(angle) < 1:  # a hazard just before us: turn to the freer side
        angle = 1.5 if hazards[2:4].sum() < hazards[-4:-2].sum() else -1.5
    return np.array([np.clip(np.cos(angle), -0.2, 1) * 0.5, np.clip(angle, -1, 1)])


def main() -> None:
    """Record, write, read again."""
    env = SafetyGymnasium2Gymnasium(safety_gymnasium.make(NAME))
    shown = icl.Demonstrations.record(env, towards_goal, episodes=EPISODES, seed=SEED)
    env.close()
    FILE.parent.mkdir(exist_ok=True)
    shown.to_parquet(FILE)
    again = icl.Demonstrations.from_parquet(FILE)
    print(again)
    costs = [float(one.costs.sum()) for one in again]
    print(
        f"steps in hazards per episode: {costs}; {FILE.stat().st_size / 1e6:.1f} MB in {FILE.name}"
    )


if __name__ == "__main__":
    main()
