"""How a run was made: code, machine, packages, dates, times, and the files behind every item."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from icl_core.artifacts import read_provenance, read_record
from icl_core.discovery import METHODS, title
from icl_core.errors import InputError
from icl_core.job_times import Record, read_time
from icl_core.layout import path
from icl_core.showing.item import Item
from icl_core.tables import markdown_rows
from workflow.lib.plan import Plan
from workflow.lib.publishing.run import Run
from workflow.program.forecast import kind_of

SOURCES = ("Snakefile", "config.yaml", "docs/claims.yaml", "icl_core", "workflow")
SHORT = 12  # characters of a digest that are shown
# Digests of code that the golden test (tests/golden.py) has shown to give the bytes of today's, and
# the commits that show it. Kept by hand: a commit that changes golden.json empties it.
EQUAL_CODE = "equal-code.csv"
EQUAL_COLUMNS = ("code", "shown_by")
COST_COLUMNS = ("job", "jobs", "cpu_seconds", "wall_seconds")
# Drawing and reporting are done again at every publication: what they take is not the run's.
SHOWING = (
    *("animation", "claims", "collect_metrics", "determine", "figure", "report_page"),
    "table",
)


def commit(root: Path) -> str:
    """The last commit that changed the code, so that publishing does not change it."""
    last = _git(root, "log", "-1", "--format=%H", "--", *SOURCES)
    if not last:
        return "not under version control"
    changed = _git(root, "status", "--porcelain", "--", *SOURCES)
    return f"`{last}`" + (", with uncommitted changes" if changed else "")


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
    times = [stack.file(run, "run_metrics").stat().st_mtime for stack in finished(run)]
    ends = (min(times), max(times))
    first, last = (datetime.fromtimestamp(t, UTC).date().isoformat() for t in ends)
    return first, last


def packages(run: Run) -> dict[str, str]:
    """Versions by package, from the artifacts; several where they were made with several."""
    found: dict[str, set[str]] = {}
    provenances = [_of_item(run, item) for item in run.items]
    provenances += [read_provenance(stack.file(run, "run_metrics")) for stack in finished(run)]
    for one in provenances:
        for package, version in one.get("packages", {}).items():
            found.setdefault(package, set()).add(version)
    return {package: " and ".join(sorted(found[package])) for package in sorted(found)}


def costs(results: Path) -> list[tuple[str, int, float, float]]:
    """Rule and experiment, how many jobs of this kind there were, and their seconds together."""
    found: dict[str, list[Record]] = {}
    for file in sorted((results / "benchmarks").rglob("*.tsv")):
        found.setdefault(kind_of(file.as_posix()), []).append(read_time(file))
    return [
        (
            kind,
            len(taken),
            round(sum(one.cpu for one in taken), 1),
            round(sum(one.wall for one in taken), 1),
        )
        for kind, taken in sorted(found.items())
        if kind.partition("/")[0] not in SHOWING
    ]


class Stack(NamedTuple):
    """The seeds of a method that were trained together on an experiment."""

    experiment: str
    method: str
    group: str

    def file(self, run: Run, kind: str) -> Path:
        """The file of a kind that it left."""
        return run.results / path(kind, **self._asdict())


def finished(run: Run) -> list[Stack]:
    """What has been learned, once for each group of seeds."""
    return [
        Stack(name, method, group)
        for name, method in run.learned
        for group in run.done.groups_of(run.done.experiments[name], method)
    ]


def constraints(run: Run) -> dict[str, Path]:
    """The constraints for use elsewhere, by published name: those of the first group of seeds.

    Without variants that learn from the same demonstrations: nobody uses these.
    """
    found: dict[str, Stack] = {}
    for stack in finished(run):
        if run.done.experiments[stack.experiment].demonstrations_of:
            continue
        found.setdefault(f"constraints/{stack.experiment}-{stack.method}.safetensors", stack)
    files = {name: stack.file(run, "portable_constraint") for name, stack in found.items()}
    there = {name: file for name, file in files.items() if file.is_file()}
    for file in there.values():
        read_provenance(file)  # no damaged one is passed on
    return there


def equal_codes(folder: Path) -> frozenset[str]:
    """The beginnings of the digests that a folder's list of equal code names; none without one."""
    file = folder / EQUAL_CODE
    if not file.is_file():
        return frozenset()
    with file.open(newline="", encoding="utf-8") as opened:
        reader = csv.DictReader(opened)
        rows, found = list(reader), tuple(reader.fieldnames or ())
    wrong = [row for row in rows if len(row.get("code") or "") < SHORT or not row.get("shown_by")]
    if (rows or found) and (found != EQUAL_COLUMNS or wrong):
        first = f" and a line {list(wrong[0].values())}" if wrong else ""
        raise InputError(
            f"{file}: expected the columns {', '.join(EQUAL_COLUMNS)}, each line with at least "
            f"{SHORT} characters of a digest and a commit, found {', '.join(found)}{first}; "
            "correct it or delete the file"
        )
    return frozenset(row["code"][:SHORT] for row in rows)


