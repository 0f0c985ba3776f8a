"""How objects are made, by expressions and annotations, and where that comes from in a scope.

An object is known by how it is made: a name, and the steps from it. Besides attributes a step is ``()`` for a call or
an instance, ``(await)`` for what a coroutine ends with, ``(with)`` for what a context manager gives, and ``(0)`` for
the first of several values. A name or a field may be bound several times: all of these *makings* count.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
from typing import Any

from envdoctor.linker.summary import INSTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.linker.scopes import Scope

    Making = tuple[str, tuple[str, ...]]

AWAITED, ENTERED = "(await)", "(with)"
#: The making of what may be anything, beside others that are known.
ANY = "?"
_MOST_MAKINGS = 8
_CHOOSING = {"Optional", "Union"}
_TOGETHER = {"tuple", "Tuple"}
_YIELDING = {"Iterator", "Generator", "AsyncIterator", "AsyncGenerator", "Iterable"}
_LITERALS = {
    *(ast.Constant, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.JoinedStr),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
}
#: What begins with this is the object of a method, or its class, by the number of the class.
OWN, KIND = "<self ", "<class "


class Item(ast.expr):
    """One of the values that an expression gives together, by its place."""

    def __init__(self, value: ast.expr, at: int) -> None:
        self.value, self.at = value, at


def parts(targets: Sequence[ast.expr], value: ast.expr | None) -> list[ast.expr | None]:
    """What each of several targets gets of a value; ``None`` where that is not known."""
    if value is None or any(isinstance(one, ast.Starred) for one in targets):
        return [None] * len(targets)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets):
        return [*value.elts]
    return [Item(value, at) for at in range(len(targets))]


def members(kind: ast.expr | None) -> list[ast.expr]:
    """The annotations of the values that an annotated function returns together."""
    kind = _unquoted(kind)
    if not (isinstance(kind, ast.Subscript) and last(kind.value) in _TOGETHER and isinstance(kind.slice, ast.Tuple)):
        return []
    return [] if any(isinstance(one, ast.Constant) for one in kind.slice.elts) else kind.slice.elts


def is_special(step: str) -> bool:
    """Whether a step is not an attribute."""
    return step[:1] == "("


def making(node: ast.expr | None) -> Making | None:
    """The name and the steps that make what an expression is; ``None`` where it is not that simple."""
    steps: list[str] = []
    while type(node) is not ast.Name:
        if type(node) is ast.Attribute:
            steps.append(node.attr)
            node = node.value
        elif type(node) is ast.Call:
            steps.append(INSTANCE)
            node = node.func
        elif type(node) is ast.Await:
            steps.append(AWAITED)
            node = node.value
        elif type(node) is ast.Subscript:
            steps += (INSTANCE, "__getitem__")
            node = node.value
        elif type(node) is Item:
            steps.append(f"({node.at})")
            node = node.value
        else:
            return None
    return node.id, tuple(steps[::-1])


def makings(node: ast.expr | None) -> list[Making] | None:
    """The makings of an expression; ``None`` where they are not known, nothing for ``None``."""
    found = making(node)
    if found is not None:
        return [found]
    if type(node) is ast.IfExp:
        return _all([node.body, node.orelse], makings)
    if type(node) is ast.BoolOp and type(node.op) is ast.Or:
        return _all(node.values, makings)
    if type(node) in _LITERALS:
        return [] if type(node) is ast.Constant and node.value is None else None
    return [(ANY, ())]


def _all(nodes: Sequence[ast.expr], tell: Callable[[ast.expr], list[Making] | None]) -> list[Making] | None:
    found: list[Making] = []
    for node in nodes:
        one = tell(node)
        if one is None:
            return None
        found += one
    return found


def annotated(node: ast.expr | None) -> list[Making] | None:
    """The same for what an annotation promises."""
    node = _unquoted(node)
    if isinstance(node, ast.Constant):
        return [] if node.value is None else None
    choices = _choices(node)
    if choices is not None:
        return _all(choices, annotated)
    found = making(node.value if isinstance(node, ast.Subscript) else node)
    if found is None or (INSTANCE in found[1] and not isinstance(node, ast.Subscript)):
        return None
    return [(found[0], (*found[1], INSTANCE))]


def _unquoted(node: ast.expr | None) -> ast.expr | None:
    """An annotation without the quotes that it may be in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(node.value, mode="eval").body
    return node


