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
