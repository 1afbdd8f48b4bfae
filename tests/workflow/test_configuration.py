"""The configuration: scales and experiments laid over each other, mistakes said in one sentence."""

import copy
import json
import math
import random
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.settings import merge
from workflow.lib import sections
from workflow.lib.configuration import resolve
from workflow.lib.plan import Plan
from workflow.lib.settings_page import files

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
# A scale may change how much is done and never what is done.
SIZES = {
    "seeds",
    "runs",
    "stack",
    "trajectories",
    "epochs",
    "episodes",
    "warm_up",
    "updates",
    "rounds",
    "steps",
    "iterations",
    "selection_episodes",
    "report_episodes",
    "sets",
    "environments",
    "passes",
    "total_steps",
    "forward_steps",
    "networks",  # how many
    # of simulated recordings
    "recordings",
    "vehicles",
    "frames",
    "upstream",
    "downstream",
    "dpi",
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
    config = resolve(CONFIG)
    assert config.scale == "paper"
    assert config.groups == {"1-5": tuple(range(1, 6)), "1-10": tuple(range(1, 11))}
    ten = {
        (one.name, method)
        for one in config.experiments.values()
        for method in one.methods
        if list(config.groups_of(one, method)) == ["1-10"]
    }
    synthetic = ("gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid")
    baselines = {"gail-constraint", "icrl"}
    assert ten == {
        (name, method)
        for name, one in config.experiments.items()
        for method in one.methods
        if name.startswith(synthetic) and method not in baselines
    }
    assert list(config.fit_groups) == ["1-5"]
    epochs = {
        name: config.experiments[name].learning["icl"]["constrained_rl"]["epochs"]
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
        "nav": 200,  # ours
    }
    learned = {name: e for name, e in config.experiments.items() if "icl" in e.methods}
    iterations = {name: e.iterations("icl") for name, e in learned.items()}
    assert iterations.pop("highd") == 3
    assert {iterations.pop(name) for name in ("exid", "ant", "halfcheetah")} == {5}
    assert set(iterations.values()) == {10}
    assert config.experiments["gridworld-a"].iterations("icrl") == 0


def test_a_stack_that_ends_sooner_learns_from_a_part_of_the_experts():
    """Of seven seeds in stacks of three, a method that runs four has a stack of one."""
    own = {"gridworld-a": {"runs": {"icl": 7}}}
    seeds = {"seeds": list(range(1, 8)), "runs": 4, "stack": 3}
    config = resolve(changed(experiments=own, **seeds))
    one = config.experiments["gridworld-a"]
    assert list(config.groups_of(one, "icl")) == ["1-3", "4-6", "7-7"]
    assert list(config.groups_of(one, "icrl")) == ["1-3", "4-4"]
    assert config.expert_groups(one) == ["1-3", "4-6", "7-7"]
    assert config.expert_groups(config.experiments["highd"]) == []
    plan = Plan(config, ROOT)

    def shown(name, group):
        return plan.demonstrations(SimpleNamespace(experiment=name, group=group))

    folder = "results/paper/demonstrations"
    assert shown("gridworld-a", "4-4") == f"{folder}/gridworld-a/seeds-4-6/trajectories.parquet"
    assert shown("gridworld-a-beta-299", "7-7") == shown("gridworld-a", "7-7")
    assert shown("highd", "4-4") == f"{folder}/highd/seeds-all/trajectories.parquet"
    # Twins of other experiments are cut for themselves.
    assert config.expert_groups(config.experiments["ant"]) == ["1-3", "4-4"]


def test_what_is_wrong_with_runs_is_said():
    for runs, said in [
        ({"icll": 3}, "experiments.gridworld-a.runs: choose one of"),
        ({"icl": 0}, "experiments.gridworld-a.runs: expected"),
        (3, "experiments.gridworld-a.runs: expected"),
    ]:
        with pytest.raises(InputError, match=said):
            resolve(changed(experiments={"gridworld-a": {"runs": runs}}))


@pytest.mark.parametrize("scale", ["quick", "smoke"])
def test_a_scale_changes_sizes_only_and_has_the_last_word(scale):
    overlay = CONFIG["scales"][scale]
    assert set(leaves(overlay)) <= SIZES
    for name in discovery.names(discovery.METHODS):
        assert set(leaves(sections.method(name).SIZES[scale])) <= SIZES
    icl = sections.method("icl").SIZES[scale]
    config = resolve(changed(scale=scale))
    for experiment in config.experiments.values():
        if "icl" not in experiment.methods:
            continue
        # What a scale says of an experiment, it says of its variants too.
        sizes = overlay.get("experiments", {}).items()
        said = [o for name, o in sizes if f"{experiment.name}-".startswith(f"{name}-")]
        own = overlay | merge(*said)
        rl = experiment.learning["icl"]["constrained_rl"]
        learning = merge({"icl": icl}, own.get("learning", {}))
        assert rl["epochs"] == learning["icl"]["constrained_rl"]["epochs"]
        expert = experiment.demonstrations["constrained_rl"]
        demonstrations = merge(overlay["demonstrations"], own.get("demonstrations", {}))
        assert expert["epochs"] == demonstrations["constrained_rl"]["epochs"]


@pytest.mark.parametrize("scale", ["quick", "smoke"])
def test_no_experiment_is_larger_than_the_papers(scale):
    papers, smaller = (resolve(changed(scale=s)).experiments for s in ("paper", scale))
    assert set(smaller) < set(papers)  # some variants are of the paper's scale alone
    for name, whole in ((name, papers[name]) for name in smaller):
        for method in whole.methods:
            assert smaller[name].iterations(method) <= whole.iterations(method)
        for path in (
            "learning.icl.constrained_rl.epochs",
            "learning.gail-constraint.total_steps",
            "learning.icrl.iterations",
        ):
            if path.split(".")[1] in whole.methods:
                assert smaller[name].setting(path) <= whole.setting(path), name
        for method in {"exact-icl", "exact-icl-ours"} & set(whole.methods):
            path = f"learning.{method}.iterations"
            assert smaller[name].setting(path) <= whole.setting(path), name


def test_an_experiment_may_say_otherwise():
    own = {
        "environment": "gridworld-a",
        "methods": ["icl"],
        "world": {"slip": 0.3},
        "demonstrations": "data/mine.parquet",
        "learning": {
            "threshold": 2.99,
            "icl": {"constrained_rl": {"penalty": {"ppo": {"clip": 0.2}}}},
        },
    }
    experiment = resolve(changed(experiments={"slippery": own})).experiments["slippery"]
    assert experiment.demonstrations["file"] == "data/mine.parquet"
    assert experiment.source == "file"
    assert experiment.world == {"slip": 0.3, "slip_over_all": False}
    assert experiment.learning["threshold"] == 2.99
    ppo = experiment.learning["icl"]["constrained_rl"]["penalty"]["ppo"]
    assert (ppo["clip"], ppo["entropy"]) == (0.2, 0.01)


def test_an_experiment_has_only_the_procedure_that_it_uses():
    found = resolve(CONFIG).experiments
    assert "lagrangian" not in found["gridworld-a"].learning["icl"]["constrained_rl"]
    assert "penalty" not in found["ant"].learning["icl"]["constrained_rl"]
    assert "penalty" not in found["ant"].demonstrations["constrained_rl"]
    assert found["ant"].demonstrations["constrained_rl"]["epochs"] == 50


def test_a_scale_of_ones_own_needs_sizes_of_every_method():
    tiny = {"seeds": [1], "learning": {"icl": {"loop": {"iterations": 1}}}}
    with pytest.raises(InputError) as error:
        resolve(changed(scale="tiny", scales={"tiny": tiny}))
    message = str(error.value)
    assert "method gail-constraint: expected its sizes at scale tiny, found none" in message
    assert "scales.tiny.learning.gail-constraint" in message
    tiny["learning"] |= {"gail-constraint": {"total_steps": 400, "warm_up": 0}, "icrl": {}}
    tiny["learning"] |= {"icl-plus": {}, "exact-icl": {}, "exact-icl-ours": {}}
    found = resolve(changed(scale="tiny", scales={"tiny": tiny})).experiments["gridworld-a"]
    assert found.iterations("icl") == 1
    assert found.learning["gail-constraint"]["total_steps"] == 400
    assert found.learning["icrl"]["iterations"] == 200  # the paper's: it was said so


RULES = {
    "expert": ("demonstrations.trajectories", "demonstrations.constrained_rl"),
    "icl_density": ("learning.icl.density",),
    "icl_policy": ("learning.icl.constrained_rl", "learning.icl.loop.selection_episodes"),
    "icl_adjust": ("learning.icl.adjustment", "learning.icl.loop.patience", "learning.threshold"),
    "learn": ("learning.{method}",),
    "metrics": ("measuring.report_episodes",),
}


def test_a_job_is_given_only_the_sections_that_its_rule_names():
    class Wildcards(dict):
        __getattr__ = dict.__getitem__

    wildcards = Wildcards(experiment="cartpole-mr", group="1-5", method="icrl")

    def affected(**overlay):
        plans = (Plan(resolve(c), ROOT) for c in (CONFIG, changed(**overlay)))
        before, after = (
            {rule: plan.given(*paths)(wildcards) for rule, paths in RULES.items()} for plan in plans
        )
        return {rule for rule in RULES if before[rule] != after[rule]}

    assert affected(showing={"dpi": 100}) == set()
    assert affected(measuring={"report_episodes": 7}) == {"metrics"}
    assert affected(learning={"threshold": 7.0}) == {"icl_adjust"}
    assert affected(learning={"icrl": {"on_policy": {"passes": 7}}}) == {"learn"}
    assert affected(learning={"gail-constraint": {"batch": 7}}) == set()
    assert affected(learning={"icl": {"density": {"batch": 7}}}) == {"icl_density"}
    assert affected(learning={"icl": {"loop": {"keep": "last"}}}) == set()
    assert affected(demonstrations={"seed": 7}) == set()  # of recorded drives
    assert affected(demonstrations={"trajectories": 7}) == {"expert"}
    assert affected(environments={"gridworld-a": {"slip": 0.1}}) == set()


def test_the_order_of_keys_means_nothing():
    def shuffled(value):
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        random.Random(0).shuffle(items)
        return {key: shuffled(inner) for key, inner in items}

    one, two = resolve(CONFIG), resolve(shuffled(CONFIG))
    assert repr(one.experiments) == repr(two.experiments)


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        (
            {"sedes": [1]},
            "key sedes is unknown; did you mean seeds? valid keys are demonstrations,",
        ),
        ({"scale": "big"}, "key scale: expected one of paper, quick, smoke, found 'big'"),
        ({"stack": -3}, "expected a whole number of at least 1 and of at most 1000, found -3"),
        ({"stack": 2.5}, "expected a whole number of at least 1 and of at most 1000, found 2.5"),
        ({"stack": True}, "expected a whole number of at least 1 and of at most 1000, found true"),
        ({"seeds": []}, "key seeds: expected a list of whole numbers of at least 0"),
        ({"seeds": [1, 1]}, "each only once, found the list [1, 1]"),
        ({"learning": {"threshold": "high"}}, "key learning.threshold: expected a number above 0"),
        ({"learning": {"threshold": math.nan}}, "key learning.threshold: expected a number above"),
        (
            {"learning": {"threshold": math.inf}},
            "above 0 and of at most 1000000 or null, found inf",
        ),
        ({"learning": {"threshold": "5e1"}}, "found the text '5e1' (in YAML write 5.0e1)"),
        ({"learning": {"icl": {"adjustment": {"penalti": 1.0}}}}, "did you mean penalty?"),
        (
            {"learning": {"icl": {"density": {"learning_rate": math.nan}}}},
            "key learning.icl.density.learning_rate: expected a number above 0 and of at most 1, "
            "found nan",
        ),
        (
            {"experiments": {"x": {"environment": "gridworld-c", "methods": ["icl"]}}},
            "key experiments.x.environment: choose one of ant, cartpole-mid, cartpole-mr, exid, "
            "gridworld-a, gridworld-b, halfcheetah, highd, nav, found the text 'gridworld-c'",
        ),
        (
            {"experiments": {"gridworld-a": {"methods": ["ppo"]}}},
            "key experiments.gridworld-a.methods.0: choose one of exact-icl, exact-icl-ours, "
            "gail-constraint, icl, icl-plus, icrl, found the text 'ppo'",
        ),
        ({"experiments": {"x": {"methods": ["icl"]}}}, "key experiments.x.environment: choose one"),
        (
            {"experiments": {"X_1": {"environment": "gridworld-a", "methods": ["icl"]}}},
            "expected at most 60 small letters, digits and single hyphens in a name, found 'X_1'",
        ),
        (
            {"scales": {"paper": {"experiments": {"mars": {}}}}},
            "key scales.paper.experiments.mars is unknown; choose one of ant, cartpole-mid,",
        ),
        (
            {"environments": {"gridworld-a": {"slip": 1.5}}},
            "key environments.gridworld-a.slip: expected a number of at least 0 and of at most 1, "
            "found 1.5",
        ),
        (
            {"experiments": {"cartpole-mr": {"world": {"slip": 0.1}}}},
            "key experiments.cartpole-mr.world.slip is unknown; valid keys are pole_length",
        ),
        ({"measuring": None}, "key measuring: expected a mapping of keys, found null"),
    ],
)
def test_a_mistake_is_one_sentence(overlay, said):
    with pytest.raises(InputError) as error:
        resolve(changed(**overlay))
    message = str(error.value)
    assert said in message
    assert "\n" not in message


