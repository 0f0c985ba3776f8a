"""Which files are worth parsing for a pattern: a cheap look at import statements and at what follows a dot."""

from __future__ import annotations

import fnmatch
import functools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
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
#: Most import statements: a line, with nothing else on it.
_LINE = re.compile(rb"[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+[\w., \t*]*")
#: From ``import`` to the end of the statement, over continued lines and parentheses.
_REST = re.compile(rb"(?:[^\n\\(#]|\\\r?\n?)*(?:\((?:[^)#]|#[^\n]*)*)?")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rb"\.(?:\s|\\\r?\n)*([A-Za-z_]\w*)")
#: What stands before a name that is handed on as it is, and how far to look for the bracket around it.
_HANDED = re.compile(rb"(?:[=(,\[:]|\b(?:else|return|or|and|in))\s*\Z")
_BEFORE = 32
_AROUND = 400
_CALL = re.compile(rb"(?:\b(def)\s+)?[\w)\]]\w*\s*\Z")
#: What stands further before an ``import`` is not of its statement.
_FURTHEST = 300
#: From ``from`` to ``import``, at the beginning of a statement.
_FROM = re.compile(rb"(?:^|[:;])\s*from(?![\w])([\w.\s\\]+)\Z")
#: The first word of a dotted name.
_MODULE = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_ALIAS = re.compile(rb"([\w.]+)\s+as\s+(\w+)")
_GLOB = frozenset("*?[")
#: Segments of a pattern that names something of a module directly.
_DIRECT = 2


class Prefilter:
    """What the files of a project import and which attributes they name, each as far as it has been asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        names = [name for name in project.files() if name.endswith(".py")]
        self._own = {name.removeprefix("src/").partition("/")[0].partition(".")[0].encode() for name in names}
        self._files = set(project.mentioning(_IMPORT))
        told: dict[tuple[bytes | None, bytes], list[str]] = {}  # many files say the same
        for file in self._files:
            for one in _statements(project.read(file)):
                told.setdefault(one, []).append(file)
        #: The import statements that hold a word.
        self._saying: dict[bytes, list[_Statement]] = {}
        #: Other names that import statements give: in all files, by any word of the statement; in each, by the module.
        self._bound: dict[bytes, set[bytes]] = {}
        self._bound_in: dict[str, dict[bytes, set[bytes]]] = {}
        for (module, text), files in told.items():
            self._look(_Statement(module, text, files))
        #: The attributes that a file takes of anything.
        self._attributes: dict[str, set[bytes]] = {}
        self._said: dict[tuple[str, bytes], bool] = {}
        self._taken: dict[tuple[str, bytes], tuple[set[bytes], bool]] = {}
        #: The files that import a module, by its first word.
        self._rooted_at: dict[bytes, set[str]] = {}
        self._files_importing: dict[bytes, set[str]] = {}
        self._files_linking: dict[bytes, set[str]] = {}

    def files(self, pattern: Sequence[str], among: AbstractSet[str] | None = None) -> list[str]:
        """The source files, of some or of all, in which a name that matches a pattern may be used."""
        literal = [one.encode() for one in pattern if not _GLOB & set(one)]
        globs = [one.encode() for one in pattern if one.strip("*") and _GLOB & set(one)]
        if _GLOB & set(pattern[0]):
            files: AbstractSet[str] = set(self._project.mentioning(max(literal, key=len, default=b"")))
            files = files if among is None else files & among
        else:
            files = self._rooted(literal, among)
            literal = literal[1:]
        found = sorted(self._naming(files, literal, globs))
        if len(pattern) == _DIRECT and not _GLOB & set("".join(pattern)):
            found = self._adjacent(found, pattern[0].encode(), pattern[1].encode())
        return found

    def _importing(self, word: bytes) -> set[str]:
        """The files whose import statements hold a word."""
        found = self._files_importing.get(word)
        if found is None:
            found = self._files_importing[word] = _files(self._saying.get(word, ()))
        return found

    def _linking(self, word: bytes) -> set[str]:
        """The files that import a word from one of the project's own modules, or such a module."""
        found = self._files_linking.get(word)
        if found is None:
            said = self._saying.get(word, ())
            found = self._files_linking[word] = _files(one for one in said if one.links(self._own))
        return found

    def _adjacent(self, files: Sequence[str], root: bytes, last: bytes) -> list[str]:
        """Those of some files where a name is taken of its module itself, or the module is given another name."""
        taken = _files(one for one in self._saying.get(last, ()) if one.module == root)
        linking = self._linking(last)
        return [file for file in files if file in taken or file in linking or self._is_adjacent(file, root, last)]

    def _is_adjacent(self, file: str, root: bytes, last: bytes) -> bool:
        names = {root, *self._bound_in.get(file, {}).get(root, ())}
        names.update(name for name in self._bound.get(root, ()) if file in self._linking(name))
        for name in names:
            taken = self._taken.get((file, name))
            if taken is None:
                taken = self._taken[file, name] = _taken(self._project.read(file), name)
            if taken[1] or last in taken[0]:
                return True
        return False

    def _rooted(self, literal: Sequence[bytes], among: AbstractSet[str] | None) -> AbstractSet[str]:
        """The files that may reach a root: by importing it, or from another file of the project."""
        root = literal[0]
        if root not in self._rooted_at:
            self._rooted_at[root] = _files(one for one in self._saying.get(root, ()) if root in one.roots)
        found = self._rooted_at[root]
        elsewhere = [self._linking(word) for word in (*self._bound.get(root, ()), *literal)]
        if root in self._own:
            elsewhere = [self._files]
        if among is not None:
            found = found & among
            elsewhere = [files & among for files in elsewhere]
        return found.union(
            file for files in elsewhere for file in files if file not in found and self._says(file, root)
        )

    def _says(self, file: str, word: bytes) -> bool:
        """Whether a file holds a word anywhere."""
        said = self._said.get((file, word))
        if said is None:
            data = self._project.read(file)
            said = self._said[file, word] = word in data and _ended(word).search(data) is not None
        return said

    def _naming(self, files: AbstractSet[str], literal: Iterable[bytes], globs: Iterable[bytes]) -> AbstractSet[str]:
        """Those of some files that import, or take as an attribute, every word and something for every glob."""
        for word in literal:
            importing = self._importing(word)
            files = {file for file in files if file in importing or word in self._taking(file)}
        for glob in globs:
            found = {file for word in fnmatch.filter(self._saying, glob) for file in self._importing(word)}
            words = {word for file in files - found for word in self._taking(file)}
            fitting = set(fnmatch.filter(words, glob))
            files = {file for file in files if file in found or not fitting.isdisjoint(self._taking(file))}
        return files

    def _taking(self, file: str) -> set[bytes]:
        found = self._attributes.get(file)
        if found is None:
            found = self._attributes[file] = set(_ATTRIBUTE.findall(self._project.read(file)))
        return found

    def _look(self, statement: _Statement) -> None:
        """Note what an import statement says."""
        words = set(_WORD.findall(statement.text))
        for word in words:
            self._saying.setdefault(word, []).append(statement)
        if b"as" in words:
            pairs = _ALIAS.findall(statement.text)
            for word in words if pairs else ():
                self._bound.setdefault(word, set()).update(alias for _, alias in pairs)
            for file in statement.files if statement.module is None else ():
                for name, alias in pairs:
                    self._bound_in.setdefault(file, {}).setdefault(name, set()).add(alias)


