"""Configurations that must be refused before anything runs, each in one sentence."""

import copy
import datetime
import math
import random
from dataclasses import fields
from typing import get_args

import pytest

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.true_fit import TrueFitsSettings
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.transfer import TransfersSettings
from icl_core.settings import meaning
from icl_core.settings_schema import hints_of, options_of, section_type
from icl_core.showing.item import ShowingSettings
from tests.workflow.test_configuration import CONFIG, changed
from workflow.lib import sections
from workflow.lib.configuration import resolve

GRIDWORLD = {"environment": "gridworld-a", "methods": ["icl"]}


def refused(config) -> str:
    with pytest.raises(InputError) as error:
        resolve(config)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith("configuration: ")
    return message


def experiment(**own):
    return {"experiments": {"x": {**GRIDWORLD, **own}}}


def scaled(**own):
    return {"scales": {"paper": {"experiments": {"gridworld-a": own}}}}


def icl(**own):
    return {"learning": {"icl": own}}


# ------------------------------------------------------------------ numbers


def declared_numbers():
    """(section, field, bounds) of every number that a setting may be."""
    kinds = [sections.Run, ExpertSettings, TrueFitsSettings, MeasuringSettings, ShowingSettings]
    kinds += [TransfersSettings]
    kinds += [sections.method(name).Settings for name in discovery.names(discovery.METHODS)]
    for world in discovery.names(discovery.WORLDS):
        kinds += sections.environment_types(world)
    while kinds:
        kind = kinds.pop()
        for one in fields(kind):
            hint = hints_of(kind)[one.name]
            if section_type(hint):
                kinds.append(hint)
                continue
            options = [
                inner for option in options_of(hint) for inner in get_args(option) or [option]
            ]
            options = [inner for option in options for inner in get_args(option) or [option]]
            if {int, float} & {*options}:
                yield kind.__qualname__, one.name, meaning(one)


def test_every_number_has_a_lower_and_an_upper_bound():
    found = list(declared_numbers())
    assert len(found) > 60
    unbounded = [
        (kind, name)
        for kind, name, bounds in found
        if not any(isinstance(choice, int) for choice in bounds.choices)
        if (bounds.at_least is None and bounds.above is None)
        or (bounds.at_most is None and bounds.below is None)
    ]
    assert unbounded == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, 10**20, 10**400, -(10**9)])
@pytest.mark.parametrize(
    "key",
    [
        "learning.threshold",
        "learning.icl.adjustment.penalty",
        "learning.icl.adjustment.multiplier_initial",
        "learning.icl.constraint.initial",
        "learning.icl.loop.tolerance",
        "learning.icl.constrained_rl.epochs",
        "learning.icl.constrained_rl.penalty.ppo.learning_rate",
        "learning.icl.constrained_rl.penalty.ppo.log_deviation",
        "learning.icl.constrained_rl.lagrangian.on_policy.gradient_norm",
        "learning.icrl.budget",
        "learning.gail-constraint.total_steps",
        "demonstrations.trajectories",
        "demonstrations.seed",
        "environments.gridworld-a.slip",
        "environments.highd.simulation.flow",
        "environments.highd.simulation.warm_up",
        "environments.highd.scene.entry",
        "measuring.report_episodes",
        "showing.dpi",
        "true_fits.steps",
        "transfers.steps",
        "stack",
    ],
)
def test_an_absurd_number_is_refused(key, value):
    overlay = value
    for part in reversed(key.split(".")):
        overlay = {part: overlay}
    message = refused(changed(**overlay))
    assert message.startswith(f"configuration: key {key}: expected ")
    assert len(message) < 300


# ------------------------------------------------------------------ each in one sentence

