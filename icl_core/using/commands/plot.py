"""Draw a constraint, and demonstrations on it."""

from __future__ import annotations

import argparse

from icl_core.using.commands import sources


def arguments(parser: argparse.ArgumentParser) -> None:
    """A constraint, a picture, and what is drawn."""
    sources.constraint_file(parser)
    parser.add_argument("-o", "--output", default="constraint.png", help="(%(default)s)")
    parser.add_argument("-d", "--demonstrations", metavar="DEMOS", help=sources.DEMONSTRATIONS)
    parser.add_argument("--inputs", nargs="+", metavar="NAME", help="one or two of its inputs")


def main(given: argparse.Namespace) -> int:
    """Draw it."""
    from icl_core.using.constraint import Constraint

    shown = given.demonstrations and sources.demonstrations(given.demonstrations)
    Constraint.load(given.file).plot(shown, given.output, inputs=given.inputs)
    print(given.output)
    return 0
