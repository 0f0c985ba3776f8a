"""Which files are worth parsing for a pattern, by their import statements and by what follows a dot."""

from __future__ import annotations

import fnmatch
import functools
import re

from envdoctor.probes.project.walk import is_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from envdoctor.probes.project.tree import Files

_IMPORT = b"import"
#: Most import statements: a line, with nothing else on it.
_LINE = re.compile(rb"[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+[\w., \t*]*")
#: From ``import`` to the end of the statement, over continued lines and parentheses.
_REST = re.compile(rb"(?:[^\n\\(#]|\\\r?\n?)*(?:\((?:[^)#]|#[^\n]*)*)?")
#: Indexed as a word of the statements that import all of a module.
_STAR = b"*"
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(rb"\.(?:\s|\\\r?\n)*([A-Za-z_]\w*)")
#: An attribute that is read or set by its name.
_BY_NAME = re.compile(rb"[gs]etattr\([^\n]*?,\s*['\"]([A-Za-z_]\w*)['\"]")
#: And a module that is imported by its name.
_CALLED = re.compile(rb"import(?:_module|__)\(\s*['\"]([\w.]+)")
#: What precedes a name that is assigned, returned or passed as it is, and how far to look for it.
_PASSED = re.compile(rb"(?:[=(,\[:]|\b(?:else|return|or|and|in))\s*\Z")
_BEFORE = 32
#: What is further before an ``import`` is not of its statement.
_FURTHEST = 300
#: From ``from`` to ``import``, at the beginning of a statement.
_FROM = re.compile(rb"(?:^|[:;])\s*from(?![\w])([\w.\s\\]+)\Z")
#: The first word of a dotted name.
_MODULE = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
#: What a line has before the call whose result it assigns to a name of the module.
_NAME = re.compile(rb"([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=[ \t]*(?:[A-Za-z_][\w.]*\.)?")
#: A class with its bases.
_DERIVED = re.compile(rb"^class[ \t]+(\w+)[ \t]*\(([^)]*)\)", re.MULTILINE)
#: A function or class at the top of a module, and how these begin.
_DEFINED = re.compile(rb"\n(?:async )?(?:def|class)[ \t]+(\w+)")
_DEFINES = (b"\ndef ", b"\nasync def ", b"\nclass ")
_ALIAS = re.compile(rb"([\w.]+)\s+as\s+(\w+)")
_GLOB = frozenset("*?[")
#: From what a library has to an object that it made, a class derived from what that has, and one derived from this.
_MOST_STEPS = 3
#: Segments of a pattern that names something of a module directly.
_DIRECT = 2


