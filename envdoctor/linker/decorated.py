"""Signatures of functions behind decorators: kept where the source of each decorator passes on what it is called with.

A decorator keeps a signature that returns the function itself, or a wrapper that takes ``*args, **kwargs`` and calls
the function with just these. One that looks for single arguments, or catches that a call does not fit, does not.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from envdoctor.linker import signatures
from envdoctor.linker.branches import children
from envdoctor.linker.makings import last
from envdoctor.linker.summary import ClassRecord
from envdoctor.linker.syntax_trees import chain, walked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

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
        self._known: dict[tuple[str, str, str], list[Any] | None] = {}
        self._keeping: dict[tuple[str, str], bool] = {}

    def function(self, module: str, number: int) -> list[Any] | None:
        """The signature of a function of a module, by its number; ``None`` where a decorator may change it."""
        definitions = self._store.definitions(module)
        signature: list[Any] | None = definitions["functions"][number]
        name = name_of(definitions, ["f", number]) if signature is None else ""
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
        record = ClassRecord(*self._store.definitions(module)["classes"][number])
        if record.decorated or "__new__" in record.attributes:
            return False
        found = _named(self.body(module), self._store.class_name(module, number)) if record.open is True else []
        metas = [one.value for node in found for one in node.keywords if one.arg == "metaclass"]
        return record.open is not True or (len(found) == len(metas) == 1 and self._calls_init(module, metas[0]))

    def _calls_init(self, module: str, node: ast.expr) -> bool:
        """Whether a metaclass leaves it to ``type`` how objects are made."""
        root, path = chain(node) or ("", ())
        todo, seen = [self._class_named(module, ".".join((root, *path))) if root else None], 0
        while todo and seen < _MOST_BASES:
            found = todo.pop()
            if found is None or "__call__" in self._store.definitions(found[0])["classes"][found[1]][1]:
                return False
            todo += self._bases(*found)
            seen += 1
        return not todo

    def _bases(self, module: str, number: int) -> Iterator[tuple[str, int] | None]:
        """The bases of a metaclass but for those of Python; ``None`` for one that is not known."""
        for base in self._store.definitions(module)["classes"][number][0]:
            if isinstance(base, int):
                yield module, base
            elif base is None or tuple(base) not in _METACLASSES:
                yield self._class_named(*base) if base else None

    def _class_named(self, module: str, path: str) -> tuple[str, int] | None:
        """The class that a name of a module resolves to, by its module and number; ``None`` for anything else."""
        found = self._offers(module, path)
        is_class = found.verdict is True and found.value and found.value[0] == "class"
        return found.value[1:3] if is_class else None

    def _signature(self, module: str, within: str, name: str) -> list[Any] | None:
        key = (module, within, name)
        if key not in self._known:
            self._known[key] = None  # a decorator that is decorated with itself
            self._known[key] = self._written(module, within, name)
        return self._known[key]

    def _written(self, module: str, within: str, name: str) -> list[Any] | None:
        """The signature of a definition, of which decorators keep one; ``None`` where that is not sure."""
        node = self._definition(module, within, name)
        marks = node.decorator_list if node else []
        if node is None or not marks or (within and any(last(_called(one)) == "staticmethod" for one in marks)):
            return None
        left = [one for one in marks if not self._keeps(module, one)]
        return signatures.of_function(type(node)(node.name, node.args, [], left))

    def _definition(self, module: str, within: str, name: str) -> Function | None:
        """The function of a module, or of a class in it, that alone has a name; ``None`` where another may, too."""
        nodes: Sequence[ast.stmt] = self.body(module)
        if within:
            nodes = next((one.body for one in _named(nodes, within) if isinstance(one, ast.ClassDef)), ())
        found = _named(nodes, name)
        if len(found) != 1 or not isinstance(found[0], _FUNCTIONS):
            return None
        assigned = rb"\b%s\.%s *=" % (within.encode(), name.encode())
        return None if within and re.search(assigned, self._store.text(module)) else found[0]

    def body(self, module: str) -> Sequence[ast.stmt]:
        """The statements of a module; none where it cannot be parsed."""
        return getattr(self.tree(module), "body", ())

    def tree(self, module: str) -> ast.Module | None:
        """The tree of a module; nothing where it cannot be parsed."""
        return self._store.trees.get(module)

    def _keeps(self, module: str, decorator: ast.expr) -> bool:
        """Whether what a decorator makes takes a call if and only if the function does."""
        root, path = chain(_called(decorator)) or ("", ())
        found = self._offers(module, ".".join((root, *path))) if root else None
        if found is None or found.verdict is not True or not found.value:
            return False
        kind, where, number = (*found.value, None, None)[:3]
        if kind not in {"function", "class"} or not isinstance(number, int):
            return kind == "standard" and f"{where}.{number}" in _KNOWN
        name = name_of(self._store.definitions(where), [kind[0], number])
        return f"{where}.{name}" in _KNOWN or self._passes_on(where, name, applied=isinstance(decorator, ast.Call))

    def _passes_on(self, module: str, name: str, *, applied: bool) -> bool:
        """Whether the decorator that a module defines keeps signatures, ``applied`` to its own arguments or not."""
        key = (f"{module}:{name}", str(applied))
        if key not in self._keeping:
            nodes = _named(self.body(module), name)
            readers = {one.name for one in self.body(module) if isinstance(one, _FUNCTIONS) and _is_reader(one)}
            self._keeping[key] = len(nodes) == 1 and _Maker(readers).passes_on(nodes[0], applied=applied)
        return self._keeping[key]


def name_of(definitions: Mapping[str, Any], value: list[Any]) -> str:
    """The name that a module binds to a value; empty where it binds none."""
    names = definitions.get("names", {})
    return next((one for one in names if names[one] == value), "")


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
        """Whether a decorator, ``applied`` to its own arguments before, keeps the signature of a function."""
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
        first = _parameters(node)[:1]
        made = [inner.get(_decorator_in(value, first)) for value in _returned(node)]
        return bool(made) and all(one and not one.decorator_list and self._keeps_all(one, 0) for one in made)

    def _keeps_all(self, node: ast.FunctionDef, at: int) -> bool:
        """Whether all that a decorator returns takes what the function takes, which is its parameter at a place."""
        names = _parameters(node)
        name = names[at] if len(names) > at else ""
        returned = [getattr(_unwrapped(one), "id", "") for one in _returned(node)]
        if not returned or _gives_a_value(node, name):
            return False
        wrappers = _functions_in(node)
        return all(
            one == name or (one in wrappers and all(self._forwards_all(each, name) for each in wrappers[one]))
            for one in returned
        )

    def _forwards_all(self, wrapper: Function, function: str) -> bool:
        """Whether a wrapper takes anything, and calls the function with all of it and nothing else."""
        collections = _collections(wrapper)
        if collections is None:
            return False
        first = _parameters(wrapper)
        nodes = list(walked(ast.Module(wrapper.body, [])))
        calls = [one for one in nodes if isinstance(one, ast.Call) and getattr(one.func, "id", "") == function]
        if not calls or not all(_is_whole(one, first, *collections) for one in calls):
            return False
        if _are_stored(nodes, {*first, *collections, function}) or _returns_another(nodes, calls):
            return False
        return not _catches(nodes) and _only_read(nodes, set(collections), self._readers)


def _parameters(node: Function) -> list[str]:
    """The names of a function's parameters that are given by position."""
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args)]


