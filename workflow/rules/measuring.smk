"""CMSE and NAD of every seed and iteration, in one long table."""


rule metrics:
    input:
        demonstrations=demonstrations,
        scene=scene,
        constraints=iteration_constraints,
        policies=iteration_policies,
        constraint=f"{RUN_OF_METHOD}/final/constraint.safetensors",
        rollouts=f"{RUN_OF_METHOD}/final/rollouts.parquet",
    output:
        f"{RUN_OF_METHOD}/metrics.parquet",
    log:
        f"{LOGS}/metrics/{{experiment}}/{{method}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/metrics/{{experiment}}/{{method}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("metrics"),
        code=code_in_world("metrics.py"),
    script:
        "../scripts/metrics.py"


rule collect_metrics:
    input:
        metrics_of_all_runs,
    output:
        f"{RESULTS}/metrics.parquet",
    log:
        f"{LOGS}/collect_metrics.log",
    benchmark:
        f"{BENCHMARKS}/collect_metrics.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings={},
        code=code_of("collect_metrics.py"),
    script:
        "../scripts/collect_metrics.py"
