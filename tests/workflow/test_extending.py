"""docs/extending.md, followed to the letter: what it says exists, and its environment learns."""

import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from tests.workflow.conftest import ROOT, environment

TEXT = (ROOT / "docs/extending.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def blocks(language):
    return [body for kind, body in BLOCKS if kind == language]


def named(language):
    """Blocks that begin with a comment of one path: files by path."""
    found = [re.match(r"# (\S+\.\w+)\n", body) for body in blocks(language)]
    return {
        match[1]: body[match.end() :]
        for match, body in zip(found, blocks(language), strict=True)
        if match
    }


def commands():
    return [line.split() for body in blocks("") for line in body.splitlines()]


def test_every_file_that_it_names_exists():
    own = {*named("python"), *named("yaml")}
    told = set(re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|yaml))`", TEXT)) - own
    places = (ROOT, ROOT / "icl_core/measuring/claims")
    assert len(told) > 10
    assert [path for path in told if not any((place / path).exists() for place in places)] == []


@pytest.fixture
def extended(checkout):
    """A checkout with what the page says."""
    for path, body in (named("python") | named("yaml")).items():
        (checkout.path / path).write_text(body)
    for diff in blocks("diff"):
        subprocess.run(["git", "apply", "-"], cwd=checkout.path, input=diff, text=True, check=True)
    return checkout


def test_a_setting_of_ones_own_is_planned(extended):
    (command,) = [line for line in commands() if "strict.yaml" in line]
    jobs = extended.planned(*command[3:], scale="paper")
    assert jobs["constrained_rl"] == jobs["adjust"] == 10 and jobs["expert"] == 1


def test_an_environment_of_ones_own_learns_and_is_drawn(extended):
    (command,) = [line for line in commands() if "corridor.yaml" in line]
    at_smoke = [part.replace("paper", "smoke").replace("1-5", "1-2") for part in command[3:]]
    done = extended.snakemake("--quiet", "rules", *at_smoke)
    assert done.returncode == 0, done.stdout + done.stderr
    table = pq.read_table(extended.path / at_smoke[-1], filters=[("reported", "=", True)])
    assert sorted(table["metric"].to_pylist()) == ["cmse", "cmse", "nad", "nad"]
    (drawing,) = [body for body in blocks("python") if "draw_constraints" in body]
    at_smoke = drawing.replace("paper", "smoke").replace("1-5", "1-2")
    here = environment() | {"PYTHONPATH": str(extended.path)}
    subprocess.run([sys.executable, "-c", at_smoke], cwd=extended.path, env=here, check=True)
    assert "<svg" in (extended.path / "corridor.svg").read_text()
