"""What the scripts share: how a job's settings, log and errors are handled."""

from __future__ import annotations

import dis
import errno
import importlib
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from icl_core.artifacts import make_provenance
from icl_core.discovery import recordings_module
from icl_core.disk import to_json, write_whole
from icl_core.environments import make_world
from icl_core.environments.world import World
from icl_core.errors import InputError
from icl_core.job_times import Record, write_time
from icl_core.kernels import broken_promise
from icl_core.progress import Progress
from icl_core.runs import end_with_run
from icl_core.settings import build, reach

T = TypeVar("T")
STARTED = time.monotonic()
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # what the user, not we, can repair


class _NoPandasForArrow:
    """Arrow imports pandas with its first array, to see whether it was given a Series: half a
    second in every job, and here it never is one. Who has written `import pandas` gets it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas" and not self._is_written():
            raise ImportError("not needed here")

    @staticmethod
    def _is_written() -> bool:
        """Whether a line of Python asks for the import; Arrow's compiled code has no lines."""
        frame = sys._getframe(2)
        while frame.f_back and frame.f_globals["__name__"].startswith("importlib._bootstrap"):
            frame = frame.f_back
        at_import = frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_NAME"]
        # import_module("pandas") and find_spec("pandas") are asked for as well
        return at_import or frame.f_globals["__name__"].startswith("importlib")


sys.meta_path.insert(0, _NoPandasForArrow())  # type: ignore[arg-type]


class Stage:
    """A job as its script sees it."""

    def __init__(self, job: Any):
        self.input = job.input
        self.output = job.output
        self.wildcards = job.wildcards
        self.settings: dict = job.params.settings
        self.log_path = Path(job.log[0])
        self._code: str = job.params.code
        self._rule: str = job.rule
        self._progress: Progress | None = None
        self._numbers: dict[str, float] = {}

    @property
    def seeds(self) -> list[int]:
        """The seeds of this job's stack."""
        return self.settings["seeds"]

    @property
    def iteration(self) -> int:
        """The iteration of ICL, from 1."""
        return int(self.wildcards.iteration)

    def section(self, path: str) -> Any:
        """A section of the configuration, by its keys: "learning.icl.density"."""
        return reach(self.settings, path)

    def build(self, settings: type[T], path: str) -> T:
        """The settings of a section."""
        return build(settings, self.section(path), path)

    def world(self) -> World:
        """The environment of this job."""
        return world_of(self.settings)

    def recordings(self, part: str) -> Any:
        """A module of the recordings of this environment: reader, simulation, scene, replay."""
        return importlib.import_module(recordings_module(self.settings["environment"], part))

    def progress(self, total: int = 0) -> Progress:
        """Progress of this job, named by its rule and wildcards."""
        self._progress = Progress(self.log_path, " ".join([self._rule, *self.wildcards]), total)
        return self._progress

    def note(self, **numbers: float) -> None:
        """What matters in the end, where it is not what the progress said last."""
        self._numbers = numbers

    @property
    def numbers(self) -> dict[str, float]:
        """What the job has to say of its outcome."""
        return self._numbers or (self._progress.numbers if self._progress else {})

    def warn(self, text: str) -> None:
        """One line of what the user should look at, on stderr and in the log; the job goes on."""
        self.progress().say(f"warning: {text}")

    def provenance(self) -> dict:
        """What every artifact of this job says of its making."""
        seeds = self.settings.get("seeds", [])
        # What Snakemake remembers of a job: workflow/lib/records.py gives it back.
        job = {
            "rule": self._rule,
            "input": sorted(map(str, self.input)),
            "output": sorted(map(str, self.output)),
        }
        return make_provenance(self._code, self.settings, _files(self.input), seeds, job)


def world_of(settings: Mapping) -> World:
    """The world that a job's settings name."""
    return make_world(settings["environment"], **settings["world"])


def run(main: Callable[[Stage], None]) -> None:
    """Run a script's `main`; what the user can fix is one line, without a traceback."""
    job: Any = vars(sys.modules["__main__"])["snakemake"]  # Snakemake puts it there
    end_with_run()
    log = Path(job.log[0])
    broken = broken_promise()
    log.write_text(
        f"note: last bits may differ from those of other machines: {broken}\n" * bool(broken)
    )
    stage = Stage(job)
    try:
        main(stage)
        _record_modules(job)
        _record_time(stage)
    except InputError as error:
        _end(str(error), log)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            where = error.filename or log.parent
            _end(
                f"{where}: expected to write to the disk, found {error.strerror}; make room, and "
                "give the same command again",
                log,
            )
        with log.open("a") as file:
            traceback.print_exc(file=file)
        raise


def _end(text: str, log: Path) -> NoReturn:
    """One line, on stderr and in the log, which may lie on a full disk."""
    print(f"error: {text}", file=sys.stderr)
    with suppress(OSError):
        log.write_text(f"error: {text}\n")
    sys.exit(1)


def _record_modules(job: Any) -> None:
    """Keep beside the log which modules of ours, and of those that bring things, the job has run:
    a test compares them with what its digest covers.
    """
    ours = ("icl_core", "workflow")
    loaded = sorted(name for name in sys.modules if name.split(".")[0] in ours)
    said = to_json({"code": job.params.code, "modules": loaded})
    write_whole(Path(job.log[0]).with_suffix(".modules.json"), said)


def _record_time(stage: Stage) -> None:
    """What the job took, and the numbers that matter.

    CPU time is the system's own count, the interpreter's start included: Snakemake's benchmarks
    look at a job now and then, and never at its end.
    """
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    numbers = [f"{name} {float(number):.3g}" for name, number in stage.numbers.items()]
    peak = max(usage.ru_maxrss for usage in usages) / (1e6 if sys.platform == "darwin" else 1e3)
    record = Record(cpu, time.monotonic() - STARTED, ", ".join(numbers), peak)
    write_time(stage.output.time, record)


def _files(given: Iterable) -> list[str]:
    """The files among a job's inputs, and those in the folders among them."""
    paths = [Path(path) for path in given]
    inside = [file for path in paths if path.is_dir() for file in path.rglob("*") if file.is_file()]
    return sorted(str(path) for path in [*paths, *inside] if path.is_file())
