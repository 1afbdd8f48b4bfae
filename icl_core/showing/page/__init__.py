"""The report: one self-contained HTML page, made from finished files alone.

It opens with the verdicts, each of which leads to its claims, with our numbers beside the paper's
and with the recovered constraints. Every table follows, then the claims, folded, then every figure.
`make` is what the workflow calls; the other modules turn claims, tables and provenance into plain
values, and `page.html` lays them out.
"""
