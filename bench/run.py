"""How fast the learner is: `make bench` prints each number of the issue beside its bar.

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
Times are CPU time of one core; ratios compare contestants that took turns. PPO update: batch 64,
networks 2-64-64-8 and 2-64-64-1, with the drawing of the minibatch; the time of a stack of five
seeds divided by five. CartPole: a whole training loop, steps of all seeds of the stack counted
(a single seed of five advances at a fifth of the rate); SB3 trains one seed at a time. ICL: five
seeds, 10 iterations and the final run at paper scale; the estimate scales up samples of each part,
the measured number is the sum of Snakemake's benchmark files, printed once `make paper` has run."""


def main() -> None:
    """Run all benchmarks and print the table."""
    import torch

    from bench import gridworld, plain_update, stable_baselines
    from bench.timing import table

    torch.set_num_threads(1)
    started = time.monotonic()
    baseline = stable_baselines.their_turn()
    rows = [plain_update.row(), *stable_baselines.rows(baseline)]
    whole, parts = gridworld.rows(ROOT, baseline)
    print(table([*rows, *whole]))
    print(NOTES)
    print("Estimate:", ", ".join(f"{part} {seconds:.0f} s" for part, seconds in parts.items()))
    print(f"The benchmark took {time.monotonic() - started:.0f} s.")


if __name__ == "__main__":
    main()
