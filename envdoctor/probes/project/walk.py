"""The files below a directory: how many there may be, which are left out, and how one is read.

Left out are virtual environments, caches, what git keeps for itself, and what git ignores; a ``.env`` file counts even
where git ignores it, as it is in force all the same. Linked directories are not followed; what is no regular file is
never opened.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import deque

from envdoctor.model import Record
from envdoctor.probes.project.regular_files import kind_of
from envdoctor.probes.project.repository import GitDirectory, git_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CACHES = """
    .git .hg .svn .bzr CVS node_modules bower_components __pycache__ __pypackages__ site-packages dist-packages .tox
    .nox .eggs .direnv .pixi .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .ipynb_checkpoints .terraform
"""
LEFT_OUT = frozenset(_CACHES.split())
#: A directory that holds one of these is an environment.
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
_CONFIGURATION = frozenset(("yaml", "yml", "toml", "json", "ini", "cfg", "env", "conf", "service", "ipynb"))
#: Files of a format of configuration whose names do not say which, and that format.
FORMATS = {
    ".envrc": "env",
    "Pipfile": "toml",
    "Pipfile.lock": "json",
    "pdm.lock": "toml",
    "poetry.lock": "toml",
    "uv.lock": "toml",
}
#: What a Dockerfile may be called besides: ``Dockerfile.prod``, ``api.Dockerfile``; others are templates, or of a tool.
_DOCKERFILE = re.compile(
    r"(?:(?P<begun>[Dd]ocker|Container)file(?:[.-](?!j2|jinja|te?mpl|tpl|md$|txt$|dockerignore)[\w.-]+)?"
    r"|[\w.-]+\.(?P<ends>[Dd]ocker|[Cc]ontainer)file)",
    re.ASCII,
)


class Limits(Record):
    """How far a project is scanned: files of source and configuration, all files, directories, levels, seconds."""

    files: int = 20_000
    names: int = 100_000
    directories: int = 10_000
    levels: int = 40
    seconds: float = 5.0


class Listing(Record):
    """The result of a walk: relative names with their paths, what cannot be read with the reason, and what was cut."""

    paths: dict[str, str]
    unread: dict[str, str]
    gaps: list[str]


def is_module(name: str) -> bool:
    """Whether a name is one of a module in Python source."""
    return name.endswith(".py")


def is_notebook(name: str) -> bool:
    """Whether a name is one of a notebook."""
    return name.endswith(".ipynb")


def is_code(name: str) -> bool:
    """Whether a name says that the file is Python source or a notebook."""
    return is_module(name) or is_notebook(name)


def is_configuration(name: str) -> bool:
    """Whether a name is one of a file in a format of configuration: so may a hidden file be that has no suffix."""
    own = name.rpartition("/")[2]
    hidden = (own[:1] == "." and own[1:].isalnum()) or dockerfile(own) is not None
    named = own in FORMATS or own.rpartition(".")[2].lower() in _CONFIGURATION or own.endswith("rc")
    return hidden or named or is_dotenv(own)


def dockerfile(name: str) -> str | None:
    """``Dockerfile`` or ``Containerfile``, where a file of that name is one."""
    found = _DOCKERFILE.fullmatch(name)
    return f"{(found['begun'] or found['ends']).capitalize()}file" if found and not is_code(name) else None


def is_dotenv(name: str) -> bool:
    """Whether a file of that name holds environment variables."""
    return name == ".env" or name.startswith(".env.") or name.endswith(".env")


def shown(name: str) -> str:
    """A name as it can be printed."""
    if name.isprintable():
        return name
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)


def walk(directory: str, limits: Limits) -> Listing:
    """List the files below a directory, those nearest to the top first."""
    walker = _Walker(directory, limits)
    walker.run()
    return walker.listing


class _Directory(Record):
    """One that is to be listed."""

    name: str
    level: int
    place: GitDirectory


class _Walker:
    def __init__(self, directory: str, limits: Limits) -> None:
        self.listing = Listing(paths={}, unread={}, gaps=[])
        self._top = directory
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._queue: deque[_Directory] = deque()
        self._listed = self._files = 0
        self._cut = False

    def run(self) -> None:
        """Go through the directories level by level until there are no more or a limit is met."""
        self._queue.append(_Directory(name="", level=0, place=git_directory(self._top)))
        while self._queue and not self._cut:
            directory = self._queue.popleft()
            self._listed += 1
            if self._listed > self._limits.directories:
                self._stop(f"the project has more than {self._limits.directories} directories", directory.name)
            elif directory.level > self._limits.levels:
                self._stop(f"the project is deeper than {self._limits.levels} directories", directory.name)
            else:
                self._list(directory)

    def _stop(self, why: str, name: str) -> None:
        """End the walk with a line that says where."""
        self._cut = True
        self.listing.gaps.append(f"{why}: {shown(name) or 'its top'} and what follows was not looked at")

    def _list(self, directory: _Directory) -> None:
        path = os.path.join(self._top, directory.name) if directory.name else self._top
        try:
            with os.scandir(path) as entries:
                found = {entry.name: entry for entry in self._bounded(entries, directory.name)}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.listing.gaps.append(f"{shown(directory.name) or self._top} cannot be listed: {reason}")
            return
        if not directory.name or found.keys().isdisjoint(_ENVIRONMENT):
            self._take_all(directory, path, found)

    def _take_all(self, directory: _Directory, path: str, found: dict[str, os.DirEntry[str]]) -> None:
        if ".git" in found or ".gitignore" in found:
            directory = directory.replace(place=directory.place.holding(path, found))
        for name in sorted(found):
            if self._cut:
                return
            self._take(directory, name, found[name])

    def _bounded(self, entries: Iterator[os.DirEntry[str]], name: str) -> Iterator[os.DirEntry[str]]:
        """Entries of one directory, as long as there is time."""
        for number, entry in enumerate(entries):
            if number >= self._limits.names:
                self._stop(f"one directory holds more than {self._limits.names} files", name)
                return
            yield entry

    def _take(self, directory: _Directory, name: str, entry: os.DirEntry[str]) -> None:
        """One entry: a directory to be listed later, a file, or something that is left out."""
        if name in LEFT_OUT:
            return
        whole = f"{directory.name}/{name}" if directory.name else name
        if time.monotonic() >= self._deadline:
            self._stop(f"looking through the project took longer than {self._limits.seconds:g} s", whole)
            return
        try:
            if entry.is_dir(follow_symlinks=False):
                if not directory.place.ignores(name, directory=True):
                    below = directory.place.below(name)
                    self._queue.append(_Directory(name=whole, level=directory.level + 1, place=below))
            elif is_dotenv(name) or not directory.place.ignores(name, directory=False):
                self._take_file(whole, entry)
        except OSError as error:
            self._refuse(whole, error.strerror or str(error))

    def _take_file(self, name: str, entry: os.DirEntry[str]) -> None:
        if not entry.is_file(follow_symlinks=False):
            mode = entry.stat().st_mode  # of what a link leads to
            if stat.S_ISDIR(mode):
                return
            if not stat.S_ISREG(mode):
                self._refuse(name, f"it is {kind_of(mode)}")
                return
        paths = self.listing.paths
        if is_code(name) or is_configuration(name):
            self._files += 1
        if self._files > self._limits.files:
            self._stop(f"the project has more than {self._limits.files} files of source and configuration", name)
        elif len(paths) >= self._limits.names:
            self._stop(f"the project has more than {self._limits.names} files", name)
        else:
            paths[shown(name)] = os.path.join(self._top, name)

    def _refuse(self, name: str, reason: str) -> None:
        if len(self.listing.unread) < self._limits.files:
            self.listing.unread[shown(name)] = reason
