"""A learned constraint as one small file, with all that its use needs and nothing that runs.

The file is safetensors: the networks' layers, the linear function by which they see observations
and actions, the nodes of its axes. What else there is to know stands as JSON in its header, under
`SPEC`, beside where the constraint comes from. It may lie anywhere and bear any name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from icl_core.artifacts import (
    ARTIFACT,
    read_content,
    read_provenance,
    read_tensors,
    tensors_in,
    versions,
    words,
    write_tensors,
)
from icl_core.environments.inputs import Function, Inputs, inputs_of
from icl_core.environments.world import Axis, EvaluationGrid, World
from icl_core.errors import InputError
from icl_core.learning.engine.divergence import LONGEST, marks
from icl_core.learning.engine.networks import Networks
from icl_core.seals import is_whole

VERSION = 1
SPEC = "constraint"


@dataclass(eq=False)
class PortableConstraint:
    """What a constraint is made of. Seeds that have failed are left out, and remembered.

    `failed` (runs,) is not 0 where a run has failed; whose weights are all zero, not finite or
    beyond all bounds has failed as well.
    """

    networks: Networks  # one for each of `seeds`, c = sigmoid(output)
    inputs: Inputs
    beta: float  # the cost limit
    discount: float
    seeds: tuple[int, ...]
    about: Mapping[str, Any] = field(default_factory=dict)  # where it comes from, in plain values
    failed_seeds: tuple[int, ...] = ()
    failed: InitVar[np.ndarray | None] = None

    def __post_init__(self, failed: np.ndarray | None) -> None:
        self._check()
        lost = _failed(self.networks) if failed is None else _failed(self.networks) | (failed != 0)
        kept = np.flatnonzero(~lost).tolist()
        if not kept:
            raise InputError(
                "networks: expected a seed that has not failed, found none among the seeds "
                f"{', '.join(map(str, self.seeds))}; learn again, with smaller steps or other seeds"
            )
        own = tuple(int(seed) for seed in self.seeds)
        self.failed_seeds = (*self.failed_seeds, *(own[k] for k in np.flatnonzero(lost)))
        self.seeds = tuple(own[k] for k in kept)
        self.networks = self.networks.pick(kept)  # a copy: who trains on does not move it
        self.beta, self.discount = float(self.beta), float(self.discount)

    def _check(self) -> None:
        sizes, k = self.networks.sizes, len(self.inputs.axes)
        if (sizes[0], sizes[-1]) != (k, 1):
            raise InputError(
                f"networks: expected {k} inputs ({', '.join(self.inputs.names)}) and 1 output, "
                f"found {sizes[0]} and {sizes[-1]}; give those that belong to these inputs"
            )
        if len(self.seeds) != self.networks.runs:
            raise InputError(
                f"seeds: expected one for each of {self.networks.runs} networks, found "
                f"{len(self.seeds)}; give as many"
            )
        if not (np.isfinite(self.beta) and 0 < self.discount <= 1):
            raise InputError(
                "beta and discount: expected a finite number and one above 0 and of at most 1, "
                f"found {self.beta} and {self.discount}; correct them"
            )

    @classmethod
    def of_run(
        cls,
        path: str | os.PathLike,
        world: World,
        beta: float | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        """From what the pipeline leaves, runs/.../final/constraint.safetensors, and its world.

        `beta` is the world's where none is given, `about` what the file says of itself.
        """
        tensors, stated = read_tensors(path), read_provenance(path)
        if "layer1.weight" not in tensors:
            raise InputError(
                f"{path}: expected a constraint network (layer1.weight, ...), found "
                f"{', '.join(sorted(tensors)) or 'nothing'}; give a run's final/constraint"
            )
        networks = Networks.from_tensors(tensors)
        return cls(
            networks,
            inputs_of(world),
            world.threshold if beta is None else beta,
            world.discount,
            tuple(stated.get("seeds") or range(1, networks.runs + 1)),
            stated if about is None else about,
            failed=marks(tensors, networks.runs),
        )

    def save(self, path: str | os.PathLike) -> None:
        """Write everything to one file; the same constraint gives the same bytes."""
        if Path(path).is_dir():
            raise InputError(f"{path}: expected a file's name, found a folder; add a name to it")
        nodes = {f"axis{k}.nodes": axis.nodes for k, axis in enumerate(self.inputs.axes)}
        seen = {"inputs.weights": self.inputs.weights, "inputs.offset": self.inputs.offset}
        stated = {"packages": versions(), **_plain(self.about), SPEC: self._spec()}
        write_tensors(path, {**self.networks.tensors(), **seen, **nodes}, stated)

    def _spec(self) -> dict[str, Any]:
        inputs = self.inputs
        return {
            "version": VERSION,
            "beta": self.beta,
            "discount": self.discount,
            "seeds": list(self.seeds),
            "failed_seeds": list(self.failed_seeds),
            "observation_size": inputs.observation_size,
            "action_size": inputs.action_size,
            "axes": [[axis.name, axis.unit, float(axis.scale)] for axis in inputs.axes],
            "sliced_by": inputs.grid.sliced_by,
            "function": inputs.function is not None,
        }

    @classmethod
    def load(cls, path: str | os.PathLike, inputs: Function | None = None) -> Self:
        """The constraint of a file; `inputs` is its function, where it was learned with one."""
        tensors, stated = _read(Path(path))
        spec = stated.pop(SPEC)
        if bool(spec.get("function")) != (inputs is not None):
            needed = "the function by which it sees observations and actions, found none"
            own = "no function, for the file holds what the constraint sees, found one"
            advice = "give it: load(path, inputs=function)" if inputs is None else "leave it out"
            expected = needed if inputs is None else own
            raise InputError(f"{path}: expected {expected}; {advice}")
        try:
            seen = _inputs(tensors, spec, inputs)
            rest = (spec["beta"], spec["discount"], tuple(spec["seeds"]), stated)
            return cls(Networks.from_tensors(tensors), seen, *rest, tuple(spec["failed_seeds"]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: expected a constraint of version {VERSION}, found one that lacks parts "
                f"({' '.join(str(error).split())}); get the file again"
            ) from error


def _failed(networks: Networks) -> np.ndarray:
    """Runs that were held at zero or have diverged, whether or not someone has marked them."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(networks.parameters, dtype=np.float64).sum(axis=1)
    return ~((squares > 0) & (squares <= LONGEST**2))


