"""Inverse constraint learning (paper, Algorithm 1): one job for each step of an iteration.

The iterations are a chain: iteration i starts from the constraint of iteration i - 1.
"""


rule icl_density:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
    output:
        PLAN.path("density", method="icl"),
        time=PLAN.time("icl_density/{experiment}/icl/seeds-{group}"),
    log:
        PLAN.log("icl_density/{experiment}/icl/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("learning.icl.density"),
        code=PLAN.code("icl_density.py"),
    script:
        "../scripts/icl_density.py"


rule icl_initial_constraint:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
    output:
        PLAN.path("iteration_constraint", method="icl", iteration="00"),
        time=PLAN.time("icl_initial_constraint/{experiment}/icl/seeds-{group}"),
    log:
        PLAN.log("icl_initial_constraint/{experiment}/icl/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("learning.icl.constraint", "learning.threshold"),
        code=PLAN.code("icl_initial_constraint.py"),
    script:
        "../scripts/icl_initial_constraint.py"


rule icl_policy:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
        constraint=ITERATIONS.previous_constraint,
        original=ITERATIONS.original_policy,
    output:
        policy=PLAN.path("iteration_policy", method="icl"),
        training=PLAN.path("iteration_training", method="icl"),
        time=PLAN.time("icl_policy/{experiment}/icl/seeds-{group}/iteration-{iteration}"),
    log:
        PLAN.log("icl_policy/{experiment}/icl/seeds-{group}/iteration-{iteration}"),
    wildcard_constraints:
        iteration=r"(?!00)\d\d",
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given(
            "learning.icl.constrained_rl",
            "learning.icl.loop.unconstrained_first_policy",
            "learning.icl.loop.selection_episodes",
            "learning.threshold",
        ),
        code=PLAN.code("icl_policy.py"),
    script:
        "../scripts/icl_policy.py"


rule icl_adjust:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
        density=ITERATIONS.density,
        policies=ITERATIONS.policies_so_far,
        constraint=ITERATIONS.previous_constraint,
        original=ITERATIONS.original_adjustment,
    output:
        constraint=PLAN.path("iteration_constraint", method="icl"),
        adjustment=PLAN.path("adjustment", method="icl"),
        time=PLAN.time("icl_adjust/{experiment}/icl/seeds-{group}/iteration-{iteration}"),
    log:
        PLAN.log("icl_adjust/{experiment}/icl/seeds-{group}/iteration-{iteration}"),
    wildcard_constraints:
        iteration=r"(?!00)\d\d",
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given(
            "learning.icl.adjustment",
            "learning.icl.loop.unconstrained_first_policy",
            "learning.icl.loop.patience",
            "learning.icl.loop.tolerance",
            "learning.threshold",
        ),
        code=PLAN.code("icl_adjust.py"),
    script:
        "../scripts/icl_adjust.py"


rule icl_select:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
        constraints=ITERATIONS.all_constraints,
        policies=ITERATIONS.all_policies,
    output:
        **PLAN.final(method="icl"),
        time=PLAN.time("icl_select/{experiment}/icl/seeds-{group}"),
    log:
        PLAN.log("icl_select/{experiment}/icl/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given(
            "learning.icl.constrained_rl",
            "learning.icl.loop.unconstrained_first_policy",
            "learning.icl.loop.selection_episodes",
            "learning.icl.loop.keep",
            "learning.threshold",
        ),
        code=PLAN.code("icl_select.py"),
    script:
        "../scripts/icl_select.py"
