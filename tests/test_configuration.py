"""The configuration: scales and experiments laid over each other, mistakes told in one sentence."""

import copy
import random
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from icl_core.configuration import merge, resolve, seed_groups, stage_settings
from icl_core.environments import WORLDS
from icl_core.errors import InputError

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
# An overlay may change how much is done and never what is done.
SIZES = {
    "seeds",
    "stack",
    "trajectories",
    "epochs",
    "episodes",
    "warm_up",
    "updates",
    "rounds",
    "steps",
    "iterations",
    "rollouts",
    "environments",
    "passes",
    "total_steps",
    "forward_steps",
    # of simulated recordings
    "recordings",
    "vehicles",
    "frames",
    "upstream",
    "downstream",
}


def changed(**overlay) -> dict:
    """config.yaml with something else in it."""
    return _lay(copy.deepcopy(CONFIG), overlay)


def _lay(config, overlay):
    for key, value in overlay.items():
        nested = isinstance(value, dict) and isinstance(config.get(key), dict)
        config[key] = _lay(config[key], value) if nested else value
    return config


def leaves(mapping):
    for key, value in mapping.items():
        yield from leaves(value) if isinstance(value, dict) else [key]


def test_the_paper_is_what_config_yaml_says():
    config = resolve(CONFIG, SCHEMA)
    assert config.scale == "paper"
    assert config.groups == {"1-5": (1, 2, 3, 4, 5)}
    epochs = {
        name: config.experiments[name].learning["constrained_rl"]["epochs"]
        for name in CONFIG["experiments"]
    }
    assert epochs == {
        "gridworld-a": 500,
        "gridworld-b": 500,
        "cartpole-mr": 300,
        "cartpole-mid": 300,
        "highd": 50,
        "exid": 50,
        "ant": 50,
        "halfcheetah": 50,
    }
    iterations = {name: e.iterations for name, e in config.experiments.items()}
    assert iterations.pop("highd") == 3
    assert {iterations.pop(name) for name in ("exid", "ant", "halfcheetah")} == {5}
    assert set(iterations.values()) == {10}


@pytest.mark.parametrize("scale", ["quick", "smoke"])
def test_a_scale_changes_sizes_only_and_has_the_last_word(scale):
    overlay = CONFIG["scales"][scale]
    assert {key.removeprefix("choice_") for key in leaves(overlay)} <= SIZES
    config = resolve(changed(scale=scale), SCHEMA)
    for experiment in config.experiments.values():
        own = overlay | overlay.get("experiments", {}).get(experiment.name, {})
        rl = experiment.learning["constrained_rl"]
        assert rl["epochs"] == own["learning"]["constrained_rl"]["epochs"]
        expert = experiment.demonstrations["constrained_rl"]
        assert expert["epochs"] == own["demonstrations"]["constrained_rl"]["epochs"]


@pytest.mark.parametrize("scale", ["quick", "smoke"])
def test_no_experiment_is_larger_than_the_papers(scale):
    papers, smaller = (resolve(changed(scale=s), SCHEMA).experiments for s in ("paper", scale))
    for name, whole in papers.items():
        for key, size in (
            ("constrained_rl", "epochs"),
            ("icl", "iterations"),
            ("gail_constraint", "total_steps"),
            ("icrl", "iterations"),
        ):
            assert smaller[name].learning[key][size] <= whole.learning[key][size], name


def test_an_experiment_may_say_otherwise():
    own = {
        "environment": "gridworld-a",
        "methods": ["icl"],
        "world": {"slip": 0.3},
        "demonstrations": "data/mine.parquet",
        "learning": {"threshold": 2.99, "constrained_rl": {"ppo": {"clip": 0.2}}},
    }
    experiment = resolve(changed(experiments={"slippery": own}), SCHEMA).experiments["slippery"]
    assert experiment.demonstrations_file == "data/mine.parquet"
    assert experiment.world == {"slip": 0.3, "slip_over_all": False}
    assert experiment.learning["threshold"] == 2.99
    ppo = experiment.learning["constrained_rl"]["ppo"]
    assert (ppo["clip"], ppo["entropy"]) == (0.2, 0.01)


def test_a_stage_sees_only_its_own_section():
    stages = ("expert", "density", "initial_constraint", "constrained_rl", "adjust", "conclude")
    stages += ("gail_constraint", "icrl")

    def affected(**overlay):
        experiments = (
            resolve(c, SCHEMA).experiments["cartpole-mr"] for c in (CONFIG, changed(**overlay))
        )
        before, after = ([stage_settings(e, s, (1, 2)) for s in stages] for e in experiments)
        return {s for s, b, a in zip(stages, before, after, strict=True) if b != a}

    assert affected(showing={"dpi": 100}) == set()
    assert affected(measuring={"rollouts": 7}) == {"conclude", "gail_constraint", "icrl"}
    assert affected(learning={"threshold": 7.0}) == {"constrained_rl", "adjust", "conclude"}
    assert affected(learning={"on_policy": {"passes": 7}}) == {"gail_constraint", "icrl"}
    assert affected(learning={"icrl": {"budget": 0.1}}) == {"icrl"}
    assert affected(learning={"density": {"batch": 7}}) == {"density"}
    assert affected(demonstrations={"seed": 7}) == {"expert"}
    assert affected(environments={"gridworld-a": {"slip": 0.1}}) == set()


