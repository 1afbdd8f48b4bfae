"""The blocks of docs/tutorial.md, run in their order; its pictures, its numbers and its notebook.

python -m tests.tutorial         the picture, the notebook, what the blocks print (make tutorial)
python -m tests.tutorial sweep   learns with other cost limits: the picture and the numbers of that
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

import numpy as np

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


LIMITS = (0.1, 0.3, 1.0, 3.0, 6.0, 12.0)
SWEEP = ROOT / "docs/images/tutorial-cost-limit.png"


def sweep() -> None:
    """What other cost limits lead to, on the page's robot and with its sizes."""
    import icl_core as icl

    names: dict[str, Any] = {"__name__": "tutorial"}
    for one in blocks(PAGE.read_text(encoding="utf-8"))[:2]:
        exec(one, names)
    shown, rows = names["demonstrations"], []
    for limit in LIMITS:
        sizes = {"constrained_rl": {"epochs": 100}, "loop": {"iterations": 3}}
        given = {"inputs": ["x", "y"], "cost_limit": limit, "settings": sizes}
        constraint = icl.ICLPlus("Robot-v1", shown, **given).learn().constraint
        rows.append(_means(limit, constraint, shown.trajectories()))
        print(json.dumps(rows[-1]), flush=True)
    draw_sweep(rows)


def _means(limit: float, constraint: Any, shown: Any) -> dict[str, Any]:
    """The mean of c in the disc and at the expert's steps, of each seed."""
    side = np.linspace(-1, 1, 41, dtype=np.float32)
    places = np.stack(np.meshgrid(side, side), axis=-1)
    disc = places[np.hypot(*np.moveaxis(places, -1, 0)) < 0.5]
    inside = constraint.predict_all(disc, np.zeros_like(disc))
    expert = constraint.predict_all(shown.states, shown.actions)[:, shown.mask]
    return {
        "beta": limit,
        "inside": inside.mean(axis=1).tolist(),
        "expert": expert.mean(axis=1).tolist(),
    }


def draw_sweep(rows: list[dict[str, Any]]) -> None:
    """Both of them over the cost limit: a line through the means, a dot for each seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from icl_core.showing.style import publication_style

    with publication_style():
        figure, axes = plt.subplots(figsize=(4.6, 2.7), layout="constrained")
        limits = [row["beta"] for row in rows]
        for name, label in (("inside", "in the disc"), ("expert", "at the expert's steps")):
            values = np.array([row[name] for row in rows])
            (line,) = axes.plot(limits, values.mean(axis=1), label=label)
            for seed in values.T:
                axes.plot(limits, seed, ".", color=line.get_color(), alpha=0.5)
        axes.set(xscale="log", xlabel="cost limit β", ylabel="mean of c", ylim=(0, 1))
        axes.legend(frameon=False)
        figure.savefig(SWEEP, dpi=200)


def main() -> None:
    """Write what follows from the page."""
    if sys.argv[1:] == ["sweep"]:
        return sweep()
    text = PAGE.read_text(encoding="utf-8")
    NOTEBOOK.write_text(notebook(text), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        said, _ = run(text, Path(folder), {})
        for name, place in PICTURES.items():
            shutil.copy(Path(folder, name), place)
    print(said)


if __name__ == "__main__":
    sys.exit(main())
