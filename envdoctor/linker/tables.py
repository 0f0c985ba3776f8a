"""What can be told of a module without running it: literal tables and ``__all__``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def strings(node: ast.expr | None, tables: Mapping[str, Any] = {}) -> list[str] | None:  # noqa: PLR0911 - one for each form
    """The strings in a literal list, tuple, set or the keys of a dictionary, or of a table with this name."""
    if isinstance(node, ast.Name):
        table = tables.get(node.id)
        return None if table is None else list(table)
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and _called(node) in {"sorted", "list", "set", "tuple", "frozenset"}
    ):
        return strings(node.args[0], tables)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return strings(node.func.value, tables)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = strings(node.left, tables), strings(node.right, tables)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Dict):
        return _constants([key for key in node.keys if key is not None]) if None not in node.keys else None
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _constants(node.elts)
    return None


def _constants(nodes: Sequence[ast.expr]) -> list[str] | None:
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return found if len(found) == len(nodes) else None


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_of_data(node: ast.AST) -> bool:
    """Whether a ``__getattr__`` of a class gives what its object has under the name as a key, and nothing else has."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "") for one in calls}
    items = any(isinstance(one, ast.Subscript) and getattr(one.value, "id", "") == "self" for one in ast.walk(node))
    return (items or "__getitem__" in names) and "getattr" not in names


def hands_on(node: ast.AST) -> bool:
    """Whether a ``__getattr__`` of a class may answer with what another object has under the name."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}
    return not {"getattr", "__getattr__", "attrgetter", "import_module", "__import__"}.isdisjoint(names)
