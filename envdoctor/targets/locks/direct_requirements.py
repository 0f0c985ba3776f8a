"""Lock files that leave out what the project itself requires, read with and without its ``pyproject.toml`` beside."""

from __future__ import annotations

import os
from itertools import chain

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.engine.markers import Verdict
from envdoctor.errors import ProbeError
from envdoctor.targets.locks.contents import load, load_toml, name_of, table, tables, text, texts
from envdoctor.targets.locks.graph import Required, entry, reach
from envdoctor.targets.locks.poetry_constraints import python_marker, specifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from envdoctor.targets.locks.contents import Entry, TextFile
    from envdoctor.targets.locks.graph import Node
    from envdoctor.targets.marker_environment import Markers

_PROJECT = Verdict(holds=None, unknown=frozenset({"what the project itself requires"}))


def entries_of(source: TextFile, nodes: Sequence[Node], markers: Markers, *, marked: bool) -> list[Entry]:
    """An entry for each node: by its own marker where all are ``marked``, else by what the project requires."""
    if marked:
        return [entry(node, node.verdict) for node in nodes]
    return _reached(nodes, roots(source), markers)


def _reached(nodes: Sequence[Node], asked: list[Required] | None, markers: Markers) -> list[Entry]:
    """The entries that the project's requirements reach.

    Where those are not known, what nothing in the file requires must have been asked for by the project, and what is
    only required under markers that do not hold may or may not have been.
    """
    if asked:
        return reach(nodes, asked, markers, newest=True)
    required = {edge.name for node in nodes for edge in node.edges}
    tops = [Required(name=name) for name in sorted({node.name for node in nodes} - required)]
    entries = reach(nodes, tops, markers)
    reached = {entry.name for entry in entries if entry.verdict.holds is not False}
    ruled_out = {node.name for node in nodes if node.verdict.holds is False}
    return [one if one.name in reached | ruled_out else _doubtful(one) for one in entries]


def _doubtful(entry: Entry) -> Entry:
    reason = (
        f"{entry.where}: {entry.name} {entry.version} is only needed elsewhere, unless the project itself requires it"
    )
    doubtful: Entry = entry.replace(version=None, verdict=_PROJECT, reason=f"{reason}; no pyproject.toml is beside")
    return doubtful


def roots(source: TextFile) -> list[Required] | None:
    """The project's requirements, of all extras and groups; ``None`` where its file is not there or not read."""
    path = os.path.join(os.path.dirname(source.path), "pyproject.toml")
    try:
        data = load_toml(load(path))
    except ProbeError:
        return None
    return [*_standard(data), *_poetry(table(table(data.get("tool")).get("poetry"))), *_pdm(data)]


def _standard(data: dict[str, Any]) -> Iterator[Required]:
    project = table(data.get("project"))
    lists = chain(
        [project.get("dependencies", [])],
        table(project.get("optional-dependencies")).values(),
        table(data.get("dependency-groups")).values(),
    )
    return chain.from_iterable(map(edges, lists))


def _pdm(data: dict[str, Any]) -> Iterator[Required]:
    groups = table(table(table(data.get("tool")).get("pdm")).get("dev-dependencies")).values()
    return chain.from_iterable(map(edges, groups))


def edges(requirements: Any) -> Iterator[Required]:
    """Edges for the requirements (PEP 508) of a list; what is none is passed over."""
    for written in texts(requirements):
        requirement = requirement_of(written)
        name = name_of(requirement.name) if requirement else None
        if requirement and name:
            allowed = (str(requirement.specifier),) if str(requirement.specifier) else ()
            yield Required(name=name, specifiers=allowed, marker=str(requirement.marker or "") or None)


def _poetry(poetry: dict[str, Any]) -> Iterator[Required]:
    groups = [table(group).get("dependencies") for group in table(poetry.get("group")).values()]
    for dependencies in [poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups]:
        yield from poetry_edges(table(dependencies))


def poetry_edges(dependencies: dict[str, Any]) -> Iterator[Required]:
    """Edges for a table of requirements as Poetry writes them: a text, a table, or a list of tables."""
    for written, wanted in dependencies.items():
        name = name_of(written)
        if name is None or name == "python":
            continue
        for one in [wanted] if isinstance(wanted, str) else tables(wanted if isinstance(wanted, list) else [wanted]):
            yield _poetry_edge(name, {"version": one} if isinstance(one, str) else one)


def _poetry_edge(name: str, wanted: dict[str, Any]) -> Required:
    python = python_marker(text(wanted.get("python")) or "*")
    marker = " and ".join(f"({part})" for part in (text(wanted.get("markers")), python) if part)
    return Required(name=name, specifiers=specifiers(text(wanted.get("version")) or "*"), marker=marker or None)
