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
from develop.choices import CHOICES, SIZES, TINY
from develop.grids import RandomGrid
from develop.planes import PLANES
from develop.unit import Beginnings, Choice, Sizes, problem_of, run_unit, settings_of
from icl_core import discovery
from icl_core.code_digest import Sources
from icl_core.disk import sha256, to_json, write_whole
from icl_core.environments.world import World
from icl_core.settings_schema import plain

ROOT = Path(__file__).resolve().parent.parent
GRIDS = 20
# Continuous ones among the first, so that a small selection has both kinds.
WORLDS = ["grid-01", *PLANES, *(f"grid-{seed:02d}" for seed in range(2, GRIDS + 1))]


def world_of(name: str) -> World:
    """The world of that name."""
    return PLANES[name](name) if name in PLANES else RandomGrid(int(name.removeprefix("grid-")))


def key_of(world: World, choice: Choice, sizes: Sizes) -> str:
    """A digest of all that a unit depends on: code, settings, sizes."""
    method = discovery.module_name(discovery.METHODS, choice.method)
    sources = Sources({name: ROOT / name for name in ("icl_core", "develop")})
    code = sources.code_of(ROOT / "develop/unit.py", [type(world).__module__, method]).digest
    parts = [code, plain(settings_of(choice, sizes)), dict(sizes.expert)]
    return sha256(repr([*parts, sizes.report_episodes, sizes.experts]).encode())


def known(path: Path, key: str) -> dict[str, Any] | None:
    """What a unit has left, where it is of today's code and settings."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("key") == key else None


def run_world(name: str, choices: Sequence[Choice], folder: Path, sizes: Sizes) -> list[str]:
    """All choices of a world that are missing; a line for each. Experts are trained once."""
    world, beginnings, said = world_of(name), Beginnings(), []
    keys = {choice.name: key_of(world, choice, sizes) for choice in choices}
    paths = {choice.name: folder / name / f"{choice.name}.json" for choice in choices}
    missing = [one for one in choices if known(paths[one.name], keys[one.name]) is None]
    problem = problem_of(world, sizes) if missing else None
    for choice in missing:
        assert problem is not None
        measured, seconds = run_unit(problem, choice, sizes, beginnings)
        path = paths[choice.name]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, to_json(measured | {"key": keys[choice.name]}))
        said.append(f"{name} {choice.name}: {seconds:.1f} s of CPU")
    return said


def run(worlds: Sequence[str], folder: Path, cores: int, sizes: Sizes) -> None:
    """All units, then the table of effects."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=context) as pool:
        jobs = [pool.submit(run_world, name, CHOICES, folder, sizes) for name in worlds]
        for job in as_completed(jobs):
            print("\n".join(job.result()), flush=True)
    write_effects(worlds, folder, sizes)


def write_effects(worlds: Sequence[str], folder: Path, sizes: Sizes) -> None:
    """The table, as Markdown and as CSV, from what lies in the folder."""
    units = {}
    for name in worlds:
        for choice in CHOICES:
            units[name, choice.name] = json.loads(
                (folder / name / f"{choice.name}.json").read_text()
            )
    found = [effects.effect(one, units) for one in CHOICES if one.name != one.against]
    whole = f"{len(worlds)} worlds, {sizes.experts} experts each; none of them is the paper's."
    write_whole(folder / "effects.md", effects.page(found, units, whole))
    write_whole(folder / "runs.csv", effects.csv(units))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="the first so many")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "develop/runs")
    parser.add_argument("--tiny", action="store_true", help="sizes for tests")
    given = parser.parse_args()
    run(WORLDS[: given.worlds], given.folder, given.cores, TINY if given.tiny else SIZES)
    print(f"The table: {given.folder / 'effects.md'}")


if __name__ == "__main__":
    main()