def _decorator_in(value: ast.expr | None, first: Sequence[str]) -> str:
    """The name of the decorator that is returned, or called with the first parameter; empty for anything else."""
    if isinstance(value, ast.Call) and [getattr(one, "id", "") for one in value.args] == first:
        value = value.func
    return getattr(value, "id", "")


def _functions_in(node: ast.AST) -> dict[str, list[Function]]:
    """The functions that are defined in a function, by name."""
    found: dict[str, list[Function]] = {}
    for one in _own(node):
        if isinstance(one, _FUNCTIONS):
            found.setdefault(one.name, []).append(one)
    return found


def _collections(wrapper: Function) -> tuple[str, str] | None:
    """The names of ``*args`` and ``**kwargs`` of a wrapper that takes anything; ``None`` for any other function."""
    rest, more = wrapper.args.vararg, wrapper.args.kwarg
    is_plain = all(last(_called(one)) == "wraps" for one in wrapper.decorator_list)
    if rest is None or more is None or wrapper.args.kwonlyargs or not is_plain:
        return None
    return rest.arg, more.arg


def _gives_a_value(node: ast.AST, name: str) -> bool:
    """Whether something in a function gives a name a value."""
    stored = (one for one in walked(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return any(one.id == name for one in stored)


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
    """Whether collections are only passed on whole, or read by what does not change them."""
    read: set[int] = set()
    for one in nodes:
        read.update(map(id, _read_by(one, readers)))
    return all(id(one) in read for one in nodes if isinstance(one, ast.Name) and one.id in names)


def _read_by(node: ast.AST, readers: Container[str]) -> list[ast.expr]:
    """The parts of an expression or statement that it reads."""
    if isinstance(node, ast.Call):
        return _read_by_call(node, readers)
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
        return [] if getattr(node, "attr", "") in _CHANGING else [node.value]
    if isinstance(node, ast.Compare):
        return node.comparators
    return [node.test] if isinstance(node, ast.If) else [node.iter] if isinstance(node, ast.For) else []


def _read_by_call(node: ast.Call, readers: Container[str]) -> list[ast.expr]:
    """The arguments that a call unpacks, and all by position where it changes nothing of what it is given."""
    word = getattr(node.func, "id", "")
    reads = word in _READING or word in readers or getattr(node.func, "attr", "") in _READING_METHODS
    starred = [one.value for one in node.args if isinstance(one, ast.Starred)]
    return [*starred, *(one.value for one in node.keywords if one.arg is None), *(node.args if reads else ())]
