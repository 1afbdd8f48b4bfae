"""What a job finds strange without stopping stands on stderr and in its log."""

from types import SimpleNamespace

import numpy as np
import pytest

from icl_core.artifacts import read_tensors
from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments import make_world
from workflow.lib.stage import Stage
from workflow.scripts import icl_density as density


def drives(rng, episodes=4, steps=16):
    """HalfCheetah at places drawn from a normal distribution, the one input of its constraint."""
    states = np.zeros((episodes, steps, 18), np.float32)
    states[..., 0] = rng.normal(5.0, 0.1, size=(episodes, steps))
    actions = np.zeros((episodes, steps, 6), np.float32)
    rewards = np.zeros((episodes, steps), np.float32)
    return Trajectories(states, actions, rewards, np.full(episodes, steps))


@pytest.mark.parametrize(("normal", "warned"), [(-50.0, True), (50.0, False), (-np.inf, False)])
def test_a_density_worse_than_a_normal_one_is_said(tmp_path, capsys, monkeypatch, normal, warned):
    monkeypatch.setattr(density, "normal_surprise", lambda *_: normal)
    demonstrations = tmp_path / "trajectories.parquet"
    write_demonstrations(
        demonstrations, drives(np.random.default_rng(0)), make_world("halfcheetah"), {}
    )
    settings = {"epochs": 1, "batch": 64, "learning_rate": 5e-4, "blocks": 5}
    job = SimpleNamespace(
        input=SimpleNamespace(demonstrations=demonstrations),
        output=[tmp_path / "density.safetensors"],
        wildcards=["halfcheetah", "1"],
        params=SimpleNamespace(
            settings={
                "environment": "halfcheetah",
                "world": {},
                "seeds": [1],
                "learning": {"icl": {"density": settings | {"hidden": [64, 64]}}},
            },
            code="c0de",
        ),
        log=[tmp_path / "density.log"],
        rule="density",
    )
    stage = Stage(job)
    stage.provenance = dict
    density.main(stage)
    assert read_tensors(job.output[0])
    said = capsys.readouterr().err
    line = "warning: density of halfcheetah, seed 1: expected -log p of at most "
    assert said.startswith(line) is warned
    assert (job.log[0].read_text() if warned else "") == said
