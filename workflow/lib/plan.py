"""What jobs there are, and what each is given: the functions behind the rules.

A rule names the sections of the configuration that its job uses (`given`) and its script (`code`);
paths come from `icl_core.layout`. Snakemake compares the values of all params without their names,
so the settings of a job are one value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from icl_core import discovery, layout
from icl_core.code_digest import Code, Sources
from icl_core.demonstrations.minari_sets import METADATA, data_file, is_minari
from icl_core.disk import to_json, write_whole
from icl_core.settings import merge, plain
from workflow.lib import sections
from workflow.lib.configuration import Configuration, Experiment

Params = Callable[[Any], Any]
ONE_JOB = ["learn"]


def canonical(settings: dict) -> dict:
    """As an artifact's provenance gives them back, so that both are compared as text."""
    return json.loads(json.dumps(settings, sort_keys=True))


class Plan:
    """The jobs of a configuration."""

    def __init__(self, config: Configuration, root: Path):
        self.config, self.root = config, root
        self.results = f"results/{config.scale}"
        self.codes: dict[str, Code] = {}  # what was asked for, by digest
        self._cached: dict[tuple, str] = {}

    # Names

    def path(self, kind: str, **fields: str) -> str:
        """A path of results; wildcards that are not given stay open for Snakemake."""
        open_ = {name: f"{{{name}}}" for name in layout.wildcards(kind)}
        return f"{self.results}/{layout.path(kind, **open_ | fields)}"

    def final(self, **fields: str) -> dict[str, str]:
        """The outputs that every method ends with."""
        kinds = ("constraint", "policy", "selections", "training")
        return {kind: self.path(kind, **fields) for kind in kinds}

    def fits(self) -> dict[str, str]:
        """The outputs of the fits to a true constraint, one for each architecture."""
        shapes = self.config.true_fits.architectures
        return {name: self.path("true_fit", architecture=name) for name in shapes}

    def log(self, place: str) -> str:
        """Where a job's messages go: the same place as its times, in another folder."""
        return f"{self.results}/logs/{place}.log"

    def time(self, place: str) -> str:
        """Where a job records what it took."""
        return f"{self.results}/benchmarks/{place}.tsv"

    @cached_property
    def methods_of_one_job(self) -> list[str]:
        """Those that the rule `learn` trains."""
        return [m for m in self.config.methods if self.jobs_of(m) == ONE_JOB]

    def declared(self, method: str, key: str, default: Any) -> Any:
        """What a method declares about itself, read without importing it."""
        return discovery.literal(discovery.module_name(discovery.METHODS, method), key, default)

    def jobs_of(self, method: str) -> list[str]:
        """The rules that a method's training goes through."""
        return self.declared(method, "JOBS", ONE_JOB)

    def titles(self, methods: Iterable[str]) -> dict[str, str]:
        """Titles of methods, in the order of tables."""

        def place(method: str) -> tuple[float, str]:
            return self.declared(method, "PLACE", float("inf")), method

        ordered = sorted(set(methods), key=place)
        return {method: discovery.title(discovery.METHODS, method) for method in ordered}

    # Inputs

    def experiment(self, wildcards: Any) -> Experiment:
        """The experiment of a job."""
        return self.config.experiments[wildcards.experiment]

    def demonstrations(self, wildcards: Any) -> str:
        """The trajectories that a group of seeds learns from: their experts', or everybody's."""
        one, groups = self.experiment(wildcards), self.config.groups
        seeds = set(groups[wildcards.group])
        experts = self.config.expert_groups(one)
        group = next((name for name in experts if seeds <= {*groups[name]}), layout.ALL)
        return self.path("demonstrations", experiment=one.demonstrations_from, group=group)

    def imported_file(self, wildcards: Any) -> str:
        """The user's own demonstrations; of a Minari data set, its data file."""
        return data_file(self.experiment(wildcards).demonstrations["file"])

    def imported_about(self, wildcards: Any) -> list[str]:
        """What a Minari data set says of itself; other files do so in themselves."""
        file = self.imported_file(wildcards)
        return [str(Path(file).with_name(METADATA))] if is_minari(file) else []

    def scene(self, wildcards: Any) -> list[str]:
        """The recorded traffic that an experiment's environment needs; of most, none."""
        return self.scenes([self.experiment(wildcards)])

    def scenes(self, experiments: Iterable[Experiment]) -> list[str]:
        """The same for several experiments."""
        names = sorted({one.environment for one in experiments if one.recorded})
        return [self.path("scene", environment=name) for name in names]

    def metrics_of_all_runs(self, wildcards: Any) -> list[str]:
        """The metrics of every group of seeds of every experiment and method."""
        return [
            self.path("run_metrics", experiment=one.name, method=method, group=group)
            for one in self.config.experiments.values()
            for method in one.methods
            for group in self.config.groups_of(one, method)
        ]

    def constraints(self, wildcards: Any) -> list[str]:
        """What ICL ends with, of every group of seeds."""
        one = self.experiment(wildcards)
        fields = {"experiment": one.name, "method": "icl"}
        groups = self.config.groups_of(one, "icl")
        return [self.path("constraint", **fields, group=group) for group in groups]

    def recording_files(self, wildcards: Any) -> list[str] | str:
        """What the readers read: the user's own files one by one, or the digest of simulated ones,
        for Snakemake compares a folder by its time and a small file by its content.
        """
        name = wildcards.environment
        own = self.config.environments[name]
        if own["recordings"] is None:
            return self.path("recordings_digest", environment=name)
        files = sections.recordings(name, "reader").files(own["recordings"], own["numbers"])
        return [str(path) for path in files]

    def simulated_folder(self, wildcards: Any) -> list[str]:
        """The simulation's folder, where the recordings are not the user's own."""
        simulated = self.config.environments[wildcards.environment]["recordings"] is None
        return [self.path("recordings", environment=wildcards.environment)] if simulated else []

    # Params

    def given(self, *paths: str) -> Params:
        """The params function that gives a job its world, seeds and sections: what it uses and
        nothing else. `{method}` in a path is the job's method.
        """

        def settings(wildcards: Any) -> dict:
            one = self.experiment(wildcards)
            found = [self.world(one)]
            for path in paths:
                keys = path.format(**dict(wildcards.items())).split(".")
                value = one.setting(".".join(keys))
                for key in reversed(keys):
                    value = {key: value}
                found.append(value)
            group = wildcards.get("group")
            if group:
                found.append({"seeds": list(self.config.groups[group])})
            return canonical(merge(*found))

        return settings

    def world(self, experiment: Experiment) -> dict:
        """What makes an experiment's world."""
        world = dict(experiment.world)
        if experiment.recorded:
            world["scene"] = self.path("scene", environment=experiment.environment)
        return {"environment": experiment.environment, "world": world}

    def recording_settings(self, *keys: str) -> Params:
        """The params function that gives some of an environment's settings of its recordings."""

        def settings(wildcards: Any) -> dict:
            name = wildcards.environment
            own = self.config.environments[name]
            folder = own["recordings"] or self.path("recordings", environment=name)
            chosen = {key: {**own, "folder": folder}[key] for key in keys}
            return canonical({"environment": name, **chosen})

        return settings

    def fit(self, wildcards: Any) -> dict:
        """The settings of a fit to a true constraint."""
        fits, name = plain(self.config.true_fits), wildcards.experiment
        world = sections.names_of(sections.world_type(name).Settings)
        own = {k: v for k, v in self.config.environments[name].items() if k in world}
        fit = {key: fits[key] for key in ("architectures", "learning_rate", "steps")}
        seeds = list(self.config.groups[wildcards.group])
        return canonical({"environment": name, "world": own, "true_fits": fit, "seeds": seeds})

    def transfer(self, wildcards: Any) -> dict:
        """The settings of agents under a constraint that is moved, with the seeds of the run."""
        one, moved = self.experiment(wildcards), plain(self.config.transfers)
        change, ours = moved["experiments"][one.name], one.name in moved["own_learner"]
        used = ("episodes", "epochs") if ours else ("episodes", "steps", "multiplier_rate")
        own = {key: moved[key] for key in used} | {"experiments": {one.name: change}}
        return canonical(
            {
                "environment": one.environment,
                "world": merge(one.world, change),
                "transfers": own | ({"own_learner": [one.name]} if ours else {}),
                "learning": {
                    "icl": {"constrained_rl": one.setting("learning.icl.constrained_rl")},
                    "threshold": one.setting("learning.threshold"),
                },
                "seeds": list(one.seeds["icl"]),
            }
        )

    # Code

    @cached_property
    def sources(self) -> Sources:
        """The source of our packages, and of those that bring worlds or methods."""
        ours = {name: self.root / name for name in ("icl_core", "workflow")}
        return Sources(ours | discovery.packages_that_bring(), Path(".snakemake/modules.json"))

    def code_of(self, script: str, *modules: str) -> str:
        """Digest of a script and of all of ours that it imports; `modules` it loads by name."""
        key = (script, *modules)
        if key not in self._cached:
            code = self.sources.code_of(self.root / "workflow/scripts" / script, modules)
            self.codes[code.digest] = code
            self._cached[key] = code.digest
        return self._cached[key]

    def code(self, script: str, *parts: str) -> Params:
        """The params function that gives this digest, with the code of the job's own world.

        `parts` name further modules: "method" is the job's method, anything else a module of the
        recordings of its environment.
        """

        def digest(wildcards: Any) -> str:
            return self.code_of(script, *self._modules(wildcards, parts))

        return digest

    def _modules(self, wildcards: Any, parts: Iterable[str]) -> list[str]:
        found = []
        environment = wildcards.get("environment")
        if environment is None:
            name = wildcards.experiment
            known = self.config.experiments
            environment = known[name].environment if name in known else name
            found.append(discovery.module_name(discovery.WORLDS, environment))
        for part in parts:
            if part == "method":
                found.append(discovery.module_name(discovery.METHODS, wildcards.method))
            else:
                found.append(discovery.recordings_module(environment, part))
        return found

    def code_of_method(self, method: str, experiment: str) -> str:
        """Digest of the last job of a method's training in an experiment."""
        environment = self.config.experiments[experiment].environment
        modules = [discovery.module_name(discovery.WORLDS, environment)]
        rule = self.jobs_of(method)[-1]
        if [rule] == ONE_JOB:
            modules.append(discovery.module_name(discovery.METHODS, method))
        return self.code_of(f"{rule}.py", *modules)

    def worlds_code(self, experiments: Iterable[Experiment]) -> list[str]:
        """The modules of the worlds of some experiments."""
        names = {one.environment for one in experiments}
        return sorted(discovery.module_name(discovery.WORLDS, name) for name in names)

    def write_codes(self) -> None:
        """Keep, for each digest, the digests of the files behind it: why a job runs again can be
        said from these.
        """
        for digest, code in self.codes.items():
            path = Path(self.results, "code", f"{digest}.json")
            if not path.exists():
                write_whole(path, to_json(code.parts))
