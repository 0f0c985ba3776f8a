"""``poetry.lock``: since 2.1 of the format each package has its markers, before that only what requires it has them."""

from __future__ import annotations

from itertools import chain

from envdoctor.targets.locks.contents import Contents, load_toml, malformed, name_of, note, package_tables, table, text
from envdoctor.targets.locks.direct_requirements import entries_of, poetry_edges
from envdoctor.targets.locks.graph import Node
from envdoctor.targets.locks.poetry_constraints import specifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.engine.markers import Verdict
    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_KNOWN = ("1.", "2.")


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages of all extras and groups. Raises :class:`ProbeError`."""
    data = load_toml(source)
    metadata = table(data.get("metadata"))
    if not metadata and "package" not in data:
        raise malformed(source, "as poetry.lock: it has neither 'metadata' nor 'package'")
    markers = stated.markers()
    found, notes = package_tables(source, data, "package")
    nodes = [_node(source, line, package, markers) for line, package in found]
    entries = entries_of(source, nodes, markers, marked=any("groups" in package for _, package in found))
    lock_version = text(metadata.get("lock-version"))
    if lock_version is not None and not lock_version.startswith(_KNOWN):
        notes.append(note(f"{source.path}: lock-version {lock_version[:40]!a} is not known; it was read as 2.1"))
    pythons = text(metadata.get("python-versions"))
    specifier = specifiers(pythons or "*")
    target = {"lock_version": lock_version, "requires_python": specifier[0] if len(specifier) == 1 else pythons}
    return Contents(entries=entries, target=target, notes=notes)


def _node(source: TextFile, line: int | None, package: dict[str, Any], markers: Markers) -> Node:
    version, where = text(package.get("version")), source.at(line)
    name = name_of(package["name"]) or ""
    return Node(
        name=name,
        version=version,
        where=where,
        edges=[*poetry_edges(table(package.get("dependencies")))],
        verdict=_verdict(package, markers),
        requires_python=text(package.get("python-versions")),
        reason=None if version else f"{where}: no version of {name} is stated",
        optional=package.get("optional") is True or "main" not in package.get("groups", ["main"]),
    )


def _verdict(package: dict[str, Any], markers: Markers) -> Verdict:
    """One marker for all groups, or one for each; a group without one always wants the package."""
    written = package.get("markers", package.get("marker"))
    if not isinstance(written, dict):
        return markers.holds(text(written))
    groups = package.get("groups")
    named = [group for group in groups if isinstance(group, str)] if isinstance(groups, list) else []
    wanted = chain(written.values(), (None for group in named if group not in written))
    return markers.any([text(one) or "" for one in wanted])
