"""The direct requirements of a project, from the ``pyproject.toml`` beside a lock file that does not say."""

from __future__ import annotations

import os
from itertools import chain

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.errors import ProbeError
from envdoctor.targets.locks.contents import load, load_toml, name_of, table, tables, text, texts
from envdoctor.targets.locks.graph import Required
from envdoctor.targets.locks.poetry_constraints import python_marker, specifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from envdoctor.targets.locks.contents import TextFile


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
