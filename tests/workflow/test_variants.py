"""Variants: one change to several experiments, and demonstrations that are shared."""

import copy

import pytest

from icl_core.errors import InputError
from icl_core.layout import path
from tests.workflow.test_configuration import CONFIG, ROOT
from workflow.lib.configuration import resolve
from workflow.lib.plan import Plan
from workflow.lib.shown import Shown
from workflow.lib.variants import with_variants

OWN = {
    "environment": "gridworld-a",
    "methods": ["icl"],
    "learning": {"icl": {"density": {"epochs": 4}}},
}


def configured(experiments=None, variants=None, scale="paper"):
    """config.yaml with these experiments or variants in place of its own."""
    config = {**copy.deepcopy(CONFIG), "scale": scale}
    config["experiments"] = experiments or config["experiments"]
    config["variants"] = {} if variants is None else variants
    config["transfers"] = {}
    return resolve(config).experiments


def test_a_variant_is_its_original_but_for_its_change():
    found = configured(
        {"one": OWN, "two": {**OWN, "world": {"slip": 0.2}}},
        {"high": {"of": ["one", "two"], "learning": {"threshold": 2.99}}},
    )
    assert sorted(found) == ["one", "one-high", "two", "two-high"]
    for name in ("one", "two"):
        original, variant = found[name], found[f"{name}-high"]
        assert variant.learning == {**original.learning, "threshold": 2.99}
        assert variant.world == original.world
        assert variant.methods == ("icl",)
        assert variant.demonstrations_from == original.demonstrations_from == name


@pytest.mark.parametrize("change", [{"world": {"slip": 0.1}}, {"demonstrations": {"seed": 2}}])
def test_a_variant_with_another_expert_shares_nothing(change):
    variants = {"other": {"of": ["one"], **change}}
    found = configured({"one": {**OWN, "demonstrations": "mine.parquet"}}, variants)["one-other"]
    assert found.demonstrations_from == "one-other"
    # demonstrations of another world would be wrong here; another seed is no other file
    assert found.demonstrations["file"] == (None if "world" in change else "mine.parquet")


def test_sharing_a_users_own_file_does_not_read_it_twice():
    variants = {"high": {"of": ["one"], "learning": {"threshold": 2.99}}}
    found = configured({"one": {**OWN, "demonstrations": "mine.parquet"}}, variants)
    assert (found["one"].source, found["one-high"].source) == ("file", "shared")
    assert found["one-high"].demonstrations_from == "one"


def test_variants_of_one_that_shares_share_too():
    experiments = {"one": OWN, "two": {**OWN, "demonstrations_of": "one"}}
    found = configured(experiments, {"high": {"of": ["two"], "learning": {"threshold": 2.99}}})
    assert found["two-high"].demonstrations_from == "one"


@pytest.mark.parametrize(
    ("scales", "there"), [({}, True), ({"scales": ["paper"]}, False), ({"scales": ["smoke"]}, True)]
)
def test_a_variant_is_run_at_the_scales_that_it_names(scales, there):
    variants = {"high": {"of": ["one"], "learning": {"threshold": 2.99}, **scales}}
    found = configured({"one": OWN}, variants, scale="smoke")
    assert ("one-high" in found) == there


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        (["papre"], "variants.high.scales.0: expected one of paper, quick, smoke, found 'papre'"),
        ([], "variants.high.scales: expected a list of texts"),
        ("paper", "variants.high.scales: expected a list of texts"),
    ],
)
def test_a_variant_of_no_known_scale_is_refused(scales, message):
    with pytest.raises(InputError, match=message):
        configured({"one": OWN}, {"high": {"of": ["one"], "scales": scales}})


def test_a_variant_may_train_experts_alone():
    epochs = {"constrained_rl": {"epochs": 7}}
    variants = {"expert": {"of": ["one"], "methods": [], "demonstrations": epochs}}
    found = configured({"one": OWN}, variants)
    assert found["one-expert"].expert_alone and not found["one"].expert_alone
    assert (found["one-expert"].methods, found["one-expert"].source) == ((), "expert")
    assert found["one-expert"].demonstrations["constrained_rl"]["epochs"] == 7


def test_the_papers_projection_is_that_of_its_experts():
    found = resolve(CONFIG).experiments["cartpole-mr-projection"]
    penalty = found.demonstrations["constrained_rl"]["penalty"]
    assert (penalty["truncate"], penalty["feasibility_rate"]) == (False, 2.5e-5)
    assert found.demonstrations["constrained_rl"]["epochs"] == 300
    assert found.expert_alone


def test_checks_read_experts_that_teach_nobody_by_group_of_seeds():
    config = resolve({**CONFIG, "stack": 3})
    assert config.expert_groups(config.experiments["gridworld-a-projection"]) == ["1-3", "4-5"]
    read = Shown(Plan(config, ROOT)).claim_inputs(None)
    for group in ("1-3", "4-5"):
        fields = {"experiment": "gridworld-a-projection", "group": group}
        assert f"results/paper/{path('expert_training', **fields)}" in read
        assert f"results/paper/{path('expert_policy', **fields)}" in read
    settings = Shown(Plan(config, ROOT)).claim_settings(None)["experiments"]
    assert settings["gridworld-a-projection"]["learning"] == {}
    assert settings["gridworld-a"]["learning"]["icl"] == {"loop": {"keep": "last"}}


def test_the_papers_variants():
    found = resolve(CONFIG).experiments
    assert found["gridworld-a-slip-30"].world["slip"] == 0.3
    assert found["gridworld-a-slip-30"].demonstrations_from == "gridworld-a-slip-30"
    assert found["gridworld-b-beta-599"].learning["threshold"] == 5.99
    assert found["gridworld-b-beta-599"].demonstrations_from == "gridworld-b"
    for variant, switches in (
        ("all-iterations", (True, True)),
        ("no-reweighting", (True, False)),
        ("no-mixture", (False, False)),
    ):
        one = found[f"cartpole-mid-{variant}"]
        adjustment, loop = one.learning["icl"]["adjustment"], one.learning["icl"]["loop"]
        assert (adjustment["mixture"], adjustment["reweight"]) == switches
        assert loop["tolerance"] is loop["patience"] is None
        assert one.learning["icl"]["constrained_rl"]["epochs"] == 300  # CartPole's own
        assert one.demonstrations_from == "cartpole-mid"


def test_a_scale_may_name_a_variants_experiment():
    config = copy.deepcopy(CONFIG)
    smaller = {"learning": {"icl": {"loop": {"iterations": 1}}}}
    config["scales"]["paper"] = {"experiments": {"gridworld-a-slip-10": smaller}}
    assert resolve(config).experiments["gridworld-a-slip-10"].iterations("icl") == 1


@pytest.mark.parametrize(
    ("experiments", "variants", "said"),
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
        ({"one": OWN}, {"v": {"learning": {}}}, "key variants.v.of: expected a list of texts"),
        ({"one": OWN}, {"v": {"off": ["one"]}}, "variants.v.off is unknown; did you mean of?"),
    ],
)
def test_mistakes_are_one_sentence(experiments, variants, said):
    with pytest.raises(InputError) as error:
        configured(experiments, variants)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_without_variants_nothing_changes():
    assert with_variants({"one": OWN}, {}) == {"one": OWN}