LONG = "a" * 300
CASES = {
    # settings that contradict each other
    "GAIL's warm-up": (
        {"learning": {"gail-constraint": {"warm_up": 1.0}}},
        "gail-constraint.warm_up: expected a number of at least 0 and below 1, found 1.0",
    ),
    "the Lagrangian's warm-up": (
        icl(constrained_rl={"lagrangian": {"warm_up": 50}}),
        "ant.learning.icl.constrained_rl.lagrangian.warm_up: expected fewer than the 50 epochs, "
        "found 50; make it smaller or epochs larger",
    ),
    "an expert's warm-up": (
        {"experiments": {"ant": {"demonstrations": {"constrained_rl": {"epochs": 3}}}}}
        | icl(constrained_rl={"lagrangian": {"warm_up": 3}}),
        "key experiments.ant.demonstrations.constrained_rl.lagrangian.warm_up: expected fewer than "
        "the 3 epochs, found 3",
    ),
    "steps that environments do not divide": (
        {"learning": {"icrl": {"on_policy": {"steps": 2001}}}},
        "icrl.on_policy.steps: expected a multiple of environments (20), found 2001; change one",
    ),
    "a method that does not go with a world": (
        {"experiments": {"ant": {"learning": {"icrl": {"never_reset": True}}}}},
        "key experiments.ant.learning.icrl.never_reset: expected false in ant",
    ),
    "numbers of recordings that are simulated": (
        {"environments": {"highd": {"numbers": [3]}}},
        "key environments.highd.numbers: expected null where recordings are simulated, found [3]",
    ),
    # what a scale may not change
    **{
        f"{key} in a scale": (
            scaled(**{key: value}),
            f"key scales.paper.experiments.gridworld-a.{key}: expected methods, demonstrations, "
            f"learning, measuring alone in a scale, found {key}",
        )
        for key, value in (
            ("environment", "gridworld-b"),
            ("world", {"slip": 0.1}),
            ("demonstrations_of", "gridworld-b"),
        )
    },
    "a path as a scale's demonstrations": (
        {"scales": {"paper": {"demonstrations": "mine.parquet"}}},
        "key scales.paper.demonstrations: expected a mapping of keys, found the text",
    ),
    # demonstrations
    "shared and from a file": (
        experiment(demonstrations_of="gridworld-a", demonstrations="missing.parquet"),
        "key experiments.x: expected demonstrations_of or a file of demonstrations, found both "
        "(gridworld-a and missing.parquet); leave one of them out",
    ),
    "shared and from a file in full": (
        experiment(demonstrations_of="gridworld-a", demonstrations={"file": "missing.parquet"}),
        "found both (gridworld-a and missing.parquet)",
    ),
    "shared, and a file in the scale": (
        experiment(demonstrations_of="gridworld-a")
        | {"scales": {"paper": {"experiments": {"x": {"demonstrations": "mine.parquet"}}}}},
        "found both (gridworld-a and mine.parquet)",
    ),
    "shared with itself": (
        experiment(demonstrations_of="x"),
        "key experiments.x.demonstrations_of names itself; leave it out, or choose from ant,",
    ),
    "shared with a list": (
        experiment(demonstrations_of=["x"]),
        "key experiments.x.demonstrations_of: expected a text or null, found the list ['x']",
    ),
    "a file with braces": (
        experiment(demonstrations="{mine}.parquet"),
        "key experiments.x.demonstrations.file: expected a path without braces and line breaks",
    ),
    "recordings with braces": (
        {"environments": {"highd": {"recordings": "data/{highd}"}}},
        "key environments.highd.recordings: expected a path without braces and line breaks or null",
    ),
    # names
    "another world's name": (
        {"experiments": {"halfcheetah": {"environment": "ant"}}},
        "key experiments.halfcheetah.environment: expected halfcheetah, whose name the experiment "
        "bears, found ant; rename the experiment",
    ),
    "another world's name with a variant's": (
        {"experiments": {"gridworld-b-lagrangian": GRIDWORLD}},
        "key experiments.gridworld-b-lagrangian.environment: expected gridworld-b",
    ),
    "a number": ({"experiments": {5: GRIDWORLD}}, "expected a text as a name, found 5; write it"),
    "a line break": ({"experiments": {"x\n": GRIDWORLD}}, r"found 'x\n'"),
    "300 letters": ({"experiments": {LONG: GRIDWORLD}}, "expected at most 60 small letters"),
    "a variant of 300 letters": ({"variants": {LONG: {"of": ["ant"]}}}, "at most 60 small letters"),
    "a scale that is a number": ({"scales": {5: {}}}, "key scales: expected a text as a name"),
    "an architecture that is a path": (
        {"true_fits": {"architectures": {"../a": [64]}}},
        "key true_fits.architectures: expected a mapping of names (at most 60 small letters, ",
    ),
    "seeds whose folder has too long a name": (
        {"seeds": list(range(1, 200, 2)), "runs": None, "stack": 100},
        "key seeds: expected seeds whose stack can be a folder's name of at most 200 letters",
    ),
    # whole numbers
    **{
        f"{key} as a float": (overlay, f"{key}: expected a")
        for key, overlay in {
            "learning.icl.density.batch": icl(density={"batch": 64.0}),
            "learning.icl.density.hidden": icl(density={"hidden": [64.0]}),
            "learning.icl.adjustment.policies_per_iteration": icl(
                adjustment={"policies_per_iteration": 2.0}
            ),
            "measuring.report_episodes": {"measuring": {"report_episodes": 50.0}},
            "seeds": {"seeds": [1.0]},
            "stack": {"stack": 2.5},
            "runs": {"runs": 2.5},
        }.items()
    },
    "seeds of 70 bits": ({"seeds": [2**70]}, "of at least 0 and of at most 2147483647, each only"),
    "negative seeds": (
        {"seeds": [-1]},
        "key seeds: expected a list of whole numbers of at least 0",
    ),
    "layers of a thousand million": (icl(density={"hidden": [10**9]}), "of at most 4096, found"),
    "two thousand seeds": ({"seeds": [*range(2000)]}, "found a list of 2000 entries, more than"),
    # structure
    "a tolerance that is a mapping": (
        icl(loop={"tolerance": {"a": 1}}),
        "key learning.icl.loop.tolerance: expected a number of at least 0 and of at most 1000000 "
        "or demonstrations or null, found a mapping {'a': 1}",
    ),
    "fits where no true constraint is known": (
        {"true_fits": {"environments": ["highd"]}},
        "true_fits.environments.0: expected a world whose true constraint is known, found highd",
    ),
    "fits of an unknown world": (
        {"true_fits": {"environments": ["mars"]}},
        "key true_fits.environments.0: choose one of ant,",
    ),
    "transfers where no true constraint is known": (
        {"transfers": {"experiments": {"highd": {}}}},
        "transfers.experiments.highd: expected a world whose true constraint is known, found highd",
    ),
    "transfers of an unknown experiment": (
        {"transfers": {"experiments": {"mars": {}}}},
        "key transfers.experiments.mars: expected one of ant,",
    ),
    "transfers to a world that there is not": (
        {"transfers": {"experiments": {"gridworld-a": {"slop": 0.1}}}},
        "key transfers.experiments.gridworld-a.slop is unknown; did you mean slip?",
    ),
    "transfers to a world out of bounds": (
        {"transfers": {"experiments": {"gridworld-a": {"slip": 1.5}}}},
        "key transfers.experiments.gridworld-a.slip: expected a number of at least 0",
    ),
    "an agent for what is not moved": (
        {"transfers": {"own_learner": ["highd"]}},
        "key transfers.own_learner.0: expected one of ant, cartpole-mr, gridworld-a, nav, found",
    ),
    "methods that are a number": (
        experiment(methods=3),
        "key experiments.x.methods: expected a list of texts, each only once, found 3",
    ),
    "a method twice": (experiment(methods=["icl", "icl"]), "each only once, found the list"),
    "a variant without methods": (
        {"variants": {"v": {"of": ["ant"], "methods": None}}},
        "key variants.v.methods: expected a list of texts, each only once, found null",
    ),
    "a variant's world with a number as key": (
        {"variants": {"v": {"of": ["gridworld-a"], "world": {1.5: 2}}}},
        "key variants.v.world.1.5 is unknown",
    ),
    "a key with a line break": ({"a\nb": 1}, r"key 'a\nb' is unknown"),
    "a key of 300 letters": ({LONG: 1}, "aaa... is unknown"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_one_sentence(case):
    overlay, said = CASES[case]
    assert said in refused(changed(**overlay))


def test_what_icl_does_not_learn_is_not_moved():
    config = changed(experiments={"gridworld-a": {"methods": ["icrl"]}})
    config["variants"] = {}
    assert list(resolve(config).transfers.experiments) == ["ant", "cartpole-mr", "nav"]


def test_without_experiments_there_is_nothing_to_run():
    for config in ({**CONFIG, "experiments": {}}, {k: CONFIG[k] for k in ("scale", "scales")}):
        assert "key experiments: expected at least one" in refused(config)


def test_a_world_without_a_true_constraint_needs_a_file(monkeypatch):
    world = sections.world_type("gridworld-b")
    monkeypatch.setattr(world, "true_constraint", None)
    config = changed(true_fits={"environments": ["ant"]})
    said = "key experiments.gridworld-b.demonstrations: expected a file, for nobody knows"
    assert said in refused(config)
    config["variants"] = {}
    config["experiments"]["gridworld-b"]["demonstrations"] = "mine.parquet"
    assert resolve(config).experiments["gridworld-b"].source == "file"


def test_anchors_inside_anchors_have_an_end():
    laughs = ["ha"]
    for _ in range(60):
        laughs = [laughs] * 10
    mappings = {"ha": 1}
    for _ in range(40):
        mappings = dict.fromkeys("abcdefghij", mappings)
    endless = []
    endless.append(endless)
    for value in (laughs, mappings, endless):
        for overlay in ({"learning": {"threshold": value}}, {"x": value}, experiment(world=value)):
            config = copy.deepcopy(CONFIG)
            for key, own in overlay.items():
                config[key] = {**config.get(key, {}), **own} if isinstance(own, dict) else own
            with pytest.raises(InputError, match=r"^configuration: expected"):
                resolve(config)


# ------------------------------------------------------------------ what stays allowed


def test_a_scale_may_choose_methods():
    found = resolve(changed(**scaled(methods=["icrl"]))).experiments["gridworld-a"]
    assert found.methods == ("icrl",)


@pytest.mark.parametrize(
    "overlay",
    [
        # the penalty procedure has no warm-up
        icl(constrained_rl={"epochs": 5, "lagrangian": {"warm_up": 7}})
        | {"experiments": {"ant": {"methods": ["icrl"]}, "halfcheetah": {"methods": ["icrl"]}}},
        # no expert is trained in HighD
        {"experiments": {"highd": {"demonstrations": {"constrained_rl": {"epochs": 2}}}}}
        | icl(constrained_rl={"lagrangian": {"warm_up": 2}}),
    ],
)
def test_what_is_not_used_may_contradict_itself(overlay):
    resolve(changed(**overlay))


# ------------------------------------------------------------------ at random

VALUES = [None, True, 0, -1, 2, 3.0, 0.5, math.nan, math.inf, 1e300, 10**20, 10**400, "", "x"]
VALUES += ["a\nb", "../x", "{x}", "icl", "gridworld-a", [], [None], [1, 1], ["icl"], [[1]], {}]
VALUES += [{"a": 1}, {1: 2}, {None: 1}, datetime.date(2001, 1, 1), b"x", LONG, {"file": "x"}]
KEYS = ["environment", "methods", "world", "demonstrations_of", "demonstrations", "learning", "of"]
KEYS += ["seeds", "scale", "experiments", 5, None, 1.5, True, "threshold", LONG, "a\nb", "file"]


def places(value, here=()):
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*here, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*here, key))


def spoilt(rng: random.Random) -> dict:
    """config.yaml with a value or a key changed at random, or one missing."""
    config = {**copy.deepcopy(CONFIG), "scale": rng.choice(["paper", "quick", "smoke"])}
    for _ in range(rng.randint(1, 3)):
        *way, last = rng.choice(list(places(config)))
        inside = config
        for key in way:
            inside = inside[key]
        what = rng.random()
        if what < 0.7:
            inside[last] = copy.deepcopy(rng.choice(VALUES))
        elif what < 0.8 or isinstance(inside, list):
            del inside[last]
        else:
            inside[rng.choice(KEYS)] = inside.pop(last)
    return config


@pytest.mark.parametrize("seed", range(4))
def test_spoilt_at_random_it_is_right_or_refused_in_one_sentence(seed):
    rng, wrong = random.Random(seed), 0
    for _ in range(50):
        try:
            resolve(spoilt(rng))
        except InputError as error:
            wrong += 1
            assert "\n" not in str(error) and len(str(error)) < 900
    assert wrong > 30
