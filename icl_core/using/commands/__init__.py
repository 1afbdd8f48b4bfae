"""Commands of the program `icl` that need no project: for a constraint, wherever its file lies.

Each is a module with `arguments(parser)` and `main(given)`.
"""
