"""Put what a run has left into docs/results/, finished or not.

python -m workflow.lib.publish SCALE [CORES]

First everything is shown that has been learned so far (Snakemake, with `only_finished` and without
the rules that learn), then copied, with all that it is made from (`run/`, for `icl restore`).
Everything in the folder is replaced but what is written by hand: summary.md and equal-code.csv.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image

from icl_core.artifacts import read_content, write_record
from icl_core.disk import write_whole
from icl_core.errors import InputError
from icl_core.layout import path
from workflow.lib.absent import KEY, to_plain
from workflow.lib.publishing import kept, making, page
from workflow.lib.publishing.page import ANIMATION
from workflow.lib.publishing.run import Run, read_run
from workflow.program.jobs import Wanted, dry_run
from workflow.program.status import changed_settings

ROOT = Path(__file__).parents[2]
OUTPUT = Path("docs/results")
LIMIT = 40_000_000  # bytes of all files together: a clone should stay small
LARGE = 300_000  # bytes: a larger SVG is published as a PNG,
WIDTH = 1400  # pixels wide at most
SUMMARY = "summary.md"
BY_HAND = (SUMMARY, making.EQUAL_CODE)
MANIFEST = "files.json"  # the digests of all files but those, and the code of the runs
COPIED = ("claims.md", "claims.csv", "metrics.parquet")
# The rules that show. Without the others a job that learns cannot start, whatever was edited.
RULES = (
    *("all", "results", "report_page", "collect_metrics", "claims", "figure", "table"),
    *("animation", "determine"),
)


def show(scale: str, cores: int) -> None:
    """Make every figure, table and verdict that can be made of what is there."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "rules"]
    command += ["--config", f"scale={scale}", "only_finished=True", "--allowed-rules", *RULES]
    if subprocess.run([*command, "--", "all"], cwd=ROOT).returncode:
        raise InputError(f"results/{scale} could not be shown: see what Snakemake says above")


def check_settings(scale: str) -> None:
    """Stop where results were made with other settings than today's: tables would show these."""
    for job in dry_run(Wanted(scale)):
        changed = changed_settings(job) if job.rule not in RULES else []
        if changed:
            raise InputError(
                f"results/{scale}: expected results of today's configuration, found {job.title} "
                f"with {', '.join(changed)}; run `icl run --scale {scale}`, or take the change back"
            )


def check_learned(results: Path) -> None:
    """Stop where there is nothing to publish."""
    pattern = path("run_metrics", experiment="*", method="*", group="*")
    if not any(results.glob(pattern)):
        raise InputError(
            f"{results}: expected at least one finished run ({pattern}), found none; "
            "learn something first, e.g. with `make paper`"
        )


def publish(root: Path, scale: str, output: Path) -> int:
    """Copy the run of a scale into a folder; how many bytes it holds then."""
    check_learned(root / "results" / scale)
    run = read_run(root, scale)
    own = kept.kept(run)
    files = gather(run, output)
    files |= {f"{kept.RUN}/{name}": read_content(file) for name, file in own.items()}
    size = replace_folder(output, files)
    stated = {
        "scale": scale,
        "runs": making.codes(run),
        "dates": {name: int(file.stat().st_mtime) for name, file in own.items()},
        KEY: to_plain(kept.absent(run, own)),
    }
    write_record(output / MANIFEST, stated, [output / name for name in files])
    return size


def gather(run: Run, folder: Path) -> dict[str, bytes]:
    """Content by name; equal results give equal bytes. `folder` holds what was written by hand."""
    # The animation shows every vehicle in every frame: of real traffic, not ours to pass on.
    copied = (*COPIED, ANIMATION) if "highd" in run.simulated else COPIED
    found = {name: run.results / name for name in copied}
    files = {name: file.read_bytes() for name, file in found.items() if file.is_file()}
    pictures = {ANIMATION: ANIMATION} if ANIMATION in files else {}
    for item in run.items:
        if item.kind == "figure":
            suffix, content = picture(*(run.results / name for name in item.outputs))
            pictures[item.name] = f"figures/{item.name}.{suffix}"
            files[pictures[item.name]] = content
        else:
            files |= {name: (run.results / name).read_bytes() for name in item.outputs}
    files |= {name: file.read_bytes() for name, file in making.constraints(run).items()}
    texts = {
        "cpu-seconds.csv": _csv(making.COST_COLUMNS, making.costs(run.results)),
        "provenance.md": making.provenance_page(run, making.equal_codes(folder)),
        "README.md": page.readme(run, pictures, (folder / SUMMARY).is_file()),
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
    kept = [folder / name for name in BY_HAND if (folder / name).is_file()]
    size = sum(map(len, files.values())) + sum(file.stat().st_size for file in kept)
    if size > limit:
        largest = max(files, key=lambda name: len(files[name]))
        raise InputError(
            f"{folder}: expected at most {limit / 1e6:g} MB, found {size / 1e6:.1f} MB, of which "
            f"{len(files[largest]) / 1e6:.1f} MB are {largest}; publish smaller figures (LARGE "
            "and WIDTH in workflow/lib/publish.py), or let items read less"
        )
    for name, content in files.items():
        write_whole(folder / name, content)
    wanted = {*kept, *(folder / name for name in files)}
    for found in sorted(folder.rglob("*"), reverse=True):
        if found.is_dir() and not any(found.iterdir()):
            found.rmdir()
        elif found.is_file() and found not in wanted:
            found.unlink()
    return size


def _csv(columns: tuple, rows: list[tuple]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def main(arguments: Sequence[str]) -> int:
    """The command."""
    match list(arguments):
        case [scale]:
            cores = 1
        case [scale, given] if given.isdigit() and int(given):
            cores = int(given)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    try:
        check_learned(ROOT / "results" / scale)
        check_settings(scale)
        show(scale, cores)
        size = publish(ROOT, scale, ROOT / OUTPUT)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{OUTPUT}/README.md and what it shows: {size / 1e6:.1f} MB. Commit {OUTPUT}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
