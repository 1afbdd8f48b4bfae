"""Variants: one change, written once, made to several experiments."""

from __future__ import annotations

from collections.abc import Mapping

from icl_core.errors import InputError
from icl_core.settings import join, merge
from workflow.lib.sections import SECTIONS


def expanded(experiment: Mapping) -> dict:
    """Write `demonstrations: path` in full."""
    given = experiment.get("demonstrations")
    if isinstance(given, str):
        return {**experiment, "demonstrations": {"file": given}}
    return dict(experiment)


def of_scale(config: Mapping, scale: str) -> dict[str, Mapping]:
    """The variants that are run at a scale: those that name none are at all of them."""
    found, known = {}, config.get("scales", {})
    for name, own in config.get("variants", {}).items():
        given = own.get("scales") or [scale]
        for k, one in enumerate(given):
            if one not in known:
                raise InputError(
                    f"configuration: key variants.{name}.scales.{k}: expected one of "
                    f"{', '.join(known)}, found {one!r}"
                )
        if scale in given:
            found[name] = own
    return found


def all_experiments(config: Mapping, scale: str) -> dict:
    """The experiments of a configuration at a scale, those of its variants among them."""
    written = {name: expanded(own) for name, own in config["experiments"].items()}
    changes = {name: expanded(own) for name, own in of_scale(config, scale).items()}
    complete = with_variants(written, changes)
    for name in config["scales"][scale].get("experiments", {}):
        if name not in complete:
            raise InputError(
                f"configuration: key {join(f'scales.{scale}.experiments', name)} is unknown; "
                f"choose one of {', '.join(sorted(complete))}"
            )
    return complete


def with_variants(experiments: Mapping, variants: Mapping) -> dict:
    """All experiments, those of the variants among them, as if they had been written out.

    `demonstrations` must be mappings in both (not just a path).
    """
    found = dict(experiments)
    for variant, changes in variants.items():
        for original in changes["of"]:
            key = f"configuration: key variants.{variant}"
            if original not in experiments:
                raise InputError(
                    f"{key}.of names {original}, which is no experiment; choose from "
                    f"{', '.join(sorted(experiments))}"
                )
            name = f"{original}-{variant}"
            if name in found:
                raise InputError(f"{key} would give a second experiment {name}; rename one of them")
            found[name] = _varied(original, experiments[original], changes)
    return found


def _varied(original: str, settings: Mapping, changes: Mapping) -> dict:
    changed = {key: changes[key] for key in (*SECTIONS, "world") if key in changes}
    one = merge(settings, changed, {"methods": changes.get("methods", ["icl"])})
    one["variant_of"] = original
    if "world" in changes:
        # What was demonstrated in another world shows nothing here: this one has its own expert.
        own = {"file": None, **changes.get("demonstrations", {})}
        one.pop("demonstrations_of", None)
        return merge(one, {"demonstrations": own})
    if "demonstrations" in changes:
        one.pop("demonstrations_of", None)
        return one
    return merge({"demonstrations_of": original}, one)
