"""The figures and tables that there are, each as its own file declares it.

A file in `figures/` or `tables/` declares `ITEMS`, a list of mappings written out as plain values:

    title        what it shows
    caption      what stands below it, as plain text
    needs        what it is made from, as kinds of `icl_core.layout`: "constraint:method=icl"
    experiments  whose results it shows, or "all"; in a list "main" stands for the paper's eight
    name         of its files (default: the name of the file that declares it)
    draw         the function that makes it (default: "draw")
    number       in the paper; without one the item is not the paper's
    suffix       "b": ours, beside the paper's item of that number
    category     what it is about, on the report page
    method       the one method that it is about
    fewest       experiments below which it would show nothing (default: 1)
    shows_settings  whether it shows the settings of its experiments (default: no)

The lists are read from the syntax trees: who plans a run imports no drawing function, and an edited
figure changes the digest of its own items and of nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.paper import MINUTES_OF
from icl_core.settings import setting

ALL = "all"  # experiments
MAIN = "main"  # in a list of experiments: one for each environment of the paper


@dataclass(frozen=True)
class ShowingSettings:
    """How figures look."""

    dpi: int = setting(300, "resolution of the PNG files", at_least=50, at_most=1200)


# By key of a declaration: its type, and whether it must be there.
_KEYS: dict[str, tuple[type, bool]] = {
    "title": (str, True),
    "caption": (str, True),
    "needs": (list, True),
    "experiments": (list, True),
    "name": (str, False),
    "draw": (str, False),
    "number": (int, False),
    "suffix": (str, False),
    "category": (str, False),
    "method": (str, False),
    "fewest": (int, False),
    "shows_settings": (bool, False),
}
_WORDS = {str: "a text", int: "a whole number", list: "a list", bool: "True or False"}


@dataclass(frozen=True)
class Item:
    """A figure or table; the module says what its fields mean. `name` is the stem of its files."""

    kind: str  # "figure" or "table"
    slug: str  # the declared name
    title: str
    caption: str
    needs: tuple[Need, ...] = field(hash=False)
    experiments: tuple[str, ...]  # none where it shows all of them
    module: str  # that draws it: what the item's code digest must cover
    draw: str = "draw"  # the function in it
    number: int | None = None
    suffix: str = ""
    category: str = "More"
    method: str = ""
    fewest: int = 1
    shows_settings: bool = False

    @property
    def id(self) -> str:
        """ "table-01b", or "table-{name}" where it is not the paper's."""
        if self.number is None:
            return f"{self.kind}-{self.slug}"
        return f"{self.kind}-{self.number:02d}{self.suffix}"

    @property
    def label(self) -> str:
        """As captions and claims call it, "Table 1b"."""
        if self.number is None:
            return f"{self.kind.title()} {self.slug}"
        return f"{self.kind.title()} {self.number}{self.suffix}"

    @property
    def name(self) -> str:
        return self.id if self.number is None else f"{self.id}-{self.slug}"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Paths under results/{scale}/."""
        return tuple(f"{self.kind}s/{self.name}.{ending}" for ending in self.endings)

    @property
    def endings(self) -> tuple[str, str]:
        """The formats that it comes in."""
        return ("svg", "png") if self.kind == "figure" else ("csv", "md")

    @property
    def provenance(self) -> str:
        """Path of what says how it was made."""
        return f"{self.kind}s/{self.name}.json"

    @property
    def order(self) -> tuple:
        """Tables first, by the paper's numbers; ours stand behind, the unnumbered at the end."""
        unnumbered = self.number is None
        return (self.kind != "table", unnumbered, self.number or 0, self.suffix, self.slug)

    def experiments_among(self, known: Iterable[str]) -> tuple[str, ...]:
        """Those of its experiments that are known, in its own order."""
        given = tuple(known)
        return tuple(one for one in self.experiments if one in given) if self.experiments else given

    def load(self) -> Callable:
        """The drawing function: (Results, experiments) -> Figure or Table."""
        function = getattr(importlib.import_module(self.module), self.draw, None)
        if function is None:
            raise InputError(
                f"{discovery.source(self.module)}: expected a function {self.draw} that draws "
                f"{self.name}, found none; write one or name another as 'draw' in ITEMS"
            )
        return function


def find_item(name: str) -> Item:
    """The item of that name."""
    return next(item for item in read_items() if item.name == name)


def read_items() -> tuple[Item, ...]:
    """Every figure and table on the shelves, tables first, in the paper's order."""
    found: dict[str, Item] = {}
    for kind, shelf in (("table", discovery.TABLES), ("figure", discovery.FIGURES)):
        for file in discovery.names(shelf):
            module = discovery.module_name(shelf, file)
            for item in _declared(kind, file, module):
                if item.id in found:
                    raise InputError(
                        f"{discovery.source(module)}: {item.id} is declared here and in "
                        f"{discovery.source(found[item.id].module)}; give one another name"
                    )
                found[item.id] = item
    return tuple(sorted(found.values(), key=lambda item: item.order))


def _declared(kind: str, file: str, module: str) -> list[Item]:
    """The items of a file."""
    items = discovery.literal(module, "ITEMS")
    if not isinstance(items, list) or not items or not all(isinstance(one, dict) for one in items):
        raise InputError(
            f"{discovery.source(module)}: expected ITEMS, a list of mappings that declare what it "
            f"draws, found {'none' if items is None else repr(items)[:60]}; a file that draws no "
            f"{kind} belongs beside {kind}s/, not in it"
        )
    return [_item(kind, {"name": file, **one}, module) for one in items]


def _item(kind: str, given: Mapping[str, Any], module: str) -> Item:
    where = f"{discovery.source(module)}: item {given['name']!r}"
    _check(given, where)
    try:
        needs = tuple(Need.parse(text) for text in given["needs"])
    except (ValueError, AttributeError) as error:
        raise InputError(f"{where}: expected needs such as 'constraint', found {error}") from error
    own = {k: v for k, v in given.items() if k not in ("name", "needs", "experiments")}
    experiments = () if given["experiments"] == ALL else _named(given["experiments"])
    return Item(kind, given["name"], needs=needs, experiments=experiments, module=module, **own)


def _named(experiments: Iterable[str]) -> tuple[str, ...]:
    """The experiments of a list, "main" among them written out."""
    return tuple(name for one in experiments for name in (MINUTES_OF if one == MAIN else (one,)))


def _check(given: Mapping[str, Any], where: str) -> None:
    """An InputError names the first key that is wrong."""
    for key in given:
        if key not in _KEYS:
            raise InputError(f"{where}: key {key!r} is unknown; valid keys are {', '.join(_KEYS)}")
    for key, (kind, required) in _KEYS.items():
        if key not in given:
            if required:
                raise InputError(f"{where}: key {key!r} is missing")
        elif type(given[key]) is not kind and not (key == "experiments" and given[key] == ALL):
            raise InputError(
                f"{where}: expected {key!r} to be {_WORDS[kind]}, found {given[key]!r}"
            )
    if not given["experiments"]:
        raise InputError(f"{where}: expected the names of experiments or {ALL!r}, found none")
