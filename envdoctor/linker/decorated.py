"""Signatures of functions behind decorators: kept where the source of each decorator passes on what it is called with.

A decorator keeps a signature that returns the function itself, or a wrapper that takes ``*args, **kwargs`` and calls
the function with just these. One that looks for single arguments, or catches that a call does not fit, does not.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from envdoctor.linker import signatures
from envdoctor.linker.branches import children
from envdoctor.linker.expressions import chain
from envdoctor.linker.hooks import parsed, walked
from envdoctor.linker.makings import last

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from envdoctor.linker.store import Store
    from envdoctor.linker.verdicts import Answer

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_METACLASSES = {("builtins", "type"), ("abc", "ABCMeta")}
_MOST_BASES = 8
#: Decorators of the language that are classes with many ways.
_KNOWN = {"warnings.deprecated", "typing_extensions.deprecated"}
#: What gets a collection and leaves it as it is.
_READING = {"zip", "dict", "len", "list", "tuple", "set", "sorted", "repr", "str", "any", "all", "bool", "enumerate"}
_READING_METHODS = {"update", "bind", "bind_partial", "debug", "info"}
_CHANGING = {"pop", "popitem", "setdefault", "update", "clear", "__setitem__", "__delitem__"}
_BROAD = {"TypeError", "Exception", "BaseException"}


class Decorated:
    """Reads definitions and their decorators in the modules of a store; ``offers`` resolves the names of decorators."""

    def __init__(self, store: Store, offers: Callable[[str, str], Answer]) -> None:
        self._store, self._offers = store, offers
        self._trees: dict[str, ast.Module | None] = {}
        self._known: dict[tuple[str, str, str], list[Any] | None] = {}
        self._keeping: dict[tuple[str, str], bool] = {}

    def function(self, module: str, number: int) -> list[Any] | None:
        """The signature of a function of a module, by its number; ``None`` where a decorator may change it."""
        definitions = self._store.definitions(module)
        signature: list[Any] | None = definitions["functions"][number]
        names = definitions.get("names", {}) if signature is None else {}
        name = next((one for one in names if names[one] == ["f", number]), "")
        return self._signature(module, "", name) if name else signature

    def method(self, found: Any, name: str) -> list[Any] | None:
        """The signature of a method that a resolver found, with its module and the number of its class."""
        module, number, signature = found if isinstance(found, tuple) else ("", 0, None)
        if module and signature is None and name in self._store.definitions(module)["classes"][number][3]:
            return self._signature(module, self._store.class_name(module, number), name)
        known: list[Any] | None = signature
        return known

    def is_made_plainly(self, module: str, number: int) -> bool:
        """Whether an object of a class is made by ``__init__`` alone, whatever metaclass the class names."""
        record = self._store.definitions(module)["classes"][number]
        if record[4] or "__new__" in record[1]:
            return False
        found = _named(self._body(module), self._store.class_name(module, number)) if record[2] is True else []
        metas = [one.value for node in found for one in node.keywords if one.arg == "metaclass"]
        return record[2] is not True or (len(found) == len(metas) == 1 and self._calls_init(module, metas[0]))

    def _calls_init(self, module: str, node: ast.expr) -> bool:
        """Whether a metaclass leaves it to ``type`` how objects are made."""
        root, path = chain(node) or ("", ())
        found = self._offers(module, ".".join((root, *path)))
        if not root or found.verdict is not True or not found.value or found.value[0] != "class":
            return False
        todo, seen = [found.value[1:3]], 0
        while todo and seen < _MOST_BASES:
            where, number = todo.pop()
            bases, names = self._store.definitions(where)["classes"][number][:2]
            seen += 1
            for base in bases:
                answer = self._offers(*base) if isinstance(base, list) and tuple(base) not in _METACLASSES else None
                value = answer.value if answer and answer.verdict else None
                if base is None or (answer and not (value and value[0] == "class")):
                    return False
                todo += [(where, base)] if isinstance(base, int) else [value[1:3]] if value else []
            if "__call__" in names:
                return False
        return not todo

    def _signature(self, module: str, within: str, name: str) -> list[Any] | None:
        key = (module, within, name)
        if key not in self._known:
            self._known[key] = None  # a decorator that is decorated with itself
            self._known[key] = self._written(module, within, name)
        return self._known[key]

    def _written(self, module: str, within: str, name: str) -> list[Any] | None:
        nodes: Sequence[ast.stmt] = self._body(module)
        if within:
            nodes = next((one.body for one in _named(nodes, within) if isinstance(one, ast.ClassDef)), ())
        found = _named(nodes, name)
        if len(found) != 1 or not isinstance(found[0], _FUNCTIONS):
            return None
        marks = found[0].decorator_list
        replaced = within and re.search(rb"\b%s\.%s *=" % (within.encode(), name.encode()), self._store.text(module))
        if not marks or replaced or (within and any(last(_called(one)) == "staticmethod" for one in marks)):
            return None
        left = [one for one in marks if not self._keeps(module, one)]
        return signatures.of_function(type(found[0])(found[0].name, found[0].args, [], left))

    def _body(self, module: str) -> Sequence[ast.stmt]:
        if module not in self._trees:
            self._trees[module] = parsed(self._store.text(module))
        return getattr(self._trees[module], "body", ())

    def _keeps(self, module: str, decorator: ast.expr) -> bool:
        """Whether what a decorator makes takes a call if and only if the function does."""
        root, path = chain(_called(decorator)) or ("", ())
        found = self._offers(module, ".".join((root, *path))) if root else None
        if found is None or found.verdict is not True or not found.value:
            return False
        kind, where, number = (*found.value, None, None)[:3]
        if kind not in {"function", "class"} or not isinstance(number, int):
            return kind == "standard" and f"{where}.{number}" in _KNOWN
        names = self._store.definitions(where).get("names", {})
        name = next((one for one in names if names[one] == [kind[0], number]), "")
        applied = isinstance(decorator, ast.Call)
        if f"{where}.{name}" in _KNOWN:
            return True
        key = (f"{where}:{name}", str(applied))
        if key not in self._keeping:
            nodes = _named(self._body(where), name)
            readers = {one.name for one in self._body(where) if isinstance(one, _FUNCTIONS) and _is_reader(one)}
            self._keeping[key] = len(nodes) == 1 and _Maker(readers).passes_on(nodes[0], applied=applied)
        return self._keeping[key]


def _named(nodes: Sequence[ast.stmt], name: str) -> list[Any]:
    """The definitions of a name among statements, without the signatures that overloads add."""
    found = [one for one in nodes if isinstance(one, (*_FUNCTIONS, ast.ClassDef)) and one.name == name]
    return [one for one in found if not any(last(mark) == "overload" for mark in one.decorator_list)]


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


class _Maker:
    """Reads a decorator in a module; ``readers`` are functions there that change nothing of what they are given."""

    def __init__(self, readers: set[str]) -> None:
        self._readers = readers

    def passes_on(self, node: Any, *, applied: bool) -> bool:
        """Whether a decorator, ``applied`` to arguments of its own before, keeps the signature of a function."""
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__call__"]
            bare = not {"__new__"} & {getattr(one, "name", "") for one in node.body}
            return applied and bare and len(methods) == 1 and self._keeps_all(methods[0], 1)
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return False
        return self._made_by(node) if applied else self._keeps_all(node, 0)

    def _made_by(self, node: ast.FunctionDef) -> bool:
        """Whether all that a function returns are decorators that keep a signature."""
        inner = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        given = [one.arg for one in (*node.args.posonlyargs, *node.args.args)][:1]
        made = []
        for value in _returned(node):
            of_first = isinstance(value, ast.Call) and [getattr(one, "id", "") for one in value.args] == given
            made.append(inner.get(getattr(value.func if of_first and isinstance(value, ast.Call) else value, "id", "")))
        return bool(made) and all(one and not one.decorator_list and self._keeps_all(one, 0) for one in made)

    def _keeps_all(self, node: ast.FunctionDef, at: int) -> bool:
        """Whether all that a decorator returns takes what the function takes, which is its parameter at a place."""
        given = [*node.args.posonlyargs, *node.args.args]
        wrappers: dict[str, list[Any]] = {}
        for one in _own(node):
            if isinstance(one, _FUNCTIONS):
                wrappers.setdefault(one.name, []).append(one)
        name = given[at].arg if len(given) > at else ""
        stored = (one for one in walked(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        returned = [getattr(_unwrapped(one), "id", "") for one in _returned(node)]
        if not returned or any(one.id == name for one in stored):
            return False
        return all(
            one == name or (one in wrappers and all(self._hands_all(each, name) for each in wrappers[one]))
            for one in returned
        )

    def _hands_all(self, wrapper: Function, function: str) -> bool:
        """Whether a wrapper takes anything, and calls the function with all of it and nothing else."""
        marks = [last(_called(one)) for one in wrapper.decorator_list]
        rest, more = wrapper.args.vararg, wrapper.args.kwarg
        if rest is None or more is None or wrapper.args.kwonlyargs or any(one != "wraps" for one in marks):
            return False
        first = [one.arg for one in (*wrapper.args.posonlyargs, *wrapper.args.args)]
        nodes = list(walked(ast.Module(wrapper.body, [])))
        calls = [one for one in nodes if isinstance(one, ast.Call) and getattr(one.func, "id", "") == function]
        whole = bool(calls) and all(_is_whole(one, first, rest.arg, more.arg) for one in calls)
        changed = _are_stored(nodes, {*first, rest.arg, more.arg, function}) or _returns_another(nodes, calls)
        return whole and not changed and not _catches(nodes) and _only_read(nodes, {rest.arg, more.arg}, self._readers)


def _are_stored(nodes: Sequence[ast.AST], names: set[str]) -> bool:
    """Whether one of some names is bound anew."""
    return any(isinstance(one, ast.Name) and one.id in names and not isinstance(one.ctx, ast.Load) for one in nodes)


def _returns_another(nodes: Sequence[ast.AST], calls: Sequence[ast.Call]) -> bool:
    """Whether a call is returned that has none of some calls in it."""
    returned = (one.value for one in nodes if isinstance(one, ast.Return))
    return any(isinstance(one, ast.Call) and not set(calls) & set(ast.walk(one)) for one in returned)


def _is_reader(node: Function) -> bool:
    """Whether a function changes nothing of what it is given."""
    return _only_read(list(walked(ast.Module(node.body, []))), {one.arg for one in node.args.args})


def _unwrapped(value: ast.expr | None) -> ast.expr | None:
    """What ``cast(kind, wrapper)``, ``update_wrapper(wrapper, function)`` or ``wraps(function)(wrapper)`` is."""
    if isinstance(value, ast.Call) and value.args:
        word = last(value.func) if not isinstance(value.func, ast.Call) else last(value.func.func)
        return {"cast": value.args[-1], "update_wrapper": value.args[0], "wraps": value.args[0]}.get(word or "", value)
    return value


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, with the definitions in it and without their content."""
    todo: list[Any] = [*getattr(node, "body", ())]
    while todo:
        one = todo.pop()
        yield one
        if not isinstance(one, _SCOPES):
            todo += children(one)