def test_docs_and_schema_are_those_of_the_declarations():
    for path, text in files().items():
        assert (ROOT / path).read_text("utf-8") == text, "make docs"


def test_the_schema_for_editors_takes_config_yaml_and_refuses_a_misspelt_key():
    schema = json.loads((ROOT / "docs/config.schema.json").read_text())
    jsonschema.validate(CONFIG, schema)
    for wrong in ({"sedes": [1]}, {"learning": {"icl": {"adjustment": {"penalti": 1.0}}}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed(**wrong), schema)


mappings = st.recursive(
    st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8
)


@given(st.dictionaries(st.sampled_from("abc"), mappings))
def test_merging_with_nothing_or_itself_changes_nothing(mapping):
    assert merge(mapping) == merge(mapping, {}) == merge({}, mapping) == mapping
    assert merge(mapping, mapping) == mapping


def test_all_methods_of_an_experiment_are_selected_among_equally_many_candidates():
    """ICL+ trains its first policy without a constraint: that one is no candidate."""
    for name, one in resolve(changed(scale="paper")).experiments.items():
        numbers = {
            method: own["candidates"]["number"]
            if "candidates" in own
            else own["loop"]["iterations"] + 1
            for method, own in one.learning.items()
            if method in ("icl", "icl-plus", "gail-constraint", "icrl")
        }
        assert len(set(numbers.values())) <= 1, (name, numbers)
    given = {"gail-constraint": {"candidates": {"number": 4}}}
    own = resolve(changed(learning=given)).experiments["gridworld-a"].learning
    assert own["gail-constraint"]["candidates"] == {"number": 4, "episodes": 300}
    assert own["icrl"]["candidates"] == {"number": 11, "episodes": 300}
