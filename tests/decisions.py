"""Reads the list in docs/decisions.md of where every value comes from."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def listed_sources() -> dict[str, str]:
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
