"""What a campaign is made of: kinds of cases, each drawn from a seed, and what is seen of one."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from icl_core.errors import InputError
from icl_core.randomness import generator
from tests.workflow.conftest import Checkout

RIGHT, SKIPPED = "right", "skipped"
WRONG, LOST, BAD = "wrong number", "lost work", "bad message"
FAULTS = (WRONG, LOST, BAD)
LONGEST = 1500  # letters of a sentence
PATIENCE = 120.0  # seconds after which a case that starts no run has no end


class Seen(NamedTuple):
    """What came of a case."""

    what: str  # RIGHT, SKIPPED or one of FAULTS
    about: str  # what was drawn and, of a fault, what happened


class Place(NamedTuple):
    """Where a case works."""

    folder: Path  # its own, empty, and gone afterwards
    finished: Checkout | None  # a finished smoke run, to copy from


@dataclass(frozen=True)
class Kind:
    """Cases of one kind."""

    name: str
    count: int  # of a whole campaign
    draw: Callable[[np.random.Generator, Place], Seen]
    runs: bool = False  # whether it needs a finished run
    alone: bool = False  # whether it starts runs, and so takes its own time


class NoEndError(Exception):
    """A case took too long."""


def attempt(kind: Kind, seed: int, number: int, finished: Checkout | None) -> Seen:
    """One case: all that is random in it comes from the seed, its kind and its number."""
    rng = generator(seed, "campaign", kind.name, number)
    with tempfile.TemporaryDirectory(prefix=f"campaign-{kind.name}-") as folder:
        try:
            with _an_end(None if kind.alone else PATIENCE):
                return kind.draw(rng, Place(Path(folder).resolve(), finished))
        except NoEndError:
            return Seen(BAD, f"no end after {PATIENCE:g} s")
        except Exception as error:  # the others shall go on
            return Seen(BAD, f"the case itself failed: {type(error).__name__}: {error}")


@contextmanager
def _an_end(seconds: float | None) -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise NoEndError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def refused(drawn: str, read: Callable[[], object], named: str = "") -> Seen:
    """Right, if reading ends in one sentence that names what is wrong."""
    try:
        read()
    except InputError as error:
        return sentence(drawn, str(error), named)
    except NoEndError:
        raise
    except Exception as error:
        return Seen(BAD, f"{drawn}: {type(error).__name__}: {error}")
    return Seen(WRONG, f"{drawn}: accepted")


def sentence(drawn: str, text: str, named: str = "") -> Seen:
    """Right, if a text is one line that names what is wrong."""
    good = text and "\n" not in text and len(text) < LONGEST and named in text
    return Seen(RIGHT, drawn) if good else Seen(BAD, f"{drawn}: said {text!r}")


def accepted(drawn: str, read: Callable[[], object]) -> Seen:
    """Right, if what is healthy passes. A false alarm is a bad message."""
    try:
        read()
    except NoEndError:
        raise
    except Exception as error:
        return Seen(BAD, f"{drawn}: refused: {type(error).__name__}: {error}")
    return Seen(RIGHT, drawn)


def choose(rng: np.random.Generator, options):
    """One of them (NumPy's own choice would make arrays of them)."""
    return options[int(rng.integers(len(options)))]
