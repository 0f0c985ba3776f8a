"""The text of a file by its lines and words, which says what a part of it cannot hold before that is looked into."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Words by which a function binds or says something outside of itself.
OUTWARD = ("global", "nonlocal", "__future__")


class Words:
    """Where the lines and words of a text are, by offset."""

    def __init__(self, source: str) -> None:
        self.source = source
        #: Whether names of the syntax tree stand in the text as they are, and its lines end as they seem to.
        self.plain = "\r" not in source and (source.isascii() or _is_normalized(source))
        self._starts = [0, *accumulate(map((1).__add__, map(len, source.split("\n"))))]
        self._outward = sorted(at for word in OUTWARD for at in self.find(word))

    def offset(self, line: int) -> int:
        """Where a line begins; lines count from 1."""
        return self._starts[line - 1]

    def line(self, offset: int) -> int:
        """The line that an offset lies in."""
        return bisect_right(self._starts, offset)

    def find(self, word: str, start: int = 0, end: int | None = None) -> Iterator[int]:
        """Where a name stands between two offsets, in strings and comments as well."""
        source = self.source
        at = source.find(word, start, end)
        while at >= 0:
            after = at + len(word)
            if not (_continues(source[at - 1 : at]) or _continues(source[after : after + 1])):
                yield at
            at = source.find(word, after, end)

    def is_outward(self, start: int, end: int) -> bool:
        """Whether what lies between two offsets may bind a name outside of itself."""
        at = bisect_left(self._outward, start)
        return at < len(self._outward) and self._outward[at] < end


def _is_normalized(source: str) -> bool:
    """Whether Python takes the names in a text as they stand; what no name can hold does not matter."""
    if unicodedata.is_normalized("NFKC", source):
        return True
    foreign = {ord(one): None for one in set(source) if not f"a{one}".isidentifier()}
    return unicodedata.is_normalized("NFKC", source.translate(foreign))


def _continues(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