def test_the_order_of_keys_means_nothing():
    def shuffled(value):
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        random.Random(0).shuffle(items)
        return {key: shuffled(inner) for key, inner in items}

    one, two = resolve(CONFIG, SCHEMA), resolve(shuffled(CONFIG), SCHEMA)
    for name, experiment in one.experiments.items():
        text = repr(stage_settings(experiment, "constrained_rl", (1,)))
        assert text == repr(stage_settings(two.experiments[name], "constrained_rl", (1,)))


@pytest.mark.parametrize(
    ("overlay", "told"),
    [
        (
            {"sedes": [1]},
            "key sedes is unknown; did you mean seeds? valid keys are architectures,",
        ),
        ({"scale": "big"}, "key scale: choose one of paper, quick, smoke, found the text 'big'"),
        ({"stack": -3}, "key stack: expected a number of at least 1, found -3"),
        ({"stack": 2.5}, "key stack: expected a whole number, found 2.5"),
        ({"stack": True}, "key stack: expected a whole number, found true"),
        ({"seeds": []}, "key seeds: expected at least 1 entry, found the list []"),
        ({"seeds": [1, 1]}, "key seeds: expected every entry only once, found the list [1, 1]"),
        ({"learning": {"threshold": "high"}}, "key learning.threshold: expected a number or null"),
        ({"learning": {"threshold": "5e1"}}, "found the text '5e1' (in YAML write 5.0e1)"),
        ({"learning": {"adjustment": {"penalti": 1.0}}}, "did you mean penalty?"),
        (
            {"experiments": {"x": {"environment": "gridworld-c", "methods": ["icl"]}}},
            "key experiments.x.environment: choose one of gridworld-a, gridworld-b, cartpole-mr, "
            "cartpole-mid, highd, exid, ant, halfcheetah, found the text 'gridworld-c'",
        ),
        (
            {"experiments": {"gridworld-a": {"methods": ["ppo"]}}},
            "key experiments.gridworld-a.methods.0: choose one of icl, "
            "gail-constraint, icrl, found the text 'ppo'",
        ),
        ({"experiments": {"x": {"methods": ["icl"]}}}, "key experiments.x.environment is missing"),
        (
            {"experiments": {"X_1": {"environment": "gridworld-a", "methods": ["icl"]}}},
            "expected a name of small letters, digits and single hyphens, found the text 'X_1'",
        ),
        (
            {"scales": {"paper": {"experiments": {"mars": {}}}}},
            "key scales.paper.experiments.mars is unknown; choose one of ant, cartpole-mid,",
        ),
        (
            {"environments": {"gridworld-a": {"slip": 1.5}}},
            "key environments.gridworld-a.slip: expected a number of at most 1, found 1.5",
        ),
        (
            {"experiments": {"cartpole-mr": {"world": {"slip": 0.1}}}},
            "key experiments.cartpole-mr.world.slip is unknown to cartpole-mr; valid keys are none",
        ),
        ({"measuring": None}, "key measuring: expected a mapping of keys, found null"),
    ],
)
def test_a_mistake_is_one_sentence(overlay, told):
    with pytest.raises(InputError) as error:
        resolve(changed(**overlay), SCHEMA)
    message = str(error.value)
    assert told in message
    assert "\n" not in message


def test_every_object_of_the_schema_refuses_unknown_keys():
    def objects(node, path=""):
        if isinstance(node, dict):
            if "properties" in node and "allOf" not in node:
                yield path, node.get("additionalProperties")
            for key, value in node.items():
                yield from objects(value, f"{path}/{key}")

    assert all(allowed is False for _, allowed in objects(SCHEMA))


def test_schema_and_code_know_the_same_environments():
    named = SCHEMA["$defs"]["environment"]["enum"]
    assert sorted(named) == sorted(WORLDS) == sorted(CONFIG["environments"])


@given(st.lists(st.integers(0, 99), unique=True, min_size=1), st.integers(1, 10))
def test_every_seed_is_in_one_group_of_its_own_name(seeds, stack):
    groups = seed_groups(seeds, stack)
    assert sorted(seed for group in groups.values() for seed in group) == sorted(seeds)
    assert all(len(group) <= stack for group in groups.values())
    assert len(groups) == -(-len(seeds) // stack)


mappings = st.recursive(
    st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8
)


@given(st.dictionaries(st.sampled_from("abc"), mappings))
def test_merging_with_nothing_or_itself_changes_nothing(mapping):
    assert merge(mapping) == merge(mapping, {}) == merge({}, mapping) == mapping
    assert merge(mapping, mapping) == mapping
