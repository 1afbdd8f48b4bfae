"""Tables 7 to 11: what was run with which settings, from the configuration itself.

The paper's lines come first, with its value wherever ours is another; then
whatever else our configuration sets, so that no setting can be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from icl_core.showing.naming import METHODS
from icl_core.showing.save import Table, markdown_rows
from icl_core.showing.settings_lines import (
    COMMON,
    GAIL,
    ICL,
    ICL_LAGRANGE,
    ICRL,
    NOT_TOLD,
    SECTIONS,
    Line,
)
from icl_core.showing.sources import Sources

COLUMNS = ("setting", "key", "experiment", "ours", "paper", "same")
NOTES = (
    'Where the paper\'s value is another than ours, it stands in brackets; "not in the paper": its '
    "tables do not list the setting. docs/decisions.md says why ours differ. Scale of our run: "
)


# A run uses one of two procedures of constrained RL; what belongs to the other is not shown.
OTHER_PROCEDURE = {
    "Settings of ICL": {"learning.constrained_rl.lagrangian"},
    "Settings of ICL with PPO-Lagrange": {
        *("learning.constrained_rl.ppo", "learning.constrained_rl.episodes"),
        *("learning.constrained_rl.truncate", "learning.constrained_rl.feasibility_rate"),
    },
}


def common_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 7."""
    return _table(sources, experiments, COMMON, SECTIONS["common"], "Settings that methods share")


def gail_constraint_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 8."""
    return _of_method(sources, experiments, "gail-constraint", GAIL)


def icrl_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 9."""
    return _of_method(sources, experiments, "icrl", ICRL)


def icl_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 10."""
    return _of_method(sources, experiments, "icl", ICL)


def icl_lagrange_table(sources: Sources, experiments: Sequence[str]) -> Table:
    """Table 11."""
    return _of_method(sources, experiments, "icl", ICL_LAGRANGE, " with PPO-Lagrange")


def _of_method(
    sources: Sources, experiments: Sequence[str], method: str, lines: Sequence[Line], how: str = ""
) -> Table:
    """The experiments that run a method; what all methods share stands in Table 7."""
    chosen = [name for name in experiments if method in sources.settings[name]["methods"]]
    heading = f"Settings of {METHODS[method]}{how}"
    elsewhere = {line.path for line in COMMON} | OTHER_PROCEDURE.get(heading, set())
    return _table(sources, chosen, lines, SECTIONS[method], heading, elsewhere)


def _table(
    sources: Sources,
    experiments: Sequence[str],
    lines: Sequence[Line],
    sections: Iterable[str],
    heading: str,
    elsewhere: Iterable[str] = (),
) -> Table:
    told = {line.path for line in lines} | set(elsewhere)
    found = {name: flattened(sources.settings[name]) for name in experiments}
    more = [
        Line(path.removeprefix("learning."), path)
        for path in sorted({path for settings in found.values() for path in settings})
        if _inside(path, sections)
        and not _inside(path, told)
        and any(not _as_learners(path, settings) for settings in found.values())
    ]
    lines = [*lines, *more]
    cells = {
        (line.label, name): _ours(line, found[name], sources.worlds[name])
        for line in lines
        for name in experiments
    }
    rows = tuple(
        _row(line, name, sources, cells[line.label, name]) for line in lines for name in experiments
    )
    names = {name: sources.worlds[name].title for name in experiments}
    return Table(COLUMNS, rows, _markdown(lines, cells, names, sources, heading))


def _as_learners(path: str, settings: Mapping[str, object]) -> bool:
    """Whether it is a setting of the expert's training that the learners have too."""
    if not path.startswith("demonstrations."):
        return False
    twin = path.replace("demonstrations.", "learning.", 1)
    return twin in settings and settings.get(path) == settings[twin]


def _inside(path: str, places: Iterable[str]) -> bool:
    """Whether a setting is one of these, or of one of these sections."""
    return any(path == place or path.startswith(f"{place}.") for place in places if place)


def flattened(settings: Mapping, prefix: str = "") -> dict[str, object]:
    """{"learning.icl.iterations": 10, ...} of nested settings."""
    flat = {}
    for key, value in settings.items():
        nested = isinstance(value, Mapping)
        flat |= flattened(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": value}
    return flat


def _ours(line: Line, settings: Mapping[str, object], world) -> str:
    if not line.path:
        return "none"
    if line.path.startswith("world."):
        return written(getattr(world, line.path.removeprefix("world.")))
    return line.form.format(written(settings[line.path])) if line.path in settings else "-"


def written(value: object) -> str:
    """A value as the tables write it."""
    if value is NOT_TOLD:
        return ""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(written, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _row(line: Line, name: str, sources: Sources, ours: str) -> tuple:
    paper = written(line.of_paper(sources.worlds[name].name))
    same = "" if not paper else "yes" if paper == ours else "no"
    return line.label, line.path, name, ours, paper, same


def _markdown(
    lines: Sequence[Line],
    cells: Mapping[tuple[str, str], str],
    names: Mapping[str, str],
    sources: Sources,
    heading: str,
) -> str:
    rows = [["Setting", *names.values()], ["---", *("---:" for _ in names)]]
    listed = True
    for line in lines:
        if listed and line.paper is NOT_TOLD:
            listed = False
            rows.append(["*not in the paper:*", *("" for _ in names)])
        rows.append(
            [line.label, *(_cell(line, cells[line.label, name], name, sources) for name in names)]
        )
    table = markdown_rows(rows)
    return f"# {heading}\n\n{table}\n\n{NOTES}{sources.scale}.\n"


def _cell(line: Line, ours: str, name: str, sources: Sources) -> str:
    paper = written(line.of_paper(sources.worlds[name].name))
    return ours if paper in ("", ours) else f"**{ours}** (paper: {paper})"
