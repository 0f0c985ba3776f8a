"""What is asked of a file: dotted globs, by what they end in and by the words that no name can do without."""

from __future__ import annotations

import functools
from fnmatch import fnmatchcase

from envdoctor.dotted import expression
from envdoctor.probes.source.things import last

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    #: Patterns, and the roots of the project's own modules.
    Asked = Optional[tuple[frozenset[str], frozenset[str]]]

_GLOB = frozenset("*?[")


class Patterns:
    """The patterns that are asked for, and the roots of the project's own modules."""

    def __init__(self, patterns: frozenset[str], own: frozenset[str]) -> None:
        self.given = patterns, own
        self._own = own
        self._ending: dict[str, list[str]] = {}
        for pattern in patterns:
            self._ending.setdefault(pattern.rpartition(".")[2].replace("**", "*"), []).append(pattern)
        self._open = [one for one in self._ending if not _GLOB.isdisjoint(one)]
        #: For every pattern one word that is a segment of each name that matches it; ``""`` where there is none.
        self.words = frozenset(map(_word, patterns))
        #: Whether a name may match whose last segment is not one of the words.
        self.open = bool(self._open)
        self._known: dict[str, list[str]] = {}
        self._fitting: dict[str, bool] = {}

    def end(self, segment: str) -> list[str]:
        """The patterns that a name may match which ends in a segment."""
        known = self._known.get(segment)
        if known is None:
            ends = {segment, *(one for one in self._open if fnmatchcase(segment, one))}
            known = self._known[segment] = [pattern for end in ends for pattern in self._ending.get(end, ())]
        return known

    def fit(self, name: str) -> bool:
        """Whether a name matches one of them."""
        known = self._fitting.get(name)
        if known is None:
            known = any(expression(pattern).fullmatch(name) for pattern in self.end(last(name)))
            self._fitting[name] = known
        return known

    def link(self, name: str) -> bool:
        """Whether a name may stand for another that matches: one of the project's own, with a fitting end."""
        return self.is_own(name) and bool(self.end(last(name)))

    def is_own(self, name: str) -> bool:
        """Whether a name begins in the project."""
        return name[:1] == "." or name.partition(".")[0] in self._own


def _word(pattern: str) -> str:
    """The last segment of a pattern that is no glob."""
    return next((one for one in reversed(pattern.split(".")) if _GLOB.isdisjoint(one)), "")


@functools.lru_cache(maxsize=64)
def patterns_of(patterns: frozenset[str], own: frozenset[str]) -> Patterns:
    """The same for the same patterns: it remembers which names fit."""
    return Patterns(patterns, own)
