"""After an edit runs what it concerns, and nothing else."""

import os
import re
import time

import pytest

from tests.workflow.expected import Jobs

pytestmark = pytest.mark.xdist_group("smoke")  # one worker runs the workflow, once
EDIT = "\n\nEDITED = True\n"
CLAIM = """
- id: another
  statement: Something else is so.
  source: [Table 1]
  check: varies
  experiments: [gridworld-a]
  arguments: {metric: cmse, at_least: 0.1}
"""
JOBS = Jobs()


def test_a_second_run_does_nothing_and_soon_knows(finished):
    start = time.monotonic()
    done = finished.snakemake("all")
    assert time.monotonic() - start < 10
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_an_edited_figure_function_draws_its_figures(editable):
    editable.append("icl_core/showing/grid_maps.py", EDIT)
    # constraints and accruals of both grids, and the figures that draw maps like theirs
    assert editable.planned() == {"figure": 4 + 5}


def test_an_edited_sweep_draws_its_figures_alone(editable):
    editable.append("icl_core/showing/sweep_maps.py", EDIT)
    assert editable.planned() == {"figure": 3}


def test_an_edited_table_function_sets_its_tables(editable):
    editable.append("icl_core/showing/results_table.py", EDIT)
    assert editable.planned() == {"table": 4}


def test_an_edited_flow_reruns_itself_and_what_follows(editable):
    editable.append("icl_core/learning/flow.py", EDIT)
    jobs = editable.planned()
    assert {"expert", "initial_constraint", "gail_constraint", "icrl"}.isdisjoint(jobs)
    assert jobs["density"] == JOBS.densities
    assert jobs["conclude"] == jobs["metrics"] == JOBS.icl
    assert jobs["adjust"] == JOBS.iterations
    assert jobs["collect_metrics"] == 1
    assert jobs["table"] == JOBS.of_methods("table")


def test_an_edited_ppo_trains_everything_again(editable):
    editable.append("icl_core/learning/ppo.py", EDIT)
    jobs = editable.planned()
    assert jobs["expert"] == JOBS.experts
    assert (jobs["gail_constraint"], jobs["icrl"]) == (JOBS.gail, JOBS.icrl)
    assert jobs["constrained_rl"] == JOBS.iterations


def test_an_edited_baseline_reruns_itself_and_what_follows(editable):
    editable.append("icl_core/learning/icrl.py", EDIT)
    jobs = editable.planned()
    assert jobs == {
        **{"icrl": JOBS.icrl, "metrics": JOBS.icrl, "collect_metrics": 1},
        **{kind: JOBS.of_methods(kind) for kind in ("figure", "table")},
    }


def test_an_edited_fit_reruns_itself_and_its_tables(editable):
    editable.append("icl_core/learning/supervised.py", EDIT)
    assert editable.planned() == {"architecture": JOBS.fits, "table": 2}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("icl_core/learning/flow.py", "\n# a comment\n"),
        ("icl_core/showing/grid_maps.py", "\n# a comment\n"),
        ("workflow/scripts/density.py", "\n# a comment\n"),
        ("icl_core/learning/linear_program.py", EDIT),  # no stage imports it
        ("icl_core/environments/gym_adapter.py", EDIT),
        ("icl_core/progress.py", EDIT),
    ],
)
def test_what_no_stage_runs_reruns_nothing(editable, file, text):
    editable.append(file, text)
    assert editable.planned() == {}


def test_a_touch_reruns_nothing(editable):
    for pattern in ("results/smoke/**/*", "workflow/**/*", "icl_core/**/*", "config.yaml"):
        for path in editable.path.glob(pattern):
            # logs and benchmarks are no inputs, results are compared by content
            if path.is_file():
                os.utime(path)
    later = time.time() + 5
    os.utime(
        editable.path / "results/smoke/demonstrations/gridworld-a/trajectories.parquet",
        (later,) * 2,
    )
    assert editable.planned() == {}


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ("dpi: 300", "dpi: 150", {"figure": JOBS.items("figure")}),
        ("steps: 20}", "steps: 21}", {"architecture": JOBS.fits, "table": 2}),
        ("# How figures look.", "# Another comment.", {}),
    ],
)
def test_a_changed_setting_reruns_who_uses_it(editable, old, new, rules):
    editable.edit("config.yaml", old, new)
    assert editable.planned() == rules


def test_an_edited_caption_gives_a_new_page(editable):
    editable.append("workflow/report/figure-16.rst", "\nMore words.\n")
    done = editable.snakemake("--dry-run", "--quiet", "rules")
    assert "report_page" in done.stdout + done.stderr
    assert editable.planned() == {}


@pytest.mark.parametrize("file", ["docs/claims.yaml", "icl_core/measuring/claims/on_metrics.py"])
def test_an_edited_claim_gives_new_verdicts(editable, file):
    comment = EDIT if file.endswith(".py") else CLAIM
    editable.append(file, comment)
    done = editable.snakemake("--dry-run", "--quiet", "rules")
    assert "claims  " in done.stdout + done.stderr
    assert editable.planned() == {}


def test_the_page_holds_everything(finished):
    page = (finished.path / "results/smoke/report.html").read_text()
    for kind in ("figures/*.svg", "tables/*.csv"):
        for path in (finished.path / "results/smoke").glob(kind):
            assert f"results/smoke/{path.parent.name}/{path.name}" in page
    rows = (finished.path / "results/smoke/claims.csv").read_text().splitlines()
    assert {row.partition(",")[0] for row in rows[1:]} <= set(re.findall(r"claim-([\w-]+)", page))