def _choices(node: ast.expr | None) -> list[ast.expr] | None:
    """The annotations of which any may hold; ``None`` for a single one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [node.left, node.right]
    if isinstance(node, ast.Subscript) and last(node.value) in _CHOOSING:
        return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return None


def last(node: ast.expr) -> str | None:
    """The last word of a dotted name."""
    return getattr(node, "attr", None) or getattr(node, "id", None)


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    """The last words of a definition's decorators."""
    return [last(one.func if isinstance(one, ast.Call) else one) or "" for one in node.decorator_list]


def promised(kind: ast.expr, key: str) -> list[Making] | None:
    """The makings of what a function returns by its annotation; of a context manager, of what it yields."""
    if key.endswith(ENTERED):
        if not (isinstance(kind, ast.Subscript) and last(kind.value) in _YIELDING):
            return None
        kind = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) else kind.slice
    found = annotated(kind)
    if found and [found[0][0], *found[0][1]][-2] == "Self" and key[0] == "c":
        return [(f"{OWN}{key[1:].partition('.')[0]}", ())]
    return found


def is_made(found: Sequence[Making], scope: Scope) -> bool:
    """Whether makings are of objects, and not just other names."""
    return not found or any(INSTANCE in path or root in scope.types for root, path in found)


def settled(scope: Scope, found: Sequence[Any], *, anything: bool) -> list[Any] | None:
    """Makings with the names of a scope resolved; where one cannot be, ``None``, or what may be anything."""
    todo, left, steps = list(found), [], 0
    while todo:
        one = todo.pop()
        steps += 1
        if steps > _MOST_MAKINGS:
            return None
        if one[0] == ANY:
            left.append(ANY)
            continue
        if isinstance(one, str) or one[0].startswith("<"):
            left.append(one)
            continue
        some = _origin(scope, one)
        if some is None and not anything:
            return None
        todo += some[1] if some else ()
        left += some[0] if some else [ANY]
    return left or None


def _origin(scope: Scope, one: Making) -> tuple[list[Any], list[Making]] | None:
    """The origins of a making in a scope: what is settled, and what is to be resolved again."""
    root, path = one
    origins = scope.imports.get(root, ())
    if root in scope.types:
        typed = _typed(scope, root, path)
        return None if typed is None else ([], typed)
    if root in scope.bound or root in scope.shadowed:
        return ([one], []) if scope.parent is None and root in scope.bound and not origins else None
    if not origins:
        return [one], []
    return ([text(*origins[0], path)], []) if len(set(origins)) == 1 else None


def _typed(scope: Scope, root: str, path: Sequence[str]) -> list[Making] | None:
    """The makings behind a name, where all that it is bound to is known; its own makings may come between."""
    whole = len(scope.types[root]) == scope.bound.get(root)
    if not whole or root in scope.imports or root in scope.shadowed or root in scope.narrowed:
        return None
    first: list[Making] = []
    again: list[Sequence[str]] = [()]
    for inner, steps in itertools.chain.from_iterable(scope.types[root]):
        if inner == root:
            again.append(steps)
        else:
            first.append((inner, steps))
    return [(base, (*steps, *more, *path)) for base, steps in first for more in again]


def text(module: str, inner: str, path: Sequence[str]) -> str:
    """A making as it is kept; an empty module is the one that says it."""
    return f"{module}:{'.'.join(filter(None, (inner, *path)))}"
