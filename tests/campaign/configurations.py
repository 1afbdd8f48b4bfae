"""Bad configurations: forbidden values, broken structure, and files that are no configuration."""

from __future__ import annotations

import copy
import string
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from icl_core import discovery
from tests.campaign.cases import Kind, Place, Seen, choose, refused
from tests.campaign.settings import declared, forbidden, lay, somewhere
from workflow.lib.begin import begin
from workflow.lib.yaml_files import check_files

ROOT = Path(__file__).parents[2]
SCALES = ("paper", "quick", "smoke")


@cache
def _config() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))


def _fresh(rng: np.random.Generator) -> dict:
    return {**copy.deepcopy(_config()), "scale": choose(rng, SCALES)}


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:
        text = "a number of thousands of digits"
    return text if len(text) < 80 else text[:80] + "..."


# ------------------------------------------------------------------ values


def bad_value(rng: np.random.Generator, place: Place) -> Seen:
    """A declared setting with a value that its declaration forbids."""
    config, one = _fresh(rng), choose(rng, declared())
    keys, value = somewhere(rng, one.keys, config), forbidden(rng, one)
    lay(config, keys, value)
    drawn = f"{'.'.join(keys)}: {_short(value)}"
    return refused(drawn, lambda: begin(config, ROOT, main=False), "configuration: ")


# ------------------------------------------------------------------ structure


def _mappings(value: dict, here: tuple = ()) -> list[tuple]:
    """Where a mapping stands, but for those whose keys are the user's own names."""
    found = [here]
    for key, inner in value.items():
        if isinstance(inner, dict):
            found += _mappings(inner, (*here, key))
    return found


def _inside(config: dict, keys: tuple) -> dict:
    for key in keys:
        config = config[key]
    return config


NAMES = (("experiments",), ("variants",), ("scales",))  # keys below these are names


def _sections(config: dict) -> list[tuple]:
    free = [*NAMES, ("true_fits", "architectures")]
    return [keys for keys in _mappings(config) if keys not in free and keys[2:] != ("experiments",)]


def unknown_key(rng: np.random.Generator, config: dict) -> str:
    """A key that nobody knows, or one letter wrong."""
    keys = choose(rng, _sections(config))
    own = _inside(config, keys)
    name = "".join(choose(rng, string.ascii_lowercase) for _ in range(rng.integers(3, 12)))
    if own and rng.random() < 0.6:
        old = choose(rng, [*own])
        at = int(rng.integers(len(old)))
        name = old[:at] + choose(rng, "qxzj") + old[at + int(rng.integers(2)) :]
        own[name] = own.pop(old)
    else:
        own[name] = choose(rng, [1, "x", {}, None])
    return f"{'.'.join((*keys, name))}: unknown key"


def wrong_nesting(rng: np.random.Generator, config: dict) -> str:
    """A list or a value in the place of keys, or keys one level too deep."""
    keys = choose(rng, [one for one in _mappings(config) if one])
    above, own = _inside(config, keys[:-1]), _inside(config, keys)
    values: list = [[own], 3, [], True]
    if keys not in (*NAMES, ("true_fits", "architectures")) and keys[2:] != ("experiments",):
        values.append({keys[-1]: own} if own else [own])
    above[keys[-1]] = choose(rng, values)
    return f"{'.'.join(map(str, keys))}: nested wrongly"


def no_such_name(rng: np.random.Generator, config: dict) -> str:
    """A name that stands for nothing."""
    experiment, variant = (choose(rng, [*config[key]]) for key in ("experiments", "variants"))
    name = choose(rng, ["nobody", "icl2", "gridworld-z", "Ant", "", "../x", 5, None, ["icl"]])
    methods = choose(rng, discovery.names(discovery.METHODS))
    alone = "icl" if isinstance(name, list) else name  # a list of it would be right
    keys, value = choose(
        rng,
        [
            (("experiments", experiment, "environment"), name),
            (("experiments", experiment, "methods"), choose(rng, [[methods, name], [name], alone])),
            (("experiments", experiment, "demonstrations_of"), name or "nobody"),
            (("variants", variant, "of"), [name]),
            (("variants", variant, "methods"), [name]),
            (("scale",), name),
            (("true_fits", "environments"), [name]),
            # of another scale than the chosen one it has no effect
            (("scales", config["scale"], "experiments", "nobody-has-it"), {"methods": ["icl"]}),
        ],
    )
    lay(config, keys, value)
    return f"{'.'.join(keys)}: {value!r}"


