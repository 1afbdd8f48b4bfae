"""Tables of settings, times and architectures show what was really run."""

import csv
import re

import pytest

from icl_core.layout import path
from icl_core.measuring.results import Results
from icl_core.showing.numbers import duration
from icl_core.showing.paper import COMMON
from icl_core.showing.save import show
from icl_core.showing.settings_table import flattened
from icl_core.showing.tables import settings as settings_tables
from icl_core.showing.tables import settings_icl_plus, times_and_bounds
from tests.fake_results import CONFIG, EXPERIMENTS, TITLES, settings_of, world_of
from tests.showing.conftest import ITEMS
from tests.worlds import SYNTHETIC
from workflow.lib.configuration import resolve

TABLES = [name for name, item in ITEMS.items() if item.kind == "table"]
OF_METHODS = (
    "gail_constraint_table",
    "icrl_table",
    "icl_table",
    "icl_lagrange_table",
)


def made(name, results, folder):
    """The rows of a table's CSV, and its text."""
    show(ITEMS[name], results, [folder / "t.csv", folder / "t.md"])
    with open(folder / "t.csv", newline="") as file:
        return list(csv.DictReader(file)), (folder / "t.md").read_text()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_made_and_its_lines_are_of_one_width(name, results, tmp_path):
    rows, text = made(name, results, tmp_path)
    assert text.startswith("# ") and "quick" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    assert rows


def test_settings_are_those_of_the_run_with_the_papers_beside(results, tmp_path):
    rows, text = made("table-10-settings-icl", results, tmp_path)
    found = {(row["key"], row["experiment"]): row for row in rows}
    epochs = found["learning.icl.constrained_rl.epochs", "cartpole-mr"]
    assert (epochs["ours"], epochs["paper"], epochs["same"]) == ("65", "300", "no")
    beta = found["world.threshold", "cartpole-mid"]
    assert (beta["ours"], beta["paper"], beta["same"]) == ("30", "30", "yes")
    bound = found["learning.icl.adjustment.max_agent_cost", "gridworld-a"]
    assert (bound["ours"], bound["paper"]) == ("0", "")
    assert "| 65 (paper: 300) |" in text and "**" not in text  # bold is the lowest mean
    assert text.index("soft loss weight") < text.index("not in the paper") < text.index("max_agent")


@pytest.mark.parametrize("name", ["gridworld-a", "exid"])
def test_no_setting_is_left_out(results, name):
    """Whatever the configuration sets stands in one of the tables, for each method that uses it."""
    tables = [
        getattr(settings_tables, function)(results, [name])
        for function in ("common_table", *OF_METHODS)
    ]
    tables.append(settings_icl_plus.draw(results, [name]))
    shown = {row[1] for table in tables for row in table.rows}
    shown |= {path for line in COMMON for path in line.paths}  # methods may share a line
    settings = flattened(settings_of(EXPERIMENTS[name]))
    apart = {"methods", "learning.threshold"}  # the columns; shown as the world's threshold
    kinds = r"^(demonstrations|learning\.icl-plus)\."
    twins = {path: re.sub(kinds, "learning.icl.", path) for path in settings}
    as_learners = {
        path
        for path, twin in twins.items()
        if path != twin and twin in settings and settings[twin] == settings[path]
    }
    assert set(settings) - shown <= apart | as_learners
    assert "demonstrations.constrained_rl.epochs" in shown  # which differs
    assert ITEMS["table-07-settings-common"].shows_settings


def test_what_methods_share_is_that_of_the_procedure_that_was_run(results):
    """Table 7 shows PPO-Lagrange's settings where PPO-Lagrange was run."""
    table = settings_tables.common_table(results, ["gridworld-a", "ant", "exid"])
    rows = {(row[0], row[2]): row for row in table.rows}
    label = "minibatch, ICL"
    assert rows[label, "gridworld-a"][1] == "learning.icl.constrained_rl.penalty.ppo.batch"
    assert rows[label, "ant"][1] == "learning.icl.constrained_rl.lagrangian.on_policy.batch"
    assert [rows[label, name][3] for name in ("gridworld-a", "ant", "exid")] == ["64", "500", "250"]
    layers = "policy and value layers, ICL"
    assert rows[layers, "gridworld-a"][3] == "64, 64 (ReLU)"
    assert rows[layers, "ant"][3] == "64, 64 (tanh)"
    assert rows["PPO updates per epoch, ICL", "ant"][3] == "10 passes over all steps"


def test_baselines_that_differ_are_both_shown_and_what_was_not_run_is_a_dash(results):
    mine = settings_of(EXPERIMENTS["gridworld-a"])
    on_policy = {**mine["learning"]["icrl"]["on_policy"], "clip": 0.3}
    mine["learning"]["icrl"] = {**mine["learning"]["icrl"], "on_policy": on_policy}
    alone = settings_of(EXPERIMENTS["gridworld-b"])
    del alone["learning"]["icrl"], alone["learning"]["gail-constraint"]
    given = {"gridworld-a": mine, "gridworld-b": alone}
    run = Results("quick", results.worlds, (), TITLES, given)
    rows = {(row[0], row[2]): row for row in settings_tables.common_table(run, list(given)).rows}
    assert rows["PPO clip, baselines", "gridworld-a"][3:] == ("0.1 / 0.3", "0.1", "no")
    assert rows["PPO clip, baselines", "gridworld-b"][3:] == ("-", "0.1", "")


