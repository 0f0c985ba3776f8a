"""The files of pinned releases, read from their wheels on an index: what would be installed, without installing it.

Of a wheel only source and metadata are fetched, once, into the user's cache, in the shape that an installer gives
them. Nothing is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envdoctor.engine.tags import mismatch
from envdoctor.errors import TargetError
from envdoctor.linker.index_files import NO_WHEEL
from envdoctor.model import Distribution, UnknownFact
from envdoctor.probes import cache
from envdoctor.probes import releases as index
from envdoctor.probes.wheel_files import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from packaging.tags import Tag

    from envdoctor.model import Snapshot

#: Releases that are kept, and the longest member in bytes that is read.
MOST_RELEASES, MOST_BYTES = 1500, 8 << 20
_METADATA = ("METADATA", "RECORD", "entry_points.txt", "top_level.txt")


def fetched(snapshot: Snapshot, say: Callable[[str], None]) -> tuple[Snapshot, list[UnknownFact]]:
    """The snapshot with the files of each pinned release, and which of them cannot be fetched."""
    packages: dict[str, Distribution] = {}
    notes: list[UnknownFact] = []
    for number, (name, one) in enumerate(snapshot.packages.items(), 1):
        place = _place(snapshot, one)
        reason = "" if one.version else "its version is not known"
        if not reason and not os.path.isdir(place):
            say(f"fetching {name} {one.version} ({number} of {len(snapshot.packages)})")
            try:
                _fetch(snapshot, one, place)
            except TargetError as error:
                reason = str(error)
        if reason:
            notes.append(UnknownFact(rule=None, fact=f"packages.{name}", reason=f"its files were not read: {reason}"))
        folder = next((entry for entry in _names(place) if entry.endswith(".dist-info")), "missing")
        packages[name] = one.replace(path=os.path.join(place, folder), location=place)
    _prune()
    return snapshot.replace(packages=packages), notes


def directory() -> str:
    """The directory of the files of releases."""
    return os.path.join(cache.directory(), "fetched")


def _place(snapshot: Snapshot, one: Distribution) -> str:
    """The directory of a release for the Python and the platform of a snapshot, and for these indexes."""
    parts = [list(index.configuration().urls), dict(snapshot.platform), str(snapshot.python.get("version"))]
    digest = hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8).hexdigest()
    return os.path.join(directory(), f"{one.name}-{one.version}-{digest}".replace(os.sep, "_"))


def _fetch(snapshot: Snapshot, one: Distribution, place: str) -> None:
    """Write the files of a release. Raises :class:`TargetError` where it has no wheel, or that cannot be read."""
    address, size = _wheel(snapshot, one)
    try:
        os.makedirs(directory(), 0o700, exist_ok=True)
        temporary = tempfile.mkdtemp(dir=directory())
    except OSError as error:
        raise TargetError(f"{directory()} cannot be written to: {error}") from error
    try:
        for path, content in members(address, size, _is_wanted):
            inner = _installed(path)
            if content is not None and inner is not None and len(content) <= MOST_BYTES:
                os.makedirs(os.path.join(temporary, os.path.dirname(inner)), exist_ok=True)
                with open(os.path.join(temporary, inner), "wb") as file:
                    file.write(_record(content) if inner.endswith(".dist-info/RECORD") else content)
        os.replace(temporary, place)
    except OSError as error:
        raise TargetError(f"{address} could not be kept: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _wheel(snapshot: Snapshot, one: Distribution) -> tuple[str, int | None]:
    """Address, and size in bytes where the index gives it, of the wheel that would be installed."""
    best: tuple[tuple[int, ...], str, int | None] | None = None
    listed = index.files_of(one.name)
    if listed is None:
        raise TargetError(f"no index answers for {one.name}: try again later")
    for file in listed:
        rank = _rank(snapshot, one, file)
        if rank is not None and (best is None or rank > best[0]):
            best = rank, file["url"], file.get("size")
    if best is None:
        raise TargetError(NO_WHEEL)
    return best[1], int(best[2]) if best[2] else None


def _rank(snapshot: Snapshot, one: Distribution, file: dict[str, Any]) -> tuple[int, ...] | None:
    """How well a file fits, as an installer prefers them; ``None`` where it is no wheel of this release that fits."""
    try:
        _, version, build, tags = parse_wheel_filename(file["filename"])
        if version != Version(one.version or ""):
            return None
    except (InvalidWheelFilename, InvalidVersion):
        return None
    texts = [str(tag) for tag in tags]
    if mismatch(texts, snapshot) is not None:
        return None
    return max(map(_closeness, tags)), -any("musl" in text for text in texts), *(build[:1] or (0,))


def _closeness(tag: Tag) -> int:
    """Higher for a wheel that is made for fewer interpreters and platforms."""
    return (tag.platform != "any") * 4 + (tag.abi != "none") * 2 + (tag.abi != "abi3")


def _is_wanted(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return path.endswith(".py") or (folder.endswith(".dist-info") and name in _METADATA)


def _installed(path: str) -> str | None:
    """Where an installer puts a member below the site directory; ``None`` where that is somewhere else."""
    parts = path.split("/")
    if parts[0].endswith(".data"):
        parts = parts[2:] if parts[1:2] in (["purelib"], ["platlib"]) else []
    is_inside = parts and all(part not in ("", ".", "..") and "\\" not in part and ":" not in part for part in parts)
    return os.path.join(*parts) if is_inside else None


def _record(content: bytes) -> bytes:
    """The lines of a RECORD, with paths as they are after an installation."""
    return b"".join(_moved(line) for line in content.splitlines(keepends=True))


def _moved(line: bytes) -> bytes:
    path, comma, rest = line.partition(b",")
    inner = _installed(path.decode("utf-8", "replace"))
    return line if inner is None else inner.replace(os.sep, "/").encode() + comma + rest


def _names(folder: str) -> Iterator[str]:
    try:
        yield from sorted(os.listdir(folder))
    except OSError:
        return


def _prune() -> None:
    """Remove the releases that were fetched first, where there are many."""
    places = [os.path.join(directory(), name) for name in _names(directory())]
    for place in sorted(places, key=_written)[: max(0, len(places) - MOST_RELEASES)]:
        shutil.rmtree(place, ignore_errors=True)


def _written(place: str) -> float:
    """When a directory was written, in seconds; another run may have removed or renamed it meanwhile."""
    try:
        return os.path.getmtime(place)
    except OSError:
        return 0.0
