"""Run the development suite: `make develop`. What has been measured already is not run again.

No world of the paper is imported here: nothing that is reported has a part in these choices.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from develop import effects
from develop.balance import Balance
from develop.choices import CHOICES, SIZES, TINY
from develop.grids import RandomGrid
from develop.planes import PLANES, Small
from develop.unit import Beginnings, Choice, Sizes, problem_of, run_unit, settings_of
from icl_core import discovery
from icl_core.code_digest import Sources
from icl_core.disk import sha256, to_json, write_whole
from icl_core.environments.world import World
from icl_core.settings_schema import plain

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs/development"  # the table of all worlds, for those who do not run it
GRIDS = 20
CONTINUOUS: dict[str, type[Small]] = PLANES | {"balance-line": Balance}
# Continuous ones among the first, so that a small selection has both kinds.
WORLDS = ["grid-01", *CONTINUOUS, *(f"grid-{seed:02d}" for seed in range(2, GRIDS + 1))]


def world_of(name: str) -> World:
    """The world of that name."""
    return (
        CONTINUOUS[name](name)
        if name in CONTINUOUS
        else RandomGrid(int(name.removeprefix("grid-")))
    )


class Units:
    """What has been measured: a file for each world and digest of all that it depends on.

    So choices of equal settings are one unit, and one that gets another name is measured already.
    """

    def __init__(self, folder: Path, sizes: Sizes):
        self.folder, self.sizes = folder, sizes
        self.sources = Sources({name: ROOT / name for name in ("icl_core", "develop")})
        self.codes: dict[tuple[str, str], str] = {}

    def path(self, world: str, choice: Choice) -> Path:
        """Where a unit of today's code and settings lies, or will."""
        sizes, method = self.sizes, discovery.module_name(discovery.METHODS, choice.method)
        place = CONTINUOUS.get(world, RandomGrid).__module__
        if (place, method) not in self.codes:
            code = self.sources.code_of(ROOT / "develop/unit.py", [place, method])
            self.codes[place, method] = code.digest
        parts = [self.codes[place, method], plain(settings_of(choice, sizes)), dict(sizes.expert)]
        key = sha256(repr([*parts, sizes.report_episodes, sizes.experts]).encode())
        return self.folder / world / f"{choice.method}-{key[:16]}.json"

    def load(self, world: str, choice: Choice) -> dict[str, Any]:
        """One that is there."""
        return json.loads(self.path(world, choice).read_text())


def run_world(name: str, choices: Sequence[Choice], units: Units) -> list[str]:
    """All choices of a world that are missing; a line for each. Experts are trained once."""
    beginnings, problem, said = Beginnings(), None, []
    for choice in choices:
        path = units.path(name, choice)
        if path.exists():
            continue
        problem = problem or problem_of(world_of(name), units.sizes)
        measured, seconds = run_unit(problem, choice, units.sizes, beginnings)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, to_json(measured))
        said.append(f"{name} {choice.name}: {seconds:.1f} s of CPU")
        print(said[-1], flush=True)
    return said


def run(worlds: Sequence[str], units: Units, cores: int, published: Sequence[Path] = ()) -> None:
    """All units, then the table of effects."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=context) as pool:
        jobs = [pool.submit(run_world, name, CHOICES, units) for name in worlds]
        for job in as_completed(jobs):
            job.result()
    write_effects(worlds, units, published)


def write_effects(worlds: Sequence[str], units: Units, published: Sequence[Path] = ()) -> None:
    """The table, as Markdown and as CSV, from what lies in the folder; of all worlds into docs."""
    found = {(name, one.name): units.load(name, one) for name in worlds for one in CHOICES}
    for folder in (units.folder, *published):
        write_whole(folder / "effects.md", effects.table(CHOICES, found))
        write_whole(folder / "runs.csv", effects.csv(found))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="the first so many")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "develop/runs")
    parser.add_argument("--tiny", action="store_true", help="sizes for tests")
    given = parser.parse_args()
    units = Units(given.folder, TINY if given.tiny else SIZES)
    worlds = WORLDS[: given.worlds]
    whole = worlds == WORLDS and not given.tiny
    run(worlds, units, given.cores, [PUBLISHED] if whole else [])
    print(f"The table: {given.folder / 'effects.md'}")


if __name__ == "__main__":
    main()
