"""What a job is given: its own settings, and the digest of the code that it runs.

Snakemake compares the values of all params without their names, so the settings of a job are one
value.
"""

from functools import cache

from icl_core.code_digest import code_digest
from icl_core.configuration import fit_settings_of, stage_settings
from icl_core.environments import module_of


def settings_of(stage):
    """The params function that gives a stage's section of the configuration."""

    def settings(wildcards):
        seeds = CONFIG.groups[wildcards.group] if "group" in wildcards.keys() else ()
        experiment = CONFIG.experiments[wildcards.experiment]
        given = stage_settings(experiment, stage, seeds)
        return given | {"world": world_arguments(experiment)}

    return settings


def fit_settings(wildcards):
    """The settings of a fit to a true constraint."""
    return fit_settings_of(CONFIG, wildcards.environment, wildcards.architecture, wildcards.group)


@cache
def code_of(script, *modules):
    """Digest of a script and of everything of ours that it imports; `modules` it loads by name."""
    return code_digest(SCRIPTS / script, [ROOT], modules)


def code_in_world(script):
    """The params function that gives this digest, with the code of the job's own world."""

    def code(wildcards):
        named = wildcards.get("environment")
        name = named or CONFIG.experiments[wildcards.experiment].environment
        return code_of(script, module_of(name))

    return code


def modules_of_worlds(experiments):
    """Where the worlds of some experiments stand."""
    return sorted({module_of(experiment.environment) for experiment in experiments})
