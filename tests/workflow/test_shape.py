"""The workflow resolves, reads well and says in one line what is wrong with its configuration."""

import collections
import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from icl_core.learning.experts import ExpertSettings
from icl_core.demonstrations.highd_scene import SceneSettings
from icl_core.demonstrations.recordings.exid_simulation import ExiDSimulationSettings
from icl_core.demonstrations.recordings.highd_simulation import HighDSimulationSettings
from icl_core.learning.methods.icl.soft_loss import AdjustmentSettings
from icl_core.learning.constrained_rl.procedure import ConstrainedRLSettings
from icl_core.learning.methods.icrl.feasibility import BackwardSettings
from icl_core.learning.engine.density import DensitySettings
from icl_core.learning.methods.gail_constraint import GAILSettings
from icl_core.learning.methods.icl.state import ICLSettings
from icl_core.learning.methods.icrl.algorithm import ICRLSettings
from icl_core.learning.constrained_rl.lagrangian import LagrangianSettings
from icl_core.learning.engine.on_policy import OnPolicySettings
from icl_core.learning.engine.ppo import PPOSettings
from icl_core.showing.catalogue import ITEMS
from tests.workflow.conftest import cut_down

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
RULE_FILES = sorted((ROOT / "workflow/rules").glob("*.smk"))


@pytest.mark.parametrize("scale", ["paper", "quick", "smoke"])
def test_every_scale_resolves(checkout, scale):
    jobs = checkout.planned(scale=scale)
    config = {**CONFIG, **CONFIG["scales"][scale]}
    assert len(config["seeds"]) <= config["stack"]  # one group of seeds: a job of each kind
    given, variants = CONFIG["experiments"], sum(len(v["of"]) for v in CONFIG["variants"].values())
    methods = collections.Counter(m for own in given.values() for m in own["methods"])
    iterations = dict.fromkeys(given, CONFIG["learning"]["icl"]["iterations"])
    iterations |= {"highd": 3, "exid": 5, "ant": 5, "halfcheetah": 5}
    if scale != "paper":
        iterations = dict.fromkeys(given, config["learning"]["icl"]["iterations"])
    if scale == "quick":
        iterations |= {"ant": 2, "halfcheetah": 2}
    adjusted = sum(iterations.values()) + variants * iterations["gridworld-a"]
    experts = 4 + 2 + 3  # three worlds that slip have experts of their own
    kinds = collections.Counter(item.kind for item in ITEMS)
    assert jobs == {
        **{f"simulate_{name}": 1 for name in ("highd", "exid")},
        **{f"read_{name}": 1 for name in ("highd", "exid")},
        **{f"{name}_scene": 1 for name in ("highd", "exid")},
        **{f"{name}_demonstrations": 1 for name in ("highd", "exid")},
        "expert": experts,
        "density": experts + 2,  # as many as there are sets of demonstrations
        "initial_constraint": len(given) + variants,
        "constrained_rl": adjusted,
        "adjust": adjusted,
        "conclude": len(given) + variants,
        "gail_constraint": methods["gail-constraint"],
        "icrl": methods["icrl"],
        "metrics": methods.total() + variants,
        "collect_metrics": 1,
        "architecture": 6 * 5,
        "animation": 1,
        "figure": kinds["figure"],
        "table": kinds["table"],
    }
    assert not (checkout.path / "results").exists()


def test_what_the_tests_run_leaves_out_no_rule_and_no_item(checkout):
    """The smoke workflow of these tests is cut down in size only."""
    everything = checkout.planned()
    checkout.configure(cut_down)
    some = checkout.planned()
    assert some.keys() == everything.keys()
    assert (some["figure"], some["table"]) == (everything["figure"], everything["table"])
    assert sum(some.values()) < 0.6 * sum(everything.values())


def test_lint_is_clean(checkout):
    assert checkout.snakemake("--lint").returncode == 0


