"""Every release of a distribution that an index lists: source archives and yanked ones too."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename

from envdoctor.model import Record
from envdoctor.probes import cache
from envdoctor.probes import releases as index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.version import Version


#: The Pythons of which it is told whether a release can be installed there.
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 15))


class Published(Record):
    """One release as an index lists it: whether any of its files is a wheel, and its date where it is known.

    ``pythons`` are those of :data:`PYTHONS` that one of its files is for.
    """

    version: str
    uploaded: str = ""
    wheel: bool = False
    yanked: bool = False
    pythons: frozenset[str] = frozenset()


def everything(name: str) -> list[Published] | None:
    """All releases, oldest first, those in directories of ``UV_FIND_LINKS`` too; ``None`` where no index answers."""
    name = canonicalize_name(name)
    local = [{"filename": one} for place in os.environ.get("UV_FIND_LINKS", "").split() for one in _listed(place)]
    place = index.place("files-2", name)
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
    python = str(file.get("requires-python") or "")
    return {"filename": file["filename"], "uploaded": uploaded, "yanked": yanked, "python": python}


def _by_release(name: str, files: Sequence[dict[str, Any]]) -> list[Published]:
    found: dict[Version, Published] = {}
    # One of several indexes may list the same file without what it says of itself.
    admits = {file["filename"]: file["python"] for file in files if file["python"]}
    for file in files:
        version = index.version_of(file["filename"])
        if version is not None and canonicalize_name(file["filename"]).startswith(name):
            had = found.get(version) or Published(version=str(version), uploaded=file["uploaded"], yanked=True)
            wheel = had.wheel or file["filename"].endswith(".whl")
            pythons = had.pythons | (frozenset() if file["yanked"] else _pythons(file["filename"], admits))
            found[version] = had.replace(wheel=wheel, yanked=had.yanked and file["yanked"], pythons=pythons)
    return [found[version] for version in sorted(found)]


def _pythons(file: str, admits: Mapping[str, str]) -> frozenset[str]:
    """The Pythons that a file admits and, if it is a wheel, is made for."""
    admitted = _admitted(admits.get(file, ""))
    if not file.endswith(".whl"):
        return admitted
    tags = parse_wheel_filename(file)[3]
    return admitted & frozenset().union(*(_made_for(one.interpreter, one.abi) for one in tags))


@functools.cache
def _admitted(specifier: str) -> frozenset[str]:
    """The Pythons of which any patch release is in a specifier."""
    try:
        known = SpecifierSet(specifier)
    except InvalidSpecifier:
        return frozenset(PYTHONS)
    return frozenset(one for one in PYTHONS if known.contains(f"{one}.0") or known.contains(f"{one}.99"))


@functools.cache
def _made_for(interpreter: str, abi: str) -> frozenset[str]:
    """The Pythons that take a wheel with these tags."""
    found = re.fullmatch(r"(py|cp)3(\d*)", interpreter)
    if found is None:
        return frozenset()
    first, newer = int(found[2] or 0), found[1] == "py" or abi == "abi3"
    minors = {one: int(one[2:]) for one in PYTHONS}
    return frozenset(one for one, minor in minors.items() if minor == first or (newer and minor > first))
