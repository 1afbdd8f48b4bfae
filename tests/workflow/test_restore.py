"""What is published can be put back: nobody must train to look, and nothing is trained twice."""

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from icl_core.errors import InputError
from icl_core.layout import path
from tests.workflow.conftest import check_out
from tests.workflow.test_program import icl
from workflow.lib import publish
from workflow.lib.absent import FILE, Absent, from_plain, read_absent, to_plain, write_absent
from workflow.lib.publishing import kept, making
from workflow.lib.publishing.run import read_run
from workflow.lib.restoring import restore

ROOT = Path(__file__).parents[2]
UNFINISHED = ("gridworld-a/icrl", "gridworld-a-lagrangian/icl")
METRICS = path("run_metrics", experiment="gridworld-a", method="icl", group="1-2")
FINISHED = ("--config", "scale=smoke", "only_finished=True")
DENSITY = path("density", experiment="gridworld-a", method="icl", group="1-2")


@pytest.fixture(scope="module")
def partly(finished, tmp_path_factory):
    """A machine on which a method and a variant have not been run."""
    place = finished.copy(tmp_path_factory.mktemp("partly") / "checkout")
    for name in UNFINISHED:
        shutil.rmtree(place.path / "results/smoke/runs" / name)
        for times in (place.path / "results/smoke/benchmarks").glob(f"*/{name}"):
            shutil.rmtree(times)
    done = place.snakemake(*FINISHED, "--allowed-rules", *publish.RULES, "--", "all")
    assert done.returncode == 0, done.stdout + done.stderr  # figures of what is left
    return place


@pytest.fixture(scope="module")
def published(partly, tmp_path_factory):
    """A clone of the repository with what that machine has published, and without results."""
    place = check_out(tmp_path_factory.mktemp("published") / "clone")
    shutil.copy2(partly.path / "config.yaml", place.path)
    with chdir(partly.path):
        publish.publish(partly.path, "smoke", place.path / "docs/results")
    return place


@pytest.fixture
def clone(published, tmp_path):
    return published.copy(tmp_path / "clone")


@pytest.fixture
def restored(clone):
    put_back(clone)
    return clone


def put_back(clone):
    return restore(clone.path / "docs/results", clone.path / "results/smoke")


def learning(planned):
    """The jobs that do not show."""
    return {rule: n for rule, n in planned.items() if rule not in making.SHOWING}


def test_what_is_restored_is_what_was_made(restored, partly):
    there = restored.path / "results/smoke"
    files = [p.relative_to(there) for p in there.rglob("*") if p.is_file() and p.name != FILE]
    for file in files:
        assert (there / file).read_bytes() == (partly.path / "results/smoke" / file).read_bytes()
    assert Path(METRICS) in files
    assert Path("metrics.parquet") in files
    assert any("constraints" in file.parts for file in files)
    assert not any(file.name.startswith("checkpoint") for file in files)
    assert not (there / "figures").exists()  # these are drawn again


def test_only_what_was_not_finished_is_trained(restored, partly):
    expected = learning(partly.planned())
    assert expected["learn"] == 1 and expected["icl_adjust"] >= 2 and "expert" not in expected
    assert learning(restored.planned()) == expected


def test_variants_of_what_was_not_finished_are_not_trained_again(finished, tmp_path):
    """Whose original is not finished has read its first files, which so must be published too."""
    stopped = finished.copy(tmp_path / "stopped")
    results = stopped.path / "results/smoke"
    for kind in ("run_metrics", "constraint"):
        (results / path(kind, experiment="gridworld-a", method="icl", group="1-2")).unlink()
    clone = check_out(tmp_path / "clone")
    shutil.copy2(stopped.path / "config.yaml", clone.path)
    with chdir(stopped.path):
        publish.publish(stopped.path, "smoke", clone.path / "docs/results")
    put_back(clone)
    planned = [Path(one).relative_to("results/smoke/benchmarks") for one in clone.planned_records()]
    jobs = [one.with_suffix("").parts for one in planned]
    again = [(rule, *of) for rule, *of in jobs if rule not in making.SHOWING]
    assert {"icl_select", "metrics"} <= {rule for rule, *_ in again}
    assert {experiment for _, experiment, *_ in again} == {"gridworld-a"}


def test_the_finished_seeds_of_an_unfinished_method_are_published(finished, tmp_path):
    """Ten seeds are two jobs: the first counts although the second has not ended."""
    place = finished.copy(tmp_path / "more")
    place.configure(lambda c: c["scales"]["smoke"].update(seeds=[1, 2, 3], stack=2))
    with chdir(place.path):
        own = kept.kept(read_run(place.path, "smoke"))
    run = {"experiment": "gridworld-a", "method": "icl", "group": "1-2"}
    for kind in ("run_metrics", "constraint", "evaluation", "training"):
        assert path(kind, **run) in own


def test_a_file_keeps_the_date_of_its_making(restored, partly):
    """By these dates the page says when runs were finished."""
    times = [(p.path / "results/smoke" / METRICS).stat().st_mtime for p in (restored, partly)]
    assert times[0] == int(times[1])