def test_sizes_that_read_well():
    def lines(path):
        return len(path.read_text().splitlines())

    assert lines(ROOT / "Snakefile") < 60
    assert all(lines(path) < 200 for path in RULE_FILES)
    assert all(lines(path) < 60 for path in (ROOT / "workflow/scripts").glob("*.py"))


def test_rules_hold_no_code():
    for path in RULE_FILES:
        text = path.read_text()
        assert "lambda" not in text
        assert not re.search(r"^ +run:", text, re.MULTILINE)
        # Every job leaves a log and a benchmark.
        scripts = text.count("    script:")
        assert text.count("    log:") == text.count("    benchmark:") == scripts, path.name


def test_scripts_touch_snakemake_only_in_their_tail():
    for path in (ROOT / "workflow/scripts").glob("*.py"):
        body, _, tail = path.read_text().partition('if __name__ == "__main__":')
        assert "snakemake." not in body, path.name
        assert tail.strip() == "run(main, snakemake)"


def test_the_environment_of_jobs_is_the_lock():
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    conda = yaml.safe_load((ROOT / "workflow/envs/locked.yaml").read_text())
    assert conda["dependencies"][-1]["pip"] == [line for line in lock if "==" in line]
    assert "torch==2.13.0" in lock


@pytest.mark.parametrize(
    ("settings", "section"),
    [
        (ExpertSettings, CONFIG["demonstrations"]),
        (DensitySettings, CONFIG["learning"]["density"]),
        (ConstrainedRLSettings, CONFIG["learning"]["constrained_rl"]),
        (PPOSettings, CONFIG["learning"]["constrained_rl"]["ppo"]),
        (LagrangianSettings, CONFIG["learning"]["constrained_rl"]["lagrangian"]),
        (OnPolicySettings, CONFIG["learning"]["constrained_rl"]["lagrangian"]["on_policy"]),
        (AdjustmentSettings, CONFIG["learning"]["adjustment"]),
        (ICLSettings, CONFIG["learning"]["icl"]),
        (OnPolicySettings, CONFIG["learning"]["on_policy"]),
        (GAILSettings, CONFIG["learning"]["gail_constraint"]),
        (ICRLSettings, CONFIG["learning"]["icrl"]),
        (BackwardSettings, CONFIG["learning"]["icrl"]["backward"]),
        (SceneSettings, CONFIG["environments"]["highd"]["scene"]),
        (ExiDSimulationSettings, CONFIG["environments"]["exid"]["simulation"]),
    ],
)
def test_config_yaml_sets_every_setting_of_the_code(settings, section):
    assert {field.name for field in dataclasses.fields(settings)} == set(section)


def test_config_yaml_sets_the_simulations_sizes():
    """What the drivers and the camera are like is the simulation's own."""
    known = {field.name for field in dataclasses.fields(HighDSimulationSettings)}
    of_its_own = {"recording", "view", "frame_rate", "car", "truck"}
    assert known - of_its_own == set(CONFIG["environments"]["highd"]["simulation"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("stack: 5", "stack: -5", "key stack: expected a number of at least 1, found -5"),
        ("stack: 5", "stak: 5", "key stak is unknown; did you mean stack?"),
        ("threshold: null", "threshold: high", "learning.threshold: expected a number or null"),
        (
            "environment: gridworld-b",
            "environment: gridworld-c",
            "key experiments.gridworld-b.environment: choose one of gridworld-a,",
        ),
        (
            "methods: [icl,",
            "methods: [ppo,",
            "methods.0: choose one of icl, gail-constraint, icrl, found the text 'ppo'",
        ),
    ],
)
def test_a_wrong_configuration_is_one_line(checkout, old, new, told):
    checkout.edit("config.yaml", old, new)
    done = checkout.snakemake("all")
    assert done.returncode == 1
    (error,) = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert told in error
    assert "Traceback" not in done.stderr + done.stdout
    assert not (checkout.path / "results").exists()
