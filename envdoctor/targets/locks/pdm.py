"""``pdm.lock``: with the strategy ``inherit_metadata`` each package has its marker, else that of what requires it."""

from __future__ import annotations

from envdoctor.targets.locks.contents import (
    Contents,
    load_toml,
    malformed,
    name_of,
    note,
    package_tables,
    table,
    tables,
    text,
    texts,
)
from envdoctor.targets.locks.direct_requirements import edges, entries_of
from envdoctor.targets.locks.graph import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_KNOWN = ("2", "3", "4.")


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages of all groups. Raises :class:`ProbeError`."""
    data = load_toml(source)
    metadata = table(data.get("metadata"))
    if not metadata and "package" not in data:
        raise malformed(source, "as pdm.lock: it has neither 'metadata' nor 'package'")
    markers = stated.markers()
    found, notes = package_tables(source, data, "package")
    nodes = [_node(source, line, package, markers) for line, package in found]
    marked = "inherit_metadata" in texts(metadata.get("strategy", []))
    lock_version = text(metadata.get("lock_version"))
    if lock_version is not None and not lock_version.startswith(_KNOWN):
        notes.append(note(f"{source.path}: lock_version {lock_version[:40]!a} is not known; it was read as 4.5"))
    return Contents(
        entries=entries_of(source, nodes, markers, marked=marked),
        target={"lock_version": lock_version, "requires_python": _requires_python(metadata)},
        notes=notes,
    )


def _requires_python(metadata: dict[str, Any]) -> str | None:
    stated = {text(target.get("requires_python")) for target in tables(metadata.get("targets", []))}
    return stated.pop() if len(stated) == 1 else None


def _node(source: TextFile, line: int | None, package: dict[str, Any], markers: Markers) -> Node:
    version, where = text(package.get("version")), source.at(line)
    name = name_of(package["name"]) or ""
    return Node(
        name=name,
        version=version,
        where=where,
        edges=[*edges(package.get("dependencies", []))],
        verdict=markers.holds(text(package.get("marker"))),
        requires_python=text(package.get("requires_python")),
        reason=None if version else f"{where}: no version of {name} is stated",
        optional="default" not in texts(package.get("groups", ["default"])),
    )
