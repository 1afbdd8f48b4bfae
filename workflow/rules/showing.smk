"""Figures, tables and the page that holds them all."""


rule figure:
    input:
        item_inputs,
    output:
        svg=f"{RESULTS}/figures/{{figure}}.svg",
        png=f"{RESULTS}/figures/{{figure}}.png",
        provenance=f"{RESULTS}/figures/{{figure}}.json",
    log:
        f"{LOGS}/figure/{{figure}}.log",
    benchmark:
        f"{BENCHMARKS}/figure/{{figure}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=item_settings,
        code=item_code,
    script:
        "../scripts/show_item.py"


rule table:
    input:
        item_inputs,
    output:
        csv=f"{RESULTS}/tables/{{table}}.csv",
        md=f"{RESULTS}/tables/{{table}}.md",
        provenance=f"{RESULTS}/tables/{{table}}.json",
    log:
        f"{LOGS}/table/{{table}}.log",
    benchmark:
        f"{BENCHMARKS}/table/{{table}}.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=item_settings,
        code=item_code,
    script:
        "../scripts/show_item.py"


# Beside Figure 13: the same drive, moving.
rule animation:
    input:
        scene=f"{RECORDINGS}/highd/scene.parquet",
    output:
        f"{RESULTS}/figures/highd.gif",
    log:
        f"{LOGS}/animation.log",
    benchmark:
        f"{BENCHMARKS}/animation.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings={"environment": "highd", "world": {"scene": f"{RECORDINGS}/highd/scene.parquet"}},
        code=code_of("animation.py"),
    script:
        "../scripts/animation.py"


rule results:
    input:
        metrics=rules.collect_metrics.output,
        claims=rules.claims.output,
        figures=expand(rules.figure.output, figure=shown("figure")),
        tables=expand(rules.table.output, table=shown("table")),
        films=rules.animation.output if any(e.name in RECORDED["highd"] for e in LEARNED) else [],


rule report_page:
    input:
        rules.results.input,
        claims=rules.claims.output.parquet,
        captions=captions(),
        layout=page_layout(),
        scenes=scenes(LEARNED),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{LOGS}/report_page.log",
    benchmark:
        f"{BENCHMARKS}/report_page.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings={"scale": CONFIG.scale, "items": shown("figure") + shown("table")},
        code=code_of("report_page.py"),
    script:
        "../scripts/report_page.py"
