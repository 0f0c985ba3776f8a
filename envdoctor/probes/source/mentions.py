"""Which files are worth parsing for a pattern: a cheap look at import statements and at what follows a dot."""

from __future__ import annotations

import fnmatch
import functools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol, TypeVar

    Word = TypeVar("Word", str, bytes)

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
#: What stands before a name that is handed on as it is, and how far to look for the bracket around it.
_HANDED = re.compile(rb"(?:[=(,\[:]|\b(?:else|return|or|and|in))\s*\Z")
_BEFORE = 32
_AROUND = 400
_CALL = re.compile(rb"(?:\b(def)\s+)?[\w)\]]\w*\s*\Z")
#: From ``from`` to ``import``, at the beginning of a statement.
_FROM = re.compile(rb"(?:^|[:;])\s*from(?![\w])([\w.\s\\]+)\Z")
#: The first word of a dotted name.
_MODULE = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_ALIAS = re.compile(rb"([\w.]+)\s+as\s+(\w+)")
_GLOB = frozenset("*?[")
#: Segments of a pattern that names something of a module directly.
_DIRECT = 2


class Mentions:
    """What the files of a project import and which attributes they name, each as far as it has been asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        #: The files whose import statements hold a word.
        self._importing: dict[str, set[str]] = {}
        #: The attributes that a file takes of anything.
        self._attributes: dict[str, set[bytes]] = {}
        #: The files that import a module, by its first word; those that import one of the project's own, also by what
        #: they import from there.
        self._rooted_at: dict[str, set[str]] = {}
        self._linking: dict[str, set[str]] = {}
        #: The files that import a name from a module, by ``module.name``.
        self._taken_from: dict[bytes, set[str]] = {}
        #: Other names that import statements give: in all files, by any word of the statement; in each, by the module.
        self._bound: dict[str, set[str]] = {}
        self._bound_in: dict[str, dict[str, set[str]]] = {}
        self._said: dict[tuple[str, str], bool] = {}
        self._taken: dict[tuple[str, str], tuple[set[str], bool]] = {}
        names = [name for name in project.files() if name.endswith(".py")]
        self._own = {name.removeprefix("src/").partition("/")[0].partition(".")[0] for name in names}
        self._files = set(project.mentioning(_IMPORT))
        statements: dict[tuple[bytes | None, bytes], set[str]] = {}  # many files say the same
        for file in self._files:
            for one in _statements(project.read(file)):
                statements.setdefault(one, set()).add(file)
        for (module, statement), files in statements.items():
            self._look(module, statement, files)

    def files(self, pattern: Sequence[str]) -> list[str]:
        """The source files in which a name that matches a pattern may be used."""
        literal = [one for one in pattern if not _GLOB & set(one)]
        globs = [one for one in pattern if one.strip("*") and _GLOB & set(one)]
        if _GLOB & set(pattern[0]):
            files = set(self._project.mentioning(max(literal, key=len, default="").encode()))
        else:
            files = self._rooted(literal)
            literal = literal[1:]
        found = sorted(self._naming(files, literal, globs))
        if len(pattern) == _DIRECT and not _GLOB & set("".join(pattern)):
            found = self._adjacent(found, pattern[0], pattern[1])
        return found

    def _adjacent(self, files: Sequence[str], root: str, last: str) -> list[str]:
        """Those of some files where a name is taken of its module itself, or the module is given another name."""
        taken = self._taken_from.get(f"{root}.{last}".encode(), ())
        return [
            file
            for file in files
            if file in taken or file in self._linking.get(last, ()) or self._is_adjacent(file, root, last)
        ]

    def _is_adjacent(self, file: str, root: str, last: str) -> bool:
        names = {root, *self._bound_in.get(file, {}).get(root, ())}
        names.update(name for name in self._bound.get(root, ()) if file in self._linking.get(name, ()))
        for name in names:
            taken = self._taken.get((file, name))
            if taken is None:
                taken = self._taken[file, name] = _taken(self._project.read(file), name.encode())
            if taken[1] or last in taken[0]:
                return True
        return False

    def _rooted(self, literal: Sequence[str]) -> set[str]:
        """The files that may reach a root: by importing it, or from another file of the project."""
        root = literal[0]
        found = set(self._rooted_at.get(root, ()))
        elsewhere = {*self._bound.get(root, ()), *literal}
        others = {file for word in elsewhere for file in self._linking.get(word, ())}
        if root in self._own:
            others = set(self._files)
        others -= found
        found.update(file for file in others if self._says(file, root))
        return found

    def _says(self, file: str, word: str) -> bool:
        """Whether a file holds a word anywhere."""
        said = self._said.get((file, word))
        if said is None:
            expression = re.compile(re.escape(word.encode()) + rb"\b")
            said = self._said[file, word] = expression.search(self._project.read(file)) is not None
        return said

    def _naming(self, files: set[str], literal: Iterable[str], globs: Iterable[str]) -> set[str]:
        """Those of some files that import, or take as an attribute, every word and something for every glob."""
        for word in literal:
            importing, attribute = self._importing.get(word, set()), word.encode()
            files = {file for file in files if file in importing or attribute in self._taking(file)}
        for glob in globs:
            found = {file for word in fnmatch.filter(self._importing, glob) for file in self._importing[word]}
            words = {word.decode() for file in files - found for word in self._taking(file)}
            fitting = {word.encode() for word in fnmatch.filter(words, glob)}
            files = {file for file in files if file in found or not fitting.isdisjoint(self._taking(file))}
        return files

    def _taking(self, file: str) -> set[bytes]:
        found = self._attributes.get(file)
        if found is None:
            found = self._attributes[file] = set(_ATTRIBUTE.findall(self._project.read(file)))
        return found

    def _look(self, module: bytes | None, statement: bytes, files: set[str]) -> None:
        """Note what an import statement says, and in which files."""
        words = set(_WORD.findall(statement))
        names = {word.decode() for word in words}
        _note(self._importing, names, files)
        if module is not None:
            start = b"".join(module.split())
            _note(self._taken_from, {start + b"." + word for word in words}, files)
        modules = statement if module is None else module
        roots = {found.decode() for found in _MODULE.findall(modules)}
        _note(self._rooted_at, roots, files)
        if modules.lstrip()[:1] == b"." or not roots.isdisjoint(self._own):
            _note(self._linking, names, files)
        if b"as" in words:
            pairs = [(name.decode(), alias.decode()) for name, alias in _ALIAS.findall(statement)]
            _note(self._bound, names, {alias for _, alias in pairs})
            for file in files if module is None else ():
                for name, alias in pairs:
                    self._bound_in.setdefault(file, {}).setdefault(name, set()).add(alias)


def _note(noted: dict[Word, set[str]], words: Iterable[Word], what: set[str]) -> None:
    for word in words:
        noted.setdefault(word, set()).update(what)


def _taken(data: bytes, name: bytes) -> tuple[set[str], bool]:
    """The attributes that a text takes of a name, and whether it hands the name on as it is, other than to a call."""
    attributes = set()
    handed = False
    for found in _uses(name).finditer(data):
        if found[1] is not None:
            attributes.add(found[1].decode())
        elif not handed and _HANDED.search(data, max(found.start() - _BEFORE, 0), found.start()) is not None:
            handed = not _is_argument(data, found.start())
    return attributes, handed


@functools.lru_cache(maxsize=256)
def _uses(name: bytes) -> re.Pattern[bytes]:
    """A name with the attribute taken of it, or alone. It begins with the name, which is what makes it fast."""
    space = rb"(?:\s|\\\r?\n)*"
    return re.compile(re.escape(name) + rb"\b(?:" + space + rb"\." + space + rb"([A-Za-z_]\w*)|(?!\s*[.(\[\w]))")


def _is_argument(data: bytes, at: int) -> bool:
    """Whether the innermost bracket around a place is that of a call: what a call is given is not followed into it."""
    open_ = 0
    for place in range(at - 1, max(at - _AROUND, 0) - 1, -1):
        one = data[place]
        if one in b")]}":
            open_ += 1
        elif one in b"([{":
            open_ -= 1
            if open_ < 0:
                called = _CALL.search(data, max(place - _BEFORE, 0), place) if one in b"(" else None
                return called is not None and called[1] is None
    return False


def _statements(data: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    """Everything that looks like an import statement, with the module that stands after its ``from``."""
    at = data.find(_IMPORT)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        while start > 1 and data[max(start - 3, 0) : start].endswith((b"\\\n", b"\\\r\n")):
            start = data.rfind(b"\n", 0, start - 1) + 1
        end = at + len(_IMPORT)
        before = data[start:at]
        plain = before.strip()[-1:] in b":;"
        origin = None if plain else _FROM.search(before)
        if (plain or origin is not None) and not data[end : end + 1].isalnum():
            rest = _REST.match(data, at)
            end = max(end, rest.end()) if rest else end
            yield origin[1] if origin else None, data[start:end]
        at = data.find(_IMPORT, end)
