"""Literal tables and ``__all__`` of a module, read without running it."""

from __future__ import annotations

import ast
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_COPYING = {"sorted", "list", "set", "tuple", "frozenset"}


def strings(node: ast.expr | None, tables: Mapping[str, Any] = {}) -> list[str] | None:
    """The strings in a literal list, tuple, set or the keys of a dictionary, or of a table with this name."""
    form = _FORMS.get(type(node))
    return form(node, tables) if form else None


def _of_name(node: ast.Name, tables: Mapping[str, Any]) -> list[str] | None:
    return list(tables[node.id]) if node.id in tables else None


def _of_call(node: ast.Call, tables: Mapping[str, Any]) -> list[str] | None:
    if len(node.args) == 1 and getattr(node.func, "id", "") in _COPYING:
        return strings(node.args[0], tables)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return strings(node.func.value, tables)
    return None


def _of_sum(node: ast.BinOp, tables: Mapping[str, Any]) -> list[str] | None:
    if not isinstance(node.op, ast.Add):
        return None
    left, right = strings(node.left, tables), strings(node.right, tables)
    return None if left is None or right is None else left + right


_FORMS: dict[Any, Callable[[Any, Mapping[str, Any]], list[str] | None]] = {
    ast.Name: _of_name,
    ast.Call: _of_call,
    ast.BinOp: _of_sum,
    ast.Dict: lambda node, _: _constants(node.keys),
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set), lambda node, _: _constants(node.elts)),
}


def _constants(nodes: Sequence[ast.expr | None]) -> list[str] | None:
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return found if len(found) == len(nodes) else None


def is_of_data(node: ast.AST) -> bool:
    """Whether a ``__getattr__`` of a class returns the entry of its object under the name, and nothing else."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "") for one in calls}
    items = any(isinstance(one, ast.Subscript) and getattr(one.value, "id", "") == "self" for one in ast.walk(node))
    return (items or "__getitem__" in names) and "getattr" not in names


def delegates(node: ast.AST) -> bool:
    """Whether a ``__getattr__`` of a class may return the attribute of another object with the name."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}
    return not {"getattr", "__getattr__", "attrgetter", "import_module", "__import__"}.isdisjoint(names)
