"""The results that a job which shows or checks them is given."""

from __future__ import annotations

from icl_core.measuring.results import Results
from workflow.lib.stage import Stage, world_of


def results_of(stage: Stage) -> Results:
    """The files of a job's input, with the worlds and titles of its settings."""
    given, worlds = stage.settings, stage.settings["worlds"]
    thresholds = {name: own["threshold"] for name, own in worlds.items()}
    return Results(
        scale=given["scale"],
        worlds={name: world_of(own) for name, own in worlds.items()},
        paths=tuple(stage.input),
        methods=dict(given["methods"]),
        settings=given.get("experiments", {}),
        betas={name: beta for name, beta in thresholds.items() if beta is not None},
    )
