"""What `icl forecast` and `icl run` say of a run's length, before and while it goes on."""

import csv
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icl_core.job_times import Record, write_time
from workflow.program.forecast import (
    UNKNOWN,
    Cost,
    cost_of,
    duration,
    expected_costs,
    megabytes,
    read_costs,
    record,
    sentence,
    wall_time,
)
from workflow.program.jobs import Job
from workflow.program.watch import Forecast, State, Watch, share_done

DEMO = Path(__file__).with_name("recorded_demo.csv")


def job(name, *needs):
    return Job("rule", {"experiment": name}, name, f"{name}.log", needs)


@pytest.mark.parametrize(
    ("kind", "cost"),
    [
        ("learn/grid/icl", Cost(10, 1)),
        ("learn/grid-slip-10/icl", Cost(10, 1)),  # a variant: as the original
        ("learn/grid-beta-299/icl", Cost(70, 3)),
        ("learn/ant/icl", Cost(30, 2)),  # the mean of the rule
        ("learn/grid-slip-10/icrl", Cost(10, 2)),  # another method is no original
        ("wonder/ant", UNKNOWN),
    ],
)
def test_what_is_not_known_is_guessed_from_what_is_like_it(kind, cost):
    costs = {
        "learn/grid/icl": Cost(10, 1),
        "learn/grid-beta-299/icl": Cost(70, 3),
        "learn/grid/icrl": Cost(10, 2),
    }
    assert cost_of(kind, costs) == cost


def test_what_is_recorded_is_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "expected.csv"
    table.write_text("scale,job,cpu_seconds,bytes\nquick,adjust/a,1.0,5\npaper,adjust/b,2.0,5\n")
    jobs = []
    for k, cpu in enumerate((4.0, 8.0)):
        name = f"results/paper/benchmarks/adjust/a/seeds-1-5/iteration-0{k}.tsv"
        write_time(name, Record(cpu, 3.0, ""))
        Path(f"out-{k}").write_bytes(b"x" * 100 * (k + 1))
        jobs.append(Job("adjust", {}, name, "no.log", outputs=(f"out-{k}", name)))
    assert record("paper", jobs, table) == 1
    assert read_costs("paper", table) == {"adjust/a": Cost(6.0, 150.0)}  # what is gone is forgotten
    assert read_costs("quick", table) == {"adjust/a": Cost(1.0, 5.0)}


def test_a_chain_waits_and_others_do_not():
    chain = [job("a"), job("b", "a"), job("c", "b")]
    alone = [job("d"), job("e"), job("f")]
    seconds = dict.fromkeys("abcdef", 10.0)
    assert wall_time(chain, seconds, 4) == 30
    assert wall_time(alone, seconds, 2) == 20
    assert wall_time([*chain, *alone], seconds, 2) == 30
    assert wall_time(chain, {"b": 4.0, "c": 1.0}, 2) == 5  # of a it is known that it is done


@st.composite
def plans(draw):
    count = draw(st.integers(1, 12))
    jobs = []
    for k in range(count):
        needs = draw(st.sets(st.integers(0, k - 1), max_size=3)) if k else ()
        jobs.append(job(str(k), *map(str, sorted(needs))))
    seconds = {one.time: draw(st.integers(1, 50)) for one in jobs}
    return jobs, seconds


@given(plans(), st.integers(1, 4))
def test_no_plan_is_shorter_than_its_longest_chain_or_its_share_of_work(plan, cores):
    jobs, seconds = plan
    longest: dict[str, float] = {}
    for one in jobs:
        longest[one.time] = seconds[one.time] + max((longest[n] for n in one.needs), default=0)
    total, chain = sum(seconds.values()), max(longest.values())
    found = wall_time(jobs, seconds, cores)
    # Graham's bound: no list schedule is longer.
    assert max(chain, total / cores) <= found <= total / cores + chain * (1 - 1 / cores) + 1e-9


