"""What the suite has measured is published, and the methods follow it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from develop import effects
from develop.choices import CHOICES, CHOSEN, STARTS
from icl_core.settings import merge
from tests.decisions import listed_sources

PUBLISHED = Path(__file__).parents[2] / "docs/development"


@pytest.fixture(scope="module")
def units():
    return effects.read_csv((PUBLISHED / "runs.csv").read_text("utf-8"))


def test_the_table_is_that_of_its_runs(units):
    assert effects.table(CHOICES, units) == (PUBLISHED / "effects.md").read_text("utf-8")


@pytest.mark.parametrize("method", STARTS)
def test_a_method_starts_with_what_the_table_chose_and_nothing_else(units, method):
    own = [one for one in CHOICES if one.method == method]
    found = effects.chosen([effects.effect(one, units) for one in own if one.name != one.against])
    wanted = STARTS[method]
    for one in own:
        if found.get(one.subject) == one.name:
            wanted = merge(wanted, changed(STARTS[method], one.changes))
    assert merge(STARTS[method], CHOSEN[method]) == wanted


def changed(start: Mapping, new: Mapping) -> dict:
    """What is not as at the start."""
    return {
        key: changed(start.get(key, {}), value) if isinstance(value, Mapping) else value
        for key, value in new.items()
        if start.get(key) != value
    }


def leaves(tree: Mapping, place: str) -> Iterator[str]:
    for key, value in tree.items():
        name = f"{place}.{key}"
        yield from leaves(value, name) if isinstance(value, Mapping) else [name]


def test_settings_that_are_said_to_be_chosen_here_are_those_that_it_varies():
    said = {key for key, source in listed_sources().items() if source == "suite"}
    varied = {
        leaf
        for one in CHOICES
        for leaf in leaves(changed(STARTS[one.method], one.changes), f"learning.{one.method}")
        if one.subject != effects.METHOD
    }
    assert said == varied
