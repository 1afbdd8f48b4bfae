"""Showing: figures, tables and the page that holds them all."""


rule figure:
    input:
        SHOWN.inputs,
    output:
        svg=f"{PLAN.results}/figures/{{figure}}.svg",
        png=f"{PLAN.results}/figures/{{figure}}.png",
        provenance=f"{PLAN.results}/figures/{{figure}}.json",
        time=PLAN.time("figure/{figure}"),
    log:
        PLAN.log("figure/{figure}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.settings,
        code=SHOWN.code,
    script:
        "../scripts/show_item.py"


rule table:
    input:
        SHOWN.inputs,
    output:
        csv=f"{PLAN.results}/tables/{{table}}.csv",
        md=f"{PLAN.results}/tables/{{table}}.md",
        provenance=f"{PLAN.results}/tables/{{table}}.json",
        time=PLAN.time("table/{table}"),
    log:
        PLAN.log("table/{table}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.settings,
        code=SHOWN.code,
    script:
        "../scripts/show_item.py"


# Beside Figure 13: the same drive, moving.
rule animation:
    input:
        scene=PLAN.path("scene", environment="highd"),
    output:
        gif=f"{PLAN.results}/figures/highd.gif",
        provenance=f"{PLAN.results}/figures/highd.json",
        time=PLAN.time("animation"),
    log:
        PLAN.log("animation"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.film_settings,
        code=PLAN.code_of("animation.py", *PLAN.worlds_code(SHOWN.film)),
    script:
        "../scripts/animation.py"


rule results:
    input:
        metrics=rules.collect_metrics.output[0],
        claims=[rules.claims.output[name] for name in ("parquet", "csv", "md")],
        figures=SHOWN.outputs("figure"),
        tables=SHOWN.outputs("table"),
        films=rules.animation.output.gif if SHOWN.film else [],


rule report_page:
    input:
        rules.results.input,
        claims=rules.claims.output.parquet,
        layout=SHOWN.page_layout(),
        scenes=PLAN.scenes(PLAN.config.learned),
    output:
        html=f"{PLAN.results}/report.html",
        provenance=PLAN.path("page_record"),
        time=PLAN.time("report_page"),
    log:
        PLAN.log("report_page"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=SHOWN.page_settings,
        code=PLAN.code_of("report_page.py"),
    script:
        "../scripts/report_page.py"
