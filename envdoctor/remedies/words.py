"""From an action to the words of a tool: a list for each call. No word begins with ``-`` but the options here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from envdoctor.engine.requirements import canonical, is_name, is_version, normalise, parts
from envdoctor.model import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.engine.requirements import Parts
    from envdoctor.model import Action

    Calls = list[list[str]]

#: The words that stand for the interpreter and for its environment, left out with the option before them where the
#: environment is the active one.
_PYTHON, _PREFIX = "{python}", "{prefix}"


class Tool(NamedTuple):
    """How a tool installs, removes and installs again what is there; nothing where it cannot."""

    install: Sequence[str]
    uninstall: Sequence[str]
    reinstall: Sequence[str] = ()


TOOLS: Mapping[str, Tool] = {
    "pip": Tool(
        (_PYTHON, "-m", "pip", "install"),
        (_PYTHON, "-m", "pip", "uninstall", "-y"),
        (_PYTHON, "-m", "pip", "install", "--force-reinstall", "--no-deps"),
    ),
    "uv": Tool(
        ("uv", "pip", "install", "--python", _PYTHON),
        ("uv", "pip", "uninstall", "--python", _PYTHON),
        ("uv", "pip", "install", "--python", _PYTHON, "--reinstall", "--no-deps"),
    ),
    "uv-project": Tool(("uv", "add"), ("uv", "remove")),
    "conda": Tool(
        ("conda", "install", "--prefix", _PREFIX),
        ("conda", "remove", "--prefix", _PREFIX),
        ("conda", "install", "--prefix", _PREFIX, "--force-reinstall"),
    ),
    "poetry": Tool(("poetry", "add"), ("poetry", "remove")),
    "pdm": Tool(("pdm", "add"), ("pdm", "remove")),
    "pipenv": Tool(("pipenv", "install"), ("pipenv", "uninstall")),
}


class Place(Record):
    """Where words are for: the tool, the interpreter and the prefix of the environment, and what is installed.

    ``python`` and ``prefix`` are ``None`` where the environment is the active one; ``versions`` is ``None`` where
    nothing is installed yet.
    """

    tool: str
    python: str | None = None
    prefix: str | None = None
    versions: Mapping[str, str | None] | None = None


def readable(action: Action) -> Action | None:
    """The action with its requirements in canonical form; ``None`` where a name or a version is not one."""
    found = [parts(text) for text in action.requirements]
    known = [one for one in found if one]
    if len(known) < len(found) or not all(map(is_name, action.packages)):
        return None
    return action.replace(requirements=tuple(map(canonical, known)))  # type: ignore[no-any-return]


def words(action: Action, place: Place) -> Calls:
    """What to call, in order; empty where no tool carries the action out."""
    make = _VERBS.get(action.verb)
    return make(action, place) if make and action.at == "run" else []


def _told(words: Sequence[str], place: Place) -> list[str]:
    """The words of a tool for a place."""
    values = {_PYTHON: place.python, _PREFIX: place.prefix}
    said: list[str] = []
    for word in words:
        if values.get(word, word) is not None:
            said.append(values.get(word) or word)
        elif said:
            said.pop()  # the option that names it
        else:
            said.append("python")
    return said


def _install(action: Action, place: Place) -> Calls:
    wanted = [found for found in map(parts, action.requirements) if found]
    python = next((found for found in wanted if is_python(found)), None)
    if python is not None:
        return _other_python(python, place)
    tool = place.tool
    if tool == "conda":
        if any(url for *_, url in wanted):
            tool = "pip"
        else:
            wanted = [(name, (), specifier, url) for name, _, specifier, url in wanted]  # it has no extras
    return [[*_told(TOOLS[tool].install, place), *map(canonical, wanted)]] if wanted else []


def is_python(found: Parts) -> bool:
    """Whether a requirement is about the interpreter."""
    return normalise(found[0]) == "python"


def _other_python(python: Parts, place: Place) -> Calls:
    """An environment's Python cannot be exchanged, except by conda: the call makes a new environment."""
    if place.tool == "conda":
        return [[*_told(TOOLS["conda"].install, place), canonical(python)]]
    if place.tool in {"uv", "uv-project"}:
        return [["uv", "venv", "--python", python[2]]] if python[2] else []
    return []


def _uninstall(action: Action, place: Place) -> Calls:
    return [[*_told(TOOLS[place.tool].uninstall, place), *action.packages]] if action.packages else []


def _reinstall(action: Action, place: Place) -> Calls:
    """Only what is installed can be installed again; where the tool cannot, any installer will do."""
    have = place.versions
    if have is None:
        return []
    again = TOOLS[place.tool].reinstall or TOOLS["pip" if "pip" in have else "uv"].reinstall
    versions = {name: have.get(name) or "" for name in action.packages}
    named = [f"{name}=={version}" if is_version(version) else name for name, version in versions.items()]
    return [[*_told(again, place), *named]] if named else []


def _replace(action: Action, place: Place) -> Calls:
    removal, installation = _uninstall(action, place), _install(action, place)
    return [*removal, *installation] if removal and installation else []


#: The verbs that a tool can carry out.
_VERBS: Mapping[str, Callable[[Action, Place], Calls]] = {
    "install": _install,
    "uninstall": _uninstall,
    "reinstall": _reinstall,
    "replace": _replace,
}
