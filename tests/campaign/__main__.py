"""A campaign of faults, drawn at random from a seed; none may go untold.

python -m tests.campaign --seed 1                      all of it: make campaign SEED=1
python -m tests.campaign --seed 1 --only kills --case 7   one case again

Kinds that need a finished smoke run take the one named by ICL_FINISHED, or make one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from icl_core.tables import markdown_rows
from tests.campaign import kinds
from tests.campaign.cases import FAULTS, RIGHT, SKIPPED, Kind, Seen, attempt
from tests.workflow.conftest import Checkout, finish

COLUMNS = (RIGHT, *FAULTS, SKIPPED)
CHUNK = 20  # cases that a worker is given at a time
Found = tuple[str, int, Seen, float]  # kind, case, what was seen, CPU seconds


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What the campaign is given."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=sorted(kinds.ALL), help="this kind")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--small", action="store_true", help="a twentieth of all cases")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--table", type=Path, help="default: results/campaign-SEED.md")
    return parser.parse_args(given)


def main(given: argparse.Namespace) -> int:
    """Try all cases, say what was not told, and write the table."""
    chosen = [kinds.ALL[name] for name in given.only or kinds.ALL]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        finished = _finished(Path(folder)) if any(kind.runs for kind in chosen) else None
        found = []
        for one in _tried(list(_wanted(chosen, given)), given, finished):
            found.append(one)
            _say(one, given.seed)
    text = table(found, given.seed, time.monotonic() - started)
    print(text)
    if given.case is None:
        path = given.table or Path("results", f"campaign-{given.seed}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return int(any(seen.what in FAULTS for _, _, seen, _ in found))


def _finished(folder: Path) -> Checkout:
    if "ICL_FINISHED" in os.environ:
        return Checkout(Path(os.environ["ICL_FINISHED"]).resolve())
    print("first a smoke run, of two minutes or so", flush=True)
    return finish(folder / "finished")


def _wanted(chosen: Iterable[Kind], given: argparse.Namespace) -> Iterator[tuple[str, list[int]]]:
    """Kinds with the cases that go to a worker together; those that start runs one by one."""
    for kind in chosen:
        count = -(-kind.count // 20) if given.small else kind.count
        numbers = [given.case] if given.case is not None else list(range(count))
        size = 1 if kind.alone else CHUNK
        for first in range(0, len(numbers), size):
            yield kind.name, numbers[first : first + size]


def _tried(
    wanted: list[tuple[str, list[int]]], given: argparse.Namespace, finished: Checkout | None
) -> Iterator[Found]:
    with ProcessPoolExecutor(given.cores) as pool:
        tasks = [pool.submit(_several, *one, given.seed, finished) for one in wanted]
        for task in as_completed(tasks):
            yield from task.result()


def _several(name: str, numbers: list[int], seed: int, finished: Checkout | None) -> list[Found]:
    found: list[Found] = []
    for number in numbers:
        before = sum(os.times()[:4])
        seen = attempt(kinds.ALL[name], seed, number, finished)
        found.append((name, number, seen, sum(os.times()[:4]) - before))
    return found


def _say(one: Found, seed: int) -> None:
    name, number, seen, _ = one
    if seen.what in FAULTS:
        again = f"python -m tests.campaign --seed {seed} --only {name} --case {number}"
        print(f"{seen.what}: {seen.about}\n    again: {again}", flush=True)


def table(found: Sequence[Found], seed: int, seconds: float) -> str:
    """How many of each kind were tried, and what came of them."""
    rows = [["Kind", "Tried", *(one.capitalize() for one in COLUMNS), "CPU s"], ["---"] * 8]
    for name in [name for name in kinds.ALL if any(one[0] == name for one in found)]:
        own = [one for one in found if one[0] == name]
        rows.append([name, *_counts(own)])
    rows.append(["all", *_counts(found)])
    whys = Counter(f"{name}: {s.about}" for name, _, s, _ in found if s.what == SKIPPED)
    skipped = "".join(f"\nSkipped {count} of {why}." for why, count in whys.items())
    head = f"Campaign with seed {seed}, {seconds / 60:.1f} minutes\n\n"
    return f"{head}{markdown_rows(rows)}\n{skipped}\n"


def _counts(found: Sequence[Found]) -> list[str]:
    seen = Counter(one.what for _, _, one, _ in found)
    numbers = [len(found) - seen[SKIPPED], *(seen[column] for column in COLUMNS)]
    return [*map(str, numbers), f"{sum(cpu for *_, cpu in found):.0f}"]


if __name__ == "__main__":
    sys.exit(main(arguments()))
