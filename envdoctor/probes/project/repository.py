"""Where a repository of git begins, which of its files say what is ignored, and what it keeps. Git is never run."""

from __future__ import annotations

import os

from envdoctor.model import Record
from envdoctor.probes.project import ignore, tracked
from envdoctor.probes.project.ignore import Ignored, bytewise
from envdoctor.probes.project.regular_files import UnreadError, content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

#: Directories above a project that are searched for the top of its repository.
_MOST_ABOVE = 40
_LINK = 1 << 12


class GitDirectory(Record):
    """A directory as git sees it.

    ``name`` is its path below the top of its repository, with a slash at the end; ``rules`` are those that hold in it,
    nearest first, each with the length of the path that its paths do not begin with; ``kept`` are the names in the
    index; in an ``ignored`` directory nothing but these counts.
    """

    name: str = ""
    rules: tuple[tuple[int, Ignored], ...] = ()
    kept: frozenset[str] = frozenset()
    ignored: bool = False

    def ignores(self, name: str, *, directory: bool) -> bool:
        """Whether git ignores an entry, and has none of its files in the index."""
        if not self.rules and not self.ignored:
            return False
        name = bytewise(name)
        return self._is_ignored(name, directory=directory) and self.name + name not in self.kept

    def below(self, name: str) -> GitDirectory:
        """The place of a directory in this one."""
        name = bytewise(name)
        ignored = bool(self.rules or self.ignored) and self._is_ignored(name, directory=True)
        return GitDirectory(name=f"{self.name}{name}/", rules=self.rules, kept=self.kept, ignored=ignored)

    def _is_ignored(self, name: str, *, directory: bool) -> bool:
        if self.ignored:
            return True
        path = self.name + name
        for length, rules in self.rules:
            verdict = rules.says(path[length:], name, directory=directory)
            if verdict is not None:
                return verdict
        return False

    def holding(self, path: str, names: Container[str]) -> GitDirectory:
        """The same place with what its own files say: ``.gitignore``, and ``.git``, at which a repository begins."""
        place = _top(os.path.join(path, ".git")) if ".git" in names else self
        own = _rules(os.path.join(path, ".gitignore")) if ".gitignore" in names else None
        return place.replace(rules=((len(place.name), own), *place.rules)) if own else place


def git_directory(directory: str) -> GitDirectory:
    """The place of a directory that is scanned, without its own files. It counts even where git ignores it."""
    directory = os.path.abspath(directory)
    names: list[str] = []
    top = directory
    while not os.path.lexists(os.path.join(top, ".git")):
        parent, name = os.path.split(top)
        if parent == top or len(names) == _MOST_ABOVE:
            return GitDirectory()
        names.insert(0, name)
        top = parent
    place, path = GitDirectory(), top
    for name in names:
        place = place.holding(path, (".git", ".gitignore") if path == top else (".gitignore",)).below(name)
        place = place.replace(ignored=False)
        path = os.path.join(path, name)
    return place


def _top(path: str) -> GitDirectory:
    """The top of a repository; in a worktree and in a submodule, ``.git`` is a file that says where the rest is."""
    linked = _text(path)
    if linked is not None and linked.startswith("gitdir:"):
        path = os.path.join(os.path.dirname(path), linked[len("gitdir:") :].strip())
    common = _text(os.path.join(path, "commondir"))
    excluded = _rules(os.path.join(path, (common or "").strip(), "info", "exclude"))
    kept = tracked.tracked(_bytes(os.path.join(path, "index"), tracked.MOST_BYTES) or b"")
    return GitDirectory(rules=((0, excluded),) if excluded else (), kept=kept)


def _rules(path: str) -> Ignored | None:
    data = _bytes(path, ignore.MOST_BYTES)
    return Ignored(data) if data else None


def _text(path: str) -> str | None:
    data = _bytes(path, _LINK)
    return None if data is None or b"\0" in data else os.fsdecode(data)


def _bytes(path: str, limit: int) -> bytes | None:
    """The bytes of a regular file, or ``None``; nothing else is opened."""
    try:
        return content(path, limit) if os.path.isfile(path) else None
    except UnreadError:
        return None