def _returned(node: ast.AST) -> Iterator[ast.expr | None]:
    return (one.value for one in _own(node) if isinstance(one, ast.Return))


def _is_whole(call: ast.Call, first: Sequence[str], rest: str, more: str) -> bool:
    """Whether a call has each parameter of the wrapper in its place."""
    given = [getattr(one.value if isinstance(one, ast.Starred) else one, "id", "") for one in call.args]
    named = [(one.arg, getattr(one.value, "id", "")) for one in call.keywords]
    starred = [isinstance(one, ast.Starred) for one in call.args]
    return given == [*first, rest] and starred == [False] * len(first) + [True] and named == [(None, more)]


def _catches(nodes: Sequence[ast.AST]) -> bool:
    """Whether something catches that a call does not fit."""
    for one in nodes:
        if isinstance(one, ast.ExceptHandler) and not isinstance(one.body[-1], ast.Raise):
            kinds = one.type.elts if isinstance(one.type, ast.Tuple) else [one.type]
            if any(kind is None or last(kind) in _BROAD for kind in kinds):
                return True
    return False


def _only_read(nodes: Sequence[ast.AST], names: set[str], readers: Container[str] = ()) -> bool:
    """Whether collections are only handed on whole, or read by what does not change them."""
    read: set[int] = set()
    for one in nodes:
        read.update(map(id, _read_by(one, readers)))
    return all(id(one) in read for one in nodes if isinstance(one, ast.Name) and one.id in names)


def _read_by(node: ast.AST, readers: Container[str]) -> list[ast.expr]:
    """The parts of an expression or statement that it reads."""
    if isinstance(node, ast.Call):
        word = getattr(node.func, "id", "")
        reads = word in _READING or word in readers or getattr(node.func, "attr", "") in _READING_METHODS
        starred = [one.value for one in node.args if isinstance(one, ast.Starred)]
        return [*starred, *(one.value for one in node.keywords if one.arg is None), *(node.args if reads else ())]
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
        return [] if getattr(node, "attr", "") in _CHANGING else [node.value]
    if isinstance(node, ast.Compare):
        return node.comparators
    return [node.test] if isinstance(node, ast.If) else [node.iter] if isinstance(node, ast.For) else []
