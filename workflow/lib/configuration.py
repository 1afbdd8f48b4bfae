"""From config.yaml to complete experiments.

`resolve` checks the configuration, lays the chosen scale over it and gives every experiment its
own complete settings. A sweep or an ablation is an experiment like any other, but for one setting:
`variants` says it once, and which experiments it is tried on; here this becomes one experiment
`{experiment}-{variant}` for each. Pure functions of dictionaries: no files, no Snakemake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from icl_core.errors import InputError
from icl_core.layout import groups_of
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.true_fit import TrueFitsSettings
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.transfer import TransfersSettings
from icl_core.settings import build, defaults, merge, plain, reach, used
from icl_core.showing.item import ShowingSettings
from workflow.lib import sections
from workflow.lib.agreement import (
    agree_on_candidates,
    agreed_transfers,
    check_experiments,
    check_groups,
    check_one_source,
)
from workflow.lib.sections import SECTIONS, Run
from workflow.lib.variants import all_experiments, expanded

if TYPE_CHECKING:
    from icl_core.environments.world import World

FULL = "paper"  # the scale at which settings have their own sizes
EXPERT_AS = "icl"  # the method whose constrained RL also trains experts


@dataclass(frozen=True)
class Experiment:
    """One environment with complete settings."""

    name: str
    environment: str
    world: dict  # settings of the world, e.g. {"slip": 0.1}
    methods: tuple[str, ...]
    seeds: dict[str, tuple[int, ...]]  # with which each of them is run
    demonstrations: dict
    learning: dict  # the threshold, and the settings of each of its methods
    measuring: dict
    demonstrations_of: str | None = None  # the experiment whose demonstrations it shares
    recorded: bool = False  # whether its world is made from traffic recordings
    expert_alone: bool = False  # whether no method is to learn in it: its experts are what is asked

    @property
    def source(self) -> str:
        """Where its demonstrations come from: shared, a file, recordings or an expert."""
        if self.demonstrations_of:
            return "shared"
        if self.demonstrations["file"]:
            return "file"
        return "recordings" if self.recorded else "expert"

    @property
    def demonstrations_from(self) -> str:
        """The experiment in whose folder its demonstrations lie."""
        return self.demonstrations_of or self.name

    def iterations(self, method: str) -> int:
        """How many iterations a method goes through at most; 0 for methods without."""
        key = getattr(sections.method(method), "ITERATIONS", None)
        return reach(self.learning[method], key) if key and method in self.learning else 0

    def setting(self, path: str) -> Any:
        """A section or setting by its keys: "learning.icl.density"."""
        return reach({name: getattr(self, name) for name in SECTIONS}, path)


@dataclass(frozen=True)
class Configuration:
    """The whole configuration at one scale."""

    scale: str
    seeds: tuple[int, ...]  # that are run where an experiment does not say otherwise
    stack: int  # how many of them train in one job
    experiments: dict[str, Experiment]
    environments: dict  # each used environment's own settings, those of its recordings among them
    true_fits: TrueFitsSettings
    transfers: TransfersSettings
    showing: ShowingSettings
    same_bits: bool = True  # of the jobs' numeric kernels

    @property
    def methods(self) -> list[str]:
        """All methods that some experiment runs."""
        return sorted({method for one in self.experiments.values() for method in one.methods})

    @property
    def learned(self) -> list[Experiment]:
        """The experiments in which some method learns."""
        return [one for one in self.experiments.values() if one.methods]

    @property
    def recorded(self) -> list[str]:
        """The environments that are made from recordings."""
        return sorted({one.environment for one in self.experiments.values() if one.recorded})

    def groups_of(self, experiment: Experiment, method: str) -> dict[str, tuple[int, ...]]:
        """The jobs of a method in an experiment: {"1-5": their seeds, ...}."""
        return groups_of(experiment.seeds[method], self.stack)

    def groups_in(self, experiment: Experiment) -> dict[str, tuple[int, ...]]:
        """The same of all its methods, each group once."""
        every = [self.groups_of(experiment, method) for method in experiment.methods]
        return {name: seeds for one in every for name, seeds in one.items()}

    def expert_groups(self, experiment: Experiment) -> list[str]:
        """The jobs that train its experts, cut as those of whoever shares them with most seeds."""
        owner = self.experiments[experiment.demonstrations_from]
        if owner.source != "expert":
            return []
        sharing = [o for o in self.experiments.values() if o.demonstrations_from == owner.name]
        most = max((seeds for one in sharing for seeds in self._runs(one)), key=len, default=())
        needed = {seed for seeds in self._runs(experiment) for seed in seeds}
        groups = groups_of(most, self.stack)
        return [name for name, seeds in groups.items() if needed.intersection(seeds)]

    def _runs(self, experiment: Experiment) -> list[tuple[int, ...]]:
        """The seeds of each method; of experts alone, those that are run unless it is said."""
        return [self.seeds] if experiment.expert_alone else [*experiment.seeds.values()]

    @property
    def fit_groups(self) -> dict[str, tuple[int, ...]]:
        """The jobs of a fit to a true constraint."""
        return groups_of(self.seeds, self.stack)

    @cached_property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """All of them that there are."""
        every = [self.fit_groups, *(self.groups_in(one) for one in self.experiments.values())]
        return {name: seeds for one in every for name, seeds in one.items()}

    def experiments_from(self, source: str) -> list[str]:
        """The experiments whose demonstrations come from `expert`, `recordings` or a `file`."""
        return [one.name for one in self.experiments.values() if one.source == source]


def resolve(config: Mapping) -> Configuration:
    """Check `config`, lay its scale over it and complete its experiments."""
    sections.check_configuration(config)
    overlay = config["scales"][config.get("scale", FULL)]
    run = build(Run, {key: config[key] for key in sections.names_of(Run) if key in config})
    sized = {**plain(run), **overlay}
    complete = all_experiments(config, run.scale)
    seeds, runs = tuple(sorted(sized["seeds"])), sized["runs"]
    maker = _Maker(config, run.scale, overlay, _Seeds(seeds, runs))
    experiments = {name: maker.experiment(name, complete[name]) for name in sorted(complete)}
    check_experiments(experiments)
    fits = merge(config.get("true_fits", {}), overlay.get("true_fits", {}))
    showing = merge(config.get("showing", {}), overlay.get("showing", {}))
    moved = merge(config.get("transfers", {}), overlay.get("transfers", {}))
    for name in fits.get("environments", []):
        maker.environment(name)
    resolved = Configuration(
        scale=run.scale,
        seeds=seeds[:runs],
        stack=sized["stack"],
        experiments=experiments,
        environments=maker.environments,
        true_fits=build(TrueFitsSettings, fits, "true_fits"),
        transfers=agreed_transfers(build(TransfersSettings, moved, "transfers"), experiments),
        showing=build(ShowingSettings, showing, "showing"),
        same_bits=run.same_bits,
    )
    check_groups(resolved.groups)
    return resolved


class _Seeds(NamedTuple):
    """The seeds that there are, and how many of them are run unless something else is said."""

    all: tuple[int, ...]
    runs: int | None

    def of(self, methods: Iterable[str], own: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """Of each method, where an experiment says `own` of some."""
        return {method: self.all[: own.get(method, self.runs)] for method in methods}


class _Said(NamedTuple):
    """What is said of one experiment alone."""

    name: str
    world: type[World]
    own: Mapping  # by itself
    last: Mapping  # by the scale, which has the last word

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(self.last.get("methods", self.own["methods"]))


class _Maker:
    """Completes experiments of one configuration at one scale."""

    def __init__(self, config: Mapping, scale: str, overlay: Mapping, seeds: _Seeds):
        self.config, self.scale, self.overlay, self.seeds = config, scale, overlay, seeds
        self.environments: dict[str, dict] = {}

    def environment(self, name: str) -> dict:
        """An environment's settings without those of single experiments."""
        if name not in self.environments:
            types, where = sections.environment_types(name), f"environments.{name}"
            own = [part.get("environments", {}).get(name, {}) for part in self._layers()]
            found = merge(*(defaults(kind) for kind in types), *own)
            for kind in types:
                build(kind, {key: found[key] for key in sections.names_of(kind)}, where)
            self.environments[name] = found
        return self.environments[name]

    def experiment(self, name: str, own: Mapping) -> Experiment:
        """One experiment with all that it does not say itself."""
        # The scale has the last word: CartPole's number of epochs is the paper's, not the demo's.
        sizes = self.overlay.get("experiments", {})
        last = merge(*(expanded(sizes.get(key, {})) for key in (own.get("variant_of", name), name)))
        environment = own["environment"]
        world = sections.world_type(environment)
        complete = self.environment(environment)
        known = {key: complete[key] for key in sections.names_of(world.Settings)}
        sections.check(world.Settings, own.get("world", {}), f"experiments.{name}.world")
        check_one_source(name, own, sizes.get(name, {}))
        said = _Said(name, world, own, last)
        learning = {m: self._method(m, said) for m in sorted({*said.methods, EXPERT_AS})}
        agree_on_candidates(learning)
        threshold = self._section("learning", said).get("threshold")
        measuring = self._section("measuring", said)
        return Experiment(
            name=name,
            environment=environment,
            world=merge(known, own.get("world", {})),
            methods=said.methods,
            seeds=self.seeds.of(said.methods, own.get("runs") or {}),
            demonstrations=self._demonstrations(said, learning[EXPERT_AS]),
            learning={"threshold": threshold, **{m: learning[m] for m in sorted(said.methods)}},
            measuring=plain(build(MeasuringSettings, measuring, f"experiments.{name}.measuring")),
            demonstrations_of=own.get("demonstrations_of"),
            recorded=world.recorded,
            expert_alone=not said.methods,
        )

    def _layers(self) -> tuple[Mapping, Mapping]:
        return self.config, self.overlay

    def _section(self, section: str, said: _Said) -> dict:
        layers = (self.config, said.own, self.overlay, said.last)
        return merge(*(layer.get(section, {}) for layer in layers))

    def _method(self, method: str, said: _Said) -> dict:
        """A method's settings in an experiment, with its sizes at this scale."""
        declared, runs = sections.method(method), method in said.methods
        given = [layer.get("learning", {}).get(method) for layer in (self.overlay, said.last)]
        sizes = getattr(declared, "SIZES", {}).get(self.scale)
        if self.scale != FULL and sizes is None and not any(one is not None for one in given):
            raise InputError(
                f"method {method}: expected its sizes at scale {self.scale}, found none; add "
                f"SIZES[{self.scale!r}] to {declared.__name__}, or "
                f"scales.{self.scale}.learning.{method} to the configuration"
            )
        layers = [layer.get("learning", {}).get(method, {}) for layer in (self.config, said.own)]
        layers += [sizes or {} if self.scale != FULL else {}, *(one or {} for one in given)]
        where = f"experiments.{said.name}.learning.{method}"
        settings = build(declared.Settings, merge(*layers), where, agree=runs)
        if runs:
            sections.check_world(settings, said.world, where)
        return used(declared.Settings, plain(settings))

    def _demonstrations(self, said: _Said, as_learner: Mapping) -> dict:
        """An expert is trained like any policy unless the configuration says otherwise."""
        given = merge(
            {"constrained_rl": {"epochs": ExpertSettings().constrained_rl.epochs}},
            self._section("demonstrations", said),
        )
        as_expert = merge(as_learner["constrained_rl"], given["constrained_rl"])
        complete = {**given, "constrained_rl": as_expert}
        trained = not (said.own.get("demonstrations_of") or given.get("file"))
        trained = trained and not said.world.recorded
        where = f"experiments.{said.name}.demonstrations"
        return used(ExpertSettings, plain(build(ExpertSettings, complete, where, agree=trained)))


def read_configuration(root: Path, scale: str) -> Configuration:
    """What the config.yaml of a checkout asks for at a scale."""
    return resolve({**yaml.safe_load((root / "config.yaml").read_text("utf-8")), "scale": scale})
