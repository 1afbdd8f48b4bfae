"""Kills at random moments, and jobs that outlive a killed Snakemake."""

from __future__ import annotations

import signal
import time

import numpy as np
import yaml

from tests.campaign import real_runs as runs
from tests.campaign.cases import BAD, LOST, RIGHT, WRONG, Kind, Place, Seen, choose
from tests.workflow.conftest import Checkout

RUNS = "results/smoke/runs/gridworld-a"
METHODS = ("icl", "gail-constraint", "icrl")
DEMONSTRATIONS = "results/smoke/demonstrations/gridworld-a"
WHOM = ("a job", "Snakemake", "the wrapper", "the whole group")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONG = 2000  # iterations of an orphan's training: it would go on for minutes


def kill(rng: np.random.Generator, place: Place) -> Seen:
    """Kill somebody at a random moment; the same command must end with the same bytes."""
    assert place.finished
    checkout = runs.copy_of(place.finished, place.folder / "copy")
    method, whom, number = choose(rng, METHODS), choose(rng, WHOM), choose(rng, SIGNALS)
    parts = (f"{RUNS}/{method}", DEMONSTRATIONS)
    wrapped = whom == "the wrapper" or rng.random() < 0.5
    make = runs.by_wrapper if wrapped else runs.by_snakemake
    command = make(f"{RUNS}/{method}/seeds-1-2/metrics.parquet")
    files = int(rng.integers(0, len(runs.artifacts(place.finished, parts))))
    drawn = f"{method}, {whom} by {number.name} after {files} files"
    try:
        process = runs.start(checkout, command)
        runs.until(
            lambda: process.poll() is not None or len(runs.artifacts(checkout, parts)) >= files,
            runs.LONGEST,
        )
        runs.wait(rng, 2.0 if files else 4.0)
        runs.send(_whom(rng, checkout, whom), number)
        ended = runs.until(lambda: process.poll() is not None, 60)
        if not ended:
            return Seen(BAD, f"{drawn}: no end")
        if not runs.until(lambda: not runs.at_work(checkout), runs.STARTING):
            names = {" ".join(one.cmdline()[:4]) for one in runs.at_work(checkout)}
            return Seen(LOST, f"{drawn}: left behind {', '.join(names)}")
        wrong = runs.again(drawn, checkout, place.finished, command, parts)
        return wrong or Seen(RIGHT, drawn)
    finally:
        runs.end_all(checkout)


def _whom(rng: np.random.Generator, checkout: Checkout, whom: str) -> list:
    family = runs.at_work(checkout)
    mains = [one for one in family if runs.is_main(one)]
    if whom == "the whole group" or not family:
        return family
    if whom == "the wrapper":
        return family[:1]
    if whom == "Snakemake":
        return mains[:1]
    jobs = [one for one in family[1:] if one not in mains]
    return [choose(rng, jobs)] if jobs else mains[:1]


def orphan(rng: np.random.Generator, place: Place) -> Seen:
    """Snakemake alone is killed during a long job; the next run has other settings."""
    assert place.finished
    checkout = runs.copy_of(place.finished, place.folder / "copy")
    runs.take(place.finished, checkout, DEMONSTRATIONS)
    parts = (f"{RUNS}/icrl/seeds-1-2/final",)
    command = runs.by_snakemake(f"{parts[0]}/policy.safetensors")
    config = (checkout.path / "config.yaml").read_text()
    longer = yaml.safe_load(config)
    longer["scales"]["smoke"]["learning"] = {"icrl": {"iterations": LONG}}
    (checkout.path / "config.yaml").write_text(yaml.safe_dump(longer, sort_keys=False))
    log = checkout.path / "results/smoke/logs/learn/gridworld-a/icrl/seeds-1-2.log"
    try:
        process = runs.start(checkout, command)
        runs.until(lambda: process.poll() is not None or log.exists(), runs.LONGEST)
        runs.wait(rng, 3.0)
        drawn = f"killed after {len(log.read_text()) if log.exists() else 0} letters of log"
        if process.poll() is not None:
            return Seen(BAD, f"{drawn}: the first run ended by itself with {process.returncode}")
        process.kill()
        process.wait()
        runs.wait(rng, 0.5)
        (checkout.path / "config.yaml").write_text(config)
        wrong = runs.again(drawn, checkout, place.finished, command, parts)
        if wrong:
            return wrong
        time.sleep(runs.GONE)
        others = runs.unlike(checkout, place.finished, parts)
        if others:
            return Seen(WRONG, f"{drawn}: later other bytes in {', '.join(others)}")
        if runs.at_work(checkout):
            return Seen(LOST, f"{drawn}: the orphan is still at work")
        return Seen(RIGHT, drawn)
    finally:
        runs.end_all(checkout)


KINDS = (
    Kind("kills", 50, kill, runs=True, alone=True),
    Kind("orphans", 20, orphan, runs=True, alone=True),
)
