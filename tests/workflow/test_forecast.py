"""What `make paper` says of its length."""

import os

import pytest

from workflow.lib import forecast
from workflow.lib.forecast import Forecast, duration, expected, kind_of, planned, read_times, record

DRY_RUN = """
[Mon Nov 16 06:50:23 2026]
rule icl_adjust:
    input: a, b
    output: c
    jobid: 3
    benchmark: results/paper/benchmarks/icl_adjust/gridworld-a/icl/seeds-1-5/iteration-03.tsv
    reason: Missing output files
localrule all:
    input: c
rule figure:
    benchmark: results/paper/benchmarks/figure/figure-16-constraint-gridworld-a.tsv
"""


def test_jobs_are_read_from_a_dry_run():
    assert [kind_of(job) for job in planned(DRY_RUN)] == [
        "icl_adjust/gridworld-a/icl",
        "figure/figure-16-constraint-gridworld-a",
    ]


def test_jobs_of_the_real_workflow_are_found(checkout):
    target = "results/paper/demonstrations/gridworld-a/trajectories.parquet"
    done = checkout.snakemake("--dry-run", "--", target, scale="paper")
    assert planned(done.stdout + done.stderr) == ["results/paper/benchmarks/expert/gridworld-a.tsv"]
    assert "expert/gridworld-a" in read_times("paper")


@pytest.mark.parametrize(
    ("job", "seconds"),
    [
        ("learn/grid/icl/seeds-1-5/iteration-02", 10),
        ("learn/grid-slip-10/icl/seeds-1-5/iteration-02", 10),  # a variant: as the original
        ("learn/grid-beta-299/icl/seeds-1_3_5/iteration-02", 70),
        ("learn/ant/icl/seeds-1-5/iteration-02", 30),  # the mean of the rule
        ("learn/grid-slip-10/icrl/seeds-1-5", 10),  # another method is no original
        ("wonder/ant/seeds-1-5", forecast.UNKNOWN),
    ],
)
def test_what_is_not_known_is_guessed_from_what_is_like_it(job, seconds):
    times = {"learn/grid/icl": 10.0, "learn/grid-beta-299/icl": 70.0, "learn/grid/icrl": 10.0}
    path = f"results/paper/benchmarks/{job}.tsv"
    assert expected([path], times) == {path: seconds}


def test_what_is_recorded_is_read_again(tmp_path):
    table, folder = tmp_path / "expected.csv", tmp_path / "benchmarks"
    table.write_text("scale,job,cpu_seconds\nquick,adjust/a,1.0\npaper,adjust/a,2.0\n")
    for k, cpu in enumerate(("4.0", "8.0", "NA")):
        path = folder / f"adjust/a/seeds-1-5/iteration-0{k}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\n3.0\t{cpu}\n")
    assert record("paper", [str(folder)], table) == 2
    assert read_times("paper", table) == {"adjust/a": 5.0}
    assert read_times("quick", table) == {"adjust/a": 1.0}


def test_the_pace_of_the_run_says_what_is_left(tmp_path):
    jobs = {str(tmp_path / name): 600.0 for name in ("a", "b", "c", "d")}
    one = Forecast(jobs, 2, started=1000.0)
    assert one.before() == "4 jobs, about 40 min of CPU time: 20 min on 2 idle cores"
    assert one.now(1060.0) == "0 of 4 jobs done, about 40 min of CPU time left; at this pace 20 min"
    (tmp_path / "a").touch()
    os.utime(tmp_path / "a", (1100, 1100))
    (tmp_path / "b").touch()
    os.utime(tmp_path / "b", (900, 900))  # of an earlier run
    assert one.now(1300.0) == "1 of 4 jobs done, about 30 min of CPU time left; at this pace 15 min"


@pytest.mark.parametrize(
    ("seconds", "text"), [(40, "40 s"), (89, "89 s"), (95, "2 min"), (4800, "1 h 20 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_a_run_says_its_length_before_and_passes_on_the_exit_code(tmp_path, monkeypatch, capfd):
    """With a stand-in for Snakemake that lists two jobs, and then fails."""
    stand_in = tmp_path / "snakemake.py"
    stand_in.write_text(
        f"import sys\nif '--dry-run' in sys.argv:\n    print('''{DRY_RUN}''')\n"
        "else:\n    print('at work', sys.argv[-1])\n    sys.exit(3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert forecast.main(["run", "paper", "2"]) == 3
    out, err = capfd.readouterr()
    assert err.startswith("forecast: 2 jobs, about ")
    assert out == "at work all\n"


def test_wrong_arguments_get_the_usage(capsys):
    assert forecast.main(["run", "paper", "many"]) == 2
    assert "forecast run SCALE CORES" in capsys.readouterr().err
