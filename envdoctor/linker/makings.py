"""How objects are made, as expressions and annotations say it, and what that is of in a scope.

An object is known by how it is made: a name, and the steps from it. Besides attributes a step is ``()`` for a call or
an instance, ``(await)`` for what a coroutine ends with, and ``(with)`` for what a context manager gives. A name or a
field may be bound several times: all of these *makings* count.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from envdoctor.linker.summary import INSTANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.linker.scopes import Scope

    Making = tuple[str, tuple[str, ...]]

AWAITED, ENTERED = "(await)", "(with)"
#: The making of what may be anything, beside others that are known.
ANY = "?"
_MOST_MAKINGS = 8
_OPTIONAL, _UNION = {"Optional"}, {"Union"}
_YIELDING = {"Iterator", "Generator", "AsyncIterator", "AsyncGenerator", "Iterable"}
_LITERALS = (
    *(ast.Constant, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.JoinedStr),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
)
#: What begins with this is the object of a method, or its class, by the number of the class.
OWN, KIND = "<self ", "<class "


def making(node: ast.expr | None) -> Making | None:
    """The name and the steps that make what an expression is; ``None`` where it is not that simple."""
    steps: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            steps.append(INSTANCE)
            node = node.func
        elif isinstance(node, ast.Await):
            steps.append(AWAITED)
            node = node.value
        elif isinstance(node, ast.Subscript):
            steps += (INSTANCE, "__getitem__")
            node = node.value
        else:
            return (node.id, tuple(reversed(steps))) if isinstance(node, ast.Name) else None


def makings(node: ast.expr | None) -> list[Making] | None:
    """All that an expression may be; ``None`` where that cannot be told, nothing for ``None``."""
    if isinstance(node, ast.Constant) and node.value is None:
        return []
    if isinstance(node, ast.IfExp):
        return _all([node.body, node.orelse])
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _all(node.values)
    found = making(node)
    if found is not None:
        return [found]
    return None if isinstance(node, _LITERALS) else [(ANY, ())]


def _all(nodes: Sequence[ast.expr]) -> list[Making] | None:
    found: list[Making] = []
    for node in nodes:
        one = makings(node)
        if one is None:
            return None
        found += one
    return found


def annotated(node: ast.expr | None) -> list[Making] | None:
    """The same for what an annotation promises."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(node, ast.Constant) and node.value is None:
        return []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Subscript):
        word = last(node.value)
        if word not in _OPTIONAL | _UNION:
            found = making(node.value)
            return None if found is None else [(found[0], (*found[1], INSTANCE))]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    else:
        found = making(node)
        return None if found is None or INSTANCE in found[1] else [(found[0], (*found[1], INSTANCE))]
    told = [annotated(one) for one in parts]
    return None if any(one is None for one in told) else [making for one in told for making in one or ()]


def last(node: ast.expr) -> str | None:
    """The last word of a dotted name."""
    return getattr(node, "attr", None) or getattr(node, "id", None)


def promised(kind: ast.expr, key: str) -> list[Making] | None:
    """What an annotation promises of what a function returns; of a context manager, what it yields."""
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
        if isinstance(one, str) or one[0].startswith("<"):
            left.append(one)
            continue
        some = None if one[0] == ANY else _origin(scope, one)
        if some is None and not anything:
            return None
        todo += some[1] if some else ()
        left += some[0] if some else [ANY]
    return left or None


def _origin(scope: Scope, one: Making) -> tuple[list[Any], list[Making]] | None:
    """What a making is of in a scope: what is settled, and what is to be looked at again."""
    root, path = one
    entries, origins = scope.types.get(root), scope.imports.get(root, ())
    if entries is None:
        if root not in scope.bound and root not in scope.shadowed:
            return None if len(set(origins)) > 1 else ([text(*origins[0], path) if origins else one], [])
        return ([one], []) if scope.parent is None and root in scope.bound and not origins else None
    whole = len(entries) == scope.bound.get(root) and not origins
    if not whole or root in scope.shadowed or root in scope.narrowed:
        return None
    again = [path for entry in entries for inner, path in entry if inner == root]
    first = [inner for entry in entries for inner in entry if inner[0] != root]
    return [], [(base, (*more, *tail, *path)) for base, more in first for tail in ((), *again)]


def text(module: str, inner: str, path: Sequence[str]) -> str:
    """A making as it is kept; an empty module is the one that says it."""
    return f"{module}:{'.'.join(filter(None, (inner, *path)))}"
