"""Every figure and table of the paper that we make, and what each is made from.

The workflow reads this to know its targets and inputs, so nothing heavy is
imported here and a drawing function is named, not imported: editing one
changes the digest of its own items and of nothing else. `paper` lists what the
paper has, in its own order; the other modules what we make of it.
"""

from icl_core.showing.catalogue.conditions import CONDITIONS
from icl_core.showing.catalogue.driving import DRIVING
from icl_core.showing.catalogue.item import Item
from icl_core.showing.catalogue.results import RESULTS
from icl_core.showing.catalogue.robots import ROBOT_ITEMS
from icl_core.showing.catalogue.variations import VARIATIONS

ITEMS: tuple[Item, ...] = (*RESULTS, *VARIATIONS, *ROBOT_ITEMS, *DRIVING, *CONDITIONS)

CATALOGUE: dict[str, Item] = {item.name: item for item in ITEMS}

__all__ = ["CATALOGUE", "ITEMS", "Item"]
