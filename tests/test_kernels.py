"""The kernels that jobs are held to, and what they say where that fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from icl_core import kernels
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
