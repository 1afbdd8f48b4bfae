"""Runs: the same twice, through a kill, and with files that are wrong."""

import ast
import json
import os
import signal
import subprocess
import time

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icl_core.artifacts import read_provenance
from icl_core.code_digest import WITHOUT_EFFECT
from icl_core.demonstrations.brought import read_brought
from icl_core.demonstrations.rows import SCHEMA
from icl_core.environments import make_world
from tests.golden import GOLDEN, digests
from tests.workflow.conftest import environment
from tests.workflow.test_program import lines

RUNS = [f"results/smoke/runs/{name}/icl/seeds-1-2" for name in ("gridworld-a", "cartpole-mr")]
TARGETS = [f"{run}/metrics.parquet" for run in RUNS]


def until(condition, seconds=300):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(finished, checkout):
    started = checkout.path / "results/smoke/logs/expert"
    with checkout.start(*TARGETS) as process:
        until(lambda: list(started.rglob("*.log")) or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
    assert list((checkout.path / ".snakemake/locks").iterdir())

    checkout.run(*TARGETS)

    places = [*RUNS, *(f"results/smoke/demonstrations/{run.split('/')[3]}" for run in RUNS)]
    artifacts = [
        path.relative_to(checkout.path)
        for place in places
        for path in (checkout.path / place).rglob("*")
        if path.suffix in (".parquet", ".safetensors")
    ]
    assert len(artifacts) == 2 * (3 + 1 + 1 + 4 * 2 + 4 + 2)
    for path in artifacts:
        assert (checkout.path / path).read_bytes() == (finished.path / path).read_bytes(), path
    left = [path for path in (checkout.path / "results").rglob("*") if ".partial" in path.name]
    assert left == []


LONGER = {"gail-constraint": {"total_steps": 60_000}, "icrl": {"iterations": 100}}


@pytest.mark.parametrize("method", ["gail-constraint", "icrl"])
def test_a_killed_baseline_goes_on_from_its_saved_state(checkout, tmp_path, method):
    longer = {method: LONGER[method]}
    checkout.configure(lambda c: c["scales"]["smoke"].update(learning=longer))
    training = "icl_core/learning/engine/training.py"
    checkout.edit(training, "seconds: float = 60.0", "seconds: float = 0.0")
    uninterrupted = checkout.copy(tmp_path / "uninterrupted")
    final = f"results/smoke/runs/gridworld-b/{method}/seeds-1-2/final"
    target, unfinished = f"{final}/policy.safetensors", f"{final}/checkpoint.safetensors"
    with checkout.start(target) as process:
        until(lambda: (checkout.path / unfinished).exists() or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
    assert (checkout.path / unfinished).exists()
    assert not (checkout.path / target).exists()

    checkout.run(target)
    uninterrupted.run(target)

    log = (
        checkout.path / f"results/smoke/logs/learn/gridworld-b/{method}/seeds-1-2.log"
    ).read_text()
    assert int(log.split("/")[0].split()[-1]) > 1  # the first line: rollouts that were done
    names = {path.name for path in (checkout.path / final).iterdir()}
    assert len(names) == 4
    for name in names:
        ours, theirs = ((c.path / final / name).read_bytes() for c in (checkout, uninterrupted))
        assert ours == theirs, name


def test_a_job_whose_snakemake_was_killed_ends_and_writes_nothing(checkout):
    checkout.configure(lambda c: c["scales"]["smoke"].update(learning=LONGER))
    final = checkout.path / "results/smoke/runs/gridworld-b/icrl/seeds-1-2/final"
    log = checkout.path / "results/smoke/logs/learn/gridworld-b/icrl/seeds-1-2.log"
    with checkout.start(str(final.relative_to(checkout.path) / "policy.safetensors")) as process:
        until(lambda: (log.exists() and log.stat().st_size) or process.poll() is not None)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()  # itself alone, and its jobs live on
    assert children
    psutil.wait_procs(children, timeout=20)
    assert not any(child.is_running() for child in children)
    assert not any(final.glob("*.safetensors"))


def test_a_truncated_artifact_is_one_line(editable):
    density = editable.path / RUNS[0] / "density.safetensors"
    density.write_bytes(density.read_bytes()[:-10])
    target = f"{RUNS[0]}/iteration-01/constraint.safetensors"
    done = editable.snakemake("--", target)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    (line,) = {line for line in done.stderr.splitlines() if line.startswith("error:")}
    assert f"{RUNS[0]}/density.safetensors: expected a complete safetensors file" in line
    log = editable.path / "results/smoke/logs/icl_adjust/gridworld-a/icl/seeds-1-2/iteration-01.log"
    assert log.read_text() == f"{line}\n"
    assert not (editable.path / target).exists()


def with_own_demonstrations(checkout, table):
    pq.write_table(table, checkout.path / "mine.parquet")
    checkout.configure(
        lambda c: c["experiments"]["gridworld-a"].update(demonstrations="mine.parquet")
    )


@pytest.fixture
def own(finished):
    """Demonstrations as a user would bring them."""
    return (
        pq.read_table(
            finished.path
            / "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet"
        )
        .select(SCHEMA.names)
        .replace_schema_metadata(None)
    )


def test_own_demonstrations_take_the_experts_place(checkout, own):
    with_own_demonstrations(checkout, own)
    jobs = checkout.planned()
    assert (jobs["import_demonstrations"], jobs["expert"]) == (1, 1 + 2 + 3 + 2 + 2 + 1)
    target = "results/smoke/demonstrations/gridworld-a/seeds-all/trajectories.parquet"
    checkout.run(target)
    assert pq.read_table(checkout.path / target).equals(own)


def test_other_demonstrations_of_an_old_date_are_noticed(checkout, own):
    """As `cp -p` or unpacking leaves them."""
    with_own_demonstrations(checkout, own)
    target = "results/smoke/demonstrations/gridworld-a/seeds-all/trajectories.parquet"
    checkout.run(target)
    assert checkout.planned("--", target) == {}
    first = own.filter(pa.array(own["trajectory"].to_numpy() == 0))
    pq.write_table(first, checkout.path / "mine.parquet")
    os.utime(checkout.path / "mine.parquet", (1e9, 1e9))
    assert checkout.planned("--", target) == {"import_demonstrations": 1}
    (line,) = lines(checkout, "status", target, "--scale", "smoke")[1:]
    assert line == "import demonstrations gridworld-a: another content, mine.parquet"


def test_wrong_demonstrations_stop_the_run_before_it_starts(checkout, own):
    with_own_demonstrations(checkout, own.slice(1))  # the first step is missing
    done = checkout.snakemake("all")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "mine.parquet" in line
    assert "step 0" in line
    assert not (checkout.path / "results").exists()


def test_our_own_demonstrations_pass_as_a_users_would(finished):
    results = finished.path / "results/smoke"
    files = sorted(results.glob("demonstrations/*/*/trajectories.parquet"))
    whole = [(path, given) for path in files if _has_states(given := _configuration(path))]
    assert len(whole) >= 8
    for path, given in whole:
        world = given["world"]
        if "scene" in world:
            world = {**world, "scene": finished.path / world["scene"]}
        assert len(read_brought(path, make_world(given["environment"], **world), 1.0))


def _configuration(path):
    return read_provenance(path)["configuration"]


def _has_states(given):
    """Robots' files keep the position alone: how an episode started cannot be read from it."""
    return not given.get("demonstrations", {}).get("only_inputs")


def test_the_numbers_are_those_of_the_golden_run(finished):
    """A change of numbers is a commit of its own that says why (tests/golden.py)."""
    found = digests(finished.path / "results/smoke")
    golden = json.loads(GOLDEN.read_text())
    assert found.keys() == golden.keys()
    assert [path for path in golden if found[path] != golden[path]] == []


def test_a_digest_covers_every_module_that_its_job_has_run(finished):
    """So no edit can go unnoticed."""
    results = finished.path / "results/smoke"
    records = sorted(results.rglob("*.modules.json"))
    assert len(records) > 150
    for path in records:
        record = json.loads(path.read_text())
        covered = json.loads((results / f"code/{record['code']}.json").read_text())
        loaded = {place(name, finished.path) for name in record["modules"]} - {None}
        without_effect = {place(name, finished.path) for name in WITHOUT_EFFECT}
        assert loaded - without_effect <= covered.keys(), path


def place(module, root):
    """The file of a module under a root; None for packages whose `__init__` runs nothing."""
    base = root.joinpath(*module.split("."))
    if base.is_dir():
        init = base / "__init__.py"
        runs = init.is_file() and len(ast.parse(init.read_text()).body) > 1
        return init.relative_to(root).as_posix() if runs else None
    return base.with_suffix(".py").relative_to(root).as_posix()


COUNTING = """
import sys
from snakemake import cli
from snakemake.scheduling.job_scheduler import JobScheduler

ready, rounds = JobScheduler.open_jobs.fget, []


def open_jobs(self):
    rounds.append(1)  # the scheduler asks once a round
    return ready(self)


JobScheduler.open_jobs = property(open_jobs)
try:
    cli.main(sys.argv[1:])
finally:
    print("rounds:", len(rounds))
"""


def test_snakemake_schedules_about_once_a_job(checkout):
    """Its rate limit would start rounds for nothing, hundreds in a demo."""
    names = ["gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid"]
    names += [f"gridworld-a-slip-{p}" for p in (10, 30, 50)]
    names += [f"gridworld-b-slip-{p}" for p in (10, 30)]
    place = "results/smoke/demonstrations/{}/seeds-1-2/trajectories.parquet"
    command = checkout.command("--quiet", "all", "--", *map(place.format, names))
    command[1:3] = ["-c", COUNTING]
    done = subprocess.run(
        command, cwd=checkout.path, env=environment(), capture_output=True, text=True, check=True
    )
    rounds = int(done.stdout.rpartition("rounds: ")[2])
    assert len(names) / 2 <= rounds <= len(names) + 3
