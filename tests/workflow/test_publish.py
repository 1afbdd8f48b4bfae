"""What is published: all that is finished, nothing else, and why the rest is missing."""

import csv
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from icl_core.artifacts import SIMULATED, SOURCE, of_files, write_table, write_tensors
from icl_core.errors import InputError
from icl_core.job_times import Record, write_time
from icl_core.layout import path
from icl_core.measuring.claims.evaluate import as_markdown
from icl_core.showing.item import read_items
from icl_core.using.constraint import Constraint
from tests.showing.page.made_up import claims, make_results
from tests.using.some import constraint as some_constraint
from workflow.lib import publish
from workflow.lib.configuration import read_configuration
from workflow.lib.plan import Plan
from workflow.lib.publish import picture, replace_folder
from workflow.lib.publishing import making

ROOT = Path(__file__).parents[2]
# With ICL on Gridworld (A) and GAIL-Constraint on CartPole (MR) alone: figures of one of them,
# and what has room for both. No sweep, no driving, no ICRL.
TABLES = {"01", "01b", "01c", "01d", "02", "02b", "07", "08", "10", "12"}
FIGURES = {"01", "03", "04", "12", "16", "16b", "17", "20", "21"}
JOB = "icl_adjust/gridworld-a/icl/seeds-1-2/iteration-01"


def learn(root, experiment, method, provenance=None):
    """What a finished run leaves, as far as publishing reads it."""
    run = {"experiment": experiment, "method": method, "group": "1-2"}
    made = provenance or {"code": "0ld", "seeds": [1, 2], "packages": {"numpy": "1.0"}}
    results = root / "results/quick"
    write_table(results / path("run_metrics", **run), pa.table({"value": [0.1]}), made)
    write_tensors(results / path("constraint", **run), {"a": np.zeros(1)}, made)
    some_constraint("gridworld-a", (1, 2), about=made).save(
        results / path("portable_constraint", **run)
    )


@pytest.fixture
def root(tmp_path):
    """The code of this repository with made-up results: files of all items, two runs finished."""
    root = tmp_path / "checkout"
    root.mkdir()
    for part in ("config.yaml", "icl_core", "workflow"):
        (root / part).symlink_to(ROOT / part)
    (root / "docs").mkdir()
    (root / "docs/claims.yaml").symlink_to(ROOT / "docs/claims.yaml")
    results = root / "results/quick"
    make_results(results)
    learn(root, "gridworld-a", "icl")
    learn(root, "cartpole-mr", "gail-constraint")
    (results / "runs/gridworld-a/icrl").mkdir()
    (results / "claims.md").write_text(as_markdown(claims(), "quick"))
    (results / "claims.csv").write_text("id\n")
    described = of_files(results / "claims.parquet", results.glob("claims.[mc]*"))
    write_table(results / "claims.parquet", claims(), described)
    write_table(results / "metrics.parquet", claims(), {"code": "c0de", "inputs": {"one": "ab"}})
    for job, seconds in ((JOB, 8.0), ("table/table-01", 9)):
        path = results / "benchmarks" / f"{job}.tsv"
        path.parent.mkdir(parents=True)
        write_time(path, Record(seconds, 10.0, ""))
    return root


def published(root, output="docs/results"):
    publish.publish(root, "quick", root / output)
    folder = root / output
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_finished_is_published_and_nothing_else(root):
    files = published(root)
    kinds = [re.match(r"(table|figure)s/\1-(\d+[a-z]?)", name) for name in files]
    found = {(match[1], match[2]) for match in kinds if match}
    assert found == {("table", n) for n in TABLES} | {("figure", n) for n in FIGURES}
    runs = {
        "gridworld-a-icl": "gridworld-a/icl",
        "cartpole-mr-gail-constraint": "cartpole-mr/gail-constraint",
    }
    original_of = {
        f"constraints/{name}.safetensors": f"constraints/{run}/seeds-1-2.safetensors"
        for name, run in runs.items()
    }
    assert {name for name in files if name.startswith("constraints/")} == original_of.keys()
    for name, content in files.items():
        original = root / "results/quick" / original_of.get(name, name.removeprefix("run/"))
        if name not in ("README.md", "provenance.md", "cpu-seconds.csv", "files.json"):
            assert content == original.read_bytes()
    rows = list(csv.reader(files["cpu-seconds.csv"].decode().splitlines()))
    assert rows[1:] == [
        ["icl_adjust/gridworld-a/icl", "1", "8.0", "10.0"]
    ]  # drawing does not count


