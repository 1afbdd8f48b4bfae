"""Runs: the same twice, through a kill, and with files that are wrong."""

import os
import signal
import time

import pyarrow.parquet as pq
import pytest

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
        until(lambda: list(started.glob("*.log")) or process.poll() is not None)
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
    assert len(artifacts) == 2 * (3 + 1 + 1 + 4 * 2 + 4 + 1)
    for path in artifacts:
        assert (checkout.path / path).read_bytes() == (finished.path / path).read_bytes(), path
    left = [path for path in (checkout.path / "results").rglob("*") if ".partial" in path.name]
    assert left == []


LONGER = {"gail_constraint": {"total_steps": 60_000}, "icrl": {"iterations": 100}}


@pytest.mark.parametrize("method", ["gail-constraint", "icrl"])
def test_a_killed_baseline_goes_on_from_its_saved_state(checkout, tmp_path, method):
    rule = method.replace("-", "_")
    checkout.configure(lambda c: c["scales"]["smoke"]["learning"][rule].update(LONGER[rule]))
    checkout.edit("icl_core/learning/resume.py", "seconds: float = 60.0", "seconds: float = 0.0")
    uninterrupted = checkout.copy(tmp_path / "uninterrupted")
    final = f"results/smoke/runs/gridworld-b/{method}/seeds-1-2/final"
    target, unfinished = f"{final}/policy.safetensors", f"{final}/unfinished.safetensors"
    with checkout.start(target) as process:
        until(lambda: (checkout.path / unfinished).exists() or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
    assert (checkout.path / unfinished).exists()
    assert not (checkout.path / target).exists()

    checkout.run(target)
    uninterrupted.run(target)

    log = (checkout.path / f"results/smoke/logs/{rule}/gridworld-b/seeds-1-2.log").read_text()
    assert int(log.split("/")[0].split()[-1]) > 1  # the first line: rollouts that were done
    names = {path.name for path in (checkout.path / final).iterdir()}
    assert len(names) == 4
    for name in names:
        ours, theirs = ((c.path / final / name).read_bytes() for c in (checkout, uninterrupted))
        assert ours == theirs, name


def test_a_truncated_artifact_is_told_in_one_line(editable):
    density = editable.path / RUNS[0] / "density.safetensors"
    density.write_bytes(density.read_bytes()[:-10])
    target = f"{RUNS[0]}/iteration-01/constraint.safetensors"
    done = editable.snakemake("--", target)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    (line,) = {line for line in done.stderr.splitlines() if line.startswith("error:")}
    assert f"{RUNS[0]}/density.safetensors: expected a complete safetensors file" in line
    log = editable.path / "results/smoke/logs/adjust/gridworld-a/seeds-1-2/iteration-01.log"
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
    return pq.read_table(
        finished.path / "results/smoke/demonstrations/gridworld-a/trajectories.parquet"
    ).replace_schema_metadata(None)


def test_own_demonstrations_take_the_experts_place(checkout, own):
    with_own_demonstrations(checkout, own)
    jobs = checkout.planned()
    assert (jobs["import_demonstrations"], jobs["expert"]) == (1, 3 + 3 + 2)
    target = "results/smoke/demonstrations/gridworld-a/trajectories.parquet"
    checkout.run(target)
    assert pq.read_table(checkout.path / target).equals(own)


def test_wrong_demonstrations_stop_the_run_before_it_starts(checkout, own):
    with_own_demonstrations(checkout, own.slice(1))  # the first step is missing
    done = checkout.snakemake("all")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "mine.parquet" in line
    assert "step 0" in line
    assert not (checkout.path / "results").exists()
