"""What single releases define and use, from their archives on an index by the readers for what is installed."""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.engine.asks import NEW
from envdoctor.errors import TargetError
from envdoctor.linker.module_files import Layout
from envdoctor.linker.reach import Reach
from envdoctor.linker.resolve import Resolver
from envdoctor.linker.store import LONGEST, Store
from envdoctor.linker.summary import CATCHES_ATTRIBUTE, CATCHES_IMPORT, CATCHES_MODULE, CONDITIONAL, FROM
from envdoctor.linker.syntax_queries import Branches, calls, saying, takes, takes_attribute, tree_of, turns, words_of
from envdoctor.linker.word_search import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.engine.asks import Ask
    from envdoctor.linker.branches import Target
    from envdoctor.linker.index_files import Archive
    from envdoctor.linker.standard_library import Standard

_BINARY = (".so", ".pyd")
#: Numbers in the version of a patch release.
_PATCH = 3
#: Modules that are read to find out what an import leads to.
_MOST_FOLLOWED = 80
#: Kinds of which the one that asks takes an attribute.
_TAKEN = frozenset({"attribute", "word"})


class _Layout(Layout):
    """The modules of releases; others may or may not be there."""

    def __init__(self, archives: Mapping[str, Archive]) -> None:
        super().__init__(())
        self._listed = [(owner, owner, list(archive.names)) for owner, archive in archives.items()]
        self.list_modules()

    def on_disk(self, name: str) -> bool:
        """Whether the module belongs to neither release."""
        return not self.has(name.partition(".")[0])


class _Store(Store):
    def __init__(self, layout: Layout, target: Target, standard: Standard, archives: Mapping[str, Archive]) -> None:
        super().__init__(layout, target, standard.matters)
        self._archives = archives

    def source(self, path: str) -> bytes:
        """The bytes of a member. Raises :class:`OSError`."""
        owner, _, name = path.partition("/")
        try:
            return self._archives[owner].read(name)[: LONGEST + 1]
        except TargetError as error:
            raise OSError(str(error)) from error


class _Words(Words):
    def __init__(self, layout: Layout, store: _Store, archives: Mapping[str, Archive]) -> None:
        super().__init__(layout)
        self._store, self._archives = store, archives

    def in_file(self, path: str, word: str) -> bool | None:
        """Whether a member contains a word; ``None`` for one that is too long to search."""
        if path.endswith(_BINARY) and not self._archives[path.partition("/")[0]].light:
            return None
        return word.encode() in self._store.source(path)

    def anywhere(self, owner: str, word: str) -> bool:
        """Whether a release contains a word, or is too long to search."""
        if not self._archives[owner].light:
            return True
        self._archives[owner].whole()
        return super().anywhere(owner, word)