def test_a_published_constraint_is_used_in_one_line(root):
    published(root)
    learned = Constraint.load(root / "docs/results/constraints/gridworld-a-icl.safetensors")
    expected = some_constraint("gridworld-a", (1, 2)).predict([1.0, 2.0], 3)
    assert learned.predict([1.0, 2.0], 3) == expected
    assert learned.about["artifact"]["experiment"] == "gridworld-a"


def test_a_damaged_constraint_is_not_published(root):
    run = {"experiment": "gridworld-a", "method": "icl", "group": "1-2"}
    file = root / "results/quick" / path("portable_constraint", **run)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"seeds-1-2\.safetensors: expected a complete"):
        published(root)


@pytest.mark.parametrize("source", [SIMULATED, "HighD 1.0"])
def test_an_animation_of_real_traffic_is_not_published(root, source):
    results = root / "results/quick"
    (results / "figures/highd.gif").write_bytes(b"vehicles")
    scene = pa.table({"x": [0.0]}).replace_schema_metadata({SOURCE: source})
    write_table(results / "recordings/highd/scene.parquet", scene, {})
    assert ("figures/highd.gif" in published(root)) == (source == SIMULATED)


def test_the_page_shows_everything_and_says_what_is_missing_and_why(root):
    files = published(root)
    text = files["README.md"].decode()
    assert "1 reproduced, 1 not reproduced, 1 not run of 3." in text
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert set(links) <= set(files)
    assert {name for name in files if "/" in name and not name.startswith("run/")} <= set(links)
    for item in (item for item in read_items() if item.id in ("table-01", "figure-16")):
        assert item.caption in text
        assert (
            f"`snakemake --cores 1 --config scale=quick -- results/quick/{item.outputs[0]}`" in text
        )
    assert "| gridworld-a | ICRL | begun, not finished |" in text
    assert "| gridworld-b | ICL | not begun |" in text
    assert "| gridworld-a | ICL |" not in text
    assert "| Figure 2 | Constraint function, HighD | not finished: highd |" in text
    assert (
        "| Figure 8 | Thresholds, Gridworld (A) | not finished: ICL on gridworld-a-beta-299" in text
    )
    assert "| Table 13 | What networks of several widths can hold | not fitted: networks" in text
    assert "a sketch" in text  # scale quick must not pass for the paper's
    assert "numpy 1.0 and 2.4" in text  # the runs' and the items'
    assert "summary.md" not in text  # there is none


def test_provenance_names_code_and_files(root):
    plan = Plan(read_configuration(ROOT, "quick"), ROOT)
    code = plan.code_of_method("icl", "gridworld-a")
    own = {"code": code, "seeds": [1]}
    learn(root, "gridworld-a", "icl", own)
    text = published(root)["provenance.md"].decode()
    assert f"| gridworld-a | ICL | 1 | `{code[:12]}` | the same |" in text
    assert (
        "| cartpole-mr | GAIL-Constraint | 1, 2 | `0ld` | another, not shown to be equal |" in text
    )
    number = re.search(r"\| (\d+) \| results/quick/for-figure-16 \| `abababababab` \|", text)[1]
    assert f"| Figure 16 | `c0de` | {number} |" in text


def test_code_that_was_shown_to_be_equal_is_said_to_give_the_same_numbers(root):
    code = "e9a1" * 16
    learn(root, "gridworld-a", "icl", {"code": code, "seeds": [1]})
    learn(root, "cartpole-mr", "gail-constraint", {"code": "ff" * 32, "seeds": [1]})
    line = f"| gridworld-a | ICL | 1 | `{code[:12]}` | "
    folder = root / "docs/results"
    folder.mkdir(parents=True)
    equal = folder / making.EQUAL_CODE
    for text in ("", "code,shown_by\n"):  # nothing was shown
        equal.write_text(text)
        assert (
            f"{line}another, not shown to be equal |" in published(root)["provenance.md"].decode()
        )
    for digest in (code, code[:12]):  # as a file says it, or as the page does
        equal.write_text(f"code,shown_by\n{digest},abc1234\n")
        files = published(root)
        text = files["provenance.md"].decode()
        assert f"{line}the same numbers |" in text
        assert "| GAIL-Constraint | 1 | `ffffffffffff` | another, not shown to be equal |" in text
        assert "`equal-code.csv` names the commit that shows it" in text
        assert files["equal-code.csv"] == equal.read_bytes()  # kept
    for wrong in ("code\na\n", f"code,shown_by\n{code},\n", "code,shown_by\ne9,abc1234\n"):
        equal.write_text(wrong)
        with pytest.raises(
            InputError, match=r"equal-code\.csv: expected the columns code, shown_by"
        ):
            published(root)


