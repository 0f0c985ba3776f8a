"""What can be told of a module without running it: literal tables, ``__all__``, and what ``__getattr__`` answers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PAIR = 2


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


def table(node: ast.expr | None, tables: Mapping[str, Any]) -> dict[str, bool] | None:
    """The keys of a literal table; false for those whose value ends in ``None``: a message without a replacement."""
    if isinstance(node, ast.Dict):
        keys = strings(node)
        return None if keys is None else {key: not _is_expired(value) for key, value in zip(keys, node.values)}
    keys = strings(node, tables)
    return None if keys is None else dict.fromkeys(keys, True)


def _is_expired(value: ast.expr) -> bool:
    last = value.elts[-1] if isinstance(value, ast.Tuple) and len(value.elts) >= _PAIR else None
    return isinstance(last, ast.Constant) and last.value is None


def _constants(nodes: Sequence[ast.expr]) -> list[str] | None:
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return found if len(found) == len(nodes) else None


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def assigned_getattr(node: ast.expr, tables: Mapping[str, dict[str, bool]]) -> dict[str, Any]:
    """What ``__getattr__ = make(__name__, TABLE)`` answers: the table's names; nothing else is certain."""
    named = [one.id for one in getattr(node, "args", ()) if isinstance(one, ast.Name) and one.id in tables]
    if len(named) != 1:
        return {"rest": "unknown"}
    held = tables[named[0]]
    return {
        "yes": sorted(name for name in held if held[name]),
        "no": sorted(name for name in held if not held[name]),
        "rest": "unknown",
    }


def defined_getattr(node: ast.FunctionDef, tables: Mapping[str, Any]) -> dict[str, Any]:
    """What ``def __getattr__(name)`` answers, as far as it compares the name with strings and literal tables."""
    answers: dict[str, Any] = {"yes": [], "no": [], "rest": "unknown"}
    if node.args.args:
        _follow(node.body, node.args.args[0].arg, tables, answers)
    return answers


def _follow(body: Sequence[ast.stmt], name: str, tables: Mapping[str, Any], answers: dict[str, Any]) -> None:
    """Take statements in order until one may answer for any name."""
    for node in body:
        if isinstance(node, ast.Raise):
            answers["rest"] = "raises"
            return
        keys, reverse = _matched(node.test, name, tables) if isinstance(node, ast.If) else (None, False)
        if isinstance(node, ast.If) and keys is not None:
            if _branch(node, keys, answers, reverse=reverse):
                return
            if node.orelse:
                _follow(node.orelse, name, tables, answers)
        elif any(isinstance(one, ast.Return) for one in ast.walk(node)):
            return
        if answers["rest"] == "raises":
            return


def _branch(node: ast.If, keys: Sequence[str], answers: dict[str, Any], *, reverse: bool) -> bool:
    """Take note of what one comparison of the name decides; whether all names are decided then."""
    if reverse:
        if _raises(node.body):
            answers["yes"] += keys
            answers["rest"] = "raises"
        return True
    answers["no" if _raises(node.body) else "yes"] += keys
    return False


def _raises(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise)


def _matched(test: ast.expr, name: str, tables: Mapping[str, Any]) -> tuple[list[str] | None, bool]:
    """The strings that a condition compares the name with, and whether it holds for all others."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        parts = [_matched(one, name, tables) for one in test.values]
        if any(keys is None or reverse for keys, reverse in parts):
            return None, False
        return [key for keys, _ in parts for key in keys or ()], False
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name):
        return None, False
    operation, other = test.ops[0], test.comparators[0]
    single = isinstance(operation, (ast.Eq, ast.NotEq))
    keys = _constants([other]) if single else strings(other, tables)
    return keys, isinstance(operation, (ast.NotEq, ast.NotIn))


def is_of_data(node: ast.AST) -> bool:
    """Whether a ``__getattr__`` of a class gives what its object has under the name as a key, and nothing else has."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "") for one in calls}
    items = any(isinstance(one, ast.Subscript) and getattr(one.value, "id", "") == "self" for one in ast.walk(node))
    return (items or "__getitem__" in names) and "getattr" not in names
