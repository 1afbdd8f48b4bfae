"""The report: one self-contained HTML page, made from finished files alone.

It opens with the paper's claims and their verdicts, then sets our numbers beside the
paper's, then shows the figures. `make` is what the workflow calls; the other modules
turn claims, tables and provenance into plain values, and `page.html` lays them out.
"""
