"""All kinds of cases, by name."""

from tests.campaign import artifacts, configurations, demonstrations, kills, recordings
from tests.campaign import surroundings as around

MODULES = (configurations, demonstrations, recordings, artifacts, kills, around)
ALL = {kind.name: kind for module in MODULES for kind in module.KINDS}
