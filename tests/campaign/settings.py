"""All declared settings, where a configuration may say them, and values that it may not."""

from __future__ import annotations

import datetime
from dataclasses import fields
from typing import Any, NamedTuple, get_args, get_origin

import numpy as np

from icl_core import discovery
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.true_fit import TrueFitsSettings
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.transfer import TransfersSettings
from icl_core.settings_schema import MOST, Meaning, hints_of, meaning, options_of, section_type
from icl_core.showing.item import ShowingSettings
from tests.campaign.cases import choose
from workflow.lib import sections


class Setting(NamedTuple):
    """One setting: its keys, its type and its bounds."""

    keys: tuple[str, ...]
    type: Any
    bounds: Meaning


def declared() -> list[Setting]:
    """Every setting under the key at which a configuration says it for all experiments."""
    roots: list[tuple[tuple[str, ...], type]] = [((), sections.Run)]
    for name in discovery.names(discovery.WORLDS):
        roots += [(("environments", name), kind) for kind in sections.environment_types(name)]
    for name in discovery.names(discovery.METHODS):
        roots.append((("learning", name), sections.method(name).Settings))
    roots += [
        (("demonstrations",), ExpertSettings),
        (("measuring",), MeasuringSettings),
        (("showing",), ShowingSettings),
        (("true_fits",), TrueFitsSettings),
        (("transfers",), TransfersSettings),
    ]
    found = [Setting(("learning", "threshold"), float | None, sections.THRESHOLD)]
    while roots:
        keys, kind = roots.pop()
        for one in fields(kind):
            hint = hints_of(kind)[one.name]
            if section_type(hint):
                roots.append(((*keys, one.name), hint))
            else:
                found.append(Setting((*keys, one.name), hint, meaning(one)))
    return found


def somewhere(rng: np.random.Generator, keys: tuple[str, ...], config: dict) -> tuple[str, ...]:
    """The keys, or those under which a scale, an experiment or a variant says the same."""
    scale, (experiment, own) = choose(rng, [*config["scales"]]), choose(rng, [*_items(config)])
    places = [keys]
    if keys[0] in (*sections.RUN_SIZES, *sections.CHECKS):
        places.append(("scales", scale, *keys))
    if keys[0] in sections.SECTIONS:
        places.append(("experiments", experiment, *keys))
        places.append(("scales", scale, "experiments", experiment, *keys))
        places.append(("variants", choose(rng, [*config["variants"]]), *keys))
    if keys[:2] == ("environments", own["environment"]):
        places.append(("experiments", experiment, "world", *keys[2:]))
    return choose(rng, places)


def _items(config: dict) -> list[tuple[str, dict]]:
    return list(config["experiments"].items())


def lay(config: dict, keys: tuple[str, ...], value: object) -> None:
    """Say a setting, in place."""
    for key in keys[:-1]:
        if not isinstance(config.get(key), dict):
            config[key] = {}
        config = config[key]
    config[keys[-1]] = value


def forbidden(rng: np.random.Generator, one: Setting) -> object:
    """A value that the declaration does not allow."""
    options = options_of(one.type)
    lists = [option for option in options if get_origin(option) is tuple]
    ways = [lambda: _of_another_type(rng, options)]
    if {int, float} & {*options}:
        ways += 3 * [lambda: _bad_number(rng, options, one.bounds)]
    if str in options and one.keys != ("scale",):
        ways.append(lambda: _bad_text(rng, one.bounds))
    if one.keys == ("scale",):
        ways.append(lambda: choose(rng, ["", "Paper", "smoke ", "quickly", "scales"]))
    if lists:
        ways += 2 * [lambda: _bad_list(rng, get_args(lists[0])[0], one.bounds)]
    return choose(rng, ways)()


def _of_another_type(rng: np.random.Generator, options: tuple) -> object:
    origins = {get_origin(option) or option for option in options}
    found: list[object] = [datetime.date(2001, 1, 1), b"x", {1, 2}, [[{}]], {"a": {"b": [None]}}]
    if not {int, float} & origins:
        found += [int(rng.integers(-9, 9)), float(rng.normal())]
    if bool not in origins:
        found += [True, False]
    if str not in origins:
        found += ["", "x", "1", "5e-4", "null", "nan"]
    if tuple not in origins:
        found += [[], [1], [1.5, "x"]]
    if dict not in origins:
        found += [{}, {"a": 1}, {1: 2}]
    if type(None) not in origins:
        found.append(None)
    return choose(rng, found)


def _bad_number(rng: np.random.Generator, options: tuple, bounds: Meaning) -> object:
    whole = float not in options
    found: list[object] = [float("nan"), float("inf"), -float("inf"), 1e300, -1e300, 10**400]
    far = float(10 ** rng.uniform(-2, 12))
    low = bounds.at_least if bounds.at_least is not None else bounds.above
    high = bounds.at_most if bounds.at_most is not None else bounds.below
    if whole:
        found += [float(rng.integers(1, 9)), float(rng.integers(1, 9)) + 0.5]
        found += [low - 1 - int(far)] if low is not None else []
        found += [high + 1 + int(far)] if high is not None else []
    else:
        if low is not None:
            found += [low - far, float(np.nextafter(low, -np.inf))]
        if high is not None:
            found += [high + far, float(np.nextafter(high, np.inf))]
        found += [bound for bound in (bounds.above, bounds.below) if bound is not None]
    return choose(rng, found)


def _bad_text(rng: np.random.Generator, bounds: Meaning) -> object:
    if bounds.choices:
        text = str(choose(rng, bounds.choices))
        return choose(rng, ["", text.upper() + "!", text + " ", text[::-1] + "x", "nothing"])
    return choose(rng, ["", "a\nb", "{x}", "data/{environment}"] if bounds.pattern else [""])


def _bad_list(rng: np.random.Generator, entry: Any, bounds: Meaning) -> list:
    wrong: object = _of_another_type(rng, (entry,))
    if entry in (int, float):
        wrong = choose(rng, [wrong, _bad_number(rng, (entry,), bounds)])
    found: list[list] = [[], [wrong], [[]], [None]]
    if entry is int:
        low = int(bounds.at_least or 1)
        found += [[low, low + 1, wrong], [low] * (MOST + 1 + int(rng.integers(1000)))]
        found += [[low, low]] if bounds.each_once else []
    return choose(rng, found)
