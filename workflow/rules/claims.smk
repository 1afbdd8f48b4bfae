"""The paper's statements, checked against the results."""


rule claims:
    input:
        claim_inputs,
        claims=CLAIMS,
        metrics=f"{RESULTS}/metrics.parquet",
        scenes=scenes(LEARNED),
    output:
        parquet=f"{RESULTS}/claims.parquet",
        csv=f"{RESULTS}/claims.csv",
        md=f"{RESULTS}/claims.md",
    log:
        f"{LOGS}/claims.log",
    benchmark:
        f"{BENCHMARKS}/claims.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=claim_settings,
        code=claims_code(),
    script:
        "../scripts/claims.py"
