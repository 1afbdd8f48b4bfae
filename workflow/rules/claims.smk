"""The paper's statements, checked against the results."""

from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.registry import CHECKS

CLAIMS = os.path.relpath(ROOT / "docs/claims.yaml")


def claim_inputs(wildcards):
    """What the checks read, for those of the claims' experiments that are configured."""
    wanted = {
        (pattern, name)
        for claim in checked(read_claims, CLAIMS)
        for pattern in CHECKS[claim.check].needs
        for name in claim.experiments
        if name in CONFIG.experiments
    }
    paths = {p for pattern, name in wanted for p in expanded(pattern, CONFIG.experiments[name])}
    return [f"{RESULTS}/{path}" for path in sorted(paths)]


def claim_settings(wildcards):
    """What the verdicts depend on besides the inputs."""
    worlds = {name: world_settings(e) for name, e in CONFIG.experiments.items()}
    return {"scale": CONFIG.scale, "worlds": worlds}


rule claims:
    input:
        claim_inputs,
        claims=CLAIMS,
        metrics=f"{RESULTS}/metrics.parquet",
        scenes=scenes(CONFIG.experiments.values()),
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
        code=code_of("claims.py", *sorted({check.module for check in CHECKS.values()})),
    script:
        "../scripts/claims.py"
