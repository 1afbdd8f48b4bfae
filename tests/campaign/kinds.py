"""All kinds of cases, by name."""

from tests.campaign import configurations

ALL = {kind.name: kind for module in (configurations,) for kind in module.KINDS}
