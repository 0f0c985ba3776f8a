"""Keywords that a function takes as any keyword, and passes on to functions none of which takes them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from envdoctor.linker import signatures
from envdoctor.linker.expressions import bound_in, chain
from envdoctor.linker.hooks import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.linker.resolve import Resolver
    from envdoctor.linker.store import Store

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: So many functions are followed, one behind the other.
_DEEP = 4


class _Body(NamedTuple):
    """A function: its definition, the module that has it, and the module and number of the class of its object."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: str
    kind: tuple[str, int] | None


class HandedOn:
    """Follows ``**kwargs`` from function to function, as far as all that is done with it is known."""

    def __init__(self, resolver: Resolver, store: Store) -> None:
        self._resolver, self._store = resolver, store
        self._trees: dict[str, ast.Module | None] = {}

    def refused(self, value: Any, call: Sequence[Any], kind: tuple[str, int] | None = None, method: str = "") -> str:
        """The first keyword of a call that raises ``TypeError`` further on; nothing where there is none for sure.

        ``value`` is what is called, with the ``method`` where it is one of an object of a class, its ``kind``.
        """
        found = self._resolver.signature(value)
        if found is None or not found[0][-1]:
            return ""
        body = self._body(value, kind, method)
        own = {*found[0][1], *found[0][4]}
        return next((one for one in call[1] if one not in own and body and not self._takes(body, one, 0)), "")

    def _body(self, value: Any, kind: tuple[str, int] | None, method: str) -> _Body | None:
        """Where the code of a function, method or constructor is."""
        if value[0] == "function":
            names = self._store.definitions(value[1]).get("names", {})
            name = next((one for one in names if names[one] == ["f", value[2]]), "")
            return self._defined(value[1], (name,), None)
        if value[0] == "class":
            found = self._resolver.method(value[1], value[2], "__init__")
            return self._method(found, "__init__", (value[1], value[2])) if isinstance(found, tuple) else None
        return self._method(value[1:], method, kind) if kind and method else None

    def _method(self, found: Sequence[Any], name: str, kind: tuple[str, int]) -> _Body | None:
        return self._defined(found[0], (self._store.class_name(found[0], found[1]), name), kind)

    def _defined(self, module: str, path: tuple[str, ...], kind: tuple[str, int] | None) -> _Body | None:
        """The one definition of a name in a module, or in a class of it; with overloads there are more."""
        if module not in self._trees:
            self._trees[module] = parsed(self._store.text(module))
        nodes: Sequence[ast.stmt] = getattr(self._trees[module], "body", ())
        for name in path:
            named = [one for one in nodes if getattr(one, "name", "") == name]
            if len(named) != 1:
                return None
            nodes = getattr(named[0], "body", ())
        return _Body(named[0], module, kind) if isinstance(named[0], _FUNCTIONS) else None

    def _takes(self, body: _Body, keyword: str, depth: int) -> bool:
        """Whether a keyword without a parameter may be welcome: it is looked at, or passed to what may take it."""
        rest = body.node.args.kwarg
        calls = list(_handing(body.node, rest.arg)) if rest is not None else []
        if not calls or None in calls or depth >= _DEEP:
            return True
        return any(call is None or self._may_take(call, body, keyword, depth) for call in calls)

    def _may_take(self, call: ast.Call, body: _Body, keyword: str, depth: int) -> bool:
        found = self._called(call.func, body)
        taken = self._resolver.signature(found[0]) if found else None
        if found is None or taken is None:
            return True
        if signatures.misfit(taken[0], [0, [keyword], 0], bound=taken[1]) is not None:
            return False
        if keyword in {*taken[0][1], *taken[0][4]}:
            return True
        further = self._body(*found)
        return further is None or self._takes(further, keyword, depth + 1)

    def _called(self, function: ast.expr, body: _Body) -> tuple[Any, tuple[str, int] | None, str] | None:
        """What an expression in a function calls: a value, and of a method the class of the object and the name."""
        if isinstance(function, ast.Attribute) and _is_super(function.value) and body.kind:
            return self._inherited(function.attr, body)
        root, path = chain(function) or ("", ())
        own = [one.arg for one in body.node.args.args[:1]]
        if body.kind and len(path) == 1 and [root] == own:
            return self._of_object(self._resolver.method(*body.kind, path[0]), path[0], body.kind)
        if not root or root in _bound(body.node):
            return None
        found = self._resolver.offers(body.module, ".".join((root, *path)))
        value = found.value if found.verdict is True else None
        return (value, None, "") if value and value[0] in {"function", "class"} else None

    def _inherited(self, name: str, body: _Body) -> tuple[Any, tuple[str, int] | None, str] | None:
        """The method of the first base; only where the function is of the class of the object itself."""
        module, number = body.kind or ("", 0)
        record = self._store.definitions(module)["classes"][number]
        if module != body.module or name not in record[1] or len(record[0]) != 1:
            return None
        found = self._resolver.inherited(record[0][0], module, name)
        return self._of_object(found, name, (found[0], found[1])) if isinstance(found, tuple) else None

    @staticmethod
    def _of_object(found: Any, name: str, kind: tuple[str, int]) -> tuple[Any, tuple[str, int] | None, str] | None:
        return (("method", *found), kind, name) if isinstance(found, tuple) and found[2] is not None else None


def _handing(node: ast.AST, rest: str) -> Iterator[ast.Call | None]:
    """The calls that are given ``**rest``; ``None`` for another use of it than to ask whether there is any."""
    harmless: set[int] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            given = [each.value for each in one.keywords if each.arg is None]
            if any(getattr(each, "id", "") == rest for each in given):
                yield one
                harmless.update(map(id, given))
            if getattr(one.func, "id", "") in {"locals", "vars", "eval", "exec"}:
                yield None
        tests = [one.test] if isinstance(one, (ast.If, ast.IfExp, ast.While)) else []
        harmless.update(id(each) for test in tests for each in _parts(test))
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id == rest and id(one) not in harmless:
            yield None


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which only the truth is asked."""
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)
    else:
        yield test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super" and not node.args


def _bound(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that a function rebinds."""
    imports = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
    imported = {(one.asname or one.name).partition(".")[0] for each in imports for one in each.names}
    return bound_in(node) | imported | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