class Prefilter:
    """The imports and attributes in the files of a project, each computed when it is first needed."""

    def __init__(self, project: Files) -> None:
        self._project = project
        names = filter(is_module, project.files())
        self._own = {name.removeprefix("src/").partition("/")[0].partition(".")[0].encode() for name in names}
        self._files = set(project.mentioning(_IMPORT))
        #: The import statements that contain a word.
        self._statements: dict[bytes, list[_Statement]] = {}
        #: Other names that import statements give: in all files, by any word of the statement; in each, by the module.
        self._aliases: dict[bytes, set[bytes]] = {}
        self._aliases_in: dict[tuple[str, bytes], set[bytes]] = {}
        same: dict[tuple[bytes | None, bytes], list[str]] = {}  # many files have the same statements
        for file in self._files:
            for one in _statements(project.read(file)):
                same.setdefault(one, []).append(file)
        for (module, text), files in same.items():
            self._add(_Statement(module, text, files, self._own), text)
        self._importing = functools.cache(lambda word: _files(self._statements.get(word, ())))
        self._linking = functools.cache(lambda word: _files(self._statements.get(word, ()), lambda one: one.is_own))
        self._naming = functools.cache(self._named)
        self._having = functools.cache(self._had)
        self._giving = functools.cache(self._given)
        self._derived = functools.cache(lambda file: _derived(project.read(file)))
        self._words = functools.cache(lambda file: set(_WORD.findall(project.read(file))))
        self._taken = functools.cache(lambda file, name: _taken(project.read(file), name))

    def _add(self, statement: _Statement, text: bytes) -> None:
        """Index an import statement by its words and by the other names that it gives."""
        words = {*_WORD.findall(text), *([_STAR] if text.rstrip().endswith(_STAR) else [])}
        aliases = _ALIAS.findall(text) if b"as" in words else ()
        for word in words:
            self._statements.setdefault(word, []).append(statement)
            if aliases:
                self._aliases.setdefault(word, set()).update(alias for _, alias in aliases)
        for name, alias in aliases if statement.module is None else ():
            for file in statement.files:
                self._aliases_in.setdefault((file, name), set()).add(alias)

    def files(self, pattern: Sequence[str]) -> list[str]:
        """The source files in which a name that matches a pattern may be used."""
        literal = [one.encode() for one in pattern if _GLOB.isdisjoint(one)]
        is_rooted = _GLOB.isdisjoint(pattern[0])
        files = self._files if is_rooted else set(self._project.mentioning(max(literal, key=len)))
        makers = {one.encode() for one in pattern[:-1]}  # the last one is used, whatever it makes
        having = self._having if not is_rooted else functools.partial(self._giving, literal[0])
        files = files.intersection(
            *(self._naming(one) | (having(one) if one in makers else set()) for one in literal[is_rooted:])
        )
        if is_rooted:
            files = self._reaching(literal, makers, files)
        for glob in pattern:
            if not _GLOB.isdisjoint(glob) and glob.strip("*"):
                words = fnmatch.filter({*self._statements, *self._attributes}, glob.encode())
                files &= set().union(*map(self._naming, words))
        if len(pattern) == len(literal) == _DIRECT:
            files = self._adjacent(files, *literal)
        return sorted(files)

    def _reaching(self, literal: Sequence[bytes], makers: set[bytes], files: set[str]) -> set[str]:
        """Those of some files that may reach the first word: by importing it, or from another file of the project."""
        root = literal[0]
        found = _files(self._statements.get(root, ()), lambda one: root in one.roots)
        elsewhere = [self._linking(word) for word in (*self._aliases.get(root, ()), *literal)]
        starred = self._linking(_STAR)
        others = files if root in self._own else starred.union(*elsewhere) & files
        found |= {file for file in others - found if root in self._words(file)}
        for word in literal[1:]:
            if any(root in one.roots for name in (word, _STAR) for one in self._statements.get(name, ())):
                found |= self._linking(word) | {file for file in (starred & files) - found if word in self._words(file)}
            found |= self._giving(root, word) if word in makers else set()
        return found & files

    @functools.cached_property
    def _attributes(self) -> dict[bytes, set[str]]:
        """The files that read each word as an attribute."""
        found: dict[bytes, set[str]] = {}
        for file in self._files:
            data = self._project.read(file)
            for word in {*_ATTRIBUTE.findall(data), *(_BY_NAME.findall(data) if b"etattr(" in data else ())}:
                found.setdefault(word, set()).add(file)
        return found

    def _named(self, word: bytes) -> set[str]:
        """The files that import a word, read it as an attribute, or may have it of an import of all names."""
        found = self._importing(word) | self._attributes.get(word, set())
        return found | {file for file in self._importing(_STAR) - found if word in self._words(file)}

    def _had(self, word: bytes) -> set[str]:
        """The files that may have what a call of this name made in another file, or what is derived from it there."""
        made: set[bytes] = set()
        places = {(word, file) for file in self._importing(word) | self._attributes.get(word, set())}
        for _ in range(_MOST_STEPS):
            places = {(name, file) for one, file in places for name in self._made(file, one) if name not in made}
            made |= {name for name, _ in places}
            places |= {(name, file) for name, _ in places for file in self._importing(name)}
        found = set().union(*(self._linking(name) | self._attributes.get(name, set()) for name in made))
        starred = self._linking(_STAR) - found if made else ()
        return found | {file for file in starred if not made.isdisjoint(self._words(file))}

    def _given(self, root: bytes, word: bytes) -> set[str]:
        """As ``_had``, and those that import a function or class of another file in which the name is called."""
        found = set(self._having(word))
        places = self._importing(word) | self._attributes.get(word, set())
        for file in places & _files(self._statements.get(root, ()), lambda one: root in one.roots):
            module = file.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2].encode()
            for name in set(_holding(self._project.read(file), word)):
                found |= self._linking(module) & (self._importing(name) | self._attributes.get(name, set()))
        return found

    def _made(self, file: str, word: bytes) -> Iterator[bytes]:
        """The names in a file of what a call of a name returns, and of classes that have it in their bases."""
        yield from _assigned(self._project.read(file), word)
        yield from (name for name, bases in self._derived(file) if word in bases)

    def _adjacent(self, files: set[str], root: bytes, last: bytes) -> set[str]:
        """Those of some files where a name is read from its module itself, or the module is given another name."""
        found = _files(self._statements.get(last, ()), lambda one: one.module == root) | self._linking(last)
        found |= self._importing(_STAR)
        return {file for file in files if file in found or self._takes(file, root, last)}

    def _takes(self, file: str, root: bytes, last: bytes) -> bool:
        names = {root, *self._aliases_in.get((file, root), ())}
        names.update(name for name in self._aliases.get(root, ()) if file in self._linking(name))
        taken = (self._taken(file, name) for name in names)
        return any(renamed or last in attributes for attributes, renamed in taken)


