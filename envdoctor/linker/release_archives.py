"""What single releases offer and ask, read from their archives on an index by the same readers as what is installed."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Any

from envdoctor.errors import TargetError
from envdoctor.linker import signatures
from envdoctor.linker.branches import holds, is_about_versions
from envdoctor.linker.module_files import Layout, is_aside
from envdoctor.linker.reach import Reach
from envdoctor.linker.resolve import Resolver
from envdoctor.linker.store import LONGEST, Store
from envdoctor.linker.summary import CATCHES_ATTRIBUTE, CATCHES_IMPORT, CATCHES_MODULE, CONDITIONAL, FROM
from envdoctor.linker.word_search import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.engine.asks import Ask
    from envdoctor.linker.branches import Target
    from envdoctor.linker.index_files import Archive
    from envdoctor.linker.standard_library import Standard

_BINARY = (".so", ".pyd")
#: Modules that are read to find out what an import leads to.
_MOST_FOLLOWED = 80
_ENDS = (ast.Return, ast.Raise, ast.Continue)
#: Kinds of which the one that asks takes an attribute.
_TAKEN = frozenset({"attribute", "word"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Layout(Layout):
    """The modules of releases; what is of neither may or may not be there."""

    def __init__(self, archives: Mapping[str, Archive]) -> None:
        super().__init__(())
        self._listed = [(owner, owner, list(archive.names)) for owner, archive in archives.items()]
        self.list_modules()

    def on_disk(self, name: str) -> bool:
        """Whether the module is of neither release."""
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
        """Whether a member contains a word; ``None`` for one that is too long to look."""
        if path.endswith(_BINARY) and not self._archives[path.partition("/")[0]].light:
            return None
        return word.encode() in self._store.source(path)

    def anywhere(self, owner: str, word: str) -> bool:
        """Whether a release contains a word, or is too long to look."""
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
        """Whether a release has what is asked for; ``None`` where that cannot be told."""
        owner = ask.provider or ""
        if ask.kind == "module":
            return self._layout.has(ask.module) if ask.module not in self._resolver.run_time.provided else None
        if ask.kind in {"name", "part"}:
            return self._has_name(owner, ask.module, ask.name, part=ask.kind == "part")
        if not self._archives[owner].light:
            return None
        self._archives[owner].whole()
        if ask.kind in {"word", "attribute"}:
            return self._resolver.words.anywhere(owner, ask.name) if ask.kind == "word" else self._has_attribute(ask)
        verdicts = [_takes(node, ask, bound=bound) for node, bound in self._defined(ask)]
        return any(verdicts) if verdicts else None

    def _has_name(self, owner: str, module: str, name: str, *, part: bool = False) -> bool | None:
        if not self._layout.has(module):
            return False
        plain = self._layout.modules.get(module)
        names = self._store.definitions(module).get("names", {}) if plain and plain.kind != "native" else {}
        if name[:2] == "__" and plain:
            return name in names
        if part and name not in names and self._layout.has(f"{module}.{name}"):
            return self._imports(module, f"{module}.{name}")
        told = self._resolver.offers(module, name).verdict
        if told is None and plain and plain.kind != "native":
            return self._may_have(owner, module, name)
        return told

    def _may_have(self, owner: str, module: str, name: str) -> bool | None:
        """Whether a module that answers for names has one: written in it or, if it fills itself, defined anywhere."""
        if re.search(rb"\b%s\b" % name.encode(), self._store.source(self._layout.modules[module].path)):
            return True
        answers = "__getattr__" in self._store.definitions(module).get("names", {})
        if answers or not self._store.get(module).get("dynamic") or not self._archives[owner].light:
            return False
        self._archives[owner].whole()
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
        """Whether a class of this name, wherever it stands, has an attribute."""
        found: list[bool | None] = []
        for name in self._mentioning(ask.provider or "", f"class {ask.owner}"):
            value = self._store.definitions(name).get("names", {}).get(ask.owner)
            if value and value[0] == "c":
                told = self._resolver.method(name, value[1], ask.name)
                found.append(None if told == "unknown" else told != "none")
        return True if True in found else None if None in found or not found else False

    def _defined(self, ask: Ask) -> Iterator[tuple[Any, bool]]:
        """The definitions of a function, or of a method of the class that is named with it."""
        owner, _, function = ask.name.rpartition(".")
        owner = owner.rpartition(".")[2]
        for name in self._mentioning(ask.provider or "", f"def {function}"):
            tree = _parsed(self._store.source(self._layout.modules[name].path))
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
            if place.kind != "native" and not is_aside(name) and wanted.search(self._store.source(place.path)):
                yield name

    # --- what is asked ----------------------------------------------------------------------------------------------

    def asks(self, ask: Ask, consumer: str) -> str | bool | None:
        """The module in which a release asks, where nothing catches it; ``None`` where that cannot be told.

        The module that was seen is looked at first.
        """
        archive, inside = self._archives[consumer], self._layout.modules.get(ask.inside)
        if ask.kind == "lacking":
            return ask.module if self._layout.has(ask.module) and not self._has(ask.module, ask.name) else False
        if inside is not None and inside.owner == consumer and self._asks_in(ask.inside, ask):
            return ask.inside
        if not archive.light:
            return False if inside is not None else None
        archive.whole()
        word = (ask.name or ask.module).rpartition(".")[2]
        found = (name for name in self._mentioning(consumer, "") if self._has(name, word) and self._asks_in(name, ask))
        return next(found, False)

    def _has(self, name: str, word: str) -> bool:
        return word.encode() in self._store.source(self._layout.modules[name].path)

    def _asks_in(self, name: str, ask: Ask) -> bool:
        if ask.kind in {"module", "name", "part"}:
            return any(self._is_asked(name, ref, ask) for ref in self._resolver.take_note(name).get("refs", ()))
        source = self._store.source(self._layout.modules[name].path)
        tree: ast.AST = _parsed(source)
        if ask.provider == "":
            tree = _Branches(self._target).visit(tree)
        return _takes_attribute(tree, ask) if ask.kind in _TAKEN else _calls(tree, ask)

    def lost(self, consumer: str, provider: str, older: Room) -> bool:
        """Whether a release takes anything of the other one that this lacks and an older one has."""
        if not self._archives[consumer].light:
            return False
        self._archives[consumer].whole()
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
        """Whether the module that a path leads to has the name behind it."""
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


def _parsed(source: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module(body=[], type_ignores=[])


def _takes(node: Any, ask: Ask, *, bound: bool) -> bool:
    """Whether a definition takes the call that failed."""
    if not isinstance(node, _FUNCTIONS):
        return True
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)][int(bound) :]
    if ask.kind == "keyword":
        return given.kwarg is not None or ask.argument in [*names, *(one.arg for one in given.kwonlyargs)]
    if ask.kind == "count":
        return given.vararg is not None or len(names) + int(bound) >= ask.given
    optional = names[len(names) - len(given.defaults) :] if given.defaults else []
    required = [one for one in names if one not in optional]
    required += [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults) if default is None]
    return ask.argument not in required


class _Branches(ast.NodeTransformer):
    """Leaves of each condition that a Python decides the branch that it takes."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """The statements of the branch that is taken, or the condition."""
        self.generic_visit(node)
        told = holds(node.test, self._target, {})
        return node if told is None else (node.body if told else node.orelse) or ast.Pass()


def _takes_attribute(tree: ast.AST, ask: Ask) -> bool:
    """Whether a source takes an attribute of this name, of what the failing statement takes it of where that is given.

    Where something guards against its not being there does not count.
    """
    taken = {text for node in ast.walk(_statement(ask.code)) if (text := _of(node, ask.name))}
    found = (_of(node, ask.name) for node in _unguarded(tree, {ask.name}, "AttributeError"))
    return any(text in taken if taken else text for text in found)


def _of(node: ast.AST, name: str) -> str:
    """What an attribute of this name is taken of; empty for anything else."""
    if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
        return ast.unparse(node.value)
    return ""


def _statement(code: str) -> ast.Module:
    """A statement, or the head of one, that stands somewhere in a function."""
    text = code.strip()
    text = text[2:] if text.startswith(("elif ", "elif(")) else text
    for form in ("async def _():\n {}", "async def _():\n {} pass", "async def _():\n {})"):
        tree = _parsed(form.format(text).encode())
        if tree.body and text:
            return tree
    return _parsed(b"")


def _unguarded(tree: ast.AST, words: set[str], exception: str) -> Iterator[ast.AST]:
    """The nodes of a tree, but for those that a condition about releases or the words decides, or that are tried."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.If, ast.IfExp)) and _decides(node.test, words):
            stack.append(node.test)
        elif isinstance(node, ast.Try) and any(_catches(one, exception) for one in node.handlers):
            stack += [*node.handlers, *node.orelse, *node.finalbody]
        else:
            stack += _reached(node, words)


