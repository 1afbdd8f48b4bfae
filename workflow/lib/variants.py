"""Variants: one change, made to several experiments.

A sweep or an ablation is an experiment like any other, but for one setting. The
configuration says that setting once, under `variants`, and which experiments it
is tried on; here this becomes one experiment `{experiment}-{variant}` for each.
"""

from __future__ import annotations

from collections.abc import Mapping

from icl_core.errors import InputError
from icl_core.settings import merge

SECTIONS = ("demonstrations", "learning", "measuring")


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
    if "world" in changes:
        # What was demonstrated in another world shows nothing here: this one has its own expert.
        own = {"file": None, **changes.get("demonstrations", {})}
        one.pop("demonstrations_of", None)
        return merge(one, {"demonstrations": own})
    if "demonstrations" in changes:
        one.pop("demonstrations_of", None)
        return one
    return merge({"demonstrations_of": original}, one)


def check_shared(experiments: Mapping) -> None:
    """Raise an InputError where an experiment names demonstrations that it cannot use.

    `experiments` are complete ones (`configuration.Experiment`), by name.
    """
    for one in experiments.values():
        if one.demonstrations_of is None:
            continue
        key = f"configuration: key experiments.{one.name}.demonstrations_of"
        other = experiments.get(one.demonstrations_of)
        if other is None:
            known = ", ".join(sorted(experiments))
            raise InputError(
                f"{key} names {one.demonstrations_of}, which is no experiment; choose from {known}"
            )
        if other.demonstrations_of is not None:
            raise InputError(
                f"{key} names {other.name}, which has none of its own; "
                f"name {other.demonstrations_of} instead"
            )
        if (one.environment, one.world) != (other.environment, other.world):
            raise InputError(
                f"{key}: expected an experiment in the same world as {one.name}, found "
                f"{other.name} in another one; leave the key out to have an expert trained"
            )