class _Statement:
    """An import statement: its text, the module that stands after its ``from``, and the files in which it stands."""

    __slots__ = ("_links", "_roots", "files", "module", "text")

    def __init__(self, module: bytes | None, text: bytes, files: list[str]) -> None:
        self.module = None if module is None else b"".join(module.split())
        self.text = text
        self.files = files
        self._roots: frozenset[bytes] | None = None
        self._links: bool | None = None

    @property
    def roots(self) -> frozenset[bytes]:
        """The first words of the modules that it names."""
        if self._roots is None:
            self._roots = frozenset(_MODULE.findall(self.text if self.module is None else self.module))
        return self._roots

    def links(self, own: set[bytes]) -> bool:
        """Whether one of the modules may be the project's own."""
        if self._links is None:
            self._links = self.module is not None and self.module[:1] == b"."
            self._links = self._links or not self.roots.isdisjoint(own)
        return self._links


def _files(statements: Iterable[_Statement]) -> set[str]:
    return {file for one in statements for file in one.files}


@functools.lru_cache(maxsize=256)
def _ended(word: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(word) + rb"\b")


def _taken(data: bytes, name: bytes) -> tuple[set[bytes], bool]:
    """The attributes that a text takes of a name, and whether it hands the name on as it is, other than to a call."""
    attributes = set()
    handed = False
    for found in _uses(name).finditer(data):
        if found[1] is not None:
            attributes.add(found[1])
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
        first = max(at - _FURTHEST, 0)
        start = data.rfind(b"\n", first, at) + 1 or first
        line = _LINE.match(data, start)
        if line is not None and data[line.end() : line.end() + 1] == b"\n" and data[start - 2 : start - 1] != b"\\":
            yield line[1], line[0]
            at = data.find(_IMPORT, line.end())
            continue
        while start - 1 > first and data[max(start - 3, 0) : start].endswith((b"\\\n", b"\\\r\n")):
            start = data.rfind(b"\n", first, start - 1) + 1 or first
        end = at + len(_IMPORT)
        before = data[start:at]
        plain = before.strip()[-1:] in b":;"
        origin = None if plain else _FROM.search(before)
        if (plain or origin is not None) and not data[end : end + 1].isalnum():
            rest = _REST.match(data, at)
            end = max(end, rest.end()) if rest else end
            yield origin[1] if origin else None, data[start:end]
        at = data.find(_IMPORT, end)
