"""Training times: the jobs of a method added up, over the seeds that they really trained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icl_core.environments import make_world
from icl_core.job_times import Record, read_time
from icl_core.layout import groups_of, path
from icl_core.measuring.results import Results
from icl_core.measuring.times import Time, training_time

WORLDS = {"gridworld-a": make_world("gridworld-a")}
ICL = {"experiment": "gridworld-a", "method": "icl"}


def write_time(root, kind, cpu="2.0", wall="4.0", **fields):
    file = root / path(kind, **fields)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"s\tcpu_time\n{wall}\t{cpu}\n")


def found_in(root):
    return Results("paper", WORLDS, tuple(map(str, root.rglob("*.tsv"))))


def test_seeds_with_gaps_are_counted_one_by_one(tmp_path):
    (group,) = groups_of([1, 3, 5], 5)
    write_time(tmp_path, "job_time", rule="learn", group=group, **ICL)
    time = training_time(found_in(tmp_path), **ICL)
    assert time == Time(2.0, 4.0, 3)
    assert time.per_seed == pytest.approx((2 / 3, 4 / 3))


@given(
    seeds=st.lists(st.integers(1, 40), min_size=1, max_size=9, unique=True),
    stack=st.integers(1, 9),
    iterations=st.integers(0, 3),
)
def test_every_job_counts_once_and_every_seed_once(tmp_path_factory, seeds, stack, iterations):
    root = tmp_path_factory.mktemp("times")
    groups = groups_of(seeds, stack)
    for group in groups:
        write_time(root, "job_time", rule="icl_density", group=group, **ICL)
        for i in range(1, iterations + 1):
            fields = {"group": group, "iteration": f"{i:02d}", **ICL}
            write_time(root, "iteration_time", rule="icl_policy", **fields)
            write_time(root, "iteration_time", rule="icl_adjust", **fields)
    jobs = len(groups) * (1 + 2 * iterations)
    assert training_time(found_in(root), **ICL) == Time(2.0 * jobs, 4.0 * jobs, len(seeds))


def test_other_experiments_and_methods_are_left_out(tmp_path):
    for rule, experiment, method in (
        ("learn", "gridworld-a", "icrl"),
        ("learn", "gridworld-a-strict", "icl"),
        ("icl_density", "gridworld-a", "icl"),
    ):
        fields = {"rule": rule, "experiment": experiment, "method": method, "group": "1-5"}
        write_time(tmp_path, "job_time", **fields)
    results = found_in(tmp_path)
    assert training_time(results, **ICL) == Time(2.0, 4.0, 5)
    assert training_time(results, "gridworld-a", "gail-constraint") is None


def test_a_record_of_snakemake_is_read_as_one_of_ours(tmp_path):
    """Runs from before jobs recorded their own times are still shown."""
    ours, theirs = tmp_path / "ours.tsv", tmp_path / "theirs.tsv"
    ours.write_text("s\tcpu_time\tnumbers\n4.0\t3.5\tNAD 1.2\n")
    theirs.write_text("s\th:m:s\tmax_rss\tcpu_time\n4.0\t0:00:04\t99.1\t3.5\n")
    assert read_time(ours) == Record(3.5, 4.0, "NAD 1.2")
    assert read_time(theirs) == Record(3.5, 4.0, "", memory=99.1)
