"""The blocks of docs/tutorial.md, run in their order; its pictures, its numbers and its notebook.

python -m tests.tutorial    writes docs/images/tutorial-*.png and docs/tutorial.ipynb, and prints
                            what the blocks print (make tutorial)
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE, NOTEBOOK = ROOT / "docs/tutorial.md", ROOT / "docs/tutorial.ipynb"
PICTURES = {"constraint.png": ROOT / "docs/images/tutorial-constraint.png"}
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> list[str]:
    """The code of a page, block by block."""
    return _BLOCK.findall(text)


def run(text: str, folder: Path, smaller: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Run all blocks in a folder, with some words replaced; what they print, and their names."""
    code = blocks(text)
    for word, other in smaller.items():
        assert any(word in one for one in code), word
        code = [one.replace(word, other) for one in code]
    names: dict[str, Any] = {"__name__": "tutorial"}
    said, before = io.StringIO(), os.getcwd()
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(said):
            for number, one in enumerate(code, start=1):
                exec(compile(one, f"{PAGE.name}, block {number}", "exec"), names)
    finally:
        os.chdir(before)
    return said.getvalue(), names


def notebook(text: str) -> str:
    """The page as a Jupyter notebook: text and code in turn, nothing run."""
    cells = []
    for number, part in enumerate(_BLOCK.split(text)):
        source = part.strip("\n")
        if source:
            cells.append(_cell(number, "code" if number % 2 else "markdown", source))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    page = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(page, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    own = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"part-{number}", "metadata": {}, "source": lines, **own}


def main() -> None:
    """Write what follows from the page."""
    text = PAGE.read_text(encoding="utf-8")
    NOTEBOOK.write_text(notebook(text), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        said, _ = run(text, Path(folder), {})
        for name, place in PICTURES.items():
            shutil.copy(Path(folder, name), place)
    print(said)


if __name__ == "__main__":
    sys.exit(main())
