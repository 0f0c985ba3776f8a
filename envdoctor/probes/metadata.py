"""The metadata of all distributions at once. What has been read is remembered until the file changes.

On the plain path. The requirement check itself is made afresh in every run; only what the files say is kept, in the
user's cache directory, by each file's time, size and inode. Small environments are not worth it and leave no trace.
"""

from __future__ import annotations

import os

from envdoctor import plainjson
from envdoctor.facts import Metadata
from envdoctor.model import Unknown
from envdoctor.probes.distributions import read_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.model import Distribution

    Remembered = dict[str, list[Any]]

#: From how many distributions on reading again costs more than remembering.
WORTH_REMEMBERING = 100
_FORMAT = 2


def read_all(found: Sequence[Distribution]) -> dict[str, Metadata | Unknown]:
    """The metadata of each distribution, by name."""
    file = _file(found) if len(found) >= WORTH_REMEMBERING else None
    old = _load(file) if file else {}
    new: Remembered = {}
    answers: dict[str, Metadata | Unknown] = {}
    for distribution in found:
        path = distribution.path or ""
        stamp = _stamp(path) if file else None
        known = old.get(path)
        if known is None or known[:3] != stamp:
            known = [*(stamp or (0, 0, 0)), *_plain(read_metadata(distribution))]
            if stamp is not None:
                new[path] = known
        answers[distribution.name] = _answer(known)
    if new and file:
        _keep(file, old, new)
    return answers


def _answer(known: list[Any]) -> Metadata | Unknown:
    _, _, _, requires, requires_python, tags, error = known
    return Unknown(reason=error) if error else Metadata(requires=requires, requires_python=requires_python, tags=tags)


def _plain(found: Metadata | Unknown) -> list[Any]:
    """Requirements, ``Requires-Python``, tags and error of one distribution."""
    if isinstance(found, Unknown):
        return [(), None, None, found.reason]
    return [found.requires, found.requires_python, found.tags, None]


def _stamp(path: str) -> list[int] | None:
    """A value that changes with a metadata file, or ``None`` where it cannot be read."""
    try:
        status = os.stat(path + os.sep + "METADATA")
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _file(found: Sequence[Distribution]) -> str:
    """The cache file of an environment, named after its directories."""
    from envdoctor.probes import cache

    places = "\n".join(sorted({one.location or "" for one in found})).encode("utf-8", "surrogatepass")
    return os.path.join(cache.directory(), f"metadata-{int.from_bytes(places, 'little') % ((1 << 61) - 1):x}.json")


def _load(file: str) -> Remembered:
    """The metadata that an earlier run kept; empty where that cannot be read, is damaged, or has another format."""
    from envdoctor.probes import cache

    data = cache.kept(file)
    try:
        kept = plainjson.decode(data or b"{}")
        entries: Remembered = kept["entries"] if kept.get("format") == _FORMAT else {}
        return entries if all(len(entry) == 7 for entry in entries.values()) else {}  # noqa: PLR2004 - see read_all
    except (ValueError, StopIteration, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _keep(file: str, old: Remembered, new: Remembered) -> None:
    import json

    from envdoctor.probes import cache

    entries = {**{path: old[path] for path in old if os.path.exists(path)}, **new}
    cache.keep(file, json.dumps({"format": _FORMAT, "entries": entries}, separators=(",", ":")).encode())
