"""After an edit runs what it concerns, and nothing else."""

import os
import re
import resource
import time

import pytest

from icl_core.showing.item import read_items

EDIT = "\n\nEDITED = True\n"
CLAIM = """
- id: another
  statement: Something else is so.
  source: [Table 1]
  check: worse_than_constant
  experiments: [gridworld-a]
  arguments: {method: icl}
"""


# How many jobs are meant below: 8 experts and 2 recordings give 10 sets of demonstrations, from
# which 16 experiments learn by ICL, 7 of them in two iterations, the others in one. What four of
# them have learned is given to other agents.


def test_a_second_run_does_nothing_and_soon_knows(editable):
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = editable.snakemake("all")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Of CPU time: it does not depend on what else the machine is doing.
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 10
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_an_edited_figure_function_draws_its_figures(editable):
    editable.append("icl_core/showing/maps.py", EDIT)
    assert editable.planned() == {"figure": 14}
    # 1, 6, 6b, 7 to 9, 16, 16b, 17, 18, 18b, 19, and the two of ICL+


def test_an_edited_table_function_sets_its_tables(editable):
    editable.append("icl_core/showing/tables/results.py", EDIT)
    assert editable.planned() == {"table": 4}  # 1, 2, 5 and 6


def test_an_edited_flow_reruns_itself_and_what_follows(editable):
    editable.append("icl_core/learning/engine/density.py", EDIT)
    assert editable.planned() == {
        "icl_density": 10,
        "icl_adjust": 23,
        "icl_policy": 7,  # the second iterations
        "icl_select": 16,
        "learn": 2,  # ICL+ fits a density where it reweighs
        "metrics": 18,
        "collect_metrics": 1,
        "transfer": 4,
        "table": 14,  # 1 to 6, 1b to 1d, 2b, 2c, 3b, the times and transfers
        "figure": 27,  # all but the experts' training and the environments
    }


def test_an_edited_ppo_trains_everything_again(editable):
    editable.append("icl_core/learning/engine/ppo.py", EDIT)
    jobs = editable.planned()
    assert jobs["expert"] == 8
    assert jobs["icl_policy"] == 19  # four variants share the first policy of their original
    others = {"simulate_recordings", "read_recordings", "make_scene", "true_fit"}
    assert others.isdisjoint(jobs)


def test_an_edited_baseline_reruns_itself_and_what_follows(editable):
    editable.append("icl_core/learning/methods/icrl/algorithm.py", EDIT)
    assert editable.planned() == {
        "learn": 3,
        "metrics": 3,
        "collect_metrics": 1,
        "table": 12,  # 1 to 6, 1b to 1d, 2b, 3b and the times
        # the ablations', HalfCheetah's training; constraints and accruals of Gridworld (A), ExiD
        # and HalfCheetah
        "figure": 8,
    }


LEARNED = ("icl_density", "icl_policy", "icl_adjust", "icl_select", "learn")


def test_an_edited_reader_reads_again_and_simulates_nothing(editable):
    editable.append("icl_core/demonstrations/recordings/highd/reader.py", EDIT)
    jobs = editable.planned()
    of_highd = ("read_recordings", "make_scene", "replay_recordings", "animation")
    assert all(jobs[rule] == 1 for rule in (*of_highd, *LEARNED))
    assert not any(rule in jobs for rule in ("simulate_recordings", "expert", "true_fit"))


def test_an_edited_world_reruns_its_own_experiments(editable):
    editable.append("icl_core/environments/worlds/highd.py", EDIT)
    jobs = editable.planned()
    assert all(jobs[rule] == 1 for rule in ("replay_recordings", *LEARNED))
    assert not any(rule in jobs for rule in ("expert", "true_fit", "read_recordings"))


def test_more_reported_episodes_train_nothing(editable):
    editable.configure(
        lambda config: config["scales"]["smoke"].update(measuring={"report_episodes": 6})
    )
    jobs = editable.planned()
    assert jobs["metrics"] == 27
    assert not any(rule in jobs for rule in (*LEARNED, "expert"))


def test_a_moved_module_reruns_nothing(editable):
    """With all imports of it rewritten, and the order of imports changed by that."""
    old, new = "icl_core/learning/engine/networks.py", "icl_core/learning/stacked_networks.py"
    (editable.path / old).rename(editable.path / new)
    for path in editable.path.rglob("*.py"):
        text = path.read_text()
        moved = text.replace(
            "icl_core.learning.engine.networks", "icl_core.learning.stacked_networks"
        )
        if moved != text:
            path.write_text(moved)
    assert editable.planned() == {}


def test_error_texts_and_sentences_of_settings_rerun_nothing(editable):
    editable.edit("icl_core/learning/engine/rollouts.py", "cannot be true in", "must be false in")
    editable.edit("icl_core/learning/engine/ppo.py", "minibatches per epoch", "updates per epoch")
    assert editable.planned() == {}


# No job runs these: comments, what is only planned with, what people read, other entries.
WITHOUT_EFFECT = {
    "icl_core/learning/engine/density.py": "\n# a comment\n",
    "icl_core/showing/maps.py": "\n# a comment\n",
    "workflow/scripts/icl_density.py": "\n# a comment\n",
    "icl_core/learning/linear_program.py": EDIT,
    "icl_core/learning/methods/icl/algorithm.py": EDIT,
    "icl_core/environments/pictures/synthetic.py": EDIT,
    "icl_core/progress.py": EDIT,
    "icl_core/settings.py": EDIT,
    "icl_core/discovery.py": EDIT,
}


def test_what_no_job_runs_reruns_nothing(editable):
    for file, text in WITHOUT_EFFECT.items():
        editable.append(file, text)
    assert editable.planned() == {}


def test_edited_wrappers_train_the_agents_that_wear_them_again(editable):
    editable.append("icl_core/using/vector_wrappers.py", EDIT)
    assert editable.planned() == {"transfer": 4, "table": 1, "figure": 1}


def test_a_touch_reruns_nothing(editable):
    for pattern in ("results/smoke/**/*", "workflow/**/*", "icl_core/**/*", "config.yaml"):
        for path in editable.path.glob(pattern):
            # logs are no inputs, results are compared by content
            if path.is_file():
                os.utime(path)
    later = time.time() + 5
    os.utime(
        editable.path / "results/smoke/demonstrations/gridworld-a/seeds-1-2/trajectories.parquet",
        (later,) * 2,
    )
    assert editable.planned() == {}


FIGURES = [item for item in read_items() if item.kind == "figure"]


@pytest.mark.parametrize(("dpi", "rules"), [(150, {"figure": len(FIGURES)}), (300, {})])
def test_a_changed_setting_reruns_who_uses_it(editable, dpi, rules):
    editable.configure(lambda config: config.update(showing={"dpi": dpi}))
    assert editable.planned() == rules


def test_an_edited_caption_gives_a_new_page(editable):
    file = "icl_core/showing/figures/gridworlds.py"
    editable.edit(file, "Gridworld (A): the true", "More words: the true")
    done = editable.snakemake("--dry-run", "--quiet", "rules")
    assert "report_page" in done.stdout + done.stderr
    assert editable.planned() == {}


@pytest.mark.parametrize(
    "file", ["docs/claims.yaml", "icl_core/measuring/claims/checks/metrics.py"]
)
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
