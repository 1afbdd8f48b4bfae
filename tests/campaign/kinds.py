"""All kinds of cases, by name."""

from tests.campaign import artifacts, configurations, demonstrations, kills, recordings

MODULES = (configurations, demonstrations, recordings, artifacts, kills)
ALL = {kind.name: kind for module in MODULES for kind in module.KINDS}
