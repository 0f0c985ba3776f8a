"""Attributes of objects of which nothing says the class, by words that the installed releases of a provider have lost.

A consumer that imports a provider, and uses an attribute that classes of it had and have no more, gets a warning where
nothing else that it imports has an attribute of this name. A file of a project may leave the import to another one.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import re

from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.versions import within
from envdoctor.linker.history import shipped
from envdoctor.linker.module_files import PROJECT
from envdoctor.linker.module_reader import asked_of_anything
from envdoctor.linker.reach import severity_of
from envdoctor.linker.summary import CATCHES_ATTRIBUTE
from envdoctor.linker.verdicts import Missing
from envdoctor.model import Distribution
from envdoctor.probes.distributions import required_by
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.linker.history import Life
    from envdoctor.linker.made_words import MadeWords
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

#: A shorter word is in any source.
_SHORTEST = 5
#: A name with so many underscores is nobody else's.
_MANY = 2
_USED = re.compile(rb"\.([a-z]\w{%d,})" % (_SHORTEST - 1))
#: Modules whose classes make objects that are passed around.
_STANDARD = (
    *("builtins", "argparse", "array", "ast", "asyncio", "collections", "concurrent.futures", "configparser", "ctypes"),
    *("datetime", "decimal", "email.message", "fractions", "http.client", "http.cookies", "io", "ipaddress", "logging"),
    *("multiprocessing.pool", "pathlib", "queue", "random", "re", "select", "socket", "sqlite3", "ssl", "subprocess"),
    *("threading", "types", "unittest", "urllib.parse", "urllib.request", "uuid", "xml.dom.minidom"),
    *("xml.etree.ElementTree", "xml.sax.handler", "zipfile", "zoneinfo"),
)
_ACCESSOR = re.compile(r"^(?:get|set|has|is)_")
#: So many bytes behind its name a function that is gone may raise.
_REFUSAL = 2000


class LostWords:
    """Looks for lost words in some modules of a world."""

    def __init__(self, world: World, reach: Reach, made: MadeWords) -> None:
        self._world, self._reach, self._made = world, reach, made
        self._history = shipped()
        self._gone: dict[str, Mapping[str, Sequence[Life]]] = {}
        self._kept: dict[tuple[str, str], bool] = {}

    def all(self, names: Iterable[str], found: Iterable[Missing]) -> Iterator[Missing]:
        """The uses of lost words, by module, where nothing was ``found`` already."""
        known = {(one.file, one.line) for one in found}
        for name in names:
            place = self._world.layout.modules[name]
            aside = place.owner != PROJECT and self._world.layout.is_aside(name)
            if self._history is None or place.kind == "native" or aside:
                continue
            lost = self._lost(name)
            for word, line, flags, handler in self._uses(name, lost) if lost else ():
                if (place.path, line) not in known:
                    yield from self._missing(name, (word, line, flags, handler), lost[word])

    def _lost(self, name: str) -> dict[str, Life]:
        """The words that a module uses and a provider that it imports has lost, each with what is known of it."""
        owner = self._world.layout.modules[name].owner
        near = self._made.imported(name)
        around = self._made.imported_by(owner) if owner == PROJECT else near
        providers = [one for one in sorted(near | around) if one != owner and self._words(one)]
        if not providers:
            return {}
        used = self._used(name)
        found: dict[str, Life] = {}
        for provider in providers:
            words = self._words(provider)
            for word in sorted(used & words.keys()):
                is_meant = provider in near or _is_long(word)
                if is_meant and self._may_ask(owner, words[word][0]) and self._is_distinctive(word, provider, name):
                    found[word] = words[word][0]
        return found

    def _used(self, name: str) -> set[str]:
        """The attributes that a module uses, but for those that it asks for first, or that some module sets."""
        resolver = self._world.resolver
        used = {word.decode() for word in _USED.findall(self._world.store.text(name))}
        return used - {*resolver.take_note(name).get("hints", ()), *resolver.set_somewhere}

    def _may_ask(self, owner: str, life: Life) -> bool:
        """Whether a distribution does not require releases of a provider that have lost the word already."""
        path = self._world.layout.metadata.get(owner) if owner != PROJECT else None
        lines = required_by(Distribution(name=owner, version=None, path=path)) if path else ()
        wanted = [one[1] for one in map(parse, lines) if one is not None and one[0] == life.distribution]
        return all(within(life.last or "", one) is not False for one in wanted)

    def _words(self, provider: str) -> Mapping[str, Sequence[Life]]:
        """The words that all classes of an installed provider have lost, as far as its history says."""
        if provider not in self._gone:
            version = self._world.layout.versions.get(provider, "")
            self._gone[provider] = self._history.lost_words(provider, version) if self._history else {}
        return self._gone[provider]

    def _is_distinctive(self, word: str, provider: str, name: str) -> bool:
        """Whether an attribute of this name can only be one that the provider has lost."""
        owner = self._world.layout.modules[name].owner
        if word in _plain() or self._is_kept(provider, word):
            return False
        imported = self._made.tops_of(name)
        if "" in imported and not _is_long(word):
            return False
        others = (imported | self._made.imported_by(owner) | self._made.imported_by(provider)) - {provider, owner, ""}
        return not self._made.is_made({owner, *others}, word)

    def _is_kept(self, provider: str, word: str) -> bool:
        """Whether a provider makes anything so called, but for functions that do nothing but raise, or may do so.

        Of a property, what is behind ``get_`` or ``set_`` is enough: the functions may be made at run time.
        """
        if (provider, word) not in self._kept:
            made = any(_is_made(text, one, word) for text, one in self._made.places(provider, word))
            field = _ACCESSOR.sub("", word)
            lives = self._words(provider)[word]
            made = made or (field != word and any(True for _ in self._made.places(provider, field)))
            there = [made or self._is_class(provider, one) for one in lives]
            compiled = not all(there) and self._made.is_compiled(provider, word)
            self._kept[provider, word] = made or compiled or not any(there)  # its classes may be somebody else's now
        return self._kept[provider, word]

    def _is_class(self, provider: str, life: Life) -> bool:
        """Whether the class that had a name is one in source still, and not one that was compiled."""
        kind = life.name.split(".")[-2]
        return any(one.group().startswith(b"class") for _, one in self._made.places(provider, kind))

    def _uses(self, name: str, lost: Mapping[str, Life]) -> list[tuple[str, int, int, int]]:
        place = self._world.layout.modules[name]
        text = self._world.store.text(name)
        return asked_of_anything(text, name, self._world.target, frozenset(lost), package=place.kind == "package")

    def _missing(self, name: str, use: tuple[str, int, int, int], life: Life) -> Iterator[Missing]:
        word, line, flags, handler = use
        place = self._world.layout.modules[name]
        severity, way = severity_of(self._reach.ways[name], flags, CATCHES_ATTRIBUTE)
        if severity != "silent" and not handler:
            severity = "info" if severity == "info" else "warning"
            home, _, path = life.name.rpartition(".")[0].rpartition(".")
            yield Missing(
                place.owner, place.path, line, f".{word}", life.distribution, "lost", severity, way, home,
                f"{path}.{word}", life.said(),
            )  # fmt: skip


def _is_long(word: str) -> bool:
    """Whether a name is of so many words that it means no other, whatever a file imports."""
    return word.count("_") >= _MANY


@functools.cache
def _plain() -> set[str]:
    """The attributes of the built-in types, and of the classes of what programs use most of the standard library."""
    kinds = set[type]()
    for name in _STANDARD:
        with contextlib.suppress(ImportError):  # of which a Python may be built without
            kinds.update(one for one in vars(importlib.import_module(name)).values() if isinstance(one, type))
    return {name for kind in kinds for name in dir(kind)}


def _is_made(source: bytes, place: re.Match[bytes], word: str) -> bool:
    """Whether what is written at a place makes something, and is no function that does nothing but raise."""
    if not place.group().startswith(b"def") or b"raise " not in source[place.end() : place.end() + _REFUSAL]:
        return True
    line = source.count(b"\n", 0, place.start()) + 1
    tree = parsed(source)
    return tree is None or not any(
        isinstance(node, ast.FunctionDef) and (node.name, node.lineno) == (word, line) and _is_refusal(node.body)
        for node in ast.walk(tree)
    )


def _is_refusal(body: Sequence[ast.stmt]) -> bool:
    """Whether a function does nothing but raise, after its docstring."""
    return isinstance(body[-1], ast.Raise) and all(isinstance(one, ast.Expr) for one in body[:-1])
