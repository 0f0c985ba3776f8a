"""Every release of a distribution that an index lists: source archives and yanked ones too."""

from __future__ import annotations

import os
from typing import Any

from packaging.utils import canonicalize_name

from envdoctor.model import Record
from envdoctor.probes import cache
from envdoctor.probes import releases as index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.version import Version


class Published(Record):
    """One release as an index lists it: whether any of its files is a wheel, and its date where it is known."""

    version: str
    uploaded: str = ""
    wheel: bool = False
    yanked: bool = False


def everything(name: str) -> list[Published] | None:
    """All releases, oldest first, those in directories of ``UV_FIND_LINKS`` too; ``None`` where no index answers."""
    name = canonicalize_name(name)
    local = [{"filename": one} for place in os.environ.get("UV_FIND_LINKS", "").split() for one in _listed(place)]
    place = index.place("files", name)
    kept = cache.remembered(place, index.FRESH)
    if kept is None and not os.environ.get("UV_OFFLINE"):
        kept = _files(name)
        if kept is not None:
            cache.remember(place, kept)
    return None if kept is None and not local else _by_release(name, [*(kept or ()), *map(_stated, local)])


def _files(name: str) -> list[dict[str, Any]] | None:
    files = index.files_of(name)
    return None if files is None else [_stated(file) for file in files]


def _listed(place: str) -> list[str]:
    return os.listdir(place) if os.path.isdir(place) else []


def _stated(file: dict[str, Any]) -> dict[str, Any]:
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
