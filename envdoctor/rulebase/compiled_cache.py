"""Compiled rules in the user's cache: made from YAML where a file changed since, which is known without opening it."""

from __future__ import annotations

import os
from binascii import crc32

from envdoctor.engine.index import from_bytes
from envdoctor.plainjson import decode
from envdoctor.probes import cache
from envdoctor.rulebase import shipped
from envdoctor.rulebase.load import Base
from envdoctor.rulebase.sources import files_below, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from envdoctor.rulebase.sources import RuleSource


def base_of(source: RuleSource) -> Base:
    """The compiled rules of a source, kept until one of its files, the shipped rules or the compiler changes.

    Raises :class:`~envdoctor.errors.RuleError` where they contradict the shipped ones.
    """
    now = state(source, shipped.files())
    stem = f"rules-{crc32(os.path.realpath(source.place).encode(errors='surrogateescape')):08x}"
    path = os.path.join(cache.directory(), f"{stem}{'-own' if source.own else ''}.idx")
    return _opened(source, cache.read(path) or b"", now) or _made(source, path, now)


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


def _made(source: RuleSource, path: str, now: str) -> Base:
    """Compile the rules, and keep them."""
    import json

    from envdoctor.rulebase.reader import read_source

    made = read_source(source, _shipped)
    left_out = [(one.path, one.line, one.message) for one in made.complaints]
    head = {"state": now, "name": made.name, "ids": made.ids, "words": made.words, "left_out": left_out}
    parts = [json.dumps(head).encode(), made.asked, made.silent]
    data = b"".join([*(b"%11d " % len(part) for part in parts), *parts])
    cache.keep(path, data)
    found = _opened(source, data, now)
    assert found is not None  # noqa: S101 - it was written just now
    return found


def _shipped(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Digests of the shipped rules that have one of some ids."""
    from envdoctor.rulebase.reader import stated

    if os.path.isdir(shipped.file()):  # a checkout, whose rules are compiled only where one of them is asked for
        stems = {os.path.splitext(os.path.basename(path))[0] for path in files_below(shipped.file())}
        if stems.isdisjoint(ids):
            return {}
    found = {}
    for index in (shipped.shipped(), shipped.shipped(silent=True)):
        for texts in map(index.texts, index.all()):
            if texts["id"] in ids:
                found[texts["id"]] = (shipped.file(), stated(texts))
    return found
