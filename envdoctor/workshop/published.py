"""What a package index tells of each release besides its name: when it came, for which Python, and what it requires.

The answers of the simple repository API (PEP 503, 691 and 700) are kept for a week, the metadata of a wheel (PEP 658),
which never changes, for good. An index that answers in HTML may leave out the day and the metadata. It is asked for one
distribution at a time, when somebody wants to know.
"""

from __future__ import annotations

import email.parser
import hashlib
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envdoctor.model import Record
from envdoctor.probes import cache
from envdoctor.probes import releases as index

if TYPE_CHECKING:
    from collections.abc import Sequence


class Release(Record):
    """One release of which there is a wheel: ``uploaded`` is a date, ``metadata`` an address, where they are known."""

    version: str
    uploaded: str = ""
    requires_python: str = ""
    metadata: str | None = None


class Published(Record):
    """One release as an index lists it: whether any of its files is a wheel, and its date where it is told."""

    version: str
    uploaded: str = ""
    wheel: bool = False
    yanked: bool = False


def everything(name: str) -> list[Published] | None:
    """All releases, oldest first, those in directories of ``UV_FIND_LINKS`` too; ``None`` where no index answers."""
    name = canonicalize_name(name)
    local = [{"filename": one} for place in os.environ.get("UV_FIND_LINKS", "").split() for one in _listed(place)]
    place = _place("files", name)
    kept = _kept(place, index.FRESH)
    if kept is None and not os.environ.get("UV_OFFLINE"):
        kept = _files(name)
        if kept is not None:
            cache.keep(place, json.dumps(kept).encode())
    return None if kept is None and not local else _by_release(name, [*(kept or ()), *map(_told, local)])


def _files(name: str) -> list[dict[str, Any]] | None:
    urls = index.configuration().urls
    found = [index.files(f"{url.rstrip('/')}/{name}/") for url in urls]
    return [_told(file) for files in found for file in files or ()] if urls and None not in found else None


def _listed(place: str) -> list[str]:
    return os.listdir(place) if os.path.isdir(place) else []


def _told(file: dict[str, Any]) -> dict[str, Any]:
    uploaded, yanked = str(file.get("upload-time") or "")[:10], bool(file.get("yanked"))
    return {"filename": file["filename"], "uploaded": uploaded, "yanked": yanked}


def _by_release(name: str, files: Sequence[dict[str, Any]]) -> list[Published]:
    found: dict[Version, Published] = {}
    for file in files:
        version = index.version_of(file["filename"])
        if version is not None and canonicalize_name(file["filename"]).startswith(name):
            had = found.get(version) or Published(version=str(version), uploaded=file["uploaded"], yanked=True)
            wheel = had.wheel or file["filename"].endswith(".whl")
            found[version] = had.replace(wheel=wheel, yanked=had.yanked and file["yanked"])
    return [found[version] for version in sorted(found)]


def wheels(name: str) -> list[Release] | None:
    """The releases that have a wheel, oldest first; ``None`` where an index does not answer."""
    kept = _kept(_place("wheels", canonicalize_name(name)), index.FRESH)
    if kept is None:
        kept = _ask(name)
        if kept is None:
            return None
        cache.keep(_place("wheels", canonicalize_name(name)), json.dumps(kept).encode())
    found = {Version(one["version"]): Release(**one) for one in kept}
    return [found[version] for version in sorted(found) if not version.is_prerelease]


def _ask(name: str) -> list[dict[str, Any]] | None:
    found: list[dict[str, Any]] = []
    urls = index.configuration().urls
    for url in urls:
        files = index.files(f"{url.rstrip('/')}/{canonicalize_name(name)}/")
        if files is None:
            return None
        found += [one for file in files for one in [_wheel(file)] if one]
    return found if urls else None


def _wheel(file: dict[str, Any]) -> dict[str, Any] | None:
    try:
        version = str(parse_wheel_filename(file["filename"])[1])
    except InvalidWheelFilename:
        return None
    told = file.get("core-metadata", file.get("data-dist-info-metadata"))
    return {
        "version": version,
        "uploaded": str(file.get("upload-time") or "")[:10],
        "requires_python": str(file.get("requires-python") or ""),
        "metadata": f"{file['url']}.metadata" if told and str(file.get("url", "")).startswith("http") else None,
    }


def requirements(release: Release) -> list[str] | None:
    """What a release requires, as its wheel's own metadata says; ``None`` where that is not told."""
    if release.metadata is None:
        return None
    place = _place("requires", hashlib.sha256(release.metadata.encode()).hexdigest()[:32])
    kept = _kept(place, None)
    if kept is None:
        content = index.ask(release.metadata)
        if not content:
            return None
        message = email.parser.HeaderParser().parsestr(content.decode("utf-8", "replace"))
        kept = [" ".join(one.split()) for one in message.get_all("Requires-Dist", [])]
        cache.keep(place, json.dumps(kept).encode())
    return [str(one) for one in kept]


def _place(kind: str, name: str) -> str:
    where = hashlib.sha256("\n".join(index.configuration().urls).encode()).hexdigest()[:12]
    return os.path.join(cache.directory(), "published", where, kind, re.sub(r"[^a-z0-9-]", "_", name) + ".json")


def _kept(place: str, age: float | None) -> Sequence[Any] | None:
    try:
        if age is not None and time.time() - os.stat(place).st_mtime > age:
            return None
        found: Any = json.loads(cache.read(place) or b"null")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) else None
