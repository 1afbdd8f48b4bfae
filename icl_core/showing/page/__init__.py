"""The report: one self-contained HTML page, made from finished files alone.

It opens with our numbers beside the paper's and the recovered constraints, at the paper's scale
below a count of what was reproduced. The claims and their verdicts follow, folded at other scales,
then every table and figure. `make` is what the workflow calls; the other modules turn claims,
tables and provenance into plain values, and `page.html` lays them out.
"""
