"""Environments that project managers keep outside the project, found by files alone.

Their documentation and what they make say where: ``.pdm-python`` names an interpreter; poetry, pipenv and hatch file
an environment under the beginning of a digest of the project's path, which no other project has.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from contextlib import suppress

from envdoctor.errors import ProbeError
from envdoctor.probes.distributions import read_text
from envdoctor.targets.locks.contents import load, load_toml, name_of, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: How many characters of the digest a name has.
_DIGITS = 8
#: The user's directories for caches, settings and data: the variable, then what holds without it.
_LINUX = {
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
}
_MAC = {
    "cache": ("", "~/Library/Caches"),
    "config": ("", "~/Library/Application Support"),
    "data": ("", "~/Library/Application Support"),
}
_WINDOWS = {
    "cache": ("LOCALAPPDATA", "~/AppData/Local"),
    "config": ("APPDATA", "~/AppData/Roaming"),
    "data": ("LOCALAPPDATA", "~/AppData/Local"),
}
_PLACES = {"darwin": _MAC, "win32": _WINDOWS}.get(sys.platform, _LINUX)


def kept(directory: str, environment_of: Callable[[str], str]) -> tuple[str, str] | None:
    """The environment (or interpreter) that a tool keeps for a project, with the tool's name; ``None`` without one.

    ``environment_of`` returns the directory of the environment that an interpreter belongs to, else the interpreter.
    """
    for tool, find in _TOOLS.items():
        with suppress(OSError, ValueError):
            for found in find(directory):
                place = found if os.path.isdir(found) else environment_of(found)
                if os.path.isfile(os.path.join(place, "pyvenv.cfg")) or os.path.isfile(place):
                    return place, tool
    return None


def _pdm(directory: str) -> Iterator[str]:
    stated = (read_text(os.path.join(directory, ".pdm-python")) or "").strip()
    if os.path.isabs(stated):
        yield stated


def _poetry(directory: str) -> Iterator[str]:
    digest = _digest(os.path.normcase(os.path.realpath(directory)))
    folder = _poetry_folder(directory)
    names = [name for name in os.listdir(folder) if f"-{digest}-py" in name]
    stated = _toml(os.path.join(folder, "envs.toml"))
    for name in _newest_first(folder, names):
        base, _, minor = name.rpartition("-py")
        if minor == table(stated.get(base)).get("minor", minor):
            yield os.path.join(folder, name)


def _poetry_folder(directory: str) -> str:
    """Where poetry keeps environments: as a variable, the project or the user says, else in its cache."""
    settings = os.environ.get("POETRY_CONFIG_DIR") or _place("config", "pypoetry")
    files = (os.path.join(directory, "poetry.toml"), os.path.join(settings, "config.toml"))
    usual = os.path.join(_place("cache", "pypoetry"), *(["Cache"] if sys.platform == "win32" else []))
    cache, stated = os.environ.get("POETRY_CACHE_DIR"), os.environ.get("POETRY_VIRTUALENVS_PATH")
    for settings_file in map(_toml, files):
        cache = cache or text(settings_file.get("cache-dir"))
        stated = stated or text(table(settings_file.get("virtualenvs")).get("path"))
    folder = (stated or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache or usual)
    return os.path.join(directory, os.path.expanduser(folder.replace("{project-dir}", directory)))


def _pipenv(directory: str) -> Iterator[str]:
    usual = "~/.virtualenvs" if sys.platform == "win32" else "~/.local/share/virtualenvs"
    if os.environ.get("XDG_DATA_HOME") and sys.platform != "win32":
        usual = os.path.join(os.environ["XDG_DATA_HOME"], "virtualenvs")
    folder = os.path.expanduser(os.environ.get("WORKON_HOME") or usual)
    if os.path.isfile(os.path.join(directory, "Pipfile")):
        digest = _digest(os.path.join(directory, "Pipfile"))
        names = [name for name in os.listdir(folder) if name.endswith(f"-{digest}") or f"-{digest}-" in name]
        yield from (os.path.join(folder, name) for name in _newest_first(folder, names))


def _hatch(directory: str) -> Iterator[str]:
    project = _toml(os.path.join(directory, "pyproject.toml"))
    hatch = table(table(project.get("tool")).get("hatch"))
    path = text(table(table(hatch.get("envs")).get("default")).get("path"))
    if path:
        yield os.path.join(directory, os.path.expanduser(path))
    folder = _hatch_folder(directory)
    name = name_of(table(project.get("project")).get("name"))
    if name and (folder + os.sep).startswith(os.path.join(directory, "")):
        yield os.path.join(folder, name)
    elif name:
        yield os.path.join(folder, name, _digest(os.path.realpath(directory)), name)


def _hatch_folder(directory: str) -> str:
    """Where hatch keeps virtual environments: as a variable or the user's settings say, else among its data."""
    settings = os.environ.get("HATCH_CONFIG") or os.path.join(_place("config", "hatch"), "config.toml")
    places = table(_toml(settings).get("dirs"))
    stated = os.environ.get("HATCH_ENV_TYPE_VIRTUAL_PATH") or text(table(places.get("env")).get("virtual"))
    data = os.environ.get("HATCH_DATA_DIR") or text(places.get("data")) or _place("data", "hatch")
    return os.path.join(directory, os.path.expanduser(stated or os.path.join(data, "env", "virtual")))


def _place(kind: str, name: str) -> str:
    variable, usual = _PLACES[kind]
    return os.path.join(os.environ.get(variable) or os.path.expanduser(usual), name)


def _digest(path: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(path)).digest()).decode()[:_DIGITS]


def _newest_first(folder: str, names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: -os.stat(os.path.join(folder, name)).st_mtime)


def _toml(path: str) -> dict[str, Any]:
    """The tables of a settings file, empty where it is not there or cannot be read."""
    try:
        return load_toml(load(path))
    except ProbeError:
        return {}


#: What each tool keeps for a directory, the likeliest first. What it says itself comes before what is found.
_TOOLS = {"pdm": _pdm, "poetry": _poetry, "pipenv": _pipenv, "hatch": _hatch}
