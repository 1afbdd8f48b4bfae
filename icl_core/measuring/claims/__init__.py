"""The paper's empirical statements, each with a check over our own results.

`docs/claims.yaml` states them. A statement names a check (a function on the shelf
`checks/`), which measures one or more effects, positive where the paper is right, with an
interval over seeds (`intervals`). The verdict follows from the intervals alone (`verdicts`).
"""
