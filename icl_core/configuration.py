"""From config.yaml to what each stage is given.

`resolve` checks the configuration against its schema, lays the chosen scale
over it and gives every experiment its own complete settings. `stage_settings`
picks from them what one stage uses and no more, so that a changed colour does
not train anything again. Pure functions of dictionaries: no files, no Snakemake.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import jsonschema

from icl_core.errors import InputError
from icl_core.layers import merge
from icl_core.variants import SECTIONS, check_shared, with_variants

# What an environment that is made from traffic recordings says of them.
OF_RECORDINGS = ("recordings", "numbers", "scene", "simulation")


@dataclass(frozen=True)
class Experiment:
    """One environment with complete settings."""

    name: str
    environment: str
    world: dict  # arguments of the world, e.g. {"slip": 0.1}
    methods: tuple[str, ...]
    demonstrations: dict
    learning: dict
    measuring: dict
    demonstrations_of: str | None = None  # the experiment whose demonstrations it shares
    driving: bool = False  # whether its world is made from traffic recordings

    @property
    def recorded(self) -> bool:
        """Whether it brings demonstrations from recordings."""
        return self.driving and not self.demonstrations_of and not self.demonstrations_file

    @property
    def generated(self) -> bool:
        """Whether it trains an expert."""
        return not (self.driving or self.demonstrations_of or self.demonstrations_file)

    @property
    def demonstrator(self) -> str:
        """The experiment in whose folder its demonstrations lie."""
        return self.demonstrations_of or self.name

    @property
    def iterations(self) -> int:
        """Iterations of ICL at most (the paper's n)."""
        return self.learning["icl"]["iterations"]

    @property
    def demonstrations_file(self) -> str | None:
        """The user's own demonstrations, where this experiment brings some."""
        return None if self.demonstrations_of else self.demonstrations["file"]


@dataclass(frozen=True)
class Configuration:
    """The whole configuration at one scale."""

    scale: str
    groups: dict[str, tuple[int, ...]]  # "1-5" -> the seeds that train in one job
    experiments: dict[str, Experiment]
    architectures: dict  # networks that are fitted to the true constraints
    environments: dict  # each environment's own settings
    showing: dict


def resolve(config: Mapping, schema: Mapping) -> Configuration:
    """Check `config`, lay its scale over it and complete its experiments."""
    check(config, schema)
    overlay = config["scales"][config["scale"]]
    written = {name: _expanded(own) for name, own in config["experiments"].items()}
    changes = {name: _expanded(own) for name, own in config["variants"].items()}
    all_of_them = with_variants(written, changes)
    for name in overlay.get("experiments", {}):
        if name not in all_of_them:
            raise InputError(
                f"configuration: key scales.{config['scale']}.experiments.{name} is unknown; "
                f"choose one of {', '.join(sorted(all_of_them))}"
            )
    environments = {
        name: merge(own, overlay.get("environments", {}).get(name, {}))
        for name, own in config["environments"].items()
    }
    laid = {**config, "environments": environments}
    experiments = {
        name: _experiment(name, all_of_them[name], laid, overlay) for name in sorted(all_of_them)
    }
    check_shared(experiments)
    return Configuration(
        scale=config["scale"],
        groups=seed_groups({**config, **overlay}["seeds"], {**config, **overlay}["stack"]),
        experiments=experiments,
        architectures=merge(config["architectures"], overlay.get("architectures", {})),
        environments=environments,
        showing=merge(config["showing"], overlay.get("showing", {})),
    )


def _experiment(name: str, own: Mapping, config: Mapping, overlay: Mapping) -> Experiment:
    # The scale has the last word: CartPole's own number of epochs is the paper's, not the demo's.
    last = _expanded(overlay.get("experiments", {}).get(name, {}))
    settings = {
        section: merge(
            config[section], own.get(section, {}), overlay.get(section, {}), last.get(section, {})
        )
        for section in SECTIONS
    }
    # An expert is trained like any policy unless the configuration says otherwise.
    settings["demonstrations"]["constrained_rl"] = merge(
        settings["learning"]["constrained_rl"],
        settings["demonstrations"]["constrained_rl"],
    )
    environment = own["environment"]
    complete = config["environments"][environment]
    known = {key: value for key, value in complete.items() if key not in OF_RECORDINGS}
    _check_world(name, environment, own.get("world", {}), known)
    return Experiment(
        name=name,
        environment=environment,
        world=merge(known, own.get("world", {})),
        methods=tuple(own["methods"]),
        demonstrations_of=own.get("demonstrations_of"),
        driving="recordings" in complete,
        **settings,
    )


def _check_world(name: str, environment: str, own: Mapping, known: Mapping) -> None:
    for key in own:
        if key not in known:
            raise InputError(
                f"configuration: key experiments.{name}.world.{key} is unknown to {environment}; "
                f"valid keys are {', '.join(known) or 'none'}"
            )


def _expanded(experiment: Mapping) -> dict:
    """Write `demonstrations: path` in full."""
    given = experiment.get("demonstrations")
    if isinstance(given, str):
        return {**experiment, "demonstrations": {"file": given}}
    return dict(experiment)


def seed_groups(seeds: list[int], stack: int) -> dict[str, tuple[int, ...]]:
    """Cut the seeds into jobs: {"1-2": (1, 2), "3-4": (3, 4), "5-5": (5,)} for a stack of 2."""
    ordered = sorted(seeds)
    cut = [tuple(ordered[k : k + stack]) for k in range(0, len(ordered), stack)]
    return {f"{group[0]}-{group[-1]}": group for group in cut}


def _only(section: Mapping, *keys: str) -> dict:
    return {key: section[key] for key in keys}


def _of_its_procedure(constrained_rl: Mapping) -> dict:
    """Without what belongs to the other procedure."""
    penalty = ("episodes", "truncate", "feasibility_rate", "ppo")
    unused = penalty if constrained_rl["procedure"] == "lagrangian" else ("lagrangian",)
    return {key: value for key, value in constrained_rl.items() if key not in unused}


def stage_settings(experiment: Experiment, stage: str, seeds: tuple[int, ...] = ()) -> dict:
    """What one stage of an experiment is given, and nothing that it does not use."""
    learning, demonstrations = experiment.learning, experiment.demonstrations
    constrained_rl = _of_its_procedure(learning["constrained_rl"])
    expert = _of_its_procedure(demonstrations["constrained_rl"])
    # The baselines are not told beta.
    baseline = {
        "on_policy": learning["on_policy"],
        "constraint": _only(learning["constraint"], "hidden"),
        "measuring": experiment.measuring,
    }
    uses = {
        "expert": {"demonstrations": {**demonstrations, "constrained_rl": expert}},
        "import_demonstrations": {},
        "highd_demonstrations": {},
        "exid_demonstrations": {"demonstrations": _only(demonstrations, "trajectories", "seed")},
        "density": {"density": learning["density"]},
        "initial_constraint": {"constraint": learning["constraint"]},
        "constrained_rl": {
            "constrained_rl": constrained_rl,
            "icl": _only(learning["icl"], "nominal_start", "choice_rollouts"),
            "threshold": learning["threshold"],
        },
        "adjust": {
            "adjustment": learning["adjustment"],
            "icl": _only(learning["icl"], "nominal_start", "patience", "tolerance"),
            "threshold": learning["threshold"],
        },
        "conclude": {
            "constrained_rl": constrained_rl,
            "icl": _only(learning["icl"], "nominal_start", "choice_rollouts", "keep"),
            "threshold": learning["threshold"],
            "measuring": experiment.measuring,
        },
        "gail_constraint": {**baseline, "gail_constraint": learning["gail_constraint"]},
        "icrl": {**baseline, "icrl": learning["icrl"]},
        "metrics": {},
    }[stage]
    world = {"environment": experiment.environment, "world": experiment.world}
    return merge(world, uses, {"seeds": list(seeds)} if seeds else {})


def fit_settings_of(config: Configuration, environment: str, name: str, group: str) -> dict:
    """What the fit of one architecture to one true constraint is given."""
    shapes = config.architectures
    fit = {**_only(shapes, "learning_rate", "steps"), "hidden": shapes["hidden"][name]}
    world = {"environment": environment, "world": config.environments[environment]}
    return merge(world, {"fit": fit, "seeds": list(config.groups[group])})


def check(config: Mapping, schema: Mapping) -> None:
    """Raise an InputError of one sentence if `config` does not follow `schema`."""
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=_rank)
    if errors:
        raise InputError(f"configuration: {_sentence(errors[0])}")


