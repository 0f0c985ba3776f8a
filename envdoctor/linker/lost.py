"""Attributes that a library's classes had and have no more, met in what imports it: types are not known, names are."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from typing import TYPE_CHECKING, Any

from envdoctor.linker.conditions import is_about_versions
from envdoctor.linker.history import shipped
from envdoctor.linker.hooks import parsed, required
from envdoctor.linker.layout import PROJECT, is_aside
from envdoctor.linker.missing import Missing
from envdoctor.linker.summary import IMPORTS, LATER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

#: A shorter name is no evidence.
_WORD = re.compile(rb"\w{4,}")
_FORMS = {True: rb"\b%s\s*=[^=]", False: rb"\.\s*%s\b"}
#: Standard modules whose objects are met everywhere, and some that are met where they are imported.
_EVERYWHERE = (
    "argparse", "asyncio", "builtins", "codecs", "collections", "concurrent.futures", "configparser", "contextlib",
    "datetime", "decimal", "email.message", "enum", "fractions", "functools", "http.client", "http.cookies",
    "importlib.metadata", "inspect", "io", "ipaddress", "itertools", "json", "logging", "logging.handlers",
    "multiprocessing", "numbers", "pathlib", "pickle", "queue", "random", "re", "selectors", "socket", "ssl",
    "string", "subprocess", "threading", "time", "traceback", "types", "unittest", "unittest.mock", "urllib.parse",
    "urllib.request", "weakref", "xml.etree.ElementTree",
)  # fmt: skip
_IMPORTED = {
    "array", "ast", "csv", "ctypes", "optparse", "shelve", "sqlite3", "struct", "tarfile", "tempfile", "tokenize",
    "uuid", "zipfile",
}  # fmt: skip


class Lost:
    """What each installed library that the history knows has lost, and where that is asked for."""

    def __init__(self, world: World, reach: Reach) -> None:
        self._world = world
        self._reach = reach
        history = shipped()
        versions = world.layout.versions
        self._gone = {one: history.lost(one, version) for one, version in versions.items()} if history else {}
        self._gone = {one: gone for one, gone in self._gone.items() if gone}
        self._owners = {top: owner for owner, tops in world.layout.tops.items() for top in tops}
        self._defined: dict[str, set[str]] = {}

    def all(self, names: Iterable[str]) -> Iterator[Missing]:
        """What some modules ask for."""
        for name in names if self._gone else ():
            place = self._world.layout.modules[name]
            if place.kind != "native" and not (is_aside(name) and place.owner != PROJECT):
                yield from self._of(name)

    def _of(self, name: str) -> Iterator[Missing]:
        layout, place = self._world.layout, self._world.layout.modules[name]
        summary = self._world.resolver.take_note(name)
        tops = {ref[0].partition(".")[0] for ref in summary.get("refs", ()) if ref[3] & IMPORTS}
        imported = {self._owners[top] for top in tops if top in self._owners}
        providers = (imported & self._gone.keys()) - {place.owner}
        if not providers:
            return
        text = self._world.store.text(name)
        written = set(_WORD.findall(text))
        wanted = {one: self._used(one, written, text) for one in providers}
        words = set().union(*wanted.values()) - set(summary.get("hints", ()))
        if words:
            words = words.difference(*map(_everyday, {*_EVERYWHERE, *(tops & _IMPORTED)}))
        for owner in {place.owner, *imported}.union(*(required(layout, one) for one in imported)) if words else ():
            words -= self._of_owner(owner)
        for provider in sorted(providers):
            yield from self._told(name, provider, text, words & wanted[provider])

    def _used(self, provider: str, written: Collection[bytes], text: bytes) -> set[str]:
        """What a library has lost that some source, with these words, has as an attribute or a keyword."""
        found = (word for word in self._gone[provider] if word.rpartition(":")[2].encode() in written)
        return {word for word in found if re.search(_FORMS[":" in word] % word.rpartition(":")[2].encode(), text)}

    def _told(self, name: str, provider: str, text: bytes, words: Collection[str]) -> Iterator[Missing]:
        place = self._world.layout.modules[name]
        for word, line in _uses(text, {one for one in words if not self._may_be_made(provider, one)}):
            life = self._gone[provider][word]
            method, _, parameter = word.partition(":")
            asked = f".{method}({parameter}=)" if parameter else f".{word}"
            kind = life.name.rpartition(".")[0]
            yield Missing(
                place.owner, place.path, line, asked, provider, "lost", "warning", LATER, kind, word, life.said()
            )  # fmt: skip

    def _of_owner(self, owner: str) -> set[str]:
        """All that the reached modules of a distribution define: names, attributes, and what they set on others."""
        if owner not in self._defined:
            found = self._defined[owner] = set()
            for name in self._world.layout.names.get(owner, ()):
                if name in self._reach.ways and self._world.layout.modules[name].kind != "native":
                    found |= self._of_module(name)
        return self._defined[owner]

    def _of_module(self, name: str) -> set[str]:
        summary, told = self._world.store.get(name), self._world.store.definitions(name)
        names = {*told.get("names", ()), *summary.get("sets", ()), *summary.get("hints", ())}
        return names.union(*(one[1] for one in told.get("classes", ())))

    def _may_be_made(self, owner: str, word: str) -> bool:
        """Whether a binary has the word, or a text what follows its verb: ``get_x`` may be made of ``x``."""
        if ":" in word:
            return self._world.resolver.words.anywhere(owner, word.partition(":")[2])
        layout, rest = self._world.layout, word.partition("_")[2]
        if rest and any(self._world.resolver.words.anywhere(owner, f"{quote}{rest}{quote}") for quote in "'\""):
            return True
        natives = (layout.modules[name] for name in layout.names[owner] if name in layout.modules)
        return any(self._world.resolver.words.in_file(one.path, word) for one in natives if one.kind == "native")


def _uses(text: bytes, words: Collection[str]) -> Iterator[tuple[str, int]]:
    """Where attributes are read of what is no imported module and not the object itself, and nothing catches it."""
    tree = parsed(text, "import", *(part for word in words for part in word.split(":"))) if words else None
    if tree is None:
        return
    known = {"self", "cls", "super"}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known.update((one.asname or one.name).partition(".")[0] for one in node.names)
    found: dict[str, int] = {}
    for node in _reached(tree):
        for word in _asked(node, known):
            if word in words:
                found.setdefault(word, node.lineno)
    yield from found.items()


def _asked(node: Any, known: Collection[str]) -> Iterator[str]:
    """The attribute that a node reads of what has none of some names, or the keywords of the method that it calls."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from (f"{node.func.attr}:{keyword.arg}" for keyword in node.keywords)
    elif (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and getattr(node.value, "id", None) not in known
    ):
        yield node.attr


def _reached(tree: ast.AST) -> Iterator[Any]:
    """The nodes of a tree that stand in no `try`, and under no condition that asks what is installed."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Try):
            stack += [*(one for handler in node.handlers for one in handler.body), *node.orelse, *node.finalbody]
        elif not (isinstance(node, (ast.If, ast.IfExp)) and is_about_versions(node.test)):
            stack.extend(ast.iter_child_nodes(node))


@functools.cache
def _everyday(name: str) -> frozenset[str]:
    """The names in a standard module, and the attributes of its classes."""
    module: Any = importlib.import_module(name)
    classes = [one for one in vars(module).values() if isinstance(one, type)]
    return frozenset(dir(module)).union(*map(dir, classes))
