"""Inverse constraint learning: every table and figure, from environments to the report.

snakemake --cores 8 all                         the paper
snakemake --cores 2 all --config scale=quick    the same, in 35 minutes
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/params.smk"
include: "workflow/rules/traffic.smk"
include: "workflow/rules/catalogue.smk"


wildcard_constraints:
    experiment=one_of(CONFIG.experiments),
    method=one_of(METHODS),
    group=one_of(CONFIG.groups),
    iteration=r"\d\d",
    environment=one_of(CONFIG.architectures["environments"]),
    architecture=one_of(CONFIG.architectures["hidden"]),
    figure=one_of(shown("figure")),
    table=one_of(shown("table")),


# The rooms, in the order in which data flows through them.
include: "workflow/rules/recordings.smk"
include: "workflow/rules/demonstrations.smk"
include: "workflow/rules/learning.smk"
include: "workflow/rules/architectures.smk"
include: "workflow/rules/measuring.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/showing.smk"


localrules:
    all,
    results,


rule all:
    default_target: True
    input:
        rules.results.input,
        f"{RESULTS}/report.html",
