"""Inverse constraint learning (paper, Algorithm 1): one job per step of an iteration. The
baselines, GAIL-Constraint and ICRL: one job each.

The iterations are a chain: iteration i starts from the constraint of iteration
i - 1. One job trains a stack of seeds, `seeds-{first}-{last}`. A long job that is
killed goes on from the state that it saved beside its outputs.
"""


rule density:
    input:
        demonstrations=demonstrations,
        scene=scene,
    output:
        f"{RUN}/density.safetensors",
    log:
        f"{LOGS}/density/{{experiment}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/density/{{experiment}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("density"),
        code=code_in_world("density.py"),
    script:
        "../scripts/density.py"


rule initial_constraint:
    input:
        scene=scene,
    output:
        f"{RUN}/iteration-00/constraint.safetensors",
    log:
        f"{LOGS}/initial_constraint/{{experiment}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/initial_constraint/{{experiment}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("initial_constraint"),
        code=code_in_world("initial_constraint.py"),
    script:
        "../scripts/initial_constraint.py"


rule constrained_rl:
    input:
        demonstrations=demonstrations,
        scene=scene,
        constraint=previous_constraint,
    output:
        policy=f"{RUN}/iteration-{{iteration}}/policy.safetensors",
        training=f"{RUN}/iteration-{{iteration}}/training.parquet",
    log:
        f"{LOGS}/constrained_rl/{{experiment}}/seeds-{{group}}/iteration-{{iteration}}.log",
    benchmark:
        f"{BENCHMARKS}/constrained_rl/{{experiment}}/seeds-{{group}}/iteration-{{iteration}}.tsv"
    wildcard_constraints:
        iteration=r"(?!00)\d\d",
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("constrained_rl"),
        code=code_in_world("constrained_rl.py"),
    script:
        "../scripts/constrained_rl.py"


rule adjust:
    input:
        demonstrations=demonstrations,
        scene=scene,
        density=density_of_demonstrations,
        policies=policies_so_far,
        constraint=previous_constraint,
    output:
        constraint=f"{RUN}/iteration-{{iteration}}/constraint.safetensors",
        adjustment=f"{RUN}/iteration-{{iteration}}/adjustment.parquet",
    log:
        f"{LOGS}/adjust/{{experiment}}/seeds-{{group}}/iteration-{{iteration}}.log",
    benchmark:
        f"{BENCHMARKS}/adjust/{{experiment}}/seeds-{{group}}/iteration-{{iteration}}.tsv"
    wildcard_constraints:
        iteration=r"(?!00)\d\d",
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("adjust"),
        code=code_in_world("adjust.py"),
    script:
        "../scripts/adjust.py"


rule conclude:
    input:
        demonstrations=demonstrations,
        scene=scene,
        constraints=all_constraints,
        policies=all_policies,
    output:
        **final_of("icl"),
    log:
        f"{LOGS}/conclude/{{experiment}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/conclude/{{experiment}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("conclude"),
        code=code_in_world("conclude.py"),
    script:
        "../scripts/conclude.py"


rule gail_constraint:
    input:
        demonstrations=demonstrations,
        scene=scene,
    output:
        **final_of("gail-constraint"),
    log:
        f"{LOGS}/gail_constraint/{{experiment}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/gail_constraint/{{experiment}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("gail_constraint"),
        code=code_in_world("gail_constraint.py"),
    script:
        "../scripts/gail_constraint.py"


rule icrl:
    input:
        demonstrations=demonstrations,
        scene=scene,
    output:
        **final_of("icrl"),
    log:
        f"{LOGS}/icrl/{{experiment}}/seeds-{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/icrl/{{experiment}}/seeds-{{group}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("icrl"),
        code=code_in_world("icrl.py"),
    script:
        "../scripts/icrl.py"