def provenance_page(run: Run, equal: Collection[str] = ()) -> str:
    """Which code and which files stand behind every run and item, in one file.

    `equal` are the digests of code that was shown to give the same numbers as today's.
    """
    numbers: dict[tuple[str, str], int] = {}
    items = [["Item", "Code", "Made from"], ["---"] * 3]
    for name, made in [
        ("metrics.parquet", read_provenance(run.results / "metrics.parquet")),
        ("claims", read_provenance(run.results / "claims.parquet")),
        *((item.label, _of_item(run, item)) for item in run.items),
    ]:
        inputs = sorted(made.get("inputs", {}).items())
        behind = [numbers.setdefault(one, len(numbers) + 1) for one in inputs]
        items.append([name, f"`{made.get('code', '')[:SHORT]}`", _spans(behind) or "-"])
    files = [["", "File", "SHA-256 begins"], ["---:", "---", "---"]]
    files += [[str(k), file, f"`{digest[:SHORT]}`"] for (file, digest), k in numbers.items()]
    return (
        "# Provenance\n\n"
        "Written by `make publish`. Code is named by a digest of the source that a job really "
        "imports (`icl_core/code_digest.py`), files by their content. The settings of every job "
        "stand in the metadata of its own files, under `results/`.\n\n"
        f"## Runs\n\n{markdown_rows(_runs(run, equal))}\n\n"
        f"{_TODAY}\n\n"
        f"## Items\n\n{markdown_rows(items)}\n\n"
        "The numbers are those of the files below.\n\n"
        f"## Files\n\n{markdown_rows(files)}\n"
    )


_TODAY = (
    '"Today\'s code": whether the code of this page\'s commit is that of the run. "The same": it '
    'has the same digest. "The same numbers": it has another digest, as after an edit that only '
    "moves code, but the golden test has shown that both give the same bytes in a smoke run; "
    f'`{EQUAL_CODE}` names the commit that shows it. "Another, not shown to be equal": it may give '
    "other numbers."
)


def codes(run: Run) -> dict[str, str]:
    """The digest of the code behind each finished run, by the path of its constraint."""
    found = {path("constraint", **s._asdict()): s.file(run, "constraint") for s in finished(run)}
    return {name: read_provenance(file).get("code", "") for name, file in found.items()}


def _runs(run: Run, equal: Collection[str]) -> list[list[str]]:
    lines = [["Experiment", "Method", "Seeds", "Code", "Today's code"], ["---"] * 5]
    plan = Plan(run.wanted, run.root)
    for stack in finished(run):
        made = read_provenance(stack.file(run, "constraint"))
        code, seeds = made.get("code", ""), ", ".join(map(str, made.get("seeds", [])))
        now = plan.code_of_method(stack.method, stack.experiment)
        name = title(METHODS, stack.method)
        lines.append(
            [stack.experiment, name, seeds, f"`{code[:SHORT]}`", _compared(code, now, equal)]
        )
    return lines


def _compared(code: str, now: str, equal: Collection[str]) -> str:
    if code == now:
        return "the same"
    return "the same numbers" if code[:SHORT] in equal else "another, not shown to be equal"


def _spans(numbers: Iterable[int]) -> str:
    """ "1-3, 7": what comes one after the other, together."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def _of_item(run: Run, item: Item) -> dict:
    return read_record(run.results / item.provenance)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
