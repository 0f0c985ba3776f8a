"""``conda-lock.yml``. A conda name is taken for the distribution of that name, so absence proves nothing."""

from __future__ import annotations

from envdoctor.targets.locks import conda, yamltree
from envdoctor.targets.locks.contents import Contents, Entry, malformed, name_of, note, table, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_KNOWN_VERSION = "1"


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages for the platform, of all categories. Raises :class:`ProbeError`."""
    data = yamltree.load(source)
    if not isinstance(data, dict) or not isinstance(data.get("package"), list):
        raise malformed(source, "as conda-lock.yml: it has no list of 'package'")
    found, notes = _packages(source, data["package"])
    platforms = _platforms(data, found)
    system, machine = conda.PLATFORMS.get(platforms[0], (None, None)) if len(platforms) == 1 else (None, None)
    platform = stated.platform or system
    markers = stated.replace(platform=platform, machine=stated.machine or machine).markers()
    entries = _entries(source, found, platforms, markers)
    version = text(data.get("version"))
    if version != _KNOWN_VERSION:
        notes.append(note(f"{source.path}: version {str(version)[:40]!a} of the format is not known; it was read as 1"))
    of_pip = [package for package in found if package.get("manager") == "pip"]
    return Contents(
        entries=[entry for entry in entries if entry.name != "python"],
        python=_python(entries),
        platform=system,
        machine=machine,
        target={"lock_version": version, "platforms": platforms},
        of_pip=frozenset(filter(None, (name_of(package["name"]) for package in of_pip))),
        complete=len(of_pip) == len(found),
        notes=notes,
    )


def _python(entries: list[Entry]) -> str | None:
    """The version of the one Python that the markers allow."""
    pythons = {entry.version for entry in entries if entry.name == "python" and entry.verdict.holds is not False}
    return conda.python_of(f"python=={pythons.pop()}") if len(pythons) == 1 else None


def _packages(source: TextFile, listed: list[Any]) -> tuple[list[yamltree.Mapping], list[UnknownFact]]:
    found, notes = [], []
    for package in listed:
        if isinstance(package, yamltree.Mapping) and isinstance(package.get("name"), str):
            if name_of(package["name"]):
                found.append(package)
        else:
            line = getattr(package, "line", None)
            notes.append(note(f"{source.at(line)}: an entry of 'package' has no name, and was left out"))
    return found, notes


def _platforms(data: dict[str, Any], packages: list[yamltree.Mapping]) -> list[str]:
    stated = texts(table(data.get("metadata")).get("platforms", []))
    used = [platform for platform in (text(package.get("platform")) for package in packages) if platform]
    return [str(platform) for platform in dict.fromkeys(stated or used) if platform != "noarch"]


def _entries(source: TextFile, packages: list[yamltree.Mapping], platforms: list[str], markers: Markers) -> list[Entry]:
    """One entry for each package; what is the same on every platform of the file needs no marker."""
    same: dict[tuple[str | None, str | None], set[str | None]] = {}
    for package in packages:
        same.setdefault((name_of(package["name"]), text(package.get("version"))), set()).add(
            text(package.get("platform"))
        )
    found = []
    for package in packages:
        name, version, platform = name_of(package["name"]), text(package.get("version")), text(package.get("platform"))
        everywhere = same[name, version] >= set(platforms)
        stated_elsewhere = "sys_platform" in markers.known
        marker = None if everywhere and not stated_elsewhere else conda.marker(platform or "")
        where = source.at(package.line)
        reason = None if version else f"{where}: no version of {name} is stated"
        found.append(
            Entry(
                name=name or "",
                version=version and str(version),
                where=where,
                verdict=markers.holds(marker),
                reason=reason,
            ),
        )
    return found
