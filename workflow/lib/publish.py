"""Put what a run has left into docs/results/, finished or not.

python -m workflow.lib.publish SCALE [CORES]

First everything is shown that has been learned so far (Snakemake, with `only_finished` and without
the rules that learn), then copied. Everything in the folder is replaced but summary.md, which is
written by hand.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from icl_core.errors import InputError
from icl_core.layout import path
from workflow.lib.publishing.files import gather, replace_folder
from workflow.lib.publishing.run import read_run

ROOT = Path(__file__).parents[2]
OUTPUT = Path("docs/results")
# The rules that show. Without the others a job that learns cannot start, whatever was edited.
RULES = (
    *("all", "results", "report_page", "collect_metrics", "claims"),
    *("figure", "table", "animation"),
)


def show(scale: str, cores: int) -> None:
    """Make every figure, table and verdict that can be made of what is there."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules"]
    command += ["--config", f"scale={scale}", "only_finished=True", "--allowed-rules", *RULES]
    if subprocess.run([*command, "--", "all"], cwd=ROOT).returncode:
        raise InputError(f"results/{scale} could not be shown: see what Snakemake says above")


def check_learned(results: Path) -> None:
    """Stop where there is nothing to publish."""
    pattern = path("run_metrics", experiment="*", method="*", group="*")
    if not any(results.glob(pattern)):
        raise InputError(
            f"{results}: expected at least one finished run ({pattern}), found none; "
            "learn something first, e.g. with `make paper`"
        )


def publish(root: Path, scale: str, output: Path) -> int:
    """Copy the run of a scale into a folder; how many bytes it holds then."""
    check_learned(root / "results" / scale)
    run = read_run(root, scale)
    return replace_folder(output, gather(run, has_summary=(output / "summary.md").is_file()))


def main(arguments: Sequence[str]) -> int:
    """The command."""
    match list(arguments):
        case [scale]:
            cores = 1
        case [scale, given] if given.isdigit() and int(given):
            cores = int(given)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    try:
        check_learned(ROOT / "results" / scale)
        show(scale, cores)
        size = publish(ROOT, scale, ROOT / OUTPUT)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{OUTPUT}/README.md and what it shows: {size / 1e6:.1f} MB. Commit {OUTPUT}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
