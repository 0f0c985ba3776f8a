"""The compiled rule base: one file that is read in parts, never whole.

Layout, all integers 32-bit little-endian::

    MAGIC | offset of head | length of head | texts of rules | buckets | table of buckets + 1 offsets | head

Texts, buckets and head are JSON.

``head`` has ``rules`` (how many), ``date`` (of the newest proof), ``buckets``, ``table`` (its offset), ``digest``,
``wanted`` (the keys that rules ask of an interpreter) and ``always`` (entries of rules under no package). A
name's bucket is its bytes as a number modulo ``buckets``; a bucket maps each of its names to entries. An entry is
``[offset, length, compiled]``: where the texts of the rule are, and the part that matching needs. Of a rule that is
filed under its consumers, each has an entry with that consumer alone.
"""

from __future__ import annotations

import sys

from envdoctor.errors import EngineError
from envdoctor.plainjson import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Read = Callable[[int, int], bytes]
    Entry = list[Any]

MAGIC = b"envdoctor rules 3\n"
#: The condition of a rule that never holds, and what it is filed under.
NEVER, OF_NOTHING = ["any"], "?nothing"


_HEAD = {"rules": int, "digest": str, "wanted": dict, "always": list, "buckets": int, "table": int}


class Index:
    """A compiled rule base behind ``read(offset, length) -> bytes``.

    Raises :class:`EngineError` where it is another file, or a damaged one: when it is opened, or when the damaged part
    is asked for.
    """

    def __init__(self, read: Read, name: str) -> None:
        self._read = read
        self.name = name
        start = len(MAGIC)
        if self._bytes(0, start) != MAGIC:
            raise EngineError(f"{name} is no rule base of this version of envdoctor: reinstall envdoctor")
        at = self._bytes(start, 8)
        head = self._part(int.from_bytes(at[:4], "little"), int.from_bytes(at[4:], "little"), dict)
        if not _HEAD.items() <= {key: type(value) for key, value in head.items()}.items() or head["buckets"] < 1:
            raise self._damaged()
        self.rules: int = head["rules"]
        self.digest: str = head["digest"]
        self.date = str(head.get("date", ""))
        self.wanted: dict[str, list[str]] = head["wanted"]
        self._always: list[Entry] = head["always"]
        self._buckets: int = head["buckets"]
        self._ends = _numbers(self._bytes(head["table"], 4 * (self._buckets + 1)))

    def _bytes(self, offset: int, length: int) -> bytes:
        """Exactly so many bytes. Raises :class:`EngineError` where the file ends before."""
        try:
            data = self._read(offset, length)
        except (OSError, OverflowError, MemoryError, TypeError) as error:
            raise self._damaged() from error
        if len(data) != length:
            raise self._damaged()
        return data

    def _part(self, offset: int, length: int, shape: type) -> Any:
        """One JSON value. Raises :class:`EngineError` where it has not the expected type."""
        try:
            found = decode(self._bytes(offset, length))
        except (ValueError, StopIteration, RecursionError) as error:
            raise self._damaged() from error
        if type(found) is not shape:
            raise self._damaged()
        return found

    def _listed(self, entries: Any) -> list[Entry]:
        if type(entries) is not list:
            raise self._damaged()
        return entries

    def _damaged(self) -> EngineError:
        return EngineError(f"the compiled rules in {self.name} are damaged or incomplete: reinstall envdoctor")

    def candidates(self, names: Iterable[str]) -> Iterator[Entry]:
        """Entries of the rules that may hold where distributions of these names are installed."""
        yield from self._always
        ends = self._ends
        for name in names:
            at = bucket_of(name, self._buckets)
            if ends[at] != ends[at + 1]:  # most names have no rules
                yield from self.about(name)

    def about(self, name: str) -> Sequence[Entry]:
        """Entries of the rules that are filed under a name."""
        at = bucket_of(name, self._buckets)
        start, end = self._ends[at], self._ends[at + 1]
        return self._listed(self._part(start, end - start, dict).get(name, [])) if start != end else ()

    def all(self) -> Iterator[Entry]:
        """Every entry, in no particular order; a rule filed under several names comes several times."""
        yield from self._always
        ends = list(self._ends)
        for start, end in zip(ends, ends[1:]):
            if end > start:
                for entries in self._part(start, end - start, dict).values():
                    yield from self._listed(entries)

    def texts(self, entry: Entry) -> dict[str, Any]:
        """The whole rule behind an entry: titles, remedies, references, symptoms."""
        try:
            offset, length, _compiled = entry
        except (TypeError, ValueError) as error:
            raise self._damaged() from error
        found: dict[str, Any] = self._part(offset, length, dict)
        return found


def _numbers(data: bytes) -> Sequence[int]:
    """The 32-bit integers of a table."""
    if sys.byteorder == "little":
        return memoryview(data).cast("I")
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def bucket_of(name: str, buckets: int) -> int:
    """The bucket that a name is filed under: the same on every machine and in every run."""
    return int.from_bytes(name.encode("utf-8", "surrogatepass"), "little") % buckets


def from_bytes(data: bytes, name: str) -> Index:
    """An index that is already in memory."""
    return Index(lambda offset, length: data[offset : offset + length], name)
