"""Paths: what is written there is found there again, and by one kind only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icl_core import layout
from icl_core.layout import Need, find, group_of, groups_of, path, scale_of, seeds_of, wildcards

NAMES = st.text("abz09-", min_size=1, max_size=8)
SEEDS = st.lists(st.integers(0, 999), min_size=1, max_size=8, unique=True)
KINDS = st.sampled_from(list(layout.PATTERNS))


def fields_for(kind):
    some = {name: NAMES for name in wildcards(kind)}
    if "group" in some:
        some["group"] = SEEDS.map(group_of)
    if "iteration" in some:
        some["iteration"] = st.integers(1, 99).map("{:02d}".format)
    return st.fixed_dictionaries(some)


ONE = KINDS.flatmap(lambda kind: st.tuples(st.just(kind), fields_for(kind)))


@given(ONE, st.sampled_from(["", "results/quick/", "/srv/run/results/paper/"]))
def test_what_is_written_is_found_again(one, before):
    kind, fields = one
    (found,) = find([before + path(kind, **fields)], kind)
    assert found.fields == fields
    assert found.path.as_posix() == before + path(kind, **fields)


@given(ONE)
def test_a_file_is_what_its_place_says(one):
    kind, fields = one
    found = layout.identity(f"/srv/results/run/results/quick/{path(kind, **fields)}")
    assert found == {"kind": kind, **fields}
    assert layout.identity(path(kind, **fields)) is None
    assert layout.identity(f"docs/results/{path(kind, **fields)}") is None


@given(ONE)
def test_a_file_is_of_one_kind_only(one):
    kind, fields = one
    where = f"results/quick/{path(kind, **fields)}"
    assert [other for other in layout.PATTERNS if find([where], other)] == [kind]


@given(ONE, st.data())
def test_known_wildcards_choose(one, data):
    kind, fields = one
    where = path(kind, **fields)
    for name, value in fields.items():
        assert find([where], kind, **{name: value})
        other = data.draw(NAMES.filter(lambda text, value=value: text != value))
        assert not find([where], kind, **{name: other})


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12, unique=True), st.randoms())
def test_files_are_ordered_by_numbers_as_numbers(iterations, random):
    given_ = [
        path("adjustment", experiment="a", method="icl", group="1-5", iteration=i)
        for i in iterations
    ]
    random.shuffle(given_)
    found = find(given_, "adjustment")
    assert [int(one.fields["iteration"]) for one in found] == sorted(iterations)


def test_names_are_taken_by_the_letter():
    """A dot or a star in a known name is no pattern."""
    where = "runs/a1b/icl/seeds-1-2/metrics.parquet"
    assert find([where], "run_metrics", experiment="a1b")
    assert not find([where], "run_metrics", experiment="a.b")
    assert not find([f"{where}.old"], "run_metrics")
    assert not find(["my" + where], "run_metrics")


def test_all_metrics_are_not_those_of_a_run():
    both = ["results/q/metrics.parquet", "results/q/runs/a/icl/seeds-1-5/metrics.parquet"]
    assert [one.path.as_posix() for one in find(both, "metrics")] == both[:1]
    assert [one.path.as_posix() for one in find(both, "run_metrics")] == both[1:]


# ------------------------------------------------------------------ seeds


@given(SEEDS)
def test_a_group_names_its_seeds(seeds):
    assert list(seeds_of(group_of(seeds))) == seeds
    assert "/" not in group_of(seeds)


@given(SEEDS)
def test_and_each_name_has_one_group(seeds):
    ordered = sorted(seeds)
    assert group_of(seeds_of(group_of(ordered))) == group_of(ordered)


@pytest.mark.parametrize(
    ("seeds", "group"),
    [
        ((1, 2, 3, 4, 5), "1-5"),
        ((7,), "7-7"),
        ((0, 1), "0-1"),
        ((1, 3, 5), "1_3_5"),
        ((2, 1), "2_1"),
        ((5, 3), "5_3"),
    ],
)
def test_groups_by_hand(seeds, group):
    assert group_of(seeds) == group
    assert seeds_of(group) == seeds


@given(SEEDS, st.integers(1, 6))
def test_jobs_share_the_seeds_among_them(seeds, stack):
    groups = groups_of(seeds, stack)
    assert [seed for group in groups.values() for seed in group] == sorted(seeds)
    assert all(seeds_of(name) == group for name, group in groups.items())
    *full, last = [len(group) for group in groups.values()]
    assert set(full) <= {stack}
    assert 1 <= last <= stack


# ------------------------------------------------------------------ needs and scales


@given(ONE)
def test_a_need_says_its_kind_and_what_is_fixed(one):
    kind, fields = one
    text = ",".join(f"{name}={value}" for name, value in fields.items())
    assert Need.parse(f"{kind}:{text}") == Need(kind, fields)
    assert Need.parse(kind) == Need(kind, {})


def test_an_unknown_kind_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match=r"'metric' is no kind of file; .*run_metrics"):
        Need.parse("metric:method=icl")


@given(NAMES, ONE)
def test_the_scale_is_the_folder_under_results(scale, one):
    kind, fields = one
    where = path(kind, **fields)
    assert scale_of(f"/home/me/results/{scale}/{where}") == scale
    assert scale_of(f"elsewhere/{scale}/{where}") is None
    assert scale_of("results/table.parquet") is None
