"""The program `icl`: learn and use constraints, run the pipeline, and say what it does.

Each command is one module with `arguments(parser)` and `main(given)`. Those of
icl_core/using/commands work anywhere. Those of workflow/program work on a project: the folder with
the Snakefile, from which `icl` is called or which lies above.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from icl_core.errors import InputError

# What `icl --help` says. Nothing of a command is imported before it is called.
ANYWHERE = {
    "learn": "a constraint from demonstrations, in an environment of Gymnasium",
    "evaluate": "what episodes cost under a constraint",
    "identify": "what demonstrations tell of the constraint, and what they cannot",
    "plot": "draw a constraint",
    "export": "a constraint as a table; --latex: all of a run for a paper",
}
COMMANDS = {
    **ANYWHERE,
    "run": "make targets (all by default), one line per finished job",
    "status": "what would run again, and why",
    "forecast": "how many jobs, how much time and disk, before anything starts",
    "restore": "put published results back, so that nobody must train to look",
    "compare": "two results folders or commits, cell by cell",
    "clean": "remove the files of one experiment",
    "verify": "whether results are whole, in place and of today's code",
}


def project(start: Path) -> Path:
    """The nearest folder, from here upwards, that holds the pipeline."""
    for folder in (start, *start.parents):
        if (folder / "Snakefile").is_file() and (folder / "workflow/program").is_dir():
            return folder
    raise InputError(
        f"{start}: expected the folder of the project (with Snakefile and workflow/) or one inside "
        "it, found neither; change to your clone of the repository and call `icl` there"
    )


def parser(called: ModuleType | None = None, command: str = "") -> argparse.ArgumentParser:
    """The parser of all commands; only the called one has its own arguments."""
    top = argparse.ArgumentParser(
        prog="icl",
        description="Inverse constraint learning: learn constraints, use them, run the pipeline.",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        own = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if called is not None and name == command:
            called.arguments(own)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Call a command; what the user can fix is one line, without a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        command = given[0] if given and given[0] in COMMANDS else ""
        module = _module(command, given) if command else None
        parsed = parser(module, command).parse_args(given)
        assert module is not None  # the parser has ended the program
        return module.main(parsed)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads has read enough: `icl status | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _module(command: str, given: Sequence[str]) -> ModuleType:
    """Where a command stands; one of a project's is called in its folder."""
    if command in ANYWHERE and "--latex" not in given:
        return importlib.import_module(f"icl_core.using.commands.{command}")
    os.chdir(project(Path.cwd()))
    sys.path.insert(0, os.getcwd())
    return importlib.import_module(f"workflow.program.{command}")


if __name__ == "__main__":
    sys.exit(main())
