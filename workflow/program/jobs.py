"""The jobs that Snakemake plans, as the program `icl` sees them.

A dry run inside this process leaves Snakemake's own graph of jobs, with what each is given and why
it would run. A real run writes the same list when it starts (`write_jobs`), for `icl run`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from icl_core import layout
from icl_core.disk import write_whole
from icl_core.errors import InputError
from icl_core.showing.item import read_items
from workflow.lib.configuration import Configuration, resolve
from workflow.lib.yaml_files import check_files

ITEMS = ("figure", "table")  # the rules that have their item's name as wildcard
LIST = "ICL_JOBS"  # the variable that names the file to which a run writes its jobs


class Cause(NamedTuple):
    """Why Snakemake wants to run a job, besides that another runs before it."""

    missing: tuple[str, ...] = ()
    incomplete: bool = False
    updated: tuple[str, ...] = ()  # inputs that are newer
    settings: bool = False  # the job's params, or its set of inputs
    forced: bool = False


@dataclass(frozen=True)
class Job:
    """One job of the plan. What it needs are the other planned jobs, by their places."""

    rule: str
    wildcards: Mapping[str, str]
    time: str  # where it records what it took: its name in the plan
    log: str
    needs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = field(default=(), compare=False)
    params: Mapping[str, Any] = field(default_factory=dict, compare=False)
    cause: Cause = field(default=Cause(), compare=False)

    @property
    def title(self) -> str:
        """What it is, in words: "adjust gridworld-a, iteration 2"."""
        if self.rule in ITEMS:
            return short_name(self.wildcards[self.rule])
        words = dict(self.wildcards)
        words.pop("group", None)
        iteration = words.pop("iteration", None)
        title = " ".join([self.word, *words.values()])
        return f"{title}, iteration {int(iteration)}" if iteration else title

    @property
    def short_title(self) -> str:
        """The same beside others of its experiment: "adjust 2"."""
        if self.rule in ITEMS:
            return self.title
        iteration = self.wildcards.get("iteration")
        return f"{self.word} {int(iteration)}" if iteration else self.word

    @property
    def word(self) -> str:
        """Its rule in words."""
        return self.rule.removeprefix("icl_").replace("_", " ")


def short_name(item: str) -> str:
    """A figure or table by its number: "figure 16" for figure-16-constraint-gridworld-a.

    >>> short_name("figure-16-constraint-gridworld-a"), short_name("table-all-metrics")
    ('figure 16', 'table-all-metrics')
    """
    kind, number, *_ = [*item.split("-"), ""]
    return f"{kind} {number.lstrip('0')}" if number[:1].isdigit() else item


def jobs_of(dag: Any) -> list[Job]:
    """The jobs that a graph of Snakemake wants to run; those that only gather others left out."""
    wanted = {job: str(job.output.time) for job in dag.needrun_jobs() if _records(job)}
    found = []
    for job, time in wanted.items():
        before = dag.job_dependencies(job)
        found.append(
            Job(
                rule=job.rule.name,
                wildcards=dict(job.wildcards_dict),
                time=time,
                log=str(job.log[0]),
                needs=tuple(sorted(wanted[one] for one in before if one in wanted)),
                outputs=tuple(map(str, job.output)),
                params=dict(job.params.items()),
                cause=_cause(dag.reason(job)),
            )
        )
    return found


def _records(job: Any) -> bool:
    return "time" in dict(job.output.items())


def _cause(reason: Any) -> Cause:
    return Cause(
        missing=tuple(sorted(map(str, reason.missing_output))),
        incomplete=bool(reason.incomplete_output),
        updated=tuple(sorted(map(str, reason.updated_input - reason.updated_input_run))),
        settings=bool(reason.params_changed or reason.input_changed or reason.code_changed),
        forced=bool(reason.forced),
    )


def write_jobs(workflow: Any) -> None:
    """Where `icl run` has asked for it, say which jobs will run."""
    path = os.environ.get(LIST)
    if not path:
        return
    jobs = [
        {name: getattr(one, name) for name in ("rule", "wildcards", "time", "log", "needs")}
        for one in jobs_of(workflow.dag)
    ]
    write_whole(path, json.dumps(jobs))


def read_jobs(path: Path) -> list[Job]:
    """The jobs that a run has written down."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Job(**{**row, "needs": tuple(row["needs"])}) for row in rows]


