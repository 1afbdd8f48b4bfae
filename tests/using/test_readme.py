"""The ten lines of the README, as they stand; only their sizes are smaller here."""

import re
from pathlib import Path

import numpy as np
import pytest
import stable_baselines3

import icl_core as icl
from icl_core.settings import build
from icl_core.using import learner
from tests.using.robots import TINY
from workflow.lib.api_page import PAGE, page

ROOT = Path(__file__).parents[2]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The data set that they name, and smaller sizes."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    (tmp_path / "minari").mkdir()
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def careful(seen):
        x, _ = seen
        target = (0.0, 0.6) if x < -0.1 else (1.0, 0.0)
        return np.clip(target - seen + rng.normal(0, 0.1, 2), -1, 1).astype(np.float32)

    icl.Demonstrations.record("Nav-v0", careful, 8, seed=1).to_minari("nav/careful-v0")
    monkeypatch.setattr(learner, "_settings", lambda method, given: tiny(method))
    learn = stable_baselines3.PPO.learn
    monkeypatch.setattr(stable_baselines3.PPO, "learn", lambda self, steps: learn(self, 256))
    return tmp_path


def tiny(method):
    kind = learner.discovery.load(learner.discovery.METHODS, method).Settings
    return build(kind, TINY[method])


def test_the_ten_lines(data):
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len(code.splitlines()) <= 10
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert (data / "nav.safetensors").stat().st_size < 100_000
    env = names["env"]
    env.reset(seed=1)
    *_, info = env.step(np.zeros(2, np.float32))
    assert 0 < info["cost"] < 1 and info["cost_std"] > 0


def test_the_page_of_the_api_is_up_to_date():
    assert (ROOT / PAGE).read_text("utf-8") == page(), "make docs"


def test_every_public_name_is_on_the_page():
    text = page()
    assert all(f"### `icl.{name}`" in text for name in icl.__all__)
