"""``pylock.toml`` (PEP 751), read by our own code: ``packaging.pylock`` came with packaging 26, and 22 is enough."""

from __future__ import annotations

from envdoctor.targets.locks.contents import (
    Contents,
    Entry,
    load_toml,
    malformed,
    name_of,
    note,
    package_tables,
    table,
    tables,
    text,
    version_in_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.targets.locks.contents import Stated, TextFile

_KNOWN = "1."


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages of the file, of all extras and groups. Raises :class:`ProbeError`."""
    data = load_toml(source)
    if "lock-version" not in data and "packages" not in data:
        raise malformed(source, "as pylock.toml: it has neither 'lock-version' nor 'packages'")
    markers = stated.markers()
    found, notes = package_tables(source, data, "packages")
    entries = []
    for line, package in found:
        version, where = _version(package), source.at(line)
        name = name_of(package["name"]) or ""
        reason = None if version else f"{where}: {name} comes from {_origin(package)}, which states no version"
        verdict = markers.holds(text(package.get("marker")))
        entries.append(Entry(name=name, version=version, where=where, verdict=verdict, reason=reason))
    lock_version = text(data.get("lock-version"))
    if not (lock_version or "").startswith(_KNOWN):
        notes.append(note(f"{source.path}: lock-version {lock_version!a} is not known; it was read as 1.0"))
    target = {"lock_version": lock_version, "requires_python": text(data.get("requires-python"))}
    return Contents(entries=entries, target=target, notes=notes)


def _version(package: dict[str, Any]) -> str | None:
    version = text(package.get("version"))
    if version:
        return version
    for file in [*tables(package.get("wheels")), table(package.get("sdist")), table(package.get("archive"))]:
        named = version_in_name(text(file.get("name")) or text(file.get("url")) or text(file.get("path")) or "")
        if named and named[0] == name_of(package["name"]):
            return named[1]
    return None


def _origin(package: dict[str, Any]) -> str:
    kinds = {"vcs": "a repository", "directory": "a directory", "archive": "an archive"}
    return next((words for key, words in kinds.items() if key in package), "somewhere")
