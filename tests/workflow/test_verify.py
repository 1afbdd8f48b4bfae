"""`icl verify` and `make publish`: what is damaged, misplaced or of other settings is refused."""

import shutil
from pathlib import Path

import pytest

from icl_core.errors import InputError
from tests.workflow.conftest import Checkout
from tests.workflow.test_program import icl, lines
from workflow.lib import publish
from workflow.program.verify import count, damaged

ROOT = Path(__file__).parents[2]
RUN = "runs/gridworld-a/icl/seeds-1-2"


def test_a_finished_run_passes_and_is_made_again_with_the_same_bytes(finished):
    files, stale, again = lines(finished, "verify", "--scale", "smoke")
    checked = count(finished.path / "results/smoke")
    assert files == f"{checked} files, 0 damaged or not where they belong"
    assert stale == "0 jobs missing or stale"
    assert again == "48 items made again, 0 differ"


def flip(path):
    content = path.read_bytes()
    path.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])


def exchange(path):
    shutil.copy2(str(path).replace("gridworld-a", "gridworld-b"), path)


@pytest.mark.parametrize(
    ("file", "damage", "word"),
    [
        (f"{RUN}/final/constraint.safetensors", flip, "checksum"),
        (f"{RUN}/metrics.parquet", flip, "checksum"),
        (f"{RUN}/density.safetensors", exchange, "found density (experiment gridworld-b"),
        ("figures/figure-16-constraint-gridworld-a.svg", flip, "was written for"),
        ("tables/table-01-cmse.csv", flip, "was written for"),
        ("claims.md", flip, "was written for"),
        ("report.html", flip, "was written for"),
        ("benchmarks/expert/gridworld-a/seeds-1-2.tsv", flip, "checksum"),
        ("recordings/highd/csv/01_tracks.csv", flip, "was written for"),
    ],
)
def test_what_is_wrong_is_one_sentence(finished, tmp_path, file, damage, word):
    results = shutil.copytree(finished.path / "results", tmp_path / "results") / "smoke"
    damage(results / file)
    (line,) = damaged(results)
    assert line.startswith(str(results / file))
    assert word in line


def test_results_of_other_settings_are_not_published(editable, monkeypatch):
    """Tables of settings would show today's beside numbers of others."""
    change = {"icl": {"adjustment": {"penalty": 99.0}}}
    editable.configure(lambda c: c.update(learning=change))
    monkeypatch.chdir(editable.path)
    with pytest.raises(InputError) as error:
        publish.check_settings("smoke")
    assert "learning.icl.adjustment.penalty 15 -> 99" in str(error.value)


def test_what_is_published_is_whole():
    done = icl(Checkout(ROOT), "verify", "docs/results")
    assert done.returncode == 0, done.stdout
    assert "0 others" in done.stdout