def _reached(node: ast.AST, words: set[str]) -> Iterator[ast.AST]:
    """The children of a node; of statements none behind a condition that decides and does not come back."""
    for _, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield one
            if isinstance(one, ast.If) and isinstance(one.body[-1], _ENDS) and _decides(one.test, words):
                break


def _decides(test: ast.expr, words: set[str]) -> bool:
    """Whether a condition asks which release is there."""
    texts = {node.value for node in ast.walk(test) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return bool(texts & words) or is_about_versions(test)


def _catches(handler: ast.ExceptHandler, exception: str) -> bool:
    named = ast.unparse(handler.type) if handler.type is not None else exception
    return re.search(rf"\b(?:{exception}|Exception|BaseException)\b", named) is not None


def _calls(tree: ast.AST, ask: Ask) -> bool:
    """Whether a source calls the function as it was called when that failed."""
    function = ask.name.rpartition(".")[2]
    function = ask.name.rpartition(".")[0].rpartition(".")[2] if function == "__init__" else function
    given = next(_made(_statement(ask.code), function), None)
    calls = _made(tree, function, {ask.argument, function})
    if ask.kind == "keyword":
        return any(ask.argument in call[1] for call in calls)
    return any(given is None or call == given for call in calls)


def _made(tree: ast.AST, function: str, words: set[str] = frozenset()) -> Iterator[list[Any]]:  # type: ignore[assignment]
    """The arguments of the calls of a function that nothing guards."""
    for node in _unguarded(tree, words, "TypeError"):
        if isinstance(node, ast.Call) and function == (getattr(node.func, "attr", "") or getattr(node.func, "id", "")):
            yield signatures.of_call(node)
