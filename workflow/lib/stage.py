"""What the scripts share: how a job's settings, log and errors are handled."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import TypeVar, get_type_hints

from icl_core.artifacts import make_provenance
from icl_core.environments import World, make_world
from icl_core.errors import InputError
from icl_core.progress import Progress

T = TypeVar("T")


class Stage:
    """A job as its script sees it."""

    def __init__(self, job):
        self.input = job.input
        self.output = job.output
        self.wildcards = job.wildcards
        self.settings: dict = job.params.settings
        self.log_path = Path(job.log[0])
        self._code: str = job.params.code
        self._rule: str = job.rule

    @property
    def seeds(self) -> list[int]:
        """The seeds of this job's stack."""
        return self.settings["seeds"]

    @property
    def iteration(self) -> int:
        """The iteration of ICL, from 1."""
        return int(self.wildcards.iteration)

    def build(self, settings: type[T], section: str) -> T:
        """A stage's settings from the section of the configuration that holds them."""
        return build(settings, self.settings[section])

    def world(self) -> World:
        """The environment, with the threshold of this experiment where it has one of its own."""
        return world_of(self.settings)

    def progress(self, total: int) -> Progress:
        """Progress of this job, named by its rule and wildcards."""
        return Progress(self.log_path, " ".join([self._rule, *self.wildcards]), total)

    def warn(self, text: str) -> None:
        """One line of what the user should look at, on stderr and in the log; the job goes on."""
        self.progress(0).say(f"warning: {text}")

    def provenance(self) -> dict:
        """What every artifact of this job says of its making."""
        seeds = self.settings.get("seeds", [])
        return make_provenance(self._code, self.settings, _files(self.input), seeds)


def world_of(settings: Mapping) -> World:
    """The world that a job's settings name, with a threshold of their own where they give one."""
    world = make_world(settings["environment"], **settings["world"])
    if settings.get("threshold") is not None:
        world.threshold = settings["threshold"]
    return world


def build(settings: type[T], section: Mapping) -> T:
    """A frozen dataclass from a mapping; sections inside it become dataclasses too."""
    kinds = get_type_hints(settings)
    return settings(**{key: _value(kinds[key], value) for key, value in section.items()})


def _value(kind: type, value: object) -> object:
    if is_dataclass(kind):
        return build(kind, value)
    return tuple(value) if isinstance(value, list) else value


def run(main: Callable[[Stage], None], job) -> None:
    """Run a script's `main`; what the user can mend is one line, without a traceback."""
    log = Path(job.log[0])
    log.write_text("")
    try:
        main(Stage(job))
    except InputError as error:
        line = f"error: {error}"
        print(line, file=sys.stderr)
        log.write_text(f"{line}\n")
        sys.exit(1)
    except Exception:
        with log.open("a") as file:
            traceback.print_exc(file=file)
        raise


def _files(given: Iterable) -> list[str]:
    """The files among a job's inputs, and those in the folders among them."""
    paths = [Path(path) for path in given]
    inside = [file for path in paths if path.is_dir() for file in path.rglob("*") if file.is_file()]
    return sorted(str(path) for path in [*paths, *inside] if path.is_file())
