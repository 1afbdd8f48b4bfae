"""Inverse constraint learning: every table and figure, from environments to the report.

snakemake --cores 8 all                         the paper
snakemake --cores 2 all --config scale=quick    the same, in 4 to 10 minutes
"""

from snakemake.utils import min_version

from workflow.lib.yaml_files import refuse_wrong_files

min_version("9.0")

if workflow.is_main_process:
    refuse_wrong_files("config.yaml", workflow.overwrite_configfiles)


configfile: "config.yaml"


include: "workflow/rules/common.smk"


wildcard_constraints:
    experiment=one_of([*PLAN.config.experiments, *PLAN.config.true_fits.environments]),
    method=one_of(PLAN.config.methods),
    group=one_of(PLAN.config.groups),
    iteration=r"\d\d",
    environment=one_of(PLAN.config.recorded),
    architecture=one_of(PLAN.config.true_fits.architectures),
    figure=one_of(SHOWN.names("figure")),
    table=one_of(SHOWN.names("table")),


# The rooms, in the order in which data flows through them.
include: "workflow/rules/demonstrations.smk"
include: "workflow/rules/learning.smk"
include: "workflow/rules/learning_icl.smk"
include: "workflow/rules/measuring.smk"
include: "workflow/rules/showing.smk"


localrules:
    all,
    results,


onstart:
    sign_run()
    PLAN.write_codes()
    lift_rate_limit(workflow)
    write_jobs(workflow)


rule all:
    default_target: True
    input:
        rules.results.input,
        f"{PLAN.results}/report.html",
        PLAN.of_all_runs("portable_constraint"),
