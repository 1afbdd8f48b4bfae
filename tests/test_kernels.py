"""The kernels that jobs are held to, and what they say where that fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from icl_core import kernels
from icl_core.learning.engine.density import DensitySettings
from icl_core.learning.engine.density_fit import fit_density
from icl_core.learning.engine.training import Job
from icl_core.settings import build
from tests.learning.tiny import problem_of
from workflow.lib.begin import job_environment

ROOT = Path(__file__).parents[1]
SAY = "from icl_core import kernels; print(kernels.broken_promise()); print(kernels.in_force())"
pytestmark = pytest.mark.skipif(not kernels.is_x86(), reason="the promise is for x86-64")


def said(**changes):
    environment = {**os.environ, **kernels.variables(), **changes}
    done = subprocess.run(
        [sys.executable, "-c", SAY], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_job_is_held_to_avx2():
    assert said() == ["", "{'machine': 'x86-64', 'simd': 'AVX2'}"]


def test_who_is_not_held_says_so():
    broken, found = said(OMP_NUM_THREADS="2")
    assert broken == "OMP_NUM_THREADS did not have the pipeline's value when the job started"
    assert found == "{'machine': 'x86-64', 'simd': 'not held'}"


def test_every_feature_that_numpy_would_choose_by_itself_is_named():
    """A new NumPy calls them otherwise: then jobs would give other bits on other processors."""
    code = "from numpy._core._multiarray_umath import __cpu_dispatch__; print(*__cpu_dispatch__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    named = {*kernels.PROMISED, *kernels.X86["NPY_DISABLE_CPU_FEATURES"].split()}
    assert set(done.stdout.split()) <= named


def test_other_processors_keep_their_own_choice(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert kernels.variables() == kernels.ONE_THREAD
    assert kernels.broken_promise() == "the processor is arm64, not x86-64"
    assert kernels.in_force()["machine"] == "arm64"


def test_a_run_may_choose_its_own_kernels(monkeypatch):
    for name in kernels.X86:
        monkeypatch.delenv(name, raising=False)
    assert kernels.X86.items() <= job_environment(ROOT, same_bits=True).items()
    assert not kernels.X86.keys() & job_environment(ROOT, same_bits=False).keys()
    assert kernels.ONE_THREAD.items() <= job_environment(ROOT, same_bits=False).items()


def test_tests_are_held_as_jobs_are():
    assert kernels.broken_promise() == ""


class Called(TorchDispatchMode):
    """The names of all operations that PyTorch performs."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.add(function.overloadpacket.__name__)
        return function(*args, **kwargs or {})


def test_a_density_is_trained_without_what_mkl_computes_otherwise_on_other_processors():
    """Square roots and arcs differ between AVX2 and AVX512, whatever MKL is told."""
    settings = build(DensitySettings, {"epochs": 2}, "density")
    with Called() as called:
        fit_density(problem_of("gridworld-a", [1]), settings, Job())
    assert {"_fused_adam_", "addmm"} <= called.names
    assert not {"sqrt", "sqrt_", "atan", "atan_"} & called.names