def test_a_changed_setting_runs_its_stages_again(restored, partly, tmp_path):
    change = {"learning": {"icl": {"adjustment": {"penalty": 16.0}}}}
    original = partly.copy(tmp_path / "original")
    for place in (restored, original):
        place.configure(lambda c: c.update(change))
    ours, theirs = learning(restored.planned()), learning(original.planned())
    for rule in ("icl_adjust", "icl_select", "metrics", "learn"):
        assert ours[rule] == theirs[rule]
    assert "expert" not in ours and "true_fit" not in ours


def test_edited_code_of_a_stage_without_files_is_noticed(restored, partly, tmp_path):
    """Of the density and the first constraint nothing may be published: the list tells of them."""
    there = restored.path / "results/smoke"
    (there / DENSITY).unlink(missing_ok=True)
    write_absent(there, to_plain([*read_absent(there), *density_of(partly)]))
    assert "icl_density" not in learning(restored.planned("--", f"results/smoke/{METRICS}"))
    restored.append("workflow/scripts/icl_density.py", "\nprint('edited')\n")
    planned = learning(restored.planned("--", f"results/smoke/{METRICS}"))
    assert planned["icl_density"] == 1
    assert planned["icl_adjust"] >= 1


def density_of(place):
    from workflow.lib.records import Made

    with chdir(place.path):
        made = Made.of(Path("results/smoke", DENSITY))
    return [Absent(made.rule, made.params, made.output)]


def test_nothing_that_is_there_is_touched(clone):
    own = clone.path / "results/smoke" / METRICS
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert put_back(clone).there == 1
    assert own.read_text() == "mine"
    assert put_back(clone).files == 0


@pytest.mark.parametrize("name", [f"run/{METRICS}", "metrics.parquet"])
def test_a_flipped_byte_is_found_and_nothing_is_restored(clone, name):
    file = clone.path / "docs/results" / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"metrics\.parquet: expected the content whose checksum"):
        put_back(clone)
    assert not (clone.path / "results").exists()
    done = icl(clone, "verify", "docs/results")
    assert done.returncode == 1
    assert name in done.stderr and "expected" in done.stderr


def test_what_is_published_is_whole(published):
    done = icl(published, "verify", "docs/results")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 others" in done.stdout


def test_everything_is_drawn_and_after_an_edit_that_figure_alone(clone, partly, published):
    done = icl(clone, "restore", "--scale", "smoke", "--show", "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (clone.path / "results/smoke/report.html").is_file()
    logs = clone.path / "results/smoke/logs"
    began = {log.relative_to(logs).parts[0].removesuffix(".log") for log in logs.rglob("*.log")}
    assert began <= set(making.SHOWING)  # nothing was trained
    with chdir(clone.path):
        publish.publish(clone.path, "smoke", clone.path / "docs/again")
    first, again = clone.path / "docs/results", clone.path / "docs/again"
    for folder in ("run", "figures", "constraints"):
        names = [p.relative_to(first) for p in (first / folder).rglob("*") if p.is_file()]
        assert names
        for name in names:
            assert (again / name).read_bytes() == (first / name).read_bytes(), name
    assert clone.planned(*FINISHED, "--", "all") == {}
    clone.append(
        "icl_core/showing/figures/experts.py", "\ndef another() -> None:\n    print('edited')\n"
    )
    planned = clone.planned(*FINISHED, "--", "all")
    assert set(planned) == {"figure"}
    assert planned["figure"] <= 3  # the figures of that file


def test_without_published_files_it_is_said_what_to_do(tmp_path):
    folder = shutil.copytree(ROOT / "docs/results", tmp_path / "docs/results")
    shutil.rmtree(folder / "run", ignore_errors=True)
    publish.write_record(folder / publish.MANIFEST, {"scale": "paper"}, [folder / "README.md"])
    with pytest.raises(InputError, match="nothing was published to restore; look at"):
        restore(folder, tmp_path / "results/paper")


def test_another_scale_is_not_mixed_in(published, tmp_path):
    with pytest.raises(InputError, match="give --scale smoke"):
        restore(published.path / "docs/results", tmp_path / "results/paper")


def test_the_list_of_absent_jobs_is_kept_whole(tmp_path):
    results = tmp_path / "results/smoke"
    jobs = [
        Absent("icl_density", ["{'a': 1}", "'code'"], ["results/smoke/b", "results/smoke/b.tsv"]),
        Absent("icl_density", ["{'a': 1}", "'other'"], ["results/smoke/a"]),
    ]
    assert from_plain(to_plain(jobs)) == sorted(jobs, key=lambda job: job.output)
    assert read_absent(results) == []
    write_absent(results, to_plain(jobs))
    assert len(read_absent(results)) == 2
    file = results / FILE
    file.write_bytes(file.read_bytes().replace(b"other", b"outer"))
    with pytest.raises(InputError, match=r"absent\.json: expected the list that `icl restore`"):
        read_absent(results)
