"""The conditions of the experiments: settings, training times, and what the networks can hold."""

from __future__ import annotations

from icl_core.showing.catalogue.item import ARCHITECTURES, ROBOTS, SYNTHETIC, TIMES, Item

PENALTY = (*SYNTHETIC, "highd")  # ICL with PPO-penalty
LAGRANGE = (*ROBOTS, "exid")  # ICL with PPO-Lagrange
ALL = PENALTY + LAGRANGE
SETTINGS = "Settings and times"


def _settings(
    number: int, slug: str, title: str, method: str = "", experiments: tuple[str, ...] = ALL
) -> Item:
    return Item(
        "table",
        number,
        f"settings-{slug}",
        title,
        SETTINGS,
        (),
        experiments,
        f"icl_core.showing.settings_tables:{slug.replace('-', '_')}_table",
        method=method,
        told_settings=True,
    )


def _architectures(number: int, slug: str, title: str) -> Item:
    return Item(
        "table",
        number,
        f"architectures-{slug}",
        title,
        SETTINGS,
        (ARCHITECTURES,),
        (*SYNTHETIC, *ROBOTS),
        f"icl_core.showing.architectures_table:{slug}_table",
    )


CONDITIONS = (
    _settings(7, "common", "Settings that methods share"),
    _settings(8, "gail-constraint", "Settings of GAIL-Constraint", "gail-constraint"),
    _settings(9, "icrl", "Settings of ICRL", "icrl"),
    _settings(10, "icl", "Settings of ICL with PPO-penalty", "icl", PENALTY),
    _settings(11, "icl-lagrange", "Settings of ICL with PPO-Lagrange", "icl", LAGRANGE),
    Item(
        "table",
        12,
        "training-times",
        "Training times",
        SETTINGS,
        (TIMES,),
        ALL,
        "icl_core.showing.training_times:training_times_table",
    ),
    _architectures(13, "width", "What networks of several widths can hold"),
    _architectures(14, "depth", "What networks of several depths can hold"),
)
