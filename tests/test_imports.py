"""What a job waits for before it starts: hundreds of jobs wait for it.

The tables say which heavy packages are loaded, no more and no less, so that a change is seen.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path.stem for path in (ROOT / "workflow/scripts").glob("*.py"))

ALWAYS = {"numpy", "pyarrow", "pyarrow.parquet", "safetensors"}
TABLES = ALWAYS | {"pyarrow.compute"}  # of those who read demonstrations or traffic
HEAVY = {
    *("PIL", "gymnasium", "highway_env", "jinja2", "matplotlib", "mujoco", "networkx", "numpy"),
    *("ot", "pandas", "psutil", "pyarrow", "pygame", "safetensors", "scipy", "shapely"),
    *("snakemake", "torch", "yaml", "zuko"),
    # parts that take long by themselves
    *("pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet"),
    *("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
}
IMPORTED = {
    "animation": TABLES,
    "claims": TABLES | {"yaml"},
    "collect_metrics": ALWAYS,
    "determine": TABLES,
    "expert": TABLES,
    "icl_adjust": TABLES,
    "icl_density": TABLES,
    "icl_initial_constraint": TABLES,
    "icl_policy": TABLES,
    "icl_select": TABLES,
    "import_demonstrations": TABLES,
    "learn": TABLES,
    "make_scene": ALWAYS,
    "metrics": TABLES,
    "read_recordings": TABLES,
    "replay_recordings": TABLES,
    "report_page": TABLES | {"jinja2", "yaml"},
    "show_item": ALWAYS,
    "simulate_recordings": ALWAYS,
    "transfer": TABLES,
    "true_fit": ALWAYS,
}
# What parts of a job load when they are first needed: code, and packages besides NumPy and Arrow.
NEEDED = {
    "a world": ("make_world('gridworld-a')", set()),
    "a robot": ("make_world('ant').initial_states(rng, 1)", {"mujoco"}),
    "a choice among actions": (
        "actions_of(make_world('gridworld-a')).distribution(ones[:, :8]).sample(ones[:, :1] / 2)",
        set(),
    ),
    "a choice of real actions": (
        "actions_of(make_world('ant')).distribution(ones[:, :16]).sample(ones[:, :8] / 2)",
        {"scipy", "scipy.special"},
    ),
    "NAD on a line": ("nad(make_world('ant').grid, ones[0, :101], ones[0, :101])", set()),
    "NAD on a grid": (
        "nad(make_world('gridworld-a').grid, ones[:7, :7], ones[:7, :7])",
        {"ot", "scipy", "scipy.linalg", "scipy.sparse", "scipy.special"},
    ),
    "a claim's interval": (
        "above_zero(sample_of([1, 2, 4]))",
        {"scipy", "scipy.special"},
    ),
    "a density": ("build_flow(2, 2, (4,), 0)", {"torch", "zuko"}),
    "a table": ("find_item('table-01-cmse').load()", set()),
}
BEFORE = """
import numpy as np
from icl_core.demonstrations.accruals import accrual_dissimilarity as nad
from icl_core.environments import make_world
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.density_fit import build_flow
from icl_core.measuring.claims.intervals import above_zero, sample_of
from icl_core.showing.item import find_item
ones, rng = np.ones((101, 101), np.float32), np.random.default_rng(0)
"""
SLOWEST, RATIO = 0.7, 2.1  # seconds, and what that is where NumPy and Arrow take a third of one


def loaded_by(code: str) -> tuple[set[str], float]:
    """The heavy packages that code loads, and the CPU seconds of the whole process."""
    ending = "\nimport sys, time; print(time.process_time()); print(*sys.modules)"
    # With bytecode, as jobs have it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code + ending],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, modules = done.stdout.splitlines()[-2:]
    loaded = set(modules.split())
    return HEAVY & (loaded | {name.split(".")[0] for name in loaded}), float(seconds)


@cache
def numpy_and_arrow() -> float:
    """CPU seconds until NumPy and Arrow are there, the least of three: this machine's measure."""
    return min(loaded_by("import numpy, pyarrow.parquet")[1] for _ in range(3))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_imports_what_its_line_says_and_starts_soon(script):
    loaded, seconds = loaded_by(f"import workflow.scripts.{script}")
    assert loaded == IMPORTED[script]
    tries = 0
    while seconds > SLOWEST and tries < 5:  # at first bytecode is written; others may be at work
        seconds, tries = loaded_by(f"import workflow.scripts.{script}")[1], tries + 1
    # A machine of half the speed has twice the time: what NumPy and Arrow take is its measure.
    assert seconds <= SLOWEST or seconds <= RATIO * numpy_and_arrow()


@pytest.mark.parametrize("what", NEEDED)
def test_a_part_of_a_job_loads_what_it_needs_when_it_does(what):
    if what == "a robot":
        pytest.importorskip("mujoco", exc_type=ImportError)
    code, packages = NEEDED[what]
    loaded, _ = loaded_by(f"{BEFORE}\n{code}")
    assert loaded - TABLES == packages


@pytest.mark.parametrize(
    "asking",
    [
        "import pandas",
        "import importlib; importlib.import_module('pandas')",
        "import importlib.util; assert importlib.util.find_spec('pandas'); import pandas",
    ],
)
def test_a_job_has_pandas_only_where_somebody_asks_for_it(asking):
    """Arrow would import it with its first array."""
    arrays = (
        "import workflow.lib.stage, numpy as np, pyarrow as pa; pa.array(np.ones(3)).to_numpy()"
    )
    assert "pandas" not in loaded_by(arrays)[0]
    series = (
        "pandas = sys.modules['pandas']; assert pa.array(pandas.Series([1, 2])).sum().as_py() == 3"
    )
    assert "pandas" in loaded_by(f"{arrays}\n{asking}\nimport sys; {series}")[0]