class Room:
    """One release of a distribution, alone or beside one release of another."""

    def __init__(self, archives: Mapping[str, Archive], target: Target, standard: Standard) -> None:
        self._archives, self._target = archives, target
        self._layout = _Layout(archives)
        self._store = _Store(self._layout, target, standard, archives)
        self._resolver = Resolver(self._layout, self._store, standard)
        self._resolver.words = _Words(self._layout, self._store, archives)
        self._reach = Reach(self._layout, self._store, self._resolver, lambda _: None)

    # --- what is offered --------------------------------------------------------------------------------------------

    def offers(self, ask: Ask) -> bool | None:
        """Whether a release has what is asked for; ``None`` where that is not known."""
        owner = ask.provider or ""
        if ask.kind in NEW:
            return self._is_free(owner, ask)
        if ask.kind == "module":
            return self._layout.has(ask.module) if ask.module not in self._resolver.run_time.provided else None
        if ask.kind in {"name", "part"}:
            return self._has_name(owner, ask.module, ask.name, part=ask.kind == "part")
        if not self._is_searched(owner):
            return None
        if ask.kind in {"word", "attribute"}:
            return (
                self._has_attribute(ask) if ask.kind == "attribute" else self._resolver.words.anywhere(owner, ask.name)
            )
        verdicts = [takes(node, ask, bound=bound) for node, bound in self._defined(ask)]
        return any(verdicts) if verdicts else None

    def _is_free(self, owner: str, ask: Ask) -> bool | None:
        """Whether a release is still without what fails; ``None`` where that is not known."""
        if ask.kind == "super" and self._layout.has(ask.inside):
            return not self._has(ask.inside, ask.said())
        if not self._is_searched(owner):
            return None
        return not (self._takes_module(owner, ask.module) if ask.kind == "made" else self._says(owner, ask))

    def _says(self, owner: str, ask: Ask) -> bool:
        """Whether a release contains words, in the function or through the one that they are about if it is its own."""
        if ask.kind == "super":
            return any(self._has(name, ask.said()) for name in self._mentioning(owner, ""))
        found = [self._tree(name) for name in self._mentioning(owner, ask.words)]
        names = {one for tree in found for one in saying(tree, ask.words)}
        trees = [self._tree(name) for name in self._mentioning(owner, f"def {ask.name}")]
        silent = [names.isdisjoint(words) for tree in trees for words in words_of(tree, ask.name)]
        return not all(silent) if silent else bool(found)

    def _tree(self, name: str) -> ast.Module:
        return tree_of(self._store.source(self._layout.modules[name].path))

    def _takes_module(self, owner: str, module: str) -> bool:
        """Whether a release imports a module, or a name of it."""
        refs = (ref for name in self._mentioning(owner, "") for ref in self._resolver.take_note(name).get("refs", ()))
        return any(f"{ref[0]}.{ref[1]}.".startswith(f"{module}.") for ref in refs)

    def defines(self, owner: str, name: str) -> bool:
        """Whether a release may define a name: a function, a variable, or a whole word in its binaries."""
        form = rb"def %(name)s\b|\b%(name)s\s*(?::[^=\n]*)?=[^=]|%(name)s\0" % {b"name": name.encode()}
        paths = (self._layout.modules[one].path for one in self._layout.names.get(owner, ()))
        return not self._is_searched(owner) or any(re.search(form, self._store.source(path)) for path in paths)

    def _is_searched(self, owner: str) -> bool:
        """Whether all sources of a release can be read; they are fetched at once where that is little."""
        self._archives[owner].whole()
        return self._archives[owner].searchable

    def _has_name(self, owner: str, module: str, name: str, *, part: bool = False) -> bool | None:
        if not self._layout.has(module):
            return False
        plain = self._layout.modules.get(module)
        names = self._store.definitions(module).get("names", {}) if plain and plain.kind != "native" else {}
        if name[:2] == "__" and plain:
            return name in names
        if part and name not in names and self._layout.has(f"{module}.{name}"):
            return self._imports(module, f"{module}.{name}")
        verdict = self._resolver.offers(module, name).verdict
        if verdict is None and plain and plain.kind != "native":
            return self._may_have(owner, module, name)
        return verdict

    def _may_have(self, owner: str, module: str, name: str) -> bool | None:
        """Whether a module that answers for names has one: written in it or, if it fills itself, defined anywhere."""
        if re.search(rb"\b%s\b" % name.encode(), self._store.source(self._layout.modules[module].path)):
            return True
        answers = "__getattr__" in self._store.definitions(module).get("names", {})
        if answers or not self._store.get(module).get("dynamic") or not self._is_searched(owner):
            return False
        return any(name in self._store.definitions(one).get("names", {}) for one in self._mentioning(owner, name))

    def _imports(self, module: str, wanted: str) -> bool:
        """Whether importing a module imports another one of the same release."""
        seen, left = {module}, [module]
        while left and wanted not in seen and len(seen) < _MOST_FOLLOWED:
            place = self._layout.modules.get(left.pop())
            values = self._store.definitions(module).get("names", {}).values() if place else ()
            for value in values:
                for one in (value[1], f"{value[1]}.{value[2]}") if value and value[0] == "i" else ():
                    if one in self._layout.modules and one not in seen:
                        seen.add(one)
                        left.append(one)
            module = left[-1] if left else ""
        return wanted in seen

    def _has_attribute(self, ask: Ask) -> bool | None:
        """Whether a class of this name in any module has an attribute."""
        found: list[bool | None] = []
        for name in self._mentioning(ask.provider or "", f"class {ask.owner}"):
            value = self._store.definitions(name).get("names", {}).get(ask.owner)
            if value and value[0] == "c":
                lack = self._resolver.method(name, value[1], ask.name)
                found.append(None if lack == "unknown" else lack != "none")
        return True if True in found else None if None in found or not found else False

    def _defined(self, ask: Ask) -> Iterator[tuple[Any, bool]]:
        """The definitions of a function, or of a method of the class that is named with it."""
        owner, _, function = ask.name.rpartition(".")
        owner = owner.rpartition(".")[2]
        for name in self._mentioning(ask.provider or "", f"def {function}"):
            tree = tree_of(self._store.source(self._layout.modules[name].path))
            for outer in ast.walk(tree):
                if isinstance(outer, (ast.Module, ast.ClassDef)) and getattr(outer, "name", "") == (
                    owner or getattr(outer, "name", "")
                ):
                    inside = isinstance(outer, ast.ClassDef)
                    yield from ((one, inside) for one in outer.body if getattr(one, "name", "") == function)

    def _mentioning(self, owner: str, text: str) -> Iterator[str]:
        """The modules of a release whose source contains a text."""
        wanted = re.compile(re.escape(text).encode() + rb"\b")
        for name in self._layout.names.get(owner, ()):
            place = self._layout.modules[name]
            is_source = place.kind != "native" and not self._layout.is_aside(name)
            if is_source and wanted.search(self._store.source(place.path)):
                yield name

    # --- what is asked ----------------------------------------------------------------------------------------------

    def asks(self, ask: Ask, consumer: str) -> str | bool | None:
        """The module in which a release asks, where nothing catches it; ``None`` where that is not known.

        The module that was seen is looked at first.
        """
        inside = self._layout.modules.get(ask.inside)
        if ask.kind == "lacking":
            return self._lacking(ask)
        if ask.kind == "super":
            return self._is_without(consumer, ask.name)
        if inside is not None and inside.owner == consumer and self._asks_in(ask.inside, ask):
            return ask.inside
        if not self._is_searched(consumer):
            return False if inside is not None else None
        word = (ask.name or ask.module).rpartition(".")[2]
        found = (name for name in self._mentioning(consumer, "") if self._has(name, word) and self._asks_in(name, ask))
        return next(found, False)

    def _lacking(self, ask: Ask) -> str | bool:
        """The module of a release that has to have a name, where it does not."""
        return ask.module if self._layout.has(ask.module) and not self._has(ask.module, ask.name) else False

    def _is_without(self, consumer: str, word: str) -> str | bool | None:
        """The first module of a release that does not contain a word; ``None`` where it is too long to search."""
        if not self._is_searched(consumer):
            return None
        return False if any(self._mentioning(consumer, word)) else min(self._layout.tops[consumer])

    def turned(self, consumer: str, ask: Ask) -> str:
        """The patch release of the failing Python by which a release branches where it asks; mostly none."""
        failing = tuple(int(part) for part in re.findall(r"\d+", ask.python)[:3])
        word = ask.name.rpartition(".")[2]
        if len(failing) < _PATCH or not self._is_searched(consumer):
            return ""
        names = [name for name in self._mentioning(consumer, "version_info") if self._has(name, word)]
        found = set().union(*(turns(self._tree(name), word) for name in names))
        near = {one for one in found if len(one) == _PATCH and one[:2] == failing[:2] and one <= failing}
        return ".".join(map(str, near.pop())) if len(near) == 1 else ""

    def _has(self, name: str, word: str) -> bool:
        return word.encode() in self._store.source(self._layout.modules[name].path)

    def _asks_in(self, name: str, ask: Ask) -> bool:
        if ask.kind in {"module", "name", "part"}:
            return any(self._is_asked(name, ref, ask) for ref in self._resolver.take_note(name).get("refs", ()))
        source = self._store.source(self._layout.modules[name].path)
        tree: ast.AST = tree_of(source)
        if ask.provider == "":
            tree = Branches(self._target).visit(tree)
        return takes_attribute(tree, ask) if ask.kind in _TAKEN else calls(tree, ask)

    def lost(self, consumer: str, provider: str, older: Room) -> bool:
        """Whether a release uses anything from the other one that this lacks and an older one has."""
        if not self._is_searched(consumer):
            return False
        tops = [top for top in self._layout.tops[provider] if not top.startswith("_")]
        names = {name for top in tops for name in self._mentioning(consumer, top)}
        return any(
            self._loses(name, ref, tops, older)
            for name in names
            for ref in self._resolver.take_note(name).get("refs", ())
        )

    def _loses(self, name: str, ref: list[Any], tops: Sequence[str], older: Room) -> bool:
        if ref[0].partition(".")[0] not in tops:
            return False
        flags = self._reach.flags(name, ref)
        if flags is None or flags & (CATCHES_MODULE | CATCHES_IMPORT | CATCHES_ATTRIBUTE | CONDITIONAL):
            return False
        here, there = (room._resolver.offers(ref[0], ref[1]) for room in (self, older))  # noqa: SLF001 - the same class
        if here.verdict is None and there.verdict:
            return self._has_path(ref[0], ref[1].split(".")) is False
        return here.verdict is False and there.verdict is True

    def _has_path(self, module: str, steps: list[str]) -> bool | None:
        """Whether the innermost module on a path has the name that follows it."""
        while len(steps) > 1 and self._layout.has(f"{module}.{steps[0]}"):
            module, steps = f"{module}.{steps[0]}", steps[1:]
        place = self._layout.modules.get(module)
        return self._has_name(place.owner, module, steps[0]) if place and steps[0] else None

    def _is_asked(self, name: str, ref: list[Any], ask: Ask) -> bool:
        wanted, found = ask.dotted(), ".".join(filter(None, (ref[0], ref[1])))
        if found != wanted and not found.startswith(f"{wanted}."):
            return False
        flags = self._reach.flags(name, ref)
        kind = CATCHES_MODULE if ask.kind == "module" else CATCHES_IMPORT if ref[3] & FROM else CATCHES_ATTRIBUTE
        return flags is not None and not flags & (kind | CONDITIONAL)
