"""Measuring: the final policies' episodes, CMSE and NAD of every seed, and the paper's claims."""


rule metrics:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
        constraints=ITERATIONS.all_constraints,
        policies=ITERATIONS.all_policies,
        constraint=PLAN.path("constraint"),
        policy=PLAN.path("policy"),
        selections=PLAN.path("selections"),
    output:
        metrics=PLAN.path("run_metrics"),
        evaluation=PLAN.path("evaluation"),
        # Nothing here reads it: it is for those who use the constraint elsewhere.
        portable=PLAN.path("portable_constraint"),
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
        settings=PLAN.given("measuring", "learning.threshold"),
        code=PLAN.code("metrics.py"),
    script:
        "../scripts/metrics.py"


# One job for all: what takes long is left out, and a job of its own would take longer to start.
rule determine:
    input:
        SHOWN.shown_demonstrations,
    output:
        PLAN.path("determined"),
        time=PLAN.time("determine"),
    log:
        PLAN.log("determine"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.determine_settings,
        code=SHOWN.determine_code,
    script:
        "../scripts/determine.py"


rule collect_metrics:
    input:
        PLAN.metrics_of_all_runs,
        rules.determine.output[0],
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