def _rank(error: jsonschema.ValidationError) -> tuple:
    """Unknown keys first: a misspelt key is often also a missing one."""
    return error.validator != "additionalProperties", [str(part) for part in error.absolute_path]


def _sentence(error: jsonschema.ValidationError) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        return _unknown_key(error, path)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"key {_join(path, missing)} is missing; {_hint(error, missing)}"
    expected = {
        "type": lambda v: f"expected {_kind(v)}",
        "enum": lambda v: f"choose one of {', '.join(map(str, v))}",
        "minimum": lambda v: f"expected a number of at least {v}",
        "exclusiveMinimum": lambda v: f"expected a number above {v}",
        "maximum": lambda v: f"expected a number of at most {v}",
        "exclusiveMaximum": lambda v: f"expected a number below {v}",
        "minItems": lambda v: f"expected at least {v} entry",
        "minLength": lambda v: "expected a text that is not empty",
        "pattern": lambda v: "expected a name of small letters, digits and single hyphens",
        "uniqueItems": lambda v: "expected every entry only once",
    }.get(error.validator, lambda v: f"expected {error.validator} {v}")
    return f"key {path}: {expected(error.validator_value)}, found {_found(error.instance)}"


def _unknown_key(error: jsonschema.ValidationError, path: str) -> str:
    known = sorted(error.schema.get("properties", {}))
    unknown = sorted(str(key) for key in error.instance if key not in known)[0]
    near = difflib.get_close_matches(unknown, known, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"key {_join(path, unknown)} is unknown; {meant}valid keys are {', '.join(known)}"


def _hint(error: jsonschema.ValidationError, key: str) -> str:
    about = error.schema.get("properties", {}).get(key, {})
    if "enum" in about:
        return f"choose one of {', '.join(map(str, about['enum']))}"
    return f"expected {_kind(about['type'])}" if "type" in about else "see config.yaml"


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _kind(types: str | list[str]) -> str:
    words = {
        "integer": "a whole number",
        "number": "a number",
        "string": "a text",
        "boolean": "true or false",
        "array": "a list",
        "object": "a mapping of keys",
        "null": "null",
    }
    return " or ".join(words[kind] for kind in ([types] if isinstance(types, str) else types))


def _found(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        power = re.fullmatch(r"([-+]?\d+)([eE][-+]?\d+)", value)
        dot = f" (in YAML write {power[1]}.0{power[2]})" if power else ""
        return f"the text {value!r}{dot}"
    kind = {dict: "a mapping", list: "the list"}.get(type(value), "")
    return " ".join(filter(None, [kind, str(value)]))
