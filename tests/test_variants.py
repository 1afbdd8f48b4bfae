"""Variants: one change to several experiments, and demonstrations that are shared."""

import copy

import pytest

from icl_core.configuration import resolve
from icl_core.errors import InputError
from icl_core.variants import with_variants
from tests.test_configuration import CONFIG, SCHEMA

OWN = {"environment": "gridworld-a", "methods": ["icl"], "learning": {"density": {"epochs": 4}}}


def configured(experiments=None, variants=None, scale="paper"):
    """config.yaml with these experiments or variants in place of its own."""
    config = {**copy.deepcopy(CONFIG), "scale": scale}
    config["experiments"] = experiments or config["experiments"]
    config["variants"] = {} if variants is None else variants
    return resolve(config, SCHEMA).experiments


def test_a_variant_is_its_original_but_for_its_change():
    methods = ["icl", "icrl"]
    found = configured(
        {"one": {**OWN, "methods": methods}, "two": {**OWN, "world": {"slip": 0.2}}},
        {"high": {"of": ["one", "two"], "learning": {"threshold": 2.99}}},
    )
    assert sorted(found) == ["one", "one-high", "two", "two-high"]
    for name in ("one", "two"):
        original, variant = found[name], found[f"{name}-high"]
        assert variant.learning == {**original.learning, "threshold": 2.99}
        assert variant.world == original.world
        assert variant.methods == ("icl",)
        assert variant.demonstrator == original.demonstrator == name


@pytest.mark.parametrize("change", [{"world": {"slip": 0.1}}, {"demonstrations": {"seed": 2}}])
def test_a_variant_with_another_expert_shares_nothing(change):
    variants = {"other": {"of": ["one"], **change}}
    found = configured({"one": {**OWN, "demonstrations": "mine.parquet"}}, variants)["one-other"]
    assert found.demonstrator == "one-other"
    # demonstrations of another world would be wrong here; another seed is no other file
    assert found.demonstrations_file == (None if "world" in change else "mine.parquet")


def test_sharing_a_users_own_file_does_not_read_it_twice():
    variants = {"high": {"of": ["one"], "learning": {"threshold": 2.99}}}
    found = configured({"one": {**OWN, "demonstrations": "mine.parquet"}}, variants)
    assert found["one"].demonstrations_file == "mine.parquet"
    assert found["one-high"].demonstrations_file is None
    assert found["one-high"].demonstrator == "one"


def test_variants_of_one_that_shares_share_too():
    experiments = {"one": OWN, "two": {**OWN, "demonstrations_of": "one"}}
    found = configured(experiments, {"high": {"of": ["two"], "learning": {"threshold": 2.99}}})
    assert found["two-high"].demonstrator == "one"


def test_the_papers_variants():
    found = resolve(CONFIG, SCHEMA).experiments
    assert found["gridworld-a-slip-30"].world["slip"] == 0.3
    assert found["gridworld-a-slip-30"].demonstrator == "gridworld-a-slip-30"
    assert found["gridworld-b-beta-599"].learning["threshold"] == 5.99
    assert found["gridworld-b-beta-599"].demonstrator == "gridworld-b"
    for variant, switches in (
        ("all-iterations", (True, True)),
        ("no-reweighting", (True, False)),
        ("no-mixture", (False, False)),
    ):
        one = found[f"cartpole-mid-{variant}"]
        adjustment, icl = one.learning["adjustment"], one.learning["icl"]
        assert (adjustment["mixture"], adjustment["reweight"]) == switches
        assert icl["tolerance"] is icl["patience"] is None
        assert one.learning["density"]["epochs"] == 4  # CartPole's own
        assert one.demonstrator == "cartpole-mid"


def test_a_scale_may_name_a_variants_experiment():
    config = copy.deepcopy(CONFIG)
    smaller = {"learning": {"icl": {"iterations": 1}}}
    config["scales"]["paper"] = {"experiments": {"gridworld-a-slip-10": smaller}}
    assert resolve(config, SCHEMA).experiments["gridworld-a-slip-10"].iterations == 1


@pytest.mark.parametrize(
    ("experiments", "variants", "told"),
    [
        ({"one": OWN}, {"v": {"of": ["two"]}}, "variants.v.of names two, which is no experiment"),
        ({"one": OWN, "one-v": OWN}, {"v": {"of": ["one"]}}, "a second experiment one-v"),
        (
            {"one": {**OWN, "demonstrations_of": "two"}},
            {},
            "experiments.one.demonstrations_of names two, which is no experiment",
        ),
        (
            {"one": OWN, "two": {**OWN, "world": {"slip": 0.1}, "demonstrations_of": "one"}},
            {},
            "expected an experiment in the same world as two, found one in another one",
        ),
        (
            {
                "one": OWN,
                "two": {**OWN, "demonstrations_of": "one"},
                "three": {**OWN, "demonstrations_of": "two"},
            },
            {},
            "names two, which has none of its own; name one instead",
        ),
        ({"one": OWN}, {"v": {"learning": {}}}, "key variants.v.of is missing"),
        ({"one": OWN}, {"v": {"off": ["one"]}}, "variants.v.off is unknown; did you mean of?"),
    ],
)
def test_mistakes_are_one_sentence(experiments, variants, told):
    with pytest.raises(InputError) as error:
        configured(experiments, variants)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_without_variants_nothing_changes():
    assert with_variants({"one": OWN}, {}) == {"one": OWN}
