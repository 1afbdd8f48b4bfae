"""How a run was made: code, machine, packages, dates, and the files behind every item."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from icl_core.artifacts import read_provenance
from icl_core.code_digest import code_digest
from icl_core.environments import module_of
from icl_core.showing.naming import METHODS
from icl_core.showing.save import markdown_rows
from workflow.lib.finished import METRICS_OF_RUN
from workflow.lib.publishing.run import Run

SOURCES = ("Snakefile", "config.yaml", "docs/claims.yaml", "icl_core", "workflow")
# What ends the training of each method.
SCRIPTS = {"icl": "conclude.py", "gail-constraint": "gail_constraint.py", "icrl": "icrl.py"}
SHORT = 12  # characters of a digest that are told


def commit(root: Path) -> str:
    """The last commit that changed the code, so that publishing does not change it."""
    told = _git(root, "log", "-1", "--format=%H", "--", *SOURCES)
    if not told:
        return "not under version control"
    changed = _git(root, "status", "--porcelain", "--", *SOURCES)
    return f"`{told}`" + (", with uncommitted changes" if changed else "")


def machine() -> str:
    """Cores and processor of the machine that writes this."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    except OSError:
        models = []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} cores, {model}, {platform.system()}"


def dates(run: Run) -> tuple[str, str]:
    """Days of the first and the last finished run, by the dates of their metrics."""
    times = [path.stat().st_mtime for _, _, path in learned_files(run)]
    first, last = (datetime.fromtimestamp(t, UTC).date().isoformat() for t in _ends(times))
    return first, last


def packages(run: Run) -> dict[str, str]:
    """Versions by package, from the artifacts; several where they were made with several."""
    found: dict[str, set[str]] = {}
    told = [_of_item(run, item.provenance) for item in run.items]
    told += [read_provenance(path) for _, _, path in learned_files(run)]
    for one in told:
        for package, version in one.get("packages", {}).items():
            found.setdefault(package, set()).add(version)
    return {package: " and ".join(sorted(found[package])) for package in sorted(found)}


def learned_files(run: Run) -> list[tuple[str, str, Path]]:
    """Experiment, method and metrics of every finished run, once for each group of seeds."""
    return [
        (name, method, run.results / path)
        for name, method in run.learned
        for group in run.done.groups
        for path in [METRICS_OF_RUN.format(experiment=name, method=method, group=group)]
    ]


def provenance_page(run: Run) -> str:
    """Which code and which files stand behind every run and item, in one file."""
    numbers: dict[tuple[str, str], int] = {}
    items = [["Item", "Code", "Made from"], ["---"] * 3]
    for name, told in [
        ("metrics.parquet", read_provenance(run.results / "metrics.parquet")),
        ("claims", read_provenance(run.results / "claims.parquet")),
        *((item.label, _of_item(run, item.provenance)) for item in run.items),
    ]:
        behind = [numbers.setdefault(one, len(numbers) + 1) for one in _inputs(told)]
        items.append([name, f"`{told.get('code', '')[:SHORT]}`", _spans(behind) or "-"])
    files = [["", "File", "SHA-256 begins"], ["---:", "---", "---"]]
    files += [[str(k), path, f"`{digest[:SHORT]}`"] for (path, digest), k in numbers.items()]
    return (
        "# Provenance\n\n"
        "Written by `make publish`. Code is named by a digest of the source that a job really "
        "imports (`icl_core/code_digest.py`), files by their content. The settings of every job "
        "stand in the metadata of its own files, under `results/`.\n\n"
        f"## Runs\n\n{markdown_rows(_runs(run))}\n\n"
        '"Today\'s code": whether the commit of this page has the same digest. Another one need '
        "not give other numbers: an edit that only moves code changes it too.\n\n"
        f"## Items\n\n{markdown_rows(items)}\n\n"
        "The numbers are those of the files below.\n\n"
        f"## Files\n\n{markdown_rows(files)}\n"
    )


def _runs(run: Run) -> list[list[str]]:
    lines = [["Experiment", "Method", "Seeds", "Code", "Today's code"], ["---"] * 5]
    for name, method, path in learned_files(run):
        told = read_provenance(path.parent / "final/constraint.safetensors")
        code, seeds = told.get("code", ""), ", ".join(map(str, told.get("seeds", [])))
        environment = run.wanted.experiments[name].environment
        same = "the same" if code == code_now(run.root, method, environment) else "another"
        lines.append([name, METHODS[method], seeds, f"`{code[:SHORT]}`", same])
    return lines


@cache
def code_now(root: Path, method: str, environment: str) -> str:
    """The digest that a run would have today: of the script and its world, as in common.smk."""
    script = root / "workflow/scripts" / SCRIPTS[method]
    return code_digest(script, [root], [module_of(environment)])


def _inputs(told: dict) -> list[tuple[str, str]]:
    return sorted(told.get("inputs", {}).items())


def _spans(numbers: Iterable[int]) -> str:
    """ "1-3, 7": what comes one after the other, together."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def _of_item(run: Run, path: str) -> dict:
    return json.loads((run.results / path).read_text("utf-8"))


def _ends(times: list[float]) -> tuple[float, float]:
    return min(times), max(times)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
