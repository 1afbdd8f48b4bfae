"""The same bits on every x86-64-v3 processor: which kernels the numeric libraries use.

NumPy, OpenBLAS, PyTorch, MKL, oneDNN and Arrow choose their inner loops by the processor that they
find, and other loops give other last bits. Where a job starts they are held to AVX2 or less, and to
one thread, for a sum in parts has another order. That must happen before they are imported: by
variables of the job's environment. MKL's functions of vectors (torch.sqrt, torch.atan) cannot be
held: what is trained by PyTorch keeps away from them. On other processors (ARM) each keeps its own
choice, and results agree to rounding only.
"""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Mapping
from typing import Any

_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
X86 = {
    "OPENBLAS_CORETYPE": "Haswell",
    # The names of NumPy 2.4, then those of older ones.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR "
    "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
    "ATEN_CPU_CAPABILITY": "avx2",
    # Of MKL, which multiplies matrices for PyTorch: the mode that processors of all makers share.
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
PROMISED = ("X86_V2", "X86_V3", "AVX2", "FMA3")  # what NumPy may use, by its own names


def is_x86() -> bool:
    """Whether this processor is of the kind for which the promise is made."""
    return platform.machine().lower() in ("x86_64", "amd64")


def variables() -> dict[str, str]:
    """What a job's environment must hold."""
    return ONE_THREAD | (X86 if is_x86() else {})


def in_force(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The kernels of this process, for provenance: equal wherever the promise is kept."""
    wanted = variables()
    held = all(environment.get(name) == value for name, value in wanted.items())
    return {"machine": "x86-64" if is_x86() else platform.machine(), "simd": _simd(held)}


def broken_promise(environment: Mapping[str, str] = os.environ) -> str:
    """Why this process may give other last bits than others; nothing where it does not."""
    if not is_x86():
        return f"the processor is {platform.machine()}, not x86-64"
    wanted = variables()
    other = [name for name, value in wanted.items() if environment.get(name) != value]
    if other:
        return f"{', '.join(other)} did not have the pipeline's value when the job started"
    simd = _simd(held=True)
    return "" if simd == "AVX2" else f"NumPy computes with {simd} in place of AVX2"


def _simd(held: bool) -> str:
    """The widest registers that NumPy uses here."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    used = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]
    beyond = [name for name in used if name not in PROMISED]
    if beyond or not held:
        return " ".join(beyond) or "not held"
    return "AVX2" if {"X86_V3", "AVX2"} & set(used) else "less than AVX2"
