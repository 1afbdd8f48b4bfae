"""Flips, truncations and exchanges of every kind of artifact of a finished run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from icl_core import layout
from icl_core.artifacts import read_provenance, read_record, read_table, read_tensors
from icl_core.demonstrations.files import read_sets
from icl_core.demonstrations.recordings.exid import reader as exid
from icl_core.demonstrations.recordings.highd import reader as highd
from icl_core.environments import lane_change_scene, make_world, traffic
from icl_core.job_times import read_time
from icl_core.learning.engine.training import ADJUSTMENT_SCHEMA, TRAINING_SCHEMA
from icl_core.learning.true_fit import FIT_SCHEMA
from icl_core.measuring.claims.evaluate import CLAIMS_SCHEMA
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.measuring.transfer import TRANSFER_SCHEMA
from tests.campaign.cases import Kind, Place, Seen, accepted, choose, refused
from workflow.lib.records import artifacts
from workflow.program.verify import times

READERS, SCENES = (
    {"highd": highd.SCHEMAS, "exid": exid.SCHEMAS},
    {"highd": traffic.SCENE_SCHEMA, "exid": lane_change_scene.SCHEMA},
)
RECORDED = {"tracks": "tracks", "vehicles": "vehicles", "recording_list": "recordings"}
TABLES = {
    "expert_training": TRAINING_SCHEMA,
    "training": TRAINING_SCHEMA,
    "iteration_training": TRAINING_SCHEMA,
    "adjustment": ADJUSTMENT_SCHEMA,
    "run_metrics": METRICS_SCHEMA,
    "metrics": METRICS_SCHEMA,
    "determined": METRICS_SCHEMA,
    "true_fit": FIT_SCHEMA,
    "transfer": TRANSFER_SCHEMA,
    "claims": CLAIMS_SCHEMA,
}
_FOLDER = tempfile.TemporaryDirectory(prefix="artifacts-")


def _own() -> Path:
    """A folder of this process: workers are copies of the first one."""
    return Path(_FOLDER.name, str(os.getpid()))


@cache
def copied(finished: Path) -> tuple[Path, dict[str, list[Path]]]:
    """A copy of the results for this process, and its artifacts by kind."""
    results = shutil.copytree(finished / "results/smoke", _own() / "results/smoke")
    kinds: dict[str, list[Path]] = {}
    for path in [*artifacts(results), *times(results)]:
        known = layout.identity(path) or {}
        # Times of rules without a run have no pattern of their own.
        kinds.setdefault(known.get("kind", "job_time"), []).append(path)
    return results, kinds


def reader(path: Path) -> Callable[[], object]:
    """How the pipeline reads a file of this kind."""
    known = layout.identity(path) or {}
    kind = known.get("kind", "")
    if path.suffix == ".tsv":
        return lambda: read_time(path)
    if path.suffix == ".json":
        return lambda: read_record(path)
    if path.suffix == ".safetensors":
        return lambda: read_tensors(path)
    if kind == "demonstrations":
        return lambda: read_sets(path, _world(path, known["experiment"]))
    if kind in RECORDED:
        return lambda: read_table(path, READERS[known["environment"]][RECORDED[kind]])
    schema = SCENES[known["environment"]] if kind == "scene" else TABLES[kind]
    return lambda: read_table(path, schema)


@cache
def _world(path: Path, experiment: str):
    """As the file that is not yet damaged says."""
    given = read_provenance(path)["configuration"]
    world = dict(given["world"])
    if "scene" in world:
        world["scene"] = _own() / world["scene"]
    return make_world(given["environment"], **world)


@cache
def _whole(path: Path) -> Seen:
    """Whether a file is read as long as nothing is wrong with it."""
    return accepted(f"{path}: untouched", reader(path))


def part_of(rng: np.random.Generator, path: Path) -> Path:
    """The file itself or, of a record, one of the files that it describes."""
    if path.suffix != ".json" or rng.random() < 0.3:
        return path
    return path.parent / choose(rng, sorted(read_provenance(path)["files"]))


def damage(rng: np.random.Generator, place: Place, spoil: Callable[[bytes], bytes]) -> Seen:
    """Read a file after something was done to its bytes; then put them back."""
    assert place.finished
    results, kinds = copied(place.finished.path)
    kind = choose(rng, sorted(kinds))
    path = choose(rng, kinds[kind])
    untouched = _whole(path)
    if untouched.what != "right":
        return untouched
    victim = part_of(rng, path)
    content = victim.read_bytes()
    spoilt = spoil(content)
    victim.write_bytes(spoilt)
    try:
        drawn = f"{kind}: {victim.relative_to(results)}"
        if spoilt == content:
            return Seen("right", f"{drawn}: nothing to spoil")
        return refused(drawn, reader(path), victim.name)
    finally:
        victim.write_bytes(content)


def flip(rng: np.random.Generator, place: Place) -> Seen:
    """One bit, or some."""

    def spoil(content: bytes) -> bytes:
        changed = bytearray(content)
        bits = rng.choice(8 * len(content), int(choose(rng, (1, 1, 1, 2, 5))), replace=False)
        for bit in bits.tolist():
            changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)

    return damage(rng, place, spoil)


def truncate(rng: np.random.Generator, place: Place) -> Seen:
    """The file ends too soon."""
    return damage(rng, place, lambda content: content[: int(rng.integers(len(content)))])


def exchange(rng: np.random.Generator, place: Place) -> Seen:
    """Another file of the same kind in a file's place: of another experiment, method, ..."""
    assert place.finished
    results, kinds = copied(place.finished.path)
    kind = choose(rng, sorted(kind for kind, paths in kinds.items() if len(paths) > 1))
    one, other = (kinds[kind][k] for k in rng.choice(len(kinds[kind]), 2, replace=False))
    content = one.read_bytes()
    reader(one)()  # what depends on the right file is known from now on
    one.write_bytes(other.read_bytes())
    try:
        drawn = f"{kind}: {other.relative_to(results)} as {one.relative_to(results)}"
        return refused(drawn, reader(one), one.name)
    finally:
        one.write_bytes(content)


KINDS = (
    Kind("flips", 5000, flip, runs=True),
    Kind("truncations", 500, truncate, runs=True),
    Kind("exchanges", 300, exchange, runs=True),
)