class Wanted(NamedTuple):
    """What is asked of a run."""

    scale: str
    targets: Sequence[str] = ()
    configfiles: Sequence[str] = ()

    @classmethod
    def arguments(cls, parser: argparse.ArgumentParser, targets: bool = True) -> None:
        """What the user says of it."""
        if targets:
            what = "experiments, figures, tables, rules or files (default: all)"
            parser.add_argument("targets", nargs="*", metavar="TARGET", help=what)
        scale = "the sizes, e.g. quick (default: paper)"
        parser.add_argument("--scale", default="paper", help=scale)
        own = "a configuration laid over config.yaml; may be given again"
        parser.add_argument("--configfile", action="append", default=[], metavar="FILE", help=own)

    @classmethod
    def of(cls, given: argparse.Namespace) -> Wanted:
        """What the user has said; files are looked at before Snakemake reads them."""
        check_files(["config.yaml", *given.configfile])
        return cls(given.scale, getattr(given, "targets", ()), given.configfile)

    def for_snakemake(self, cores: int = 1) -> list[str]:
        """What Snakemake is called with."""
        files = ["--configfile", "config.yaml", *self.configfiles] if self.configfiles else []
        targets = [file for target in self.targets for file in self._files(target)] or ["all"]
        return ["--cores", str(cores), "--config", f"scale={self.scale}", *files, "--", *targets]

    def _files(self, target: str) -> list[str]:
        """The files that an experiment, a figure or a table stands for; others as they are."""
        results = f"results/{self.scale}"
        for item in read_items() if "-" in target and "/" not in target else ():
            if target in (item.id, item.name):
                return [f"{results}/{item.outputs[0]}"]
        configuration = self._configuration() if "/" not in target else None
        if configuration is None or target not in configuration.experiments:
            return [target]
        one = configuration.experiments[target]
        return [
            f"{results}/{layout.path('run_metrics', experiment=target, method=method, group=group)}"
            for method in one.methods
            for group in configuration.groups_of(one, method)
        ]

    def _configuration(self) -> Configuration:
        from snakemake.common.configfile import load_configfile
        from snakemake.utils import update_config

        config: dict = {}
        for file in ("config.yaml", *self.configfiles):
            update_config(config, load_configfile(file))
        return resolve({**config, "scale": self.scale})


def dry_run(wanted: Wanted, force: bool = False) -> list[Job]:
    """What would run, found by Snakemake in this process; nothing is run and nothing is printed.

    `force`: everything, also what is up to date.
    """
    from snakemake import cli

    from workflow.lib import begin

    said = io.StringIO()
    quiet = ["--dry-run", "--nolock", "--quiet", "rules", "progress", *["--forceall"] * force]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            cli.main([*quiet, *wanted.for_snakemake()])
    except SystemExit as end:
        if isinstance(end.code, str):
            raise InputError(end.code.removeprefix("error: ")) from end
        if end.code:
            raise InputError(_last_words(said.getvalue())) from end
    return jobs_of(begin.LOADED[-1].dag)


def loaded_codes() -> dict[str, dict[str, str]]:
    """The code that the jobs of the last dry run would run: a digest per file, by digest."""
    from workflow.lib import begin

    codes = begin.LOADED[-1].globals["PLAN"].codes
    return {digest: code.parts for digest, code in codes.items()}


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return " ".join(lines[-3:]) or "Snakemake ended without a word; try `snakemake --dry-run all`"
