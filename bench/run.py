"""How fast the learner is: `make bench` prints one table, each number beside a reference.

Every ratio is taken within this run, on one core, with the contestants in turn.
"""

import os
import sys
import time
from pathlib import Path

for library in ("OMP", "MKL", "OPENBLAS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy and torch are imported

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the package is used from its directory, not installed

NOTES = """
Times are CPU time of one core. Contestants take turns, so a busy machine slows all of them.
"Times as fast" compares ours with the reference, "at least" is what we want of it.
- PPO update: batch 64, networks 2-64-64-8 and 2-64-64-1, with the drawing of the minibatch.
- CartPole: a whole training loop; both make 0.16 updates of batch 64 a step. The steps of all seeds
  of a stack are counted; Stable-Baselines3 trains one seed at a time.
- Gridworld A: an epoch of PPO-penalty is 20 episodes and 25 updates, the paper's sizes.
- HalfCheetah: whole epochs of the paper's sizes, from simulation to log. A step is five of
  MuJoCo's.
- NAD: every cell is visited. On grids of the paper's sizes POT measures, beyond them the flow.
- ICL: five seeds, ten iterations, a final policy, as if no seed stopped early. The estimate scales
  up samples of each part; once `make paper` has run, a line more says what its jobs took. Wanted
  are 225 s where Stable-Baselines3 makes 2,000 steps/s, here as many more or less as it makes."""


def main() -> None:
    """Run all benchmarks and print the table."""
    import torch

    from bench import (
        distances,
        gridworld,
        plain_update,
        robot_training,
        stable_baselines,
        stacks,
    )
    from bench.timing import table

    torch.set_num_threads(1)
    started = time.monotonic()
    baseline = stable_baselines.their_turn()
    rows = [plain_update.row(), *stable_baselines.rows(baseline), *stacks.rows(ROOT)]
    rows += [*robot_training.rows(), *distances.rows()]
    whole, parts = gridworld.rows(ROOT, baseline)
    print(table([*rows, *whole]))
    print(NOTES)
    print("The estimate:", ", ".join(f"{part} {seconds:.0f} s" for part, seconds in parts.items()))
    print(f"The benchmark took {time.monotonic() - started:.0f} s.")


if __name__ == "__main__":
    main()