def test_a_paper_scale_run_differs_from_the_paper_only_where_decisions_say():
    """The lines that the paper lists and we changed, at paper scale."""
    experiments = resolve(CONFIG).experiments
    run = Results(
        "paper",
        {name: world_of(experiments[name]) for name in SYNTHETIC},
        (),
        TITLES,
        {name: settings_of(experiments[name], seeds=(1, 2, 3, 4, 5)) for name in SYNTHETIC},
    )
    different = set()
    for function in ("common_table", *OF_METHODS[:3]):
        table = getattr(settings_tables, function)(run, SYNTHETIC)
        different |= {row[1] for row in table.rows if row[5] == "no"}
    assert different == {
        "learning.gail-constraint.on_policy.hidden",  # tanh; ICRL's are the same
        "learning.gail-constraint.on_policy.passes",  # passes, not minibatches
        "learning.icl.adjustment.steps",
        "",  # ICRL's evaluation episodes
    }


def test_times_are_sums_over_jobs_per_seed(results, tmp_path):
    rows, text = made("table-12-training-times", results, tmp_path)
    found = {(row["experiment"], row["method"]): row for row in rows}
    assert len(found) == 8 * 4  # environments and methods
    icl = found["gridworld-a", "icl"]
    # density, initial constraint, selection; two for each of three iterations; two groups
    jobs = 2 * (3 + 2 * 3)
    assert float(icl["cpu_seconds_per_seed"]) == jobs * 8 / 3
    assert float(icl["wall_seconds_per_seed"]) == jobs * 10 / 3
    assert float(icl["paper_seconds"]) == 76 * 60
    assert float(icl["paper_over_ours"]) == pytest.approx(76 * 60 / 48)
    assert float(found["cartpole-mid", "icrl"]["cpu_seconds_per_seed"]) == 2 * 8 / 3
    # The experiment that never stops goes on from where its original has stopped; its jobs, and
    # those of the original but the policy at its end, are what all iterations take.
    whole = (jobs - 2 + jobs) * 8 / 3
    assert float(icl["all_iterations_cpu_seconds_per_seed"]) == pytest.approx(whole)
    assert float(icl["paper_over_all_iterations"]) == pytest.approx(76 * 60 / whole)
    assert "| Gridworld (A) | ICL | 48.0 s | 1.5 min | 1 h 16 min | 95 | 50 |" in text
    assert found["highd", "icl"]["all_iterations_cpu_seconds_per_seed"] == ""
    assert not [key for key in found if key[0].endswith("all-iterations")]
    assert "All iterations: the time of a variant of ICL that can never stop early." in text


def test_the_times_of_a_method_of_ones_own(tmp_path):
    world = world_of(EXPERIMENTS["gridworld-a"])
    job = {"experiment": "gridworld-a", "method": "mine", "group": "3-4"}
    file = tmp_path / path("job_time", rule="learn", **job)
    file.parent.mkdir(parents=True)
    file.write_text("s\tcpu_time\tnumbers\n4.0\t3.0\t\n")
    run = Results("quick", {"gridworld-a": world}, (str(file),), {**TITLES, "mine": "My method"})
    table = times_and_bounds.training_times_table(run, ("gridworld-a",))
    assert [row[:5] for row in table.rows] == [("gridworld-a", "mine", 2, 1.5, 2.0)]
    assert "| Gridworld (A) | My method | 1.5 s | - | - | - | - |" in table.markdown


def test_durations():
    found = [duration(s) for s in (4.5, 192, 26_100, 3600, 7199)]
    assert found == ["4.5 s", "3.2 min", "7 h 15 min", "1 h 0 min", "2 h 0 min"]


def test_architectures_stand_beside_the_papers(results, tmp_path):
    rows, text = made("table-14-architectures-depth", results, tmp_path)
    found = {(row["experiment"], row["architecture"]): row for row in rows}
    assert {key[1] for key in found} == {"a2", "b", "c2"}
    assert found["gridworld-b", "a2"]["paper_mean"] == "0.09"
    assert found["gridworld-b", "a2"]["steps"] == "1500"
    assert found["gridworld-b", "a2"]["early_steps"] == "1005"  # the first that was recorded
    assert "| Gridworld (B) | paper | 0.09 ± 0.01 | 0.00 ± 0.00 | 0.00 ± 0.00 |" in text
    assert "after 1,005 of 1,500 steps" in text


def test_tables_of_slips_show_icl_alone(results, tmp_path):
    rows, text = made("table-03-cmse-slip", results, tmp_path)
    assert {row["method"] for row in rows} == {"icl"}
    assert [row["paper_mean"] for row in rows if row["selection"] == "last"] == [
        "0.08",
        "0.02",
        "0.03",
        "0.08",
    ]
    assert "| Algorithm | From | p_slip = 0 | p_slip = 0.1 | p_slip = 0.3 | p_slip = 0.5 |" in text
