"""The paper's empirical statements, each with a check over our own results.

`docs/claims.yaml` states them. A statement names a check (a function on the shelf
`checks/`), which reads results through `evidence` and measures one or more effects, positive
where the paper is right, with an interval over experts (`effects`, `intervals`). The verdict
follows from the effects alone (`verdicts`); `paper_support` asks the same of the paper's tables.
"""
