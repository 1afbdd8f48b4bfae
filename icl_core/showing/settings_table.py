"""Settings as they were run, from the configuration itself, with the paper's beside them.

The paper's lines come first, with its value wherever ours is another; then
whatever else our configuration sets, so that no setting can be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from icl_core.measuring.results import Results
from icl_core.showing.paper import COMMON, SECTIONS, UNKNOWN, Line
from icl_core.showing.save import Table
from icl_core.tables import markdown_rows

# Settings that are shown only where they differ from those of ICL at the same place.
AS_ICL = ("demonstrations.", "learning.icl-plus.")

NOT_RUN = "-"  # the experiment does not run the method whose setting it is
COLUMNS = ("setting", "key", "experiment", "ours", "paper", "same")
NOTES = (
    'Where the paper\'s value is another than ours, it stands in brackets; "not in the paper": its '
    "tables do not list the setting. docs/decisions.md says why ours differ. Scale of our run: "
)


def of_method(
    results: Results, experiments: Sequence[str], method: str, lines: Sequence[Line], how: str = ""
) -> Table:
    """The experiments that run a method; what all methods share stands in Table 7."""
    chosen = [name for name in experiments if method in results.settings[name]["methods"]]
    heading = f"Settings of {results.title(method)}{how}"
    elsewhere = {path for line in COMMON for path in line.paths}
    return settings_table(
        results, chosen, lines, SECTIONS.get(method, [f"learning.{method}"]), heading, elsewhere
    )


def settings_table(
    results: Results,
    experiments: Sequence[str],
    lines: Sequence[Line],
    sections: Iterable[str],
    heading: str,
    elsewhere: Iterable[str] = (),
) -> Table:
    """A row for each line, then for all else in these sections but for what is `elsewhere`."""
    found = {name: _settings_of(results, name) for name in experiments}
    listed = {path for line in lines for path in line.paths} | set(elsewhere)
    more = [
        Line(re.sub(r"^learning\.[^.]+\.", "", path), {path: "{}"})
        for path in sorted({path for settings in found.values() for path in settings})
        if _inside(path, sections)
        and path not in listed
        and any(path in one and not _as_icl(path, one) for one in found.values())
    ]
    lines = [*lines, *more]
    cells = {
        (line.label, name): _cell(line, found[name], results.worlds[name].name)
        for line in lines
        for name in experiments
    }
    rows = tuple(
        (line.label, cell.key, name, cell.ours, cell.paper, cell.same)
        for line in lines
        for name in experiments
        for cell in [cells[line.label, name]]
    )
    names = {name: results.worlds[name].title for name in experiments}
    table = _markdown(lines, cells, names)
    return Table(COLUMNS, rows, f"# {heading}\n\n{table}\n\n{NOTES}{results.scale}.\n")


def _settings_of(results: Results, name: str) -> dict[str, object]:
    """The settings of an experiment and of its world, by path."""
    world = {"discount": results.worlds[name].discount, "threshold": results.beta(name)}
    return flattened({**results.settings[name], "world": world})


def _as_icl(path: str, settings: Mapping[str, object]) -> bool:
    """Whether it is a setting of the expert's training or of ICL+ that ICL has too."""
    for prefix in AS_ICL:
        if path.startswith(prefix):
            twin = path.replace(prefix, "learning.icl.", 1)
            return twin in settings and settings.get(path) == settings[twin]
    return False


def _inside(path: str, sections: Iterable[str]) -> bool:
    """Whether a setting is one of these sections'."""
    return any(path.startswith(f"{section}.") for section in sections)


def flattened(settings: Mapping, prefix: str = "") -> dict[str, object]:
    """{"learning.icl.loop.iterations": 10, ...} of nested settings."""
    flat: dict[str, object] = {}
    for key, value in settings.items():
        nested = isinstance(value, Mapping)
        flat |= flattened(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": value}
    return flat


class Cell(NamedTuple):
    """What an experiment was run with, and the paper's value."""

    key: str
    ours: str
    paper: str

    @property
    def same(self) -> str:
        if not self.paper or self.ours == NOT_RUN:
            return ""
        return "yes" if self.paper == self.ours else "no"

    @property
    def text(self) -> str:
        return f"{self.ours} (paper: {self.paper})" if self.same == "no" else self.ours


def _cell(line: Line, settings: Mapping[str, object], environment: str) -> Cell:
    paper = written(line.of_paper(environment))
    there = {
        path: form.format(written(settings[path]))
        for path, form in line.paths.items()
        if path in settings
    }
    key = next(iter(there), next(iter(line.paths), ""))
    # The baselines share a line: where their settings differ, both are shown.
    ours = " / ".join(dict.fromkeys(there.values())) or (NOT_RUN if line.paths else "none")
    return Cell(key, ours, paper)


def written(value: object) -> str:
    """A value as the tables write it."""
    if value is UNKNOWN:
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


def _markdown(
    lines: Sequence[Line], cells: Mapping[tuple[str, str], Cell], names: Mapping[str, str]
) -> str:
    rows = [["Setting", *names.values()], ["---", *("---:" for _ in names)]]
    listed = True
    for line in lines:
        if listed and line.paper is UNKNOWN:
            listed = False
            rows.append(["*not in the paper:*", *("" for _ in names)])
        rows.append([line.label, *(cells[line.label, name].text for name in names)])
    return markdown_rows(rows)
