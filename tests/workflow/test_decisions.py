"""docs/decisions.md says of every setting where its value comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from workflow.lib import settings_page

ROOT = Path(__file__).parents[2]
SOURCES = {"paper", "code", "suite", "seen", "unseen", "none"}
# What an experiment is, and no setting of it.
STRUCTURE = {"environment", "methods", "demonstrations_of"}


def _listed() -> dict[str, str]:
    """Where each key of the list comes from; a key that stands there twice is an error."""
    text = (ROOT / "docs/decisions.md").read_text("utf-8")
    rows = text.split("## Where every value comes from")[1].split("\n## ")[0]
    found: dict[str, str] = {}
    for row in re.findall(r"^\| (`.*|\(top\).*) \|$", rows, re.M):
        below, keys, source, _ = (cell.strip() for cell in row.split("|"))
        for place in re.findall(r"`(.+?)`", below) or [""]:
            for key in re.findall(r"`(.+?)`", keys):
                name = f"{place}.{key}".strip(".")
                assert name not in found, f"{name} stands there twice"
                found[name] = source
    return found


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
    listed, known = set(_listed()), _declared() | _changed()
    assert sorted(known - listed) == []
    assert sorted(listed - known) == []


def test_sources_are_those_that_the_page_explains():
    assert set(_listed().values()) <= SOURCES
