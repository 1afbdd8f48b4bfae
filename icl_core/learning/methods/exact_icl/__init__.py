"""Inverse constraint learning without networks, where cells and moves can be enumerated.

`algorithm` is the alternation of Theorem 1, `adjustment` has its linear programs, `tables` puts
tables over cells into networks. docs/theory.md says what is exact, and what it ends with.
"""
