"""Measuring: the final policies' episodes, CMSE and NAD of every seed, and the paper's claims."""


rule metrics:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
        constraints=ITERATIONS.all_constraints,
        policies=ITERATIONS.all_policies,
        constraint=PLAN.path("constraint"),
        policy=PLAN.path("policy"),
    output:
        metrics=PLAN.path("run_metrics"),
        rollouts=PLAN.path("rollouts"),
        time=PLAN.time("metrics/{experiment}/{method}/seeds-{group}"),
    log:
        PLAN.log("metrics/{experiment}/{method}/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("measuring.report_episodes"),
        code=PLAN.code("metrics.py"),
    script:
        "../scripts/metrics.py"


# Nothing here reads it: it is for those who use the constraint elsewhere.
rule portable_constraint:
    input:
        constraint=PLAN.path("constraint"),
        scene=PLAN.scene,
    output:
        portable=PLAN.path("portable_constraint"),
        time=PLAN.time("portable_constraint/{experiment}/{method}/seeds-{group}"),
    log:
        PLAN.log("portable_constraint/{experiment}/{method}/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("learning.threshold"),
        code=PLAN.code("portable_constraint.py"),
    script:
        "../scripts/portable_constraint.py"


rule collect_metrics:
    input:
        PLAN.metrics_of_all_runs,
    output:
        PLAN.path("metrics"),
        time=PLAN.time("collect_metrics"),
    log:
        PLAN.log("collect_metrics"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings={},
        code=PLAN.code_of("collect_metrics.py"),
    script:
        "../scripts/collect_metrics.py"


# The proof of a constraint: agents elsewhere, without it, with it and with the true one.
rule transfer:
    input:
        constraint=PLAN.constraints,
    output:
        PLAN.path("transfer"),
        time=PLAN.time("transfer/{experiment}"),
    log:
        PLAN.log("transfer/{experiment}"),
    wildcard_constraints:
        experiment=one_of(PLAN.config.transfers.experiments),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.transfer,
        code=PLAN.code("transfer.py"),
    script:
        "../scripts/transfer.py"


rule claims:
    input:
        SHOWN.claim_inputs,
        claims=SHOWN.claims_file,
        metrics=rules.collect_metrics.output[0],
        scenes=PLAN.scenes(PLAN.config.learned),
    output:
        parquet=PLAN.path("claims"),
        csv=f"{PLAN.results}/claims.csv",
        md=f"{PLAN.results}/claims.md",
        time=PLAN.time("claims"),
    log:
        PLAN.log("claims"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.claim_settings,
        code=SHOWN.claims_code,
    script:
        "../scripts/claims.py"
