"""Learning: methods of one job, and what a network can hold of the truth at best.

One job trains a stack of seeds, `seeds-{first}-{last}`. A long job that is killed goes on from the
state that it saved beside its outputs.
"""


rule learn:
    input:
        demonstrations=PLAN.demonstrations,
        scene=PLAN.scene,
    output:
        **PLAN.final(),
        time=PLAN.time("learn/{experiment}/{method}/seeds-{group}"),
    log:
        PLAN.log("learn/{experiment}/{method}/seeds-{group}"),
    wildcard_constraints:
        method=one_of(PLAN.methods_of_one_job),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("learning.{method}", "learning.threshold"),
        code=PLAN.code("learn.py", "method"),
    script:
        "../scripts/learn.py"


# Tables 13 and 14: a lower bound of CMSE for every method.
rule true_fit:
    output:
        **PLAN.fits(),
        time=PLAN.time("true_fit/{experiment}/seeds-{group}"),
    log:
        PLAN.log("true_fit/{experiment}/seeds-{group}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.fit,
        code=PLAN.code("true_fit.py"),
    script:
        "../scripts/true_fit.py"
