"""The same bits on every x86-64-v3 processor: a tiny run of every method, natively and emulated.

python -m tests.same_bits              print a digest of each run
python -m tests.same_bits PROCESSOR    the same emulated (Haswell, EPYC, Skylake-Client)
python -m tests.same_bits compare      all of them, and whether they are equal

Emulation needs Debian's qemu-user, and some three minutes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from icl_core import discovery, kernels

PROCESSORS = ("Haswell", "EPYC", "Skylake-Client")
# With cells; with a pole; with real-valued actions and MuJoCo.
WORLDS = ("gridworld-a", "cartpole-mid", "halfcheetah")


def runs() -> dict[str, str]:
    """A digest of each density, and of what each method learns in each world."""
    from icl_core.environments import world_type
    from icl_core.learning.engine.density import DensitySettings
    from icl_core.learning.engine.density_fit import fit_density
    from icl_core.learning.engine.training import Job
    from icl_core.settings import build, defaults, merge
    from tests.learning.tiny import problem_of

    found = {}
    for name in WORLDS:
        settings = build(DensitySettings, {"epochs": 2}, "density")
        density = fit_density(problem_of(name, [1, 2], horizon=12), settings, Job())
        total = hashlib.sha256()
        for _, array in sorted(density.tensors().items()):
            total.update(array.tobytes())
        found[f"density {name}"] = total.hexdigest()[:16]
    for method in discovery.names(discovery.METHODS):
        module = discovery.load(discovery.METHODS, method)
        given = merge(defaults(module.Settings), module.SIZES["smoke"])
        settings = build(module.Settings, given, method)
        for name in WORLDS:
            if hasattr(settings, "conflict_with") and settings.conflict_with(world_type(name)):
                continue
            outcome = module.learn(problem_of(name, [1, 2], horizon=12), settings, Job())
            total = hashlib.sha256()
            for networks in (outcome.constraint, outcome.policy):
                total.update(networks.parameters.tobytes())
            for column in outcome.log.columns:
                total.update(column.to_numpy().tobytes())
            found[f"{method} {name}"] = total.hexdigest()[:16]
    return found


def digests(processor: str | None) -> list[str]:
    """What a process with the pipeline's kernels prints, natively or emulated."""
    emulator = ["qemu-x86_64", "-cpu", processor] if processor else []
    command = [*emulator, sys.executable, "-m", "tests.same_bits"]
    environment = {**os.environ, **kernels.variables()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{processor or 'native'}: {done.stderr[-2000:]}")
    return done.stdout.splitlines()


def compare() -> int:
    """Print a line for each processor; 1 where one differs."""
    native, wrong = digests(None), 0
    print(f"native: {len(native)} runs", flush=True)
    for processor in PROCESSORS:
        other = digests(processor)
        differing = [a for a, b in zip(native, other, strict=True) if a != b]
        print(f"{processor}: {len(other) - len(differing)} of {len(native)} equal", *differing)
        sys.stdout.flush()
        wrong += len(differing)
    return int(wrong > 0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            for name, digest in runs().items():
                print(name, digest)
        case ["compare"]:
            sys.exit(compare())
        case [processor]:
            print("\n".join(digests(processor)))
