"""docs/results/README.md: verdicts, tables, figures, what is missing, how it was made.

Every number comes from a file of the run. What we make of them stands in summary.md, by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from icl_core.discovery import WORLDS, title
from icl_core.showing.item import Item
from icl_core.showing.page.make import SCALES, command_of
from icl_core.showing.tables.times_and_bounds import duration
from icl_core.tables import markdown_rows
from workflow.lib.publishing import making
from workflow.lib.publishing.run import Run, missing_items, missing_runs, never_made

ANIMATION = "figures/highd.gif"  # the drive of Figure 13, moving


def readme(run: Run, pictures: Mapping[str, str], has_summary: bool) -> str:
    """The page; `pictures` are the files of the figures, by name."""
    parts = [
        _head(run, has_summary),
        _claims(run),
        _tables(run),
        _figures(run, pictures),
        _constraints(run),
        _missing(run),
        _making(run),
    ]
    return "\n\n".join(parts) + "\n"


def _head(run: Run, has_summary: bool) -> str:
    wanted = sum(len(one.methods) for one in run.wanted.experiments.values())
    parts = [f"# Results at scale {run.scale}"]
    if has_summary:
        parts.append(
            "**Read first: [summary.md](summary.md)**, what was reproduced, what was not, and "
            "what was not run."
        )
    if run.scale in SCALES:
        parts.append(f"**This scale is {SCALES[run.scale]}**")
    parts.append(
        f"{len(run.learned)} of {wanted} runs are finished (a run: one method on one experiment, "
        f"{_seeds(run)}). {_simulated(run)}"
        "`make publish` writes this page from the files of the run and replaces it: no number "
        "here was entered by hand."
    )
    places = ("Claims", "Tables", "Figures", "Constraints", "What is missing", "How it was made")
    parts.append(
        " · ".join(f"[{place}](#{place.lower().replace(' ', '-')})" for place in places)
        + " · [metrics.parquet](metrics.parquet): every metric of every seed and iteration"
    )
    return "\n\n".join(parts)


def _simulated(run: Run) -> str:
    if not run.simulated:
        return ""
    names = [title(WORLDS, name) for name in sorted(run.simulated)]
    return f"{' and '.join(names)}: on simulated traffic in place of the licensed recordings. "


def _claims(run: Run) -> str:
    return f"## Claims\n\n{_body((run.results / 'claims.md').read_text('utf-8'))}"


def _tables(run: Run) -> str:
    parts = [
        "## Tables",
        "The paper's values stand beside ours; a dash is what was not run, or what the paper does "
        "not say. The command below each makes it again and, first, all that it needs; with "
        "`only_finished=True` after the scale, of what has been learned so far.",
    ]
    for item in run.items:
        if item.kind == "table":
            csv, markdown = item.outputs
            table = _body((run.results / markdown).read_text("utf-8"))
            files = f"[CSV]({csv}), [Markdown]({markdown})"
            parts += [_heading(item), _caption(run, item), table, _again(run, item, files)]
    return "\n\n".join(parts)


def _figures(run: Run, pictures: Mapping[str, str]) -> str:
    parts = ["## Figures"]
    for item in run.items:
        if item.kind == "figure":
            image = f"![{item.label}: {item.title}]({pictures[item.name]})"
            parts += [_heading(item), image, _caption(run, item), _again(run, item)]
    if ANIMATION in pictures:
        parts += ["### Figure 13, moving", f"![The ego drives, in blue]({pictures[ANIMATION]})"]
    return "\n\n".join(parts)


def _constraints(run: Run) -> str:
    """What was learned, for use elsewhere."""
    names = making.constraints(run)
    if not names:
        return "## Constraints\n\nNone: this run has not left any in one file."
    links = [f"- [{name.partition('/')[2]}]({name})" for name in names]
    text = (
        "What each run has learned, in one file that needs no pipeline: "
        '`icl_core.Constraint.load("gridworld-a-icl.safetensors").predict(observation, action)`.'
    )
    return "\n".join(["## Constraints", "", text, "", *links])


def _heading(item: Item) -> str:
    return f"### {item.label}. {item.title}"


def _caption(run: Run, item: Item) -> str:
    simulated = run.on_simulated_traffic(item)
    return f"{item.caption} **On simulated traffic.**" if simulated else item.caption


def _again(run: Run, item: Item, files: str = "") -> str:
    return f"{files}{' · ' if files else ''}`{command_of(item, run.scale)}`"


def _body(markdown: str) -> str:
    """A Markdown file without its title."""
    return markdown.partition("\n")[2].strip()


def _missing(run: Run) -> str:
    parts = ["## What is missing"]
    runs, items = missing_runs(run), missing_items(run)
    parts.append(_section(f"Runs of config.yaml: {len(runs)} not finished.", runs, _RUN))
    parts.append(_section(f"Items that we make: {len(items)} not in this run.", items, _ITEM))
    never = never_made()
    text = f"Items of the paper: {len(never)} that nothing in this project makes yet."
    parts.append(_section(text, never, _ITEM[:2]))
    return "\n\n".join(parts)


_RUN = ("Experiment", "Method", "State")
_ITEM = ("Item", "What it shows", "Why")


def _section(text: str, rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    if not rows:
        return text
    return f"{text}\n\n{markdown_rows([head, ['---'] * len(head), *rows])}"


def _making(run: Run) -> str:
    first, last = making.dates(run)
    taken = making.costs(run.results)
    cpu = sum(row[2] for row in taken)
    days = first if first == last else f"{first} to {last}"
    versions = ", ".join(f"{name} {number}" for name, number in making.packages(run).items())
    jobs = sum(row[1] for row in taken)
    return "\n".join(
        [
            "## How it was made",
            "",
            f"- Runs finished: {days} (UTC, by the dates of their files).",
            f"- Code of this page: commit {making.commit(run.root)}. Which code made which file: "
            "[provenance.md](provenance.md).",
            f"- CPU time: {duration(cpu)} ({cpu:,.0f} s) for {jobs} jobs that have ended, drawing "
            "not counted; by rule and experiment: [cpu-seconds.csv](cpu-seconds.csv). A job that "
            "was killed and went on counts from where it went on.",
            f"- Machine on which this page was written: {making.machine()}. Each job uses one "
            "core.",
            f"- Packages, as the files themselves say: {versions}.",
            "- What all of this is made from lies in `run/`: `make figures` draws it again, and "
            "trains nothing.",
            f"- The whole again: `snakemake --cores 8 all --config "
            f"scale={run.scale}`, then `make publish SCALE={run.scale}`.",
        ]
    )


def _seeds(run: Run) -> str:
    """How many seeds a run has: "5 or 10 seeds"."""
    every = run.wanted.experiments.values()
    counts = sorted({len(seeds) for one in every for seeds in one.seeds.values()})
    return f"{' or '.join(map(str, counts))} seed{'s' * (counts != [1])}"
