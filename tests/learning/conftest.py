"""What tests of learning share: distances that are computed once, and seeds that diverge.

Optimal transport on fine grids is what small trainings take most of their time for.
"""

import numpy as np
import pytest

from icl_core.demonstrations import accruals
from icl_core.learning.engine.training import Job
from tests.learning.tiny import BAD


@pytest.fixture(scope="session", autouse=True)
def distances_are_computed_once():
    """The same two histograms have the same distance: remembered through all tests here."""
    exact, known = accruals._distance, {}

    def remembered(a, b):
        key = (a.shape, a.tobytes(), b.tobytes())
        if key not in known:
            known[key] = exact(a, b)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accruals, "_distance", remembered)
        yield


@pytest.fixture
def spoil(monkeypatch):
    """Let a seed's weights be nan after a step of its training."""
    real = Job._stop_diverged

    def spoiling(seeds=(BAD,), step=1, part=0, section=""):
        def spoiled(job, learner, failed):
            for seed in set(seeds) & set(job.seeds):
                if learner.done == step and job.section.startswith(section):
                    row = job.seeds.index(seed)
                    learner.parts()[part].parameters[row, 0] = np.nan
            real(job, learner, failed)

        monkeypatch.setattr(Job, "_stop_diverged", spoiled)

    return spoiling
