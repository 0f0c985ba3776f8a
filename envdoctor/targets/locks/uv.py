"""``uv.lock``. Its shape: the documentation of uv and the files that uv writes."""

from __future__ import annotations

from itertools import chain

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
from envdoctor.targets.locks.graph import Node, Required, entry, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_KNOWN_VERSION = 1


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages that the workspace's members reach by any extra or group. Raises :class:`ProbeError`."""
    data = load_toml(source)
    if data.keys().isdisjoint({"version", "package"}):
        raise malformed(source, "as uv.lock: it has neither 'version' nor 'package'")
    markers = stated.markers()
    found, notes = package_tables(source, data, "package")
    members = _members(table(data.get("manifest")), [package for _, package in found])
    nodes = [_node(source, line, package, markers) for line, package in found]
    virtual = {name_of(package["name"]) for _, package in found if "virtual" in table(package.get("source"))}
    roots = [Required(name=name) for name in sorted(members)] + _stated_roots(table(data.get("manifest")))
    reached, always = [entry(node, node.verdict) for node in nodes], {node.name for node in nodes}
    if roots:
        reached, always = reach(nodes, roots, markers), _always(data, nodes, members)
    entries = [one.replace(optional=one.name not in always) for one in reached if one.name not in virtual]
    return Contents(entries=entries, target=_target(data), notes=[*notes, *_version_note(source, data)])


def _target(data: dict[str, Any]) -> dict[str, Any]:
    version = data.get("version")
    lock_version = version if isinstance(version, (int, str)) else None
    return {"lock_version": lock_version, "requires_python": text(data.get("requires-python"))}


def _version_note(source: TextFile, data: dict[str, Any]) -> Iterator[UnknownFact]:
    if data.get("version") != _KNOWN_VERSION:
        yield note(f"{source.path}: version {str(data.get('version'))[:40]!a} of the format is not known; read as 1")


def _node(source: TextFile, line: int | None, package: dict[str, Any], markers: Markers) -> Node:
    version, where = text(package.get("version")), source.at(line)
    name = name_of(package["name"]) or ""
    reason = None if version else f"{where}: the version of {name} is made when it is built"
    extras = chain.from_iterable(map(tables, table(package.get("optional-dependencies")).values()))
    groups = chain.from_iterable(map(tables, table(package.get("dev-dependencies")).values()))
    return Node(
        name=name,
        version=version,
        where=where,
        edges=[*_edges(chain(tables(package.get("dependencies")), extras, groups))],
        verdict=markers.any(texts(package.get("resolution-markers", []))),
        reason=reason,
    )


def _always(data: dict[str, Any], nodes: list[Node], members: set[str]) -> set[str]:
    """The names that are reached without any extra or group of the members, but those that one asks of another."""
    packages = [package for package in tables(data.get("package")) if name_of(package.get("name")) in members]
    wanted = [one for package in packages for one in tables(package.get("dependencies"))]
    whole = {name_of(one.get("name")) for one in wanted if one.get("extra")}
    onward: dict[str, list[str]] = {}
    for node in nodes:
        if node.name not in members or node.name in whole:
            onward.setdefault(node.name, []).extend(edge.name for edge in node.edges)
    stated = tables(table(data.get("manifest")).get("requirements"))
    return _reached([*members, *(edge.name for edge in _edges([*wanted, *stated]))], onward)


def _reached(pending: list[str], onward: dict[str, list[str]]) -> set[str]:
    """The names that edges lead to from some names, and those themselves."""
    found: set[str] = set()
    while pending:
        name = pending.pop()
        pending += onward.get(name, []) if name not in found else []
        found.add(name)
    return found


def _edges(requirements: Any) -> Iterator[Required]:
    for requirement in requirements:
        name, version = name_of(requirement.get("name")), text(requirement.get("version"))
        if name:
            specifiers = () if version is None else ("===" + version,)
            yield Required(name=name, specifiers=specifiers, marker=text(requirement.get("marker")))


def _members(manifest: dict[str, Any], packages: list[dict[str, Any]]) -> set[str]:
    """The projects of the workspace; with a single one, only its source shows it."""
    named = {name for name in map(name_of, texts(manifest.get("members", []))) if name}
    local = ("editable", "virtual")
    own = {
        name_of(package["name"]) or ""
        for package in packages
        if any(key in table(package.get("source")) for key in local)
    }
    return named or own


def _stated_roots(manifest: dict[str, Any]) -> list[Required]:
    """The requirements of a script, and the groups of a workspace without a project."""
    groups = chain.from_iterable(map(tables, table(manifest.get("dependency-groups")).values()))
    return [*_edges(chain(tables(manifest.get("requirements")), groups))]
