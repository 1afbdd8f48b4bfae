"""docs/decisions.md says of every setting where its value comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from tests.decisions import listed_sources
from workflow.lib import settings_page

ROOT = Path(__file__).parents[2]
SOURCES = {"paper", "code", "suite", "unseen", "none"}
# What an experiment is, and no setting of it.
STRUCTURE = {"environment", "methods", "demonstrations_of"}


def _leaves(tree: Mapping, place: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{place}.{key}")
        else:
            yield f"{place}.{key}"


def _declared() -> set[str]:
    # The last two tables describe the keys of experiments and variants themselves.
    page = settings_page.page().split("\n## An experiment")[0]
    return set(re.findall(r"^\| `([^`]+)`", page, re.M))


def _changed() -> set[str]:
    experiments = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))["experiments"]
    return {
        leaf
        for name, own in experiments.items()
        for leaf in _leaves(
            {key: own[key] for key in own if key not in STRUCTURE}, f"experiments.{name}"
        )
    }


def test_every_setting_has_a_source_and_every_row_a_setting():
    listed, known = set(listed_sources()), _declared() | _changed()
    assert sorted(known - listed) == []
    assert sorted(listed - known) == []


def test_sources_are_those_that_the_page_explains():
    assert set(listed_sources().values()) <= SOURCES
