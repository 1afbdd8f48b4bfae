"""How methods and experiments are written in figures and tables."""

from __future__ import annotations

from collections.abc import Iterable

from icl_core.measuring.results import Results


def in_order(results: Results, methods: Iterable[str]) -> list[str]:
    """The order of tables; methods that the run does not know come last, by name."""
    found = set(methods)
    known = [method for method in results.methods if method in found]
    return [*known, *sorted(found.difference(known))]


def column_title(results: Results, experiment: str) -> str:
    """The environment's title over the experiment that bears its name, else the experiment's."""
    world = results.worlds.get(experiment)
    return world.title if world is not None and world.name == experiment else experiment


def panel_titles(results: Results, experiment: str, methods: Iterable[str]) -> dict[str, str]:
    """Titles of panels by method, e.g. "ICL (beta=0.99)": only ICL is given the threshold."""
    beta = results.beta(experiment)
    return {
        method: results.title(method) + (rf" ($\beta={beta:g}$)" if method == "icl" else "")
        for method in methods
    }


def footer_of(results: Results, runs: dict) -> str:
    """Scale and seeds; `runs` holds an array by method, whose first axis are the runs."""
    return results.footer({results.title(method): len(found) for method, found in runs.items()})