def test_equal_results_give_equal_bytes_and_leftovers_go(root):
    first = published(root)
    assert published(root, "docs/again") == first
    folder = root / "docs/results"
    (folder / "summary.md").write_text("By hand.")
    (folder / "old").mkdir()
    (folder / "old/figure.svg").write_text("no longer made")
    second = published(root)
    assert second.pop("summary.md") == b"By hand."
    assert b"(summary.md)" in second.pop("README.md")
    assert second.keys() == first.keys() - {"README.md"}
    assert not (folder / "old").exists()


def test_without_a_run_there_is_one_sentence(tmp_path, root):
    with pytest.raises(InputError, match="expected at least one finished run"):
        publish.publish(tmp_path, "paper", tmp_path / "docs")
    (root / "results/quick/claims.md").unlink()
    with pytest.raises(InputError, match=r"claims\.md: expected the verdicts"):
        published(root)


def test_too_much_is_refused_before_anything_is_touched(tmp_path):
    (tmp_path / "kept.md").write_text("as it was")
    with pytest.raises(InputError, match=r"at most 1e-05 MB, found 0\.0 MB, .* are large\.svg"):
        replace_folder(tmp_path, {"large.svg": b"a" * 20, "small": b"b"}, limit=10)
    assert os.listdir(tmp_path) == ["kept.md"]


def test_a_large_figure_is_published_as_a_smaller_png(tmp_path):
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    Image.new("RGB", (2000, 500)).save(png)
    svg.write_bytes(b"s" * 300_001)
    kind, content = picture(svg, png)
    (tmp_path / "b.png").write_bytes(content)
    with Image.open(tmp_path / "b.png") as image:
        assert (kind, image.size) == ("png", (1400, 350))
    svg.write_bytes(b"s" * 300_000)
    assert picture(svg, png) == ("svg", b"s" * 300_000)


def test_the_commit_is_that_of_the_code(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    for name in ("config.yaml", "README.md"):
        (tmp_path / name).write_text("text")
        git("add", name)
        git("commit", "-qm", name)
    code = git("rev-parse", "HEAD~1")
    assert making.commit(tmp_path) == f"`{code}`"
    (tmp_path / "config.yaml").write_text("other")
    assert making.commit(tmp_path) == f"`{code}`, with uncommitted changes"


def test_the_rules_that_show_are_rules_and_none_of_them_learns():
    files = {file.stem: file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk")}
    files["all"] = (ROOT / "Snakefile").read_text()
    home = {
        rule: file
        for file, text in files.items()
        for rule in re.findall(r"^rule (\w+):", text, re.M)
    }
    assert {home[rule] for rule in publish.RULES} == {"all", "measuring", "showing"}
    assert set(making.SHOWING) < set(publish.RULES)
    assert "metrics" not in publish.RULES  # what was measured stays as it was


def test_only_what_is_finished_is_planned(checkout):
    """A dry run over empty files: ICL on Gridworld (A) is finished, and its demonstrations are."""
    results = checkout.path / "results/smoke"
    run = {"experiment": "gridworld-a", "method": "icl", "group": "1-2"}
    done = ("constraint", "policy", "selections", "training")
    done += ("evaluation", "run_metrics", "portable_constraint")
    each = ("iteration_constraint", "iteration_policy", "iteration_training", "adjustment")
    files = [path(kind, **run) for kind in done]
    files += [path(kind, **run, iteration=f"{i:02d}") for i in range(3) for kind in each]
    files += [
        path(kind, experiment="gridworld-a", group="1-2")
        for kind in ("expert_training", "expert_policy", "demonstrations")
    ]
    rules = ("icl_density", "icl_initial_constraint", "icl_select")
    files += [path("job_time", rule=rule, **run) for rule in rules]
    files += [
        path("iteration_time", rule=rule, **run, iteration=iteration)
        for rule in ("icl_policy", "icl_adjust")
        for iteration in ("01", "02")
    ]
    for name in files:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).touch()
    given = ("--config", "scale=smoke", "only_finished=True", "--allowed-rules", *publish.RULES)
    jobs = checkout.planned(*given, "--", "all")
    assert jobs == {
        "determine": 1,
        "collect_metrics": 1,
        "figure": len(FIGURES - {"20", "21"}),
        "table": len(TABLES - {"08"}),
    }
