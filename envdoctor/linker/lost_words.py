"""Attributes of objects of an unknown kind, by the words that a distribution has lost: no proof, but rarely chance.

A word counts where a class of an older release of what a module imports has it, the installed release nowhere, and
nothing else that the module imports, its own distribution or the standard library has it either.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import glob
import os
import re
import sysconfig
from typing import TYPE_CHECKING, Any

from envdoctor.linker.branches import is_about_versions
from envdoctor.linker.history import shipped
from envdoctor.linker.hooks import parsed
from envdoctor.linker.missing import Missing, severity_of
from envdoctor.linker.module_files import PROJECT, is_aside
from envdoctor.linker.statements import handled
from envdoctor.linker.summary import CATCHES_ATTRIBUTE, LATER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from envdoctor.linker.history import Life
    from envdoctor.linker.reach import Reach
    from envdoctor.linker.world import World

_TAKEN = re.compile(rb"\.([A-Za-z]\w+)")
_WORD = re.compile(rb"[A-Za-z_]\w+")


class LostWords:
    """Looks for lost words in some modules of a world."""

    def __init__(self, world: World, reach: Reach) -> None:
        self._world = world
        self._reach = reach
        self._history = shipped()
        self._lost: dict[str, Mapping[str, Life]] = {}
        self._defined: dict[tuple[str, str], bool] = {}
        self._texts: tuple[str, list[bytes]] = "", []

    def all(self, names: Iterable[str], known: Iterable[Missing]) -> Iterator[Missing]:
        """What some modules take, but for the lines of what is ``known``."""
        told = {(one.file, one.line) for one in known}
        for name in names if self._history is not None else ():
            place = self._world.layout.modules[name]
            severity, way = severity_of(self._reach.ways.get(name, []), LATER, CATCHES_ATTRIBUTE)
            aside = is_aside(name) and place.owner != PROJECT
            if place.kind != "native" and not aside and severity == "warning":
                for life, line in self._lost_in(name):
                    if (place.path, line) not in told:
                        yield self._missing(name, line, life, way)

    def _lost_in(self, name: str) -> Iterator[tuple[Life, int]]:
        """The words that a module takes and that are lost, with the first line of each."""
        owner, text = self._world.layout.modules[name].owner, self._world.store.text(name)
        imported = self._imported(name) - {owner}
        lives = {word: life for one in imported for word, life in self._of(one).items()}
        taken = {word.decode() for word in _TAKEN.findall(text)} if lives else set()
        for word in sorted(lives.keys() & taken):
            lines = [] if self._has(word, {owner, *imported}, name) else unguarded(text, word)
            yield from ((lives[word], line) for line in lines[:1])

    def _missing(self, name: str, line: int, life: Life, way: int) -> Missing:
        place, (kind, word) = self._world.layout.modules[name], life.name.rsplit(".", 1)
        owner, said = life.distribution, life.said()
        return Missing(
            place.owner, place.path, line, life.name, owner, "lost", "warning", way, kind, word, said
        )  # fmt: skip

    def _imported(self, name: str) -> set[str]:
        """The distributions that a module imports itself."""
        refs = self._world.resolver.take_note(name).get("refs", ())
        return {self._world.layout.owner(ref[0]) for ref in refs} - {"", PROJECT}

    def _of(self, owner: str) -> Mapping[str, Life]:
        """The words that the installed release of a distribution has lost."""
        if owner not in self._lost:
            version = self._world.layout.versions.get(owner, "")
            self._lost[owner] = self._history.lost(owner, version) if self._history is not None else {}
        return self._lost[owner]

    def _has(self, word: str, owners: Iterable[str], name: str) -> bool:
        """Whether Python or one of some distributions has a word; the one that takes it, in another way than that."""
        own = self._world.layout.modules[name].owner
        if word.encode() in standard_words() or word in self._world.resolver.set_somewhere:
            return True
        others = (one for one in owners if one != own)
        return any(self._world.resolver.words.anywhere(one, word) for one in others) or self._defines(own, word, name)

    def _defines(self, owner: str, word: str, name: str) -> bool:
        """Whether the distribution of a module, or the project, has a word otherwise than behind a dot."""
        if (owner, word) not in self._defined:
            sought = word.encode()
            otherwise = re.compile(rb"(?<![.\w])" + sought + rb"\b")
            self._defined[owner, word] = any(
                sought in text and otherwise.search(text) for text in self._sources(owner, name)
            )
        return self._defined[owner, word]

    def _sources(self, owner: str, name: str) -> list[bytes]:
        """The sources of the distribution of a module, or of the project; those of the last one are kept."""
        if self._texts[0] != owner:
            names = self._world.layout.names.get(owner, ()) if owner != PROJECT else self._world.store.sources
            own = {*names, name} & self._world.layout.modules.keys()
            self._texts = owner, [self._world.store.text(one) for one in own]
        return self._texts[1]


def unguarded(source: bytes, word: str) -> list[int]:
    """The lines on which an attribute is read where nobody catches that it is not there, or asks for a version."""
    tree = parsed(source)
    found: list[int] = []
    todo: list[Any] = [tree] if tree is not None else []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Attribute) and node.attr == word and isinstance(node.ctx, ast.Load):
            found.append(node.lineno)
        elif isinstance(node, (ast.If, ast.IfExp)) and is_about_versions(node.test):
            continue
        elif isinstance(node, ast.Try) and any(handled(one.type) & CATCHES_ATTRIBUTE for one in node.handlers):
            todo += [*node.orelse, *node.finalbody]
            continue
        todo += ast.iter_child_nodes(node)
    return sorted(found)


@functools.cache
def standard_words() -> frozenset[bytes]:
    """The words of the standard library of the Python that runs this, and of its builtin types."""
    folder = sysconfig.get_paths()["stdlib"]
    found = {
        name.encode() for kind in (str, bytes, dict, list, set, int, float, tuple, object, type) for name in dir(kind)
    }
    found |= {b"iteritems", b"iterkeys", b"itervalues", b"has_key"}
    for path in (*glob.glob(os.path.join(folder, "*.py")), *glob.glob(os.path.join(folder, "*", "*.py"))):
        if os.path.basename(os.path.dirname(path)) not in {"site-packages", "test", "idlelib", "lib2to3"}:
            with contextlib.suppress(OSError), open(path, "rb") as file:  # a link may lead nowhere
                found.update(_WORD.findall(file.read()))
    return frozenset(found)
