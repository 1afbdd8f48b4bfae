"""Mappings of settings laid over each other."""

from __future__ import annotations

from collections.abc import Mapping


def merge(*layers: Mapping) -> dict:
    """Lay mappings over each other, later ones win; keys sorted, so that equal means equal text."""
    keys = sorted({key for layer in layers for key in layer})
    return {key: _laid([layer[key] for layer in layers if key in layer]) for key in keys}


def _laid(values: list) -> object:
    if isinstance(values[-1], Mapping):
        return merge(*(value for value in values if isinstance(value, Mapping)))
    return values[-1]
