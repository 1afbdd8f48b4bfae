"""Tables of settings, times and architectures tell what was really run."""

import csv

import pytest

from icl_core.showing import settings_tables, training_times
from icl_core.showing.catalogue import CATALOGUE
from icl_core.showing.catalogue.item import SYNTHETIC
from icl_core.showing.show import show
from icl_core.showing.sources import Sources
from tests.showing.synthetic_results import EXPERIMENTS, make_results, told, world_of

METHODS = ("icl", "icrl", "gail-constraint")
TABLES = [
    name
    for name, item in CATALOGUE.items()
    if item.kind == "table" and set(item.experiments) & set(EXPERIMENTS)
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return make_results(tmp_path_factory.mktemp("results"), METHODS)


def made(name, sources, folder):
    """The rows of a table's CSV, and its text."""
    show(CATALOGUE[name], sources, [folder / "t.csv", folder / "t.md"])
    with open(folder / "t.csv", newline="") as file:
        return list(csv.DictReader(file)), (folder / "t.md").read_text()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_made_and_its_lines_are_of_one_width(name, sources, tmp_path):
    rows, text = made(name, sources, tmp_path)
    assert text.startswith("# ") and "quick" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    assert rows


def test_settings_are_those_of_the_run_with_the_papers_beside(sources, tmp_path):
    rows, text = made("table-10-settings-icl", sources, tmp_path)
    found = {(row["key"], row["experiment"]): row for row in rows}
    epochs = found["learning.constrained_rl.epochs", "cartpole-mr"]
    assert (epochs["ours"], epochs["paper"], epochs["same"]) == ("200", "300", "no")
    beta = found["world.threshold", "cartpole-mid"]
    assert (beta["ours"], beta["paper"], beta["same"]) == ("30", "30", "yes")
    bound = found["learning.adjustment.bound", "gridworld-a"]
    assert (bound["ours"], bound["paper"]) == ("3", "")
    assert "**200** (paper: 300)" in text
    assert text.index("soft loss weight") < text.index("not in the paper") < text.index("bound")


def test_no_setting_is_left_out(sources):
    """Whatever the configuration sets stands in one of the tables, for each method that uses it."""
    item = CATALOGUE["table-07-settings-common"]
    tables = [
        getattr(settings_tables, name)(sources, SYNTHETIC)
        for name in ("common_table", "gail_constraint_table", "icrl_table", "icl_table")
    ]
    shown = {row[1] for table in tables for row in table.rows}
    settings = settings_tables.flattened(told(EXPERIMENTS["gridworld-a"], METHODS))
    apart = {"methods", "learning.threshold"}  # the columns; told as the world's threshold
    lagrangian = {path for path in settings if ".constrained_rl.lagrangian." in path}
    twins = {path: path.replace("demonstrations.", "learning.") for path in settings}
    as_learners = {p for p, twin in twins.items() if p != twin and twin in settings}
    assert set(settings) - shown <= apart | lagrangian | as_learners
    assert "demonstrations.constrained_rl.epochs" in shown  # which differs
    assert item.told_settings


def test_a_paper_scale_run_differs_from_the_paper_only_where_decisions_say(sources):
    """The lines that the paper lists and we changed, at paper scale."""
    from icl_core.configuration import resolve
    from tests.test_configuration import CONFIG, SCHEMA

    experiments = resolve(CONFIG, SCHEMA).experiments
    paper = Sources(
        "paper",
        {name: world_of(experiments[name]) for name in SYNTHETIC},
        (),
        {n: {**told(experiments[n], METHODS), "seeds": [1, 2, 3, 4, 5]} for n in SYNTHETIC},
    )
    different = set()
    for name in ("common_table", "gail_constraint_table", "icrl_table", "icl_table"):
        table = getattr(settings_tables, name)(paper, SYNTHETIC)
        different |= {row[1] for row in table.rows if row[5] == "no"}
    assert different == {
        "learning.on_policy.hidden",  # tanh
        "learning.on_policy.passes",  # passes, not minibatches
        "learning.constrained_rl.feasibility_rate",
        "learning.adjustment.steps",
        "",  # ICRL's evaluation episodes
    }


def test_times_are_sums_over_jobs_per_seed(sources, tmp_path):
    rows, text = made("table-12-training-times", sources, tmp_path)
    found = {(row["experiment"], row["method"]): row for row in rows}
    assert len(found) == 8 * 3  # environments and methods
    icl = found["gridworld-a", "icl"]
    jobs = 3 + 2 * 3  # density, initial constraint, conclusion; two for each of three iterations
    assert float(icl["cpu_seconds_per_seed"]) == jobs * 8 / 2
    assert float(icl["wall_seconds_per_seed"]) == jobs * 10 / 2
    assert float(icl["paper_seconds"]) == 76 * 60
    assert float(icl["paper_over_ours"]) == pytest.approx(76 * 60 / 36)
    assert float(found["cartpole-mid", "icrl"]["cpu_seconds_per_seed"]) == 4.0
    assert "| Gridworld (A) | ICL | 36.0 s | 1 h 16 min | 127 |" in text


def test_a_job_too_short_to_be_looked_at_counts_its_wall_time(tmp_path):
    path = tmp_path / "benchmarks/icrl/gridworld-a/seeds-3-4.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("s\th:m:s\tcpu_time\n3.0\t0:00:03\tNA\n")
    sources = Sources("quick", {"gridworld-a": world_of(EXPERIMENTS["gridworld-a"])}, (str(path),))
    (row,) = training_times.training_times_table(sources, ("gridworld-a",)).rows
    assert row[:5] == ("gridworld-a", "icrl", 2, 1.5, 1.5)


def test_durations():
    found = [training_times.duration(s) for s in (4.5, 192, 26_100, 3600, 7199)]
    assert found == ["4.5 s", "3.2 min", "7 h 15 min", "1 h 0 min", "2 h 0 min"]


def test_architectures_stand_beside_the_papers(sources, tmp_path):
    rows, text = made("table-14-architectures-depth", sources, tmp_path)
    found = {(row["experiment"], row["architecture"]): row for row in rows}
    assert {key[1] for key in found} == {"a2", "b", "c2"}
    assert found["gridworld-b", "a2"]["paper_mean"] == "0.09"
    assert found["gridworld-b", "a2"]["steps"] == "1500"
    assert found["gridworld-b", "a2"]["early_steps"] == "1005"  # the first that was recorded
    assert "| Gridworld (B) | paper | 0.09 ± 0.01 | 0.00 ± 0.00 | 0.00 ± 0.00 |" in text
    assert "after 1,005 of 1,500 steps" in text


def test_tables_of_slips_show_icl_alone(sources, tmp_path):
    rows, text = made("table-03-cmse-slip", sources, tmp_path)
    assert {row["method"] for row in rows} == {"icl"}
    assert [row["paper_mean"] for row in rows] == ["0.08", "0.02", "0.03", "0.08"]
    assert "| Algorithm | From | p_slip = 0 | p_slip = 0.1 | p_slip = 0.3 | p_slip = 0.5 |" in text
