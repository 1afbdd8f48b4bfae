"""The files of docs/results/: what is copied as it is, and what is written about it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

from icl_core.artifacts import atomic
from icl_core.errors import InputError
from workflow.lib.publishing import costs, making, page
from workflow.lib.publishing.page import ANIMATION
from workflow.lib.publishing.run import Run

LIMIT = 10_000_000  # bytes of all files together: a clone should stay small
LARGE = 300_000  # bytes: a larger SVG is published as a PNG,
WIDTH = 1400  # pixels wide at most
BY_HAND = "summary.md"
COPIED = ("claims.md", "claims.csv", "metrics.parquet")


def gather(run: Run, has_summary: bool) -> dict[str, bytes]:
    """Content by name; equal results give equal bytes."""
    # The animation shows every vehicle in every frame: of real traffic, not ours to pass on.
    copied = (*COPIED, ANIMATION) if "highd" in run.simulated else COPIED
    found = {name: run.results / name for name in copied}
    files = {name: path.read_bytes() for name, path in found.items() if path.is_file()}
    pictures = {ANIMATION: ANIMATION} if ANIMATION in files else {}
    for item in run.items:
        if item.kind == "figure":
            suffix, content = picture(*(run.results / path for path in item.outputs))
            pictures[item.name] = f"figures/{item.name}.{suffix}"
            files[pictures[item.name]] = content
        else:
            files |= {path: (run.results / path).read_bytes() for path in item.outputs}
    texts = {
        "cpu-seconds.csv": _csv(costs.COLUMNS, costs.by_kind(run.results)),
        "provenance.md": making.provenance_page(run),
        "README.md": page.readme(run, pictures, has_summary),
    }
    return files | {name: text.encode() for name, text in texts.items()}


def picture(svg: Path, png: Path) -> tuple[str, bytes]:
    """What shows a figure in few bytes: its kind and content."""
    if svg.stat().st_size <= LARGE:
        return "svg", svg.read_bytes()
    with Image.open(png) as image:
        smaller = image.convert("RGB")
        smaller.thumbnail((WIDTH, WIDTH * 10))
        content = io.BytesIO()
        smaller.save(content, "PNG", optimize=True)
    return "png", content.getvalue()


def replace_folder(folder: Path, files: Mapping[str, bytes], limit: int = LIMIT) -> int:
    """Make a folder hold these files, and what was written there by hand; its size in bytes."""
    kept = folder / BY_HAND
    size = sum(map(len, files.values())) + (kept.stat().st_size if kept.is_file() else 0)
    if size > limit:
        largest = max(files, key=lambda name: len(files[name]))
        raise InputError(
            f"{folder}: expected at most {limit / 1e6:g} MB, found {size / 1e6:.1f} MB, of which "
            f"{len(files[largest]) / 1e6:.1f} MB are {largest}; publish smaller figures (LARGE "
            "and WIDTH in workflow/lib/publishing/files.py)"
        )
    for name, content in files.items():
        with atomic(folder / name) as temporary:
            temporary.write_bytes(content)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and path != kept and path.relative_to(folder).as_posix() not in files:
            path.unlink()
    return size


def _csv(columns: tuple, rows: list[tuple]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()
