"""Copies of the repository in which the workflow runs for real."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "config.yaml", "docs/claims.yaml", "icl_core", "profiles", "workflow")


def cut_down(config: dict) -> dict:
    """The configuration with fewer experiments of the same kinds, in place: a job costs seconds.

    Every rule still runs and every item is still made (test_shape sees to it):
    of a variant one experiment is kept (of a threshold one on each gridworld, for each has a
    figure), of slips and thresholds one each, and the baselines learn on one synthetic environment,
    one of the recorded ones and one robot.
    """
    methods = {
        "gridworld-a": ["icl", "icl-plus", "gail-constraint", "icrl"],
        "highd": ["icl", "gail-constraint"],
        "exid": ["icl", "icrl"],
        "halfcheetah": ["icl", "icl-plus", "icrl"],
    }
    for name, experiment in config["experiments"].items():
        experiment["methods"] = methods.get(name, ["icl"])
    for name in ("slip-30", "slip-50", "beta-599", "penalty-1-5"):
        del config["variants"][name]
    for name, variant in config["variants"].items():
        variant["of"] = variant["of"][: 2 if name == "beta-299" else 1]
    config["true_fits"]["environments"] = ["gridworld-a"]
    once = {"learning": {"icl": {"loop": {"iterations": 1}}}}
    short = ("gridworld-b", "cartpole-mid", "highd", "exid", "ant", "halfcheetah")
    short += ("gridworld-a-slip-10", "gridworld-a-beta-299", "gridworld-b-beta-299")
    config["scales"]["smoke"]["experiments"] = {name: once for name in short}
    return config


class Checkout:
    """A copy of the repository, and Snakemake inside it."""

    def __init__(self, path: Path):
        self.path = path

    def command(self, *arguments: str, scale: str = "smoke") -> list[str]:
        base = [sys.executable, "-m", "snakemake", "--config", f"scale={scale}", "--cores", "2"]
        return [*base, *arguments]

    def snakemake(self, *arguments: str, scale: str = "smoke") -> subprocess.CompletedProcess:
        """Run Snakemake, whatever comes of it."""
        return subprocess.run(
            self.command(*arguments, scale=scale),
            cwd=self.path,
            env=environment(),
            capture_output=True,
            text=True,
        )

    def start(self, *targets: str) -> subprocess.Popen:
        """Start Snakemake as the leader of its own group of processes, and do not wait."""
        return subprocess.Popen(
            self.command("--quiet", "all", "--", *targets),
            cwd=self.path,
            env=environment(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, *targets: str) -> None:
        """Run Snakemake to its good end."""
        done = self.snakemake("--quiet", "rules", "--", *targets)
        assert done.returncode == 0, done.stdout + done.stderr

    def planned(self, *arguments: str, scale: str = "smoke") -> dict[str, int]:
        """How many jobs of each rule would run now, without those that follow any job."""
        done = self.snakemake("--dry-run", "--quiet", "rules", *arguments, scale=scale)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = re.findall(r"^([a-z_]+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE)
        jobs = {rule: int(count) for rule, count in rows if rule != "total"}
        after_all = ("claims", "report_page", "all")
        return {rule: count for rule, count in jobs.items() if rule not in after_all}

    def planned_records(self, scale: str = "smoke") -> list[str]:
        """Where the jobs that would run now record what they take."""
        done = self.snakemake("--dry-run", "all", scale=scale)
        assert done.returncode == 0, done.stdout + done.stderr
        outputs = re.findall(r"^    output: (.+)$", done.stdout + done.stderr, re.MULTILINE)
        files = [file for line in outputs for file in line.split(", ")]
        return [file for file in files if "/benchmarks/" in file]

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text in a file."""
        text = (self.path / file).read_text()
        assert old in text
        (self.path / file).write_text(text.replace(old, new, 1))

    def configure(self, change: Callable[[dict], object]) -> None:
        """Change the configuration as data (its comments are lost)."""
        path = self.path / "config.yaml"
        config = yaml.safe_load(path.read_text())
        change(config)
        path.write_text(yaml.safe_dump(config, sort_keys=False))

    def append(self, file: str, text: str) -> None:
        """Add lines to a file."""
        with (self.path / file).open("a") as opened:
            opened.write(text)

    def copy(self, target: Path) -> Checkout:
        """Everything, with its modification times."""
        shutil.copytree(self.path, target, symlinks=True)
        return Checkout(target)


def environment() -> dict[str, str]:
    """The environment without what this test process was started with."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")}


def check_out(target: Path) -> Checkout:
    target.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (target / part).parent.mkdir(exist_ok=True)
            shutil.copy2(source, target / part)
    return Checkout(target)


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    """A fresh copy, nothing run."""
    return check_out(tmp_path / "fresh")


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Checkout:
    """A copy in which a cut-down smoke workflow has run. Look, but copy before you touch.

    All workers of pytest-xdist share it: who comes first runs it, the others wait. Who works on
    tests can make one beforehand (python -m tests.workflow.conftest FOLDER) and name it in
    ICL_FINISHED.
    """
    if "ICL_FINISHED" in os.environ:
        return Checkout(Path(os.environ["ICL_FINISHED"]))
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with open(folder / "finished.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # freed when the file is closed
        if not (folder / "finished").exists():
            finish(folder / "finishing").path.rename(folder / "finished")
    return Checkout(folder / "finished")


def finish(folder: Path) -> Checkout:
    """Run the cut-down workflow in a new folder."""
    done = check_out(folder)
    done.configure(cut_down)
    done.run("all")
    return done


@pytest.fixture
def editable(finished, tmp_path) -> Checkout:
    """A copy of the finished one, to edit."""
    return finished.copy(tmp_path / "editable")


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