def test_a_forecast_in_one_line():
    costs = {"a": Cost(90, 2e6), "b": Cost(30, 1e6)}
    said = sentence([job("a"), job("b", "a")], costs, 2)
    assert said == "2 jobs, about 2 min 0 s of CPU, 2 min 0 s on 2 idle cores, 3 MB on disk"
    assert sentence([], {}, 2) == "nothing to be done"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(40, "40 s"), (59.7, "60 s"), (95, "1 min 35 s"), (730, "12 min"), (4800, "1 h 20 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_sizes():
    assert (megabytes(900), megabytes(5.2e7)) == ("1 kB", "52 MB")


@pytest.mark.parametrize(
    ("log", "share"),
    [
        ("", 0.0),
        ("learn a  3/8  J 1.1\nlearn a  4/8  J 1.0  0:18 so far\n", 0.5),
        ("warning: on 3/8 of them\n", 0.0),  # a count stands after two blanks
        ("a  9/8  b\n", 1.0),
        ("a  0/0  b\n", 0.0),
    ],
)
def test_a_job_says_how_far_it_is(tmp_path, log, share):
    (tmp_path / "log").write_text(log)
    assert share_done(tmp_path / "log") == share
    assert share_done(tmp_path / "none") == 0.0


def test_a_run_is_seen_by_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [job("old"), job("done"), job("busy"), job("waiting")]
    for name in ("old", "done"):
        Path(name).write_text("s\tcpu_time\tnumbers\n3.0\t2.0\tNAD 1\n")
        Path(f"{name}.log").touch()
    Path("busy.log").write_text("busy  1/4  \n")
    os.utime("old", (900, 900))
    os.utime("old.log", (900, 900))
    watch = Watch(jobs, started=1000.0)
    assert watch.look() == ["done"]
    assert watch.look() == []
    assert watch.records == {"done": Record(2.0, 3.0, "NAD 1")}
    state = watch.state(os.path.getmtime("busy.log") + 60)
    assert state.done == {"done": 3.0}
    assert state.running.keys() == {"busy"}
    assert state.shares == {"busy": 0.25}


def test_running_jobs_count_by_their_own_progress():
    jobs = [job("a"), job("b", "a")]
    forecast = Forecast(jobs, {"a": Cost(100, 0), "b": Cost(100, 0)}, 1)
    fresh = forecast.left(State(), 0.0)
    assert fresh == pytest.approx(200, rel=0.01)
    half = State(running={"a": 100.0}, shares={"a": 0.5})  # it takes twice as long
    left = Forecast(jobs, {"a": Cost(100, 0), "b": Cost(100, 0)}, 1).left(half, 100.0)
    assert 200 < left < 300
    unknown = State(running={"a": 100.0})  # without its own count: it should have ended by now
    assert Forecast(jobs, {"a": Cost(100, 0), "b": Cost(100, 0)}, 1).left(unknown, 100.0) < left


def test_more_left_than_was_said_gets_a_reason():
    jobs = [job("a"), job("b", "a")]
    forecast = Forecast(jobs, {"a": Cost(100, 0), "b": Cost(100, 0)}, 1)
    assert forecast.grown(200.0, 0.0, State()) == ""
    assert forecast.grown(160.0, 50.0, State()) == ""  # hardly more than the 150 that were left
    busy = State(running={"a": 180.0})
    said = forecast.grown(150.0, 180.0, busy)
    assert said == "rule a takes 3 min 0 s, 1 min 40 s were expected"
    assert forecast.grown(300.0, 181.0, State()) != ""


def recorded_demo():
    """Jobs of a real `make demo`: when each began and ended, and what it needs."""
    with DEMO.open(newline="") as file:
        rows = list(csv.DictReader(file))
    jobs = [
        Job(row["job"].partition("/")[0], {}, _path(row["job"]), "", _needs(row)) for row in rows
    ]
    times = {_path(row["job"]): (float(row["began"]), float(row["ended"])) for row in rows}
    return jobs, times


def _path(name):
    return f"results/quick/benchmarks/{name}.tsv"


def _needs(row):
    return tuple(_path(name) for name in row["needs"].split())


@pytest.mark.parametrize("speed", [1.0, 1.6])
def test_on_a_recorded_demo_the_time_left_is_right_at_every_minute(speed):
    """Also on a machine that is slower than what was recorded. Nobody counts here: the shares are
    not known, so the forecast has less to go by than in a real run.
    """
    jobs, times = recorded_demo()
    costs = expected_costs(jobs, read_costs("quick"))
    forecast = Forecast(jobs, costs, 2)
    end = speed * max(ended for _, ended in times.values())
    for now in range(0 if speed == 1.0 else 120, int(end), 60):
        state = State()
        for name, (began, ended) in times.items():
            if speed * ended <= now:
                state.done[name] = speed * (ended - began)
            elif speed * began <= now:
                state.running[name] = now - speed * began
        left, came = forecast.left(state, now), end - now
        assert came / 1.5 - 10 <= left <= 1.5 * came + 10, now
