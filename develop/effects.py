"""What each choice changes, over worlds, and which values are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from csv import DictReader, writer
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from develop.unit import Choice
from icl_core.measuring.claims.intervals import LEVEL, Estimate
from icl_core.measuring.transfer import student_interval
from icl_core.tables import markdown_rows

METRICS = ("cmse", "nad")
METHOD = "method"  # the subject of a row that is a method, and no choice of one
TOGETHER = "together"  # the subject of choices that change what others change one by one
START = "as at the start"
OURS = ("icl", "icl-plus")
RULE = (
    "A choice replaces a start where its interval of CMSE lies below 0 and its mean of NAD is not "
    "above 0; of several for one subject, the one with the lowest mean of CMSE. What was tried "
    "together stands alone, if it is chosen. A baseline has the benefit of the doubt: there a "
    "lower mean of CMSE is enough."
)
LESS = 0.7  # the bar: ICL+ has at most this share of ICL's CMSE, at no higher NAD


Units = Mapping[tuple[str, str], Any]  # what was measured, by world and choice


class Effect(NamedTuple):
    """A choice less what it is compared with: mean over worlds, and how many there are."""

    choice: Choice
    cmse: Estimate
    nad: Estimate
    worlds: int


def effect(choice: Choice, units: Units) -> Effect:
    """Paired by world and expert, with a 95 % interval."""
    found = [[new - old for old, new in pairs(choice, units, metric)] for metric in METRICS]
    return Effect(choice, *map(_estimate, found), len(found[0]))


def pairs(choice: Choice, units: Units, metric: str) -> list[tuple[float, float]]:
    """What it is compared with, and the choice: means over experts, in each world.

    A run without a value has no pair.
    """
    means = []
    for world in sorted(world for world, name in units if name == choice.name):
        both = zip(*(units[world, n]["runs"] for n in (choice.against, choice.name)), strict=True)
        values = [(old[metric], new[metric]) for old, new in both]
        known = [pair for pair in values if None not in pair]
        if known:
            old, new = np.mean(known, axis=0)
            means.append((float(old), float(new)))
    return means


def share(values: Sequence[tuple[float, float]]) -> Estimate:
    """The second mean as a share of the first, by Fieller: all shares that pairs do not refute."""
    from scipy.special import stdtrit

    old, new = np.asarray(values, dtype=np.float64).T
    mean, n = float(new.mean() / old.mean()), len(old)
    if n < 2:
        return Estimate(mean, float("nan"), float("nan"))
    scale = stdtrit(n - 1, (1 + LEVEL) / 2) ** 2 / n
    (vo, both), (_, vn) = np.cov(old, new)
    # (mean(new) - share mean(old))^2 <= scale var(new - share old), a quadratic in the share.
    roots = np.roots(
        [
            old.mean() ** 2 - scale * vo,
            -2 * (old.mean() * new.mean() - scale * both),
            new.mean() ** 2 - scale * vn,
        ]
    )
    if np.iscomplexobj(roots) or old.mean() ** 2 <= scale * vo:
        return Estimate(mean, float("nan"), float("nan"))
    return Estimate(mean, float(roots.min()), float(roots.max()))


def _estimate(values: Sequence[float]) -> Estimate:
    return student_interval(values) if len(values) else Estimate(*[float("nan")] * 3)


def chosen(effects: Sequence[Effect]) -> dict[str, str]:
    """The choice for each subject, by `RULE`; that of the start where none is better."""
    found = {}
    for subject in dict.fromkeys(one.choice.subject for one in effects):
        if subject == METHOD:
            continue
        better = [one for one in effects if one.choice.subject == subject and _is_better(one)]
        best = min(better, key=lambda one: one.cmse.size, default=None)
        found[subject] = best.choice.name if best else START
    alone = {_whose(s) for s, name in found.items() if s.endswith(TOGETHER) and name != START}
    return {
        subject: START if _whose(subject) in alone and not subject.endswith(TOGETHER) else name
        for subject, name in found.items()
    }


def _whose(subject: str) -> str:
    """Of "ICL+: bound" the method."""
    return subject.split(":")[0]


def _is_better(one: Effect) -> bool:
    if one.choice.method not in OURS:
        return one.cmse.size < 0
    return one.cmse.high < 0 and one.nad.size <= 0


def page(effects: Sequence[Effect], units: Units, whole: str) -> str:
    """The table of effects, the bar, and the chosen values, as Markdown."""
    head = ["choice", "compared with", "subject", "CMSE", "on grids", "elsewhere", "NAD", "worlds"]
    lines = [head, ["---"] * len(head)]
    for one in effects:
        choice = one.choice
        cmse, nad = (f"{e.size:+.3f} ({e.low:+.3f} to {e.high:+.3f})" for e in (one.cmse, one.nad))
        kinds = [f"{effect(choice, part).cmse.size:+.3f}" for part in _by_kind(units)]
        first = [choice.name, choice.against, choice.subject]
        lines.append([*first, cmse, *kinds, nad, str(one.worlds)])
    picked = markdown_rows([["subject", "chosen"], ["---"] * 2, *chosen(effects).items()])
    return (
        f"# Development suite\n\n{whole} Each choice less the one that it is compared with: mean "
        "over worlds, with a 95 % t interval of the worlds' means.\n\n"
        f"{markdown_rows(lines)}\n\n{bar(effects, units)}\n\n{RULE}\n\n{picked}\n"
    )


def _by_kind(units: Units) -> list[Units]:
    """Those of gridworlds, and the others."""
    return [
        {key: unit for key, unit in units.items() if key[0].startswith("grid-") is grids}
        for grids in (True, False)
    ]


def bar(effects: Sequence[Effect], units: Units) -> str:
    """Whether ICL+ is as good as asked for; a sentence for each of the methods compared."""
    sentences = []
    for one in effects:
        if one.choice.subject != METHOD or one.choice.method != "icl-plus":
            continue
        part = share(pairs(one.choice, units, "cmse"))
        reached = part.high <= LESS and one.nad.size <= 0
        sentences.append(
            f"{one.choice.name} has {part.size:.2f} ({part.low:.2f} to {part.high:.2f}) of "
            f"{one.choice.against}'s CMSE, with a NAD of {one.nad.size:+.3f}. The bar, at most "
            f"{LESS} at no higher NAD, is {'reached' if reached else 'not reached'}."
        )
    return " ".join(sentences)


COLUMNS = ("world", "choice", "expert", "spent", "cmse", "nad")


def csv(units: Units) -> str:
    """All that was measured, a row for each run."""
    rows = [
        (world, name, *(run[key] for key in COLUMNS[2:]))
        for (world, name), unit in sorted(units.items())
        for run in unit["runs"]
    ]
    text = StringIO()
    writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    return text.getvalue()


def read_csv(text: str) -> Units:
    """The inverse of `csv`."""
    found: dict[tuple[str, str], dict[str, list]] = {}
    for row in DictReader(StringIO(text)):
        run = {key: float(row[key]) if row[key] else None for key in COLUMNS[3:]}
        unit = found.setdefault((row["world"], row["choice"]), {"runs": []})
        unit["runs"].append({"expert": int(row["expert"]), **run})
    return found


def table(choices: Sequence[Choice], units: Units) -> str:
    """The page of what was measured."""
    effects = [effect(one, units) for one in choices if one.name != one.against]
    worlds = {world for world, _ in units}
    experts = {run["expert"] for unit in units.values() for run in unit["runs"]}
    whole = f"{len(worlds)} worlds, {len(experts)} experts each; none of them is the paper's."
    return page(effects, units, whole)
