"""What each choice changes, over worlds, and which values are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from develop.unit import Choice
from icl_core.measuring.claims.intervals import Estimate
from icl_core.measuring.transfer import student_interval
from icl_core.tables import markdown_rows

METRICS = ("cmse", "nad")
RULE = (
    "A choice replaces the default where its interval of CMSE lies below 0 and its mean of NAD is "
    "not above 0; of several for one subject, the one with the lowest mean of CMSE."
)


class Effect(NamedTuple):
    """A choice less the default: mean over worlds, with a 95 % interval, and how many worlds."""

    choice: Choice
    cmse: Estimate
    nad: Estimate
    worlds: int


def effect(choice: Choice, units: Mapping[tuple[str, str], Any], default: str) -> Effect:
    """Paired by world and expert; `units` are what was measured, by world and choice."""
    worlds = sorted(world for world, name in units if name == choice.name)
    pairs = [(units[world, default]["runs"], units[world, choice.name]["runs"]) for world in worlds]
    found = [_world_means(pairs, metric) for metric in METRICS]
    return Effect(choice, *map(_estimate, found), len(found[0]))


def _estimate(values: Sequence[float]) -> Estimate:
    return student_interval(values) if len(values) else Estimate(*[float("nan")] * 3)


def _world_means(pairs: Sequence[tuple[Any, Any]], metric: str) -> list[float]:
    """The mean difference over experts in each world; a run without a value has no pair."""
    means = []
    for before, after in pairs:
        both = zip(before, after, strict=True)
        values = [(a[metric], b[metric]) for b, a in both]
        differences = [new - old for new, old in values if new is not None and old is not None]
        if differences:
            means.append(float(np.mean(differences)))
    return means


def chosen(effects: Sequence[Effect]) -> dict[str, str]:
    """The choice for each subject, by `RULE`; "default" where none is better."""
    found = {}
    for subject in dict.fromkeys(one.choice.subject for one in effects):
        better = [
            one
            for one in effects
            if one.choice.subject == subject and one.cmse.high < 0 and one.nad.size <= 0
        ]
        best = min(better, key=lambda one: one.cmse.size, default=None)
        found[subject] = best.choice.name if best else "default"
    return found


def page(effects: Sequence[Effect], whole: str) -> str:
    """The table of effects and the chosen values, as Markdown."""
    lines = [["choice", "subject", "CMSE", "NAD", "worlds"], ["---"] * 5]
    for one in effects:
        numbers = [f"{e.size:+.3f} ({e.low:+.3f} to {e.high:+.3f})" for e in (one.cmse, one.nad)]
        lines.append([one.choice.name, one.choice.subject, *numbers, str(one.worlds)])
    picked = markdown_rows([["subject", "chosen"], ["---"] * 2, *chosen(effects).items()])
    return (
        f"# Development suite\n\n{whole} Each choice less the default: mean over worlds, with a "
        f"95 % t interval of the worlds' means.\n\n{markdown_rows(lines)}\n\n{RULE}\n\n{picked}\n"
    )


def csv(effects: Sequence[Effect]) -> str:
    """The same numbers, to be read by programs."""
    header = ["choice,subject,cmse,cmse_low,cmse_high,nad,nad_low,nad_high,worlds"]
    rows = [
        ",".join(map(str, [e.choice.name, e.choice.subject, *e.cmse, *e.nad, e.worlds]))
        for e in effects
    ]
    return "\n".join([*header, *rows]) + "\n"