class _Statement:
    """An import statement: the module after its ``from``, the files that contain it, and what its modules begin with.

    ``is_own`` says that one of the modules may be the project's.
    """

    __slots__ = ("files", "is_own", "module", "roots")

    def __init__(self, module: bytes | None, text: bytes, files: list[str], own: set[bytes]) -> None:
        self.module = None if module is None else b"".join(module.split())
        self.files = files
        self.roots = frozenset(_MODULE.findall(text if self.module is None else self.module))
        self.is_own = (self.module or b"").startswith(b".") or not self.roots.isdisjoint(own)


def _files(statements: Iterable[_Statement], wanted: Callable[[_Statement], bool] = bool) -> set[str]:
    return {file for one in statements if wanted(one) for file in one.files}


def _taken(data: bytes, name: bytes) -> tuple[set[bytes], bool]:
    """The attributes that a text reads from a name, and whether the name is assigned, returned or passed as it is."""
    attributes = set()
    passed = False
    for found in _uses(name).finditer(data):
        if found[1] is not None:
            attributes.add(found[1])
        elif not passed:
            passed = _PASSED.search(data, max(found.start() - _BEFORE, 0), found.start()) is not None
    return attributes, passed


def _derived(data: bytes) -> list[tuple[bytes, list[bytes]]]:
    """The classes at the top of a module, each with the words of its bases."""
    return [(found[1], _WORD.findall(found[2])) for found in _DERIVED.finditer(data)] if b"class" in data else []


def _assigned(data: bytes, word: bytes) -> Iterator[bytes]:
    """The names at the top of a module to which what a call of a name returns is assigned."""
    at = data.find(word + b"(")
    while at >= 0:
        found = _NAME.fullmatch(data, data.rfind(b"\n", 0, at) + 1, at)
        if found is not None:
            yield found[1]
        at = data.find(word + b"(", at + 1)


def _holding(data: bytes, word: bytes) -> Iterator[bytes]:
    """The functions and classes at the top of a module in which something of a name is called."""
    at = data.find(word + b"(")
    while at >= 0:
        start = max(data.rfind(begin, 0, at) for begin in _DEFINES)
        found = _DEFINED.match(data, start) if start >= 0 else None
        if found is not None:
            yield found[1]
        at = data.find(word + b"(", at + 1)


@functools.lru_cache(maxsize=256)
def _uses(name: bytes) -> re.Pattern[bytes]:
    """A name with the attribute read from it, or alone. It begins with the name, which is what makes it fast."""
    space = rb"(?:\s|\\\r?\n)*"
    return re.compile(re.escape(name) + rb"\b(?:" + space + rb"\." + space + rb"([A-Za-z_]\w*)|(?!\w|\s*[.(\[]))")


def _statements(data: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    """Everything that looks like an import statement, with the module after its ``from``."""
    at = data.find(_IMPORT)
    while at >= 0:
        called = _CALLED.match(data, at)
        if called is not None:
            yield called[1], b"from " + called[1] + b" import *"  # as little is seen of what is taken from it
        first = max(at - _FURTHEST, 0)
        start = data.rfind(b"\n", first, at) + 1 or first
        line = _LINE.match(data, start)
        if line is not None and data[line.end() : line.end() + 1] == b"\n" and data[start - 2 : start - 1] != b"\\":
            yield line[1], line[0]
            at = data.find(_IMPORT, line.end())
            continue
        module, start, end = _long_statement(data, at, start) or (None, 0, 0)
        if end:
            yield module, data[start:end]
        at = data.find(_IMPORT, max(end, at + len(_IMPORT)))


def _long_statement(data: bytes, at: int, start: int) -> tuple[bytes | None, int, int] | None:
    """The module, the beginning and the end of an import over several lines, or behind something else on its line."""
    first = max(at - _FURTHEST, 0)
    while start - 1 > first and data[max(start - 3, 0) : start].endswith((b"\\\n", b"\\\r\n")):
        start = data.rfind(b"\n", first, start - 1) + 1 or first
    end = at + len(_IMPORT)
    before = data[start:at]
    plain = before.strip()[-1:] in b":;"
    origin = None if plain else _FROM.search(before)
    if not (plain or origin) or data[end : end + 1].isalnum():
        return None
    rest = _REST.match(data, at)
    return origin[1] if origin else None, start, max(end, rest.end()) if rest else end