def bad_name(rng: np.random.Generator, config: dict) -> str:
    """A name that can be no folder's."""
    bad = ["A", "a b", "a/b", "../a", "a\n", "", "-a", "a--b", "a" * 61, "ä", 7, None, 1.5, True]
    key, name = choose(rng, ["experiments", "variants"]), choose(rng, bad)
    own = config[key]
    own[name] = own.pop(choose(rng, [*own]))
    return f"{key}: the name {_short(name)}"


def missing(rng: np.random.Generator, config: dict) -> str:
    """What must be said is not."""
    experiment = choose(rng, [*config["experiments"]])
    keys = choose(
        rng,
        [
            ("experiments", experiment, "environment"),
            ("experiments", experiment, "methods"),
            ("scales", config["scale"]),
            ("experiments",),
        ],
    )
    del _inside(config, keys[:-1])[keys[-1]]
    return f"{'.'.join(keys)}: missing"


STRUCTURES = (unknown_key, wrong_nesting, no_such_name, bad_name, missing)


def bad_structure(rng: np.random.Generator, place: Place) -> Seen:
    """config.yaml with one break in its structure."""
    config = _fresh(rng)
    drawn = choose(rng, STRUCTURES)(rng, config)
    return refused(drawn, lambda: begin(config, ROOT, main=False), "configuration: ")


# ------------------------------------------------------------------ files


def key_twice(rng: np.random.Generator) -> bytes:
    """A line of the file a second time."""
    lines = yaml.safe_dump(_config(), sort_keys=False).splitlines()
    plain = [k for k, one in enumerate(lines) if ": " in one and not one.lstrip().startswith("-")]
    k = choose(rng, plain)
    return "\n".join([*lines[: k + 1], lines[k], *lines[k + 1 :]]).encode()


def no_yaml(rng: np.random.Generator) -> bytes:
    """A line that is no YAML at a random place of the file."""
    lines = (ROOT / "config.yaml").read_text("utf-8").splitlines()
    bad = [
        "\tscale: x",
        "a: [1, 2",
        'a: "b',
        "a: b: c",
        "@x: 1",
        "`x`",
        "a: *nobody",
        "}",
        "a: !!x 1",
    ]
    bad += ["a: !!python/object/apply:os.getcwd []", "\x07: 1"]
    k = int(rng.integers(len(lines)))
    return "\n".join([*lines[:k], choose(rng, bad)]).encode()


def endless(rng: np.random.Generator) -> bytes:
    """Anchors inside anchors, or an anchor inside itself."""
    if rng.random() < 0.3:
        return choose(rng, [b"a: &a [*a]\n", b"seeds: &x {y: *x}\n", b"a: &a\n  - b: [1, *a]\n"])
    width, depth = int(rng.integers(5, 12)), int(rng.integers(9, 30))
    lines = ["a0: &a0 [ha, ha, ha, ha, ha]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * width)}]" for k in range(1, depth)]
    return "\n".join(lines).encode()


def too_much(rng: np.random.Generator) -> bytes:
    """Too deep, too long, or not text."""
    depth, noise = int(rng.integers(60, 3000)), rng.bytes(int(rng.integers(20, 500)))
    texts = [b"a: " + b"[" * depth + b"]" * depth, b"\xff\xfe\x80" + noise, b"", b"# nothing\n"]
    texts += [
        b"a: 1\n" + b"# " + b"x" * 1_000_001,
        b"- 1\n- 2\n",
        b"just a text",
        b"__use_yte__: true",
    ]
    return choose(rng, texts)


def bad_file(rng: np.random.Generator, place: Place) -> Seen:
    """A file that is no plain configuration."""
    make = choose(rng, (key_twice, no_yaml, endless, too_much))
    path = place.folder / "mine.yaml"
    path.write_bytes(make(rng))
    return refused(make.__name__, lambda: check_files([path]), "mine.yaml")


KINDS = (
    Kind("values", 300, bad_value),
    Kind("structures", 150, bad_structure),
    Kind("yaml", 80, bad_file),
)
