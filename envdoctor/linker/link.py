"""The whole of it: from installed distributions to what they miss of each other."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from envdoctor.linker.layout import Layout
from envdoctor.linker.missing import Missing, Search
from envdoctor.linker.reach import Reach, starting
from envdoctor.linker.resolve import Resolver
from envdoctor.linker.standard import Standard
from envdoctor.linker.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from envdoctor.linker.conditions import Target
    from envdoctor.model import Distribution


class Linked(NamedTuple):
    """What was found: missing references, how many were asked for in how many modules, and what stayed unknown."""

    missing: Sequence[Missing]
    modules: int
    asked: int
    unknown: Mapping[str, int]


def link(distributions: Iterable[Distribution], target: Target, tell: Callable[[str], None]) -> Linked:
    """Resolve what distributions take of each other; ``tell`` is called with what is being done."""
    layout = Layout(distributions)
    layout.list_modules()
    standard = Standard(target.minor)
    store = Store(layout, target, standard.matters)
    resolver = Resolver(layout, store, standard)
    resolver.starting = starting(layout)
    reach = Reach(layout, store, resolver, tell)
    reach.follow()
    tell("resolving")
    search = Search(layout, resolver, reach, standard)
    missing = list(search.all(sys.version_info[:2], target.minor))
    store.keep()
    unknown = dict(search.unknown)
    for owner in layout.blind:
        unknown[f"the files of {owner} are not listed"] = 1
    for owner, number in reach.skipped.items():
        unknown[f"submodules of {owner} that nothing imports were not read"] = number
    return Linked(missing, len(reach.ways), search.asked, unknown)
