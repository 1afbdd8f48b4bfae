"""A small sample of the campaign (`make campaign`): a few cases of each kind, of a fixed seed."""

import pytest

from tests.campaign import kinds
from tests.campaign.cases import FAULTS, attempt

SEED = 7
QUICK = [name for name, kind in kinds.ALL.items() if not kind.runs]
FILES = [name for name, kind in kinds.ALL.items() if kind.runs and not kind.alone]
ALONE = ("kills", "orphans")


def faults(name, count, finished=None):
    seen = [attempt(kinds.ALL[name], SEED, number, finished) for number in range(count)]
    return [one for one in seen if one.what in FAULTS]


@pytest.mark.parametrize("name", QUICK)
def test_nothing_bad_is_accepted_and_every_refusal_is_a_sentence(name):
    assert faults(name, 8) == []


@pytest.mark.parametrize("name", FILES)
def test_no_damaged_file_is_read(name, finished):
    assert faults(name, 60, finished) == []


@pytest.mark.parametrize("name", ALONE)
def test_who_is_killed_goes_on(name, finished):
    assert faults(name, 1, finished) == []
