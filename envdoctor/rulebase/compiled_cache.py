"""Compiled rules in the user's cache: made from YAML where a file changed since, which is known without opening it."""

from __future__ import annotations

import os
from binascii import crc32

from envdoctor.engine.index import from_bytes
from envdoctor.model import Record
from envdoctor.plainjson import decode
from envdoctor.probes import cache
from envdoctor.rulebase.shipped_files import files
from envdoctor.rulebase.sources import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.rulebase.reader import Known
    from envdoctor.rulebase.sources import RuleSource


class Base(Record):
    """The compiled rules of a source: those that are asked, those that keep silent, and what was left out.

    ``name`` is what the ids of a pack begin with, or empty. ``left_out`` has the file's path, a line and the reason.
    """

    source: RuleSource
    name: str
    asked: Index
    silent: Index
    ids: Mapping[str, tuple[str, str]]
    words: Mapping[str, Any]
    left_out: Sequence[tuple[str, int, str]]


def base_of(source: RuleSource, known: Known) -> Base:
    """The compiled rules of a source, kept until one of its files, the shipped rules or the compiler changes.

    ``known`` returns what shipped rules with some ids state. Raises :class:`~envdoctor.errors.RuleError` where the
    source contradicts them.
    """
    now = state(source, files())
    stem = f"rules-{crc32(os.path.realpath(source.place).encode(errors='surrogateescape')):08x}"
    path = os.path.join(cache.directory(), f"{stem}{'-own' if source.own else ''}.idx")
    found = _opened(source, cache.kept(path) or b"", now)
    if found is None:
        found, data = _made(source, now, known)
        cache.keep(path, data)
    return found


def base_beside(source: RuleSource, known: Known) -> Base:
    """The compiled rules of a source, without those that are ``known``; nothing is kept of it."""
    return _made(source, "", known)[0]


def _opened(source: RuleSource, data: bytes, now: str) -> Base | None:
    """The content of a cache file, where it was made from the files as they are now: lengths, a head, two indexes."""
    try:
        lengths = [int(word) for word in data[:_LENGTHS].split()]
        ends = [_LENGTHS + sum(lengths[:number]) for number in range(4)]
        head, asked, silent = (data[start:end] for start, end in zip(ends, ends[1:]))
        found = decode(head)
        if found.pop("state") != now:
            return None
        rules, others = from_bytes(asked, source.place), from_bytes(silent, source.place)
        return Base(source=source, asked=rules, silent=others, **found)
    except (ValueError, StopIteration, TypeError, AttributeError, KeyError):
        return None


#: The length of what a cache file begins with: three numbers.
_LENGTHS = 36


def _made(source: RuleSource, now: str, known: Known) -> tuple[Base, bytes]:
    """The rules compiled, and what is kept of them."""
    import json

    from envdoctor.rulebase.reader import read_source

    made = read_source(source, known)
    left_out = [(one.path, one.line, one.message) for one in made.complaints]
    head = {"state": now, "name": made.name, "ids": made.ids, "words": made.words, "left_out": left_out}
    parts = [json.dumps(head).encode(), made.asked, made.silent]
    data = b"".join([*(b"%11d " % len(part) for part in parts), *parts])
    found = _opened(source, data, now)
    assert found is not None  # noqa: S101 - it was written just now
    return found, data
