"""All kinds of cases, by name."""

from tests.campaign import configurations, demonstrations

MODULES = (configurations, demonstrations)
ALL = {kind.name: kind for module in MODULES for kind in module.KINDS}