def _plain(about: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return json.loads(json.dumps(dict(about)))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"about: expected numbers, texts, lists and mappings, found other things ({error}); "
            "write them as text"
        ) from error


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a constraint's file and what it says, once it is one that we can read."""
    content = read_content(path)
    if is_whole(content) is None:
        raise InputError(
            f"{path}: expected a constraint that Constraint.save has written, found {len(content)} "
            "bytes without its checksum, of another kind or damaged; get the file again"
        )
    tensors, stated = tensors_in(path, content)
    spec = stated.get(SPEC)
    if not isinstance(spec, dict) or "version" not in spec:
        raise InputError(
            f"{path}: expected a constraint that Constraint.save has written, found "
            f"{words(stated.get(ARTIFACT))}; of a run's results give constraints/..., or make one "
            "with Constraint.of_run"
        )
    if spec["version"] != VERSION:
        raise InputError(
            f"{path}: expected a constraint of version {VERSION}, found version "
            f"{spec['version']}; install a newer icl-core"
        )
    return tensors, stated


def _inputs(
    tensors: Mapping[str, np.ndarray], spec: Mapping[str, Any], function: Function | None
) -> Inputs:
    axes = tuple(
        Axis(name, tensors[f"axis{k}.nodes"], unit, scale)
        for k, (name, unit, scale) in enumerate(spec["axes"])
    )
    grid = EvaluationGrid(axes, spec["sliced_by"])
    sizes = (spec["observation_size"], spec["action_size"])
    return Inputs(grid, *sizes, tensors["inputs.weights"], tensors["inputs.offset"], function)
