"""Put published results back under results/, so that nobody must train to look at them.

What was finished counts as made, as far as its code and settings are today's: `icl run` then trains
only the rest. With `--show` every figure, table, verdict and the page are drawn of it at once.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from icl_core.tables import counted
from workflow.lib.places import check_places
from workflow.lib.publish import OUTPUT, check_settings, show
from workflow.lib.restoring import restore


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `icl restore` is given."""
    text = "published results (default: docs/results)"
    parser.add_argument("folder", nargs="?", type=Path, default=OUTPUT, help=text)
    scale = "the scale that was published (default: paper)"
    parser.add_argument("--scale", default="paper", help=scale)
    drawn = "then draw every figure, table and the page of what is finished; nothing is trained"
    parser.add_argument("--show", action="store_true", help=drawn)
    cores = os.cpu_count() or 1
    help_ = f"of --show: cores to use (default: all, {cores} here)"
    parser.add_argument("--cores", type=int, default=cores, help=help_)


def main(given: argparse.Namespace) -> int:
    """Restore, say how much, and show."""
    check_places(given.scale)
    results = Path("results", given.scale)
    found = restore(given.folder, results)
    there = f", {counted(found.there, 'file')} were there" if found.there else ""
    print(f"restored {counted(found.files, 'file')} to {results}, {found.size / 1e6:.1f} MB{there}")
    if given.show:
        check_settings(given.scale)
        show(given.scale, given.cores)
        print(f"The report: {results.absolute()}/report.html")
    return 0
