"""What a package index tells of each release besides its name: when it came, for which Python, and what it requires.

The answers of the simple repository API (PEP 503, 691 and 700) are kept for a week, the metadata of a wheel (PEP 658),
which never changes, for good. An index that answers in HTML may leave out the day and the metadata. It is asked for one
distribution at a time, when somebody wants to know.
"""

from __future__ import annotations

import email.parser
import hashlib
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from envdoctor.facts import Metadata
from envdoctor.model import Record
from envdoctor.probes import cache
from envdoctor.probes import releases as index
from envdoctor.probes.distributions import of_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Release(Record):
    """One release of which there is a wheel: ``uploaded`` is a date, ``metadata`` an address, where they are known.

    ``tags`` are those of its wheels, ``wheel`` is the address of one, of so many bytes in ``size``, and ``yanked`` says
    that nobody is to take the release.
    """

    version: str
    uploaded: str = ""
    requires_python: str = ""
    metadata: str | None = None
    tags: Sequence[str] = ()
    yanked: bool = False
    wheel: str = ""
    size: int | None = None


def wheels(name: str) -> list[Release] | None:
    """The final releases that have a wheel, oldest first; ``None`` where an index does not answer."""
    place = index.place("wheels-3", name)
    kept: Sequence[Any] | None = cache.remembered(place, index.FRESH)
    if kept is None:
        kept = _ask(name)
        if kept is None:
            return None
        cache.remember(place, kept)
    found = {Version(one["version"]): Release(**one) for one in kept}
    return [found[version] for version in sorted(found) if not version.is_prerelease]


def metadata(release: Release) -> Metadata | None:
    """What a release says of itself, without what its extras require; ``None`` where that cannot be had.

    An index that does not tell whether it has the metadata of a wheel is asked; else a part of the wheel is read.
    """
    release = release if release.metadata else release.replace(metadata=f"{release.wheel}.metadata")
    lines = requirements(release)
    lines = _in_wheel(release) if lines is None else lines
    if lines is None:
        return None
    return Metadata(
        requires=[one for one in lines if not of_extra(one)], requires_python=release.requires_python or None
    )


def _ask(name: str) -> list[dict[str, Any]] | None:
    files = index.files_of(name)
    return None if files is None else _by_version([one for file in files for one in [_wheel(file)] if one])


def _by_version(wheels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each release, with the tags of all of its wheels."""
    merged: dict[str, dict[str, Any]] = {}
    for one in wheels:
        first = merged.setdefault(one["version"], {**one, "tags": []})
        first["tags"] = list(dict.fromkeys([*first["tags"], *one["tags"]]))
        first["metadata"] = first["metadata"] or one["metadata"]
    return list(merged.values())


def _wheel(file: dict[str, Any]) -> dict[str, Any] | None:
    try:
        _, version, _, tags = parse_wheel_filename(file["filename"])
    except InvalidWheelFilename:
        return None
    has_metadata = file.get("core-metadata", file.get("data-dist-info-metadata"))
    return {
        "version": str(version),
        "uploaded": str(file.get("upload-time") or "")[:10],
        "requires_python": str(file.get("requires-python") or ""),
        "tags": sorted(map(str, tags)),
        "wheel": str(file.get("url", "")) if str(file.get("url", "")).startswith("http") else "",
        "size": int(file.get("size") or 0) or None,
        "yanked": bool(file.get("yanked")),
        "metadata": f"{file['url']}.metadata" if has_metadata and str(file.get("url", "")).startswith("http") else None,
    }


def requirements(release: Release) -> list[str] | None:
    """What a release requires, as its wheel's own metadata says; ``None`` where that is not known."""
    if release.metadata is None:
        return None
    kept = cache.remembered(_place(release.metadata))
    if kept is None:
        content = index.ask(release.metadata)
        if not content:
            return None
        kept = _stated(content)
        cache.remember(_place(release.metadata), kept)
    return [str(one) for one in kept]


def _in_wheel(release: Release) -> list[str] | None:
    """The requirements in the metadata that a wheel itself holds, of which no more than that is fetched."""
    from envdoctor.errors import TargetError
    from envdoctor.probes.wheel_files import members

    if not release.wheel:
        return None
    try:
        found = list(members(release.wheel, release.size, lambda path: path.endswith(".dist-info/METADATA")))
    except TargetError:
        return None
    kept = _stated(next((content for _, content in found if content), b""))
    cache.remember(_place(str(release.metadata)), kept)
    return kept


def _place(address: str) -> str:
    """Where the requirements at an address are kept."""
    return index.place("requires", hashlib.sha256(address.encode()).hexdigest()[:32])


def _stated(content: bytes) -> list[str]:
    message = email.parser.HeaderParser().parsestr(content.decode("utf-8", "replace"))
    return [" ".join(one.split()) for one in message.get_all("Requires-Dist", [])]
