"""The exact command for a remedy, in the words of whatever installed the examined environment."""

from __future__ import annotations

import os
import re
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

#: How each tool installs, removes and installs again what is there (nothing, where it cannot); ``{python}`` is the
#: interpreter and ``{prefix}`` its environment, left out with the option before it where that is the active one.
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
    "uv-project": (("uv", "add"), ("uv", "remove"), ()),
    "conda": (
        ("conda", "install", "--prefix", "{prefix}"),
        ("conda", "remove", "--prefix", "{prefix}"),
        ("conda", "install", "--prefix", "{prefix}", "--force-reinstall"),
    ),
    "poetry": (("poetry", "add"), ("poetry", "remove"), ()),
    "pdm": (("pdm", "add"), ("pdm", "remove"), ()),
    "pipenv": (("pipenv", "install"), ("pipenv", "uninstall"), ()),
}


#: What no shell of Windows reads as anything else.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./\\:=+~!")


def with_command(remedy: Remedy, snapshot: Snapshot) -> Remedy:
    """The remedy with the command that carries it out, where one line can."""
    make = _KINDS.get(remedy.kind)
    if make is None or remedy.at == "build":
        return remedy
    tool = installer(snapshot, remedy)
    command = make(remedy, snapshot, tool or "") if tool or remedy.kind == "setenv" else None
    made: Remedy = remedy.replace(command=command)
    return made


def installer(snapshot: Snapshot, remedy: Remedy | None = None) -> str | None:
    """What to install with: the tool that wrote the lock file, or that installed the distribution in question."""
    if snapshot.target.get("kind") == "requirements":
        return _FORMATS.get(str(snapshot.target.get("format")))
    if snapshot.target.get("kind") in {"root", "snapshot", "text"} and not snapshot.python.get("executable"):
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
    if words[0] != "{python}" and python == "python":
        words = [word for word in words if word not in {"--python", "{python}", "--prefix", "{prefix}"}]
    prefix = str(snapshot.python.get("prefix") or "")
    if not prefix:
        words = [word for word in words if word not in {"--prefix", "{prefix}"}]
    filled = [word.format(python=python, prefix=prefix) for word in words]
    return " ".join(quote(word, system_of(snapshot)) for word in [*filled, *arguments])


def system_of(snapshot: Snapshot) -> str:
    """The platform whose shell a command is for: the target's, else the one here."""
    return snapshot.platform.get("system") or sys.platform


def quote(word: str, system: str) -> str:
    """Quote for the shell of a platform; on Windows, so that the two shells there agree."""
    if system == "win32":
        return word if word and set(word) <= _PLAIN else f'"{word}"'
    return shlex.quote(word)


def _install(remedy: Remedy, snapshot: Snapshot, tool: str) -> str | None:
    requirements = (remedy.requirement or "").split()
    parsed = {word: parse(word) for word in requirements}
    python = next((word for word, one in parsed.items() if one and one[0] == "python"), None)
    if python is not None:
        return _other_python(python, snapshot, tool)
    if tool == "conda":
        requirements = [re.sub(r"\[[^\]]*\]", "", word) for word in requirements]  # it has no extras
    return _line(_TOOLS[tool][0], requirements, snapshot)


def _other_python(requirement: str, snapshot: Snapshot, tool: str) -> str | None:
    """An environment's Python cannot be exchanged, except by conda: the command makes a new environment."""
    if tool == "conda":
        return _line(_TOOLS[tool][0], [requirement], snapshot)
    if tool in {"uv", "uv-project"}:
        return "uv venv --python " + quote(requirement[len("python") :], system_of(snapshot))
    return None


def _uninstall(remedy: Remedy, snapshot: Snapshot, tool: str) -> str | None:
    return _line(_TOOLS[tool][1], (remedy.package or "").split(), snapshot)


def _reinstall(remedy: Remedy, snapshot: Snapshot, tool: str) -> str | None:
    """Only what is installed can be installed again; where the tool cannot, any installer will do."""
    if snapshot.target.get("kind") == "requirements":
        return None
    words = _TOOLS[tool][2] or _TOOLS["pip" if "pip" in snapshot.packages else "uv"][2]
    have = {name: snapshot.packages[name].version for name in snapshot.packages}
    names = (remedy.package or "").split()
    return _line(words, [f"{name}=={have[name]}" if have.get(name) else name for name in names], snapshot)


def _replace(remedy: Remedy, snapshot: Snapshot, tool: str) -> str | None:
    return f"{_uninstall(remedy, snapshot, tool)} && {_install(remedy, snapshot, tool)}"


def _setenv(remedy: Remedy, snapshot: Snapshot, tool: str) -> str | None:
    if system_of(snapshot) == "win32":
        return f"set {remedy.name}={remedy.to}"
    return f"export {remedy.name}={quote(str(remedy.to), 'linux')}"


#: The verbs that one command line can carry out.
_KINDS: Mapping[str, Callable[[Remedy, Snapshot, str], str | None]] = {
    "upgrade": _install,
    "downgrade": _install,
    "pin": _install,
    "install": _install,
    "uninstall": _uninstall,
    "reinstall": _reinstall,
    "replace": _replace,
    "setenv": _setenv,
}
