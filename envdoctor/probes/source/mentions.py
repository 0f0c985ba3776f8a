"""Which files are worth parsing for a pattern: a cheap look at import statements and at what follows a dot."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol

    class Project(Protocol):
        """The files of a project, by name."""

        def files(self) -> list[str]:
            """Give all names."""
            ...

        def mentioning(self, word: bytes) -> list[str]:
            """Give the source files that contain a word."""
            ...

        def read(self, name: str) -> bytes:
            """Give the bytes of a file."""
            ...


_IMPORT = b"import"
#: From ``import`` to the end of the statement, over continued lines and parentheses.
_REST = re.compile(rb"(?:[^\n\\(#]|\\\r?\n?)*(?:\((?:[^)#]|#[^\n]*)*)?")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rb"\.(?:\s|\\\r?\n)*([A-Za-z_]\w*)")
#: A name and the attribute that is taken of it; and a name that is handed on as it is.
_PAIR = re.compile(rb"([A-Za-z_]\w*)(?:\s|\\\r?\n)*\.(?:\s|\\\r?\n)*([A-Za-z_]\w*)")
_HANDED = re.compile(rb"(?:=|[(,\[:]|\b(?:else|return|or|and|in))\s*([A-Za-z_]\w*)\b(?!\s*[.(\[\w])")
_ALIAS = re.compile(rb"\bas\s+(\w+)")
_GLOB = frozenset("*?[")
#: Segments of a pattern that names something of a module directly.
_DIRECT = 2


class Mentions:
    """What the files of a project import and which attributes they name, each as far as it has been asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._imports: dict[str, set[str]] = {}
        self._importing: dict[str, list[str]] = {}
        self._bound: dict[str, set[str]] = {}
        self._named: dict[str, set[str]] = {}
        self._taken: dict[str, tuple[dict[str, set[str]], set[str]]] = {}
        for file in project.mentioning(_IMPORT):
            self._look(file)
        names = [name.removeprefix("src/") for name in project.files() if name.endswith(".py")]
        self._own = {name.partition("/")[0].partition(".")[0] for name in names}

    def files(self, pattern: Sequence[str]) -> list[str]:
        """The source files in which a name that matches a pattern may be used."""
        literal = [one for one in pattern if not _GLOB & set(one)]
        globs = [one for one in pattern if one.strip("*") and _GLOB & set(one)]
        if _GLOB & set(pattern[0]):
            files: Iterable[str] = self._project.mentioning(max(literal, key=len, default="").encode())
        else:
            files = self._rooted(literal)
            literal = literal[1:]
        found = sorted(file for file in files if self._names(file, literal, globs))
        if len(pattern) == _DIRECT and not _GLOB & set("".join(pattern)):
            found = self._adjacent(found, pattern[0], pattern[1])
        return found

    def _adjacent(self, files: Sequence[str], root: str, last: str) -> list[str]:
        """Those of some files where a name is taken of its module itself, or the module is given another name."""
        names = {root, *self._bound.get(root, ())}
        return [file for file in files if last in self._imports[file] or self._is_adjacent(file, names, last)]

    def _is_adjacent(self, file: str, names: set[str], last: str) -> bool:
        taken = self._taken.get(file)
        if taken is None:
            data = self._project.read(file)
            pairs: dict[str, set[str]] = {}
            for name, attribute in set(_PAIR.findall(data)):
                pairs.setdefault(attribute.decode(), set()).add(name.decode())
            taken = self._taken[file] = pairs, {name.decode() for name in set(_HANDED.findall(data))}
        pairs, handed = taken
        return not names.isdisjoint(pairs.get(last, ())) or not names.isdisjoint(handed)

    def _rooted(self, literal: Sequence[str]) -> set[str]:
        """The files that may reach a root: by importing it, or from another file of the project."""
        root = literal[0]
        found = set(self._importing.get(root, ()))
        elsewhere = {*self._bound.get(root, ()), *literal[1:]}
        others = {file for word in elsewhere for file in self._importing.get(word, ())} - found
        if root in self._own:
            others = set(self._imports) - found
        if others:
            word = re.compile(rb"\b" + re.escape(root.encode()) + rb"\b")
            others.intersection_update(self._project.mentioning(root.encode()))
            found.update(file for file in others if word.search(self._project.read(file)))
        return found

    def _names(self, file: str, literal: Iterable[str], globs: Sequence[str]) -> bool:
        imports = self._imports.get(file, ())
        left = [word for word in literal if word not in imports]
        if not left and not globs:
            return True
        named = self._named.get(file)
        if named is None:
            named = self._named[file] = {one.decode() for one in set(_ATTRIBUTE.findall(self._project.read(file)))}
        return named.issuperset(left) and all(
            any(fnmatchcase(word, one) for word in (*named, *imports)) for one in globs
        )

    def _look(self, file: str) -> None:
        imports: set[bytes] = set()
        for statement in _statements(self._project.read(file)):
            words = set(_WORD.findall(statement))
            imports |= words
            if b"as" in words:
                bound = {one.decode() for one in _ALIAS.findall(statement)}
                for word in words:
                    self._bound.setdefault(word.decode(), set()).update(bound)
        self._imports[file] = found = {word.decode() for word in imports}
        for one in found:
            self._importing.setdefault(one, []).append(file)


def _statements(data: bytes) -> Iterator[bytes]:
    """Everything that may be an import statement."""
    at = data.find(_IMPORT)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        while start > 1 and data[max(start - 3, 0) : start].endswith((b"\\\n", b"\\\r\n")):
            start = data.rfind(b"\n", 0, start - 1) + 1
        rest = _REST.match(data, at)
        end = rest.end() if rest else at + len(_IMPORT)
        yield data[start:end]
        at = data.find(_IMPORT, max(end, at + len(_IMPORT)))
