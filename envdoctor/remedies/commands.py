"""The exact command for a remedy, in the words of whatever installed the examined environment."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from envdoctor.engine.requirements import parse
from envdoctor.model import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.model import Remedy, Snapshot

#: Lock and project files by the tool that writes them, for targets where nothing is installed yet.
_FORMATS = {
    "uv.lock": "uv-project",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "environment.yml": "conda",
    "conda-lock.yml": "conda",
}

#: How each tool installs and removes; ``{python}`` is the interpreter, and requirements follow.
_TOOLS: Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
    "pip": (
        ("{python}", "-m", "pip", "install"),
        ("{python}", "-m", "pip", "uninstall", "-y"),
        ("{python}", "-m", "pip", "install", "--force-reinstall", "--no-deps"),
    ),
    "uv": (
        ("uv", "pip", "install", "--python", "{python}"),
        ("uv", "pip", "uninstall", "--python", "{python}"),
        ("uv", "pip", "install", "--python", "{python}", "--reinstall", "--no-deps"),
    ),
    "uv-project": (("uv", "add"), ("uv", "remove"), ("uv", "sync", "--reinstall-package")),
    "conda": (("conda", "install"), ("conda", "remove"), ("conda", "install", "--force-reinstall")),
    "poetry": (("poetry", "add"), ("poetry", "remove"), ("poetry", "add")),
    "pdm": (("pdm", "add"), ("pdm", "remove"), ("pdm", "add")),
    "pipenv": (("pipenv", "install"), ("pipenv", "uninstall"), ("pipenv", "install")),
}


def with_command(remedy: Remedy, snapshot: Snapshot) -> Remedy:
    """The remedy with the command that carries it out, where one line can."""
    make = _KINDS.get(remedy.kind)
    if make is None or remedy.at == "build":
        return remedy
    tool = installer(snapshot, remedy)
    command = make(remedy, snapshot, tool) if tool or remedy.kind == "setenv" else None
    made: Remedy = remedy.replace(command=command)
    return made


def installer(snapshot: Snapshot, remedy: Remedy | None = None) -> str | None:
    """What to install with: the tool that wrote the lock file, or that installed the distribution in question."""
    if snapshot.target.get("kind") == "requirements":
        return _FORMATS.get(str(snapshot.target.get("format")))
    if snapshot.target.get("kind") in {"root", "snapshot"} and not snapshot.python.get("executable"):
        return "pip"
    names = [parsed[0] for parsed in map(parse, (remedy.requirement or "").split()) if parsed] if remedy else []
    for name in [*names, (remedy and remedy.package) or "", *list(snapshot.packages)[:50]]:
        if name not in snapshot.packages:
            continue
        stated = snapshot.lookup("installer", name)
        if not isinstance(stated, Unknown) and stated:
            tool: str = stated.split()[0].lower()
            if tool in _TOOLS and not (tool == "pip" and "pip" not in snapshot.packages):
                return tool
    return "pip" if "pip" in snapshot.packages else "uv"


def python_of(snapshot: Snapshot) -> str:
    """How to name the examined interpreter on a command line: ``python`` where that is it, else its path."""
    prefix = snapshot.python.get("prefix")
    executable = snapshot.python.get("executable")
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if not executable or (prefix and active and os.path.realpath(active) == os.path.realpath(prefix)):
        return "python"
    return str(executable)


def _line(words: Sequence[str], arguments: Sequence[str], snapshot: Snapshot) -> str:
    python = python_of(snapshot)
    if words[0] == "uv" and python == "python":
        words = [word for word in words if word not in {"--python", "{python}"}]
    return " ".join([quote(word.format(python=python)) for word in words] + [quote(word) for word in arguments])


def quote(word: str) -> str:
    """Quote for the shell of this platform."""
    if sys.platform == "win32":
        return f'"{word}"' if set(word) & set(' <>|&^"') else word
    return shlex.quote(word)


def _install(remedy: Remedy, snapshot: Snapshot, tool: str | None) -> str | None:
    requirements = (remedy.requirement or "").split()
    if any(parsed and parsed[0] == "python" for parsed in map(parse, requirements)):
        return _other_python(requirements[0], tool)
    return _line(_TOOLS[tool or "pip"][0], requirements, snapshot)


def _other_python(requirement: str, tool: str | None) -> str | None:
    """An environment's Python cannot be exchanged, except by conda: the command makes a new environment."""
    if tool == "conda":
        return "conda install " + quote(requirement)
    if tool in {"uv", "uv-project"}:
        return "uv venv --python " + quote(requirement[len("python") :])
    return None


def _uninstall(remedy: Remedy, snapshot: Snapshot, tool: str | None) -> str | None:
    return _line(_TOOLS[tool or "pip"][1], (remedy.package or "").split(), snapshot)


def _reinstall(remedy: Remedy, snapshot: Snapshot, tool: str | None) -> str | None:
    names = (remedy.package or "").split()
    pinned = [f"{name}=={snapshot.packages[name].version}" if name in snapshot.packages else name for name in names]
    return _line(_TOOLS[tool or "pip"][2], pinned, snapshot)


def _replace(remedy: Remedy, snapshot: Snapshot, tool: str | None) -> str | None:
    return f"{_uninstall(remedy, snapshot, tool)} && {_install(remedy, snapshot, tool)}"


def _setenv(remedy: Remedy, snapshot: Snapshot, tool: str | None) -> str | None:
    if snapshot.platform.get("system") == "win32":
        return f"set {remedy.name}={remedy.to}"
    return f"export {remedy.name}={quote(str(remedy.to))}"


#: The verbs that one command line can carry out.
_KINDS: Mapping[str, Callable[[Remedy, Snapshot, str | None], str | None]] = {
    "upgrade": _install,
    "downgrade": _install,
    "pin": _install,
    "install": _install,
    "uninstall": _uninstall,
    "reinstall": _reinstall,
    "replace": _replace,
    "setenv": _setenv,
}
