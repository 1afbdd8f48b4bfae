"""What a cluster needs to know, without a cluster; with one: make cluster-test."""

from __future__ import annotations

import re
from math import ceil
from pathlib import Path

import yaml
from snakemake.cli import get_argument_parser

from icl_core.job_times import read_time
from workflow.lib.resources import AROUND, MEASURED, Requests
from workflow.program.forecast import cost_of, kind_of, read_costs
from workflow.program.jobs import Wanted, dry_run

ROOT = Path(__file__).parents[2]


def test_every_job_says_how_much_memory_and_time_it_needs():
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    asked = "    resources:\n        mem_mb=REQUESTS.memory,\n        runtime=REQUESTS.runtime,\n"
    assert rules.count("    script:") == rules.count(asked)
    named = re.findall(r"^rule (\w+):\n(?:(?!^rule ).*\n)*?    script:", rules, re.MULTILINE)
    assert set(named) == set(MEASURED)


def test_the_time_asked_for_is_ten_times_what_the_same_job_took(checkout, monkeypatch):
    """Jobs are told apart by their wildcards here, and by the place of their record there."""
    monkeypatch.chdir(checkout.path)
    costs, requests = read_costs("paper"), Requests("paper")
    asked = {}
    for job in dry_run(Wanted("paper")):
        taken = cost_of(kind_of(job.time), costs).cpu
        asked[kind_of(job.time)] = requests.runtime(job.wildcards, job.rule, attempt=1)
        assert asked[kind_of(job.time)] == max(10, ceil(taken / 6)), job.time
    assert asked["table/table-01-cmse"] == 10  # minutes, at least
    assert asked["learn/halfcheetah/icrl"] > 100 > asked["expert/ant"] > 20  # five experts


def test_a_scale_of_the_users_own_asks_for_what_the_paper_takes():
    wildcards = {"experiment": "halfcheetah", "method": "icrl", "group": "1-5"}
    mine, paper, quick = (
        Requests(scale).runtime(wildcards, "learn", attempt=1)
        for scale in ("mine", "paper", "quick")
    )
    assert mine == paper > quick


def test_a_job_that_runs_again_asks_for_more():
    requests = Requests("quick")
    for asked in (requests.memory, requests.runtime):
        assert asked({}, "claims", attempt=2) == 2 * asked({}, "claims", attempt=1)


def test_no_job_asks_for_less_memory_than_it_took(finished):
    """With the processes of Snakemake around it."""
    requests = Requests("smoke")
    folder = finished.path / "results/smoke/benchmarks"
    records = {path: read_time(path).memory for path in folder.rglob("*.tsv")}
    for path, taken in records.items():
        rule = path.relative_to(folder).with_suffix("").parts[0]
        assert 50 < taken < requests.memory({}, rule, attempt=1) - AROUND, path


def test_the_profile_of_slurm_is_one_that_snakemake_knows():
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    own = {name: value for name, value in profile.items() if not name.startswith("slurm-")}
    assert own.pop("executor") == "slurm"  # the plugin is not part of the lock
    given = [word for name, value in own.items() for word in _words(name, value)]
    parsed = get_argument_parser().parse_args([*given, "--executor", "local", "all"])
    assert (parsed.jobs, parsed.retries, parsed.latency_wait) == (100, 3, 60)
    assert parsed.default_resources["mem_mb"].value == 1000
    # What profiles/default says of reruns is read besides, and must not be said twice.
    default = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text())
    assert not default.keys() & profile.keys()


def _words(name: str, value: object) -> list[str]:
    """As a profile's entry would stand on the command line."""
    values = [f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else [str(value)]
    return [f"--{name}", *values]
