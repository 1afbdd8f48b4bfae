"""Expert trajectories: trained here, or the user's own."""


rule expert:
    output:
        trajectories=f"{RESULTS}/demonstrations/{{experiment}}/trajectories.parquet",
        training=f"{RESULTS}/demonstrations/{{experiment}}/training.parquet",
        policy=f"{RESULTS}/demonstrations/{{experiment}}/expert.safetensors",
    log:
        f"{LOGS}/expert/{{experiment}}.log",
    benchmark:
        f"{BENCHMARKS}/expert/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=one_of(GENERATED),
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("expert"),
        code=code_in_world("expert.py"),
    script:
        "../scripts/expert.py"


rule import_demonstrations:
    input:
        file=imported_file,
        scene=scene,
    output:
        trajectories=f"{RESULTS}/demonstrations/{{experiment}}/trajectories.parquet",
    log:
        f"{LOGS}/import_demonstrations/{{experiment}}.log",
    benchmark:
        f"{BENCHMARKS}/import_demonstrations/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=one_of(IMPORTED),
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("import_demonstrations"),
        code=code_in_world("import_demonstrations.py"),
    script:
        "../scripts/import_demonstrations.py"
