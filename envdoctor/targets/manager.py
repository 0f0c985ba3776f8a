"""What besides an installer manages an environment: a project's tool, or the operating system.

Read when a command is made, not before.
"""

from __future__ import annotations

import os

from envdoctor.engine.installed_requirements import is_name
from envdoctor.errors import ProbeError
from envdoctor.probes.distributions import read_text
from envdoctor.tools import FORMATS, LOCKS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from envdoctor.found import Manager
    from envdoctor.targets.locks.graph import Required

    Found = tuple[Iterable[Required], list[str]]

_MANAGED = "EXTERNALLY-MANAGED"
_PATH_LIMIT = 4096


def of_environment(prefix: str, paths: Sequence[str]) -> Manager | None:
    """The ``tool`` of a virtual environment's project, with its ``directory`` and its ``direct`` requirements.

    ``system`` is the tool of a Python that its distributor manages (PEP 668); ``apt`` says whether that is Debian.
    ``None`` where an installer may do as it likes.
    """
    if not os.path.exists(os.path.join(prefix, "pyvenv.cfg")):
        managed = any(os.path.exists(os.path.join(path, _MANAGED)) for path in paths)
        debian = any(os.path.basename(path) == "dist-packages" for path in paths)
        return {"tool": "system", "apt": debian} if managed else None
    stated = read_text(os.path.join(prefix, ".project"), _PATH_LIMIT)  # where pipenv says whose environment it is
    directories = [stated.strip()] if stated else []
    if os.path.basename(prefix) == ".venv":
        directories.append(os.path.dirname(prefix))
    return next(filter(None, map(of_project, directories)), None)


def of_project(directory: str) -> Manager | None:
    """The tool that locked the project in a directory, and what the project requires itself."""
    for lock in LOCKS:
        tool = FORMATS[lock].tool
        if tool and os.path.isfile(os.path.join(directory, lock)):
            return {"tool": tool, "directory": directory, "direct": direct(directory, tool)}
    return None


def direct(directory: str, tool: str) -> dict[str, list[str]] | None:
    """The options by which a tool names the group that each direct requirement is in; ``None`` if that is unknown."""
    from envdoctor.targets.locks.contents import load, load_toml

    file, groups = ("Pipfile", _of_pipfile) if tool == "pipenv" else ("pyproject.toml", _of_pyproject)
    try:
        data = load_toml(load(os.path.join(directory, file)))
    except ProbeError:
        return None
    found: dict[str, list[str]] = {}
    for required, options in groups(data, tool):
        for one in required:
            found.setdefault(one.name, options)
    return found


def _of_pipfile(data: dict[str, Any], tool: str) -> Iterator[Found]:
    from envdoctor.targets.locks.contents import table
    from envdoctor.targets.locks.direct_requirements import poetry_edges

    yield poetry_edges(table(data.get("packages"))), []
    yield poetry_edges(table(data.get("dev-packages"))), ["--dev"]


def _of_pyproject(data: dict[str, Any], tool: str) -> Iterator[Found]:
    from envdoctor.targets.locks.contents import table
    from envdoctor.targets.locks.direct_requirements import edges, poetry_edges

    project, tools = table(data.get("project")), table(data.get("tool"))
    poetry, pdm = table(tools.get("poetry")), table(tools.get("pdm"))
    yield edges(project.get("dependencies", [])), []
    yield poetry_edges(table(poetry.get("dependencies"))), []
    yield edges(table(tools.get("uv")).get("dev-dependencies", [])), ["--dev"]
    for group, listed in table(project.get("optional-dependencies")).items():
        yield edges(listed), _named(TOOLS[tool].extra, group)
    for listed in (table(data.get("dependency-groups")), table(pdm.get("dev-dependencies"))):
        for group, required in listed.items():
            yield edges(required), _named(TOOLS[tool].group, group)
    for group, listed in table(poetry.get("group")).items():
        yield poetry_edges(table(table(listed).get("dependencies"))), _named(TOOLS[tool].group, group)


def _named(option: Sequence[str], group: str) -> list[str]:
    return [*option, group] if is_name(group) else []
