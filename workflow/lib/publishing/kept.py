"""What is published so that nobody must train to look.

That is what figures, tables, claims and the page are made from, under docs/results/run/ as it lies
under results/{scale}/.

Nothing is there that derives row by row from real recordings: these are not ours to pass on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from icl_core.layout import identity, path
from workflow.lib.absent import Absent, read_absent
from workflow.lib.configuration import Experiment
from workflow.lib.iterations import Iterations
from workflow.lib.plan import Plan
from workflow.lib.publishing import making
from workflow.lib.publishing.run import Run
from workflow.lib.records import Made, artifacts
from workflow.lib.shown import Shown

RUN = "run"  # the folder of what is restored to where it lay
# Made again where it is looked at, or published elsewhere.
AGAIN = frozenset({"metrics", "claims", "figure_record", "table_record", "page_record"})


class Wildcards(dict):
    """What the rules' functions ask of a job."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def kept(run: Run) -> dict[str, Path]:
    """The files that are published for whom wants to draw or to go on, by path under results."""
    names = {*_read(run), *_of_finished(run), *_of_experts(run), *_of_jobs(run), *_shared(run)}
    hidden = Private(run)
    files = {name: run.results / name for name in sorted(names) if not hidden(name)}
    return {name: file for name, file in files.items() if file.is_file()}


class Private:
    """Whether a file is of real recordings, or of the user's own drives."""

    def __init__(self, run: Run):
        self.environments = {*run.wanted.recorded} - run.simulated
        self.experiments = {
            one.name for one in run.wanted.experiments.values() if self._of_drives(one)
        }

    def _of_drives(self, one: Experiment) -> bool:
        return one.environment in self.environments or (one.recorded and one.source == "file")

    def __call__(self, name: str) -> bool:
        """`name` is a path under results."""
        known = identity(Path("results/scale", name)) or {}
        named = (known.get("experiment"), known.get("environment"))
        return named[0] in self.experiments or named[1] in self.environments


def _read(run: Run) -> Iterator[str]:
    """What items, claims, metrics and the page read, of other seeds of an unfinished method too."""
    plan = Plan(run.wanted, run.root)
    shown = Shown(plan)
    asked = [*shown.claim_inputs(None), *shown.shown_demonstrations(None)]
    asked += [*plan.metrics_of_all_runs(None), *plan.scenes(run.wanted.learned)]
    for kind in ("figure", "table"):
        for item in shown.names(kind):
            asked += shown.inputs({kind: item})
    yield path("determined")
    for name in _inside(plan, asked):
        if (identity(run.results / name) or {}).get("kind") not in AGAIN:
            yield name


def _inside(plan: Plan, paths: Iterable[str]) -> list[str]:
    """Paths under results of paths from the project's folder."""
    return [one.removeprefix(f"{plan.results}/") for one in paths]


def _of_finished(run: Run) -> Iterator[str]:
    """Of each finished run what it has learned: who moves it elsewhere starts from that."""
    for stack in _stacks(run):
        if _ended(run, stack):
            yield path("constraint", **stack._asdict())


def _stacks(run: Run) -> Iterator[making.Stack]:
    for one in run.wanted.experiments.values():
        for method in one.methods:
            for group in run.wanted.groups_of(one, method):
                yield making.Stack(one.name, method, group)


def _ended(run: Run, stack: making.Stack) -> bool:
    return stack.file(run, "run_metrics").is_file()


def _of_experts(run: Run) -> Iterator[str]:
    """What all methods learn from, those too that are not finished."""
    fields = {"experiment": "*", "group": "*"}
    for pattern in (
        *(path(kind, **fields) for kind in ("demonstrations", "expert_training")),
        path("scene", environment="*"),
    ):
        yield from (file.relative_to(run.results).as_posix() for file in run.results.glob(pattern))


def _of_jobs(run: Run) -> Iterator[str]:
    """What jobs took."""
    for file in (run.results / "benchmarks").rglob("*.tsv"):
        name = file.relative_to(run.results)
        if name.parts[1].removesuffix(".tsv") not in making.SHOWING:
            yield name.as_posix()


def _shared(run: Run) -> Iterator[str]:
    """Files of one run from which another starts, where one of the two is finished.

    Without these they would be made again, and with them all that comes after in the finished one.
    """
    plan = Plan(run.wanted, run.root)
    for stack in (stack for stack in _stacks(run) if stack.method == "icl"):
        n = run.wanted.experiments[stack.experiment].iterations("icl")
        for i in range(1, n + 1):
            job = Wildcards(**stack._asdict(), iteration=f"{i:02d}")
            for one in _inside(plan, _inputs(Iterations(plan), job)):
                owner = stack._replace(experiment=(identity(run.results / one) or {})["experiment"])
                if _ended(run, stack) != _ended(run, owner):
                    yield one


def _inputs(iterations: Iterations, job: Wildcards) -> list[str]:
    return [
        iterations.density(job),
        iterations.previous_constraint(job),
        *iterations.policies_so_far(job),
        *iterations.original_policy(job),
        *iterations.original_adjustment(job),
    ]


def absent(run: Run, files: Iterable[str]) -> list[Absent]:
    """The jobs of which no file is published that says how it was made."""
    published, hidden = set(files), Private(run)
    jobs = {tuple(job.output): job for job in read_absent(run.results)}
    for file in artifacts(run.results):
        made = Made.of(file)
        if made is not None and made.rule not in making.SHOWING:
            jobs[tuple(made.output)] = Absent(made.rule, made.params, made.output)
    return [job for job in jobs.values() if not _is_known(job, published, hidden)]


def _is_known(job: Absent, published: set[str], hidden: Private) -> bool:
    """Whether a job is told by one of its files, or is nobody's business."""
    # Without results/ and the scale. Times do not say what their job was given.
    names = [Path(*Path(one).parts[2:]).as_posix() for one in job.output]
    tell = (name for name in names if not name.endswith(".tsv"))
    return not published.isdisjoint(tell) or any(map(hidden, names))
