"""What networks of several shapes can hold of the true constraints (Tables 13 and 14)."""


rule architecture:
    output:
        f"{RESULTS}/architectures/{{environment}}/{{architecture}}/seeds-{{group}}.parquet",
    log:
        f"{LOGS}/architecture/{{environment}}/{{architecture}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/architecture/{{environment}}/{{architecture}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=fit_settings,
        code=code_in_world("architecture.py"),
    script:
        "../scripts/architecture.py"
