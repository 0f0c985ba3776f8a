"""Rules that distributions bring: the entry points ``envdoctor.rules`` beside envdoctor. On the plain path.

Those of the environment that envdoctor runs in count, never those of one that it examines: who installs a pack beside
envdoctor trusts it. Nothing of a pack is imported; its files are found by what its installer recorded.
"""

from __future__ import annotations

import os
import sys

from envdoctor.plainjson import decode
from envdoctor.probes import cache
from envdoctor.probes.distributions import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.rulebase.sources import RuleSource

GROUP = "envdoctor.rules"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def installed() -> list[RuleSource]:
    """The packs beside envdoctor; looked for again only where something was installed or removed since."""
    places = _places()
    state = b"%r\n" % [(place, _changed(place)) for place in places]
    name = sum(at * ord(letter) for at, letter in enumerate(repr(places)))  # two states in one file displace each other
    path = os.path.join(cache.directory(), f"packs-{name:x}.json")
    if cache.holds(path, state + b"[]"):
        return []
    kept = cache.kept(path)
    if kept is None or not kept.startswith(state):
        kept = state + _listed(places)
        cache.keep(path, kept)
    if kept == state + b"[]":
        return []
    from envdoctor.rulebase.sources import source_of

    return [source_of(place, files, **more) for place, files, more in decode(kept[len(state) :])]


def _listed(places: Sequence[str]) -> bytes:
    """The packs below some directories, as JSON; without ``json`` where there are none."""
    marked = [path for place in places for path in _declaring(place)]
    if not marked:
        return b"[]"
    import json

    from envdoctor.rulebase.entry_points import packs_of

    return json.dumps(packs_of(marked, GROUP)).encode()


def _declaring(place: str) -> Iterator[str]:
    """The metadata directories whose entry points mention the group."""
    try:
        names = sorted(os.listdir(place))
    except (OSError, ValueError):
        return
    for name in names:
        if name.endswith(".dist-info"):
            content = read_bytes(os.path.join(place, name, "entry_points.txt"), _LIMIT)
            if content and GROUP.encode() in content:
                yield os.path.join(place, name)


#: A longer file of entry points is none that somebody wrote.
_LIMIT = 1 << 20


def _places() -> list[str]:
    """The directories that hold installed distributions, in the order of imports: what is not one holds no pack.

    The current directory, which an interpreter may look in first, is a project's and has no say.
    """
    own = os.path.dirname(_PACKAGE)
    names = ("site-packages", "dist-packages")
    return [one for one in dict.fromkeys(sys.path) if os.path.basename(one) in names or os.path.normpath(one) == own]


def _changed(place: str) -> int:
    """When an entry of a directory was last added or removed; 0 where it cannot be read."""
    try:
        return os.stat(place).st_mtime_ns
    except (OSError, ValueError):
        return 0
