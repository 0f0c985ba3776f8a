"""Settings in Python, as ``settings.py`` or ``conf.py``: what a module assigns under no condition. Nothing is run."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from envdoctor.probes.project.config_text import MOST_ENTRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.probes.project.config_text import Contents, Entry

    #: A constant with its line.
    Leaf = tuple[Any, int]
    #: By name, key or number, a constant with its line, or what is inside.
    Values = dict[str, Any]


def python(data: bytes) -> Contents:
    """The values of names, attributes and keys with constant names; a value that is no constant is ``None``.

    What is assigned again replaces what there was, a list that is added to goes on.
    """
    if data.count(b"\n") + data.count(b",") > MOST_ENTRIES:
        return (), f"it has more than {MOST_ENTRIES} values, and was not read"
    root: Values = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(data).body
        for node in body:
            for path, value in _assigned(node):
                _put(root, path, value, added=isinstance(node, ast.AugAssign))
        return list(_flat("", root)), None
    except (RecursionError, MemoryError):
        return (), "it is nested too deeply, and was not read"
    except (SyntaxError, ValueError) as error:
        return (), f"it cannot be parsed: {getattr(error, 'msg', error)}"


def _assigned(node: ast.stmt) -> Iterator[tuple[list[str], ast.expr]]:
    """The paths that a statement assigns to, each with the value."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            path = _path(target)
            if path:
                yield path, node.value


def _path(target: ast.expr) -> list[str]:
    """The parts of a name, an attribute or a key that is text; empty for anything else."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Attribute, ast.Subscript)):
        last = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
        outer = _path(target.value)
        return [*outer, last] if outer and isinstance(last, str) else []
    return []


def _put(root: Values, path: list[str], value: ast.expr, *, added: bool) -> None:
    """Put a value in its place; one that is ``added`` to what is no list or dictionary makes it unknown."""
    for part in path[:-1]:
        inner = root.get(part)
        if not isinstance(inner, dict):
            inner = root[part] = {}
        root = inner
    held = root.get(path[-1]) if added else None
    start = len(held) if isinstance(held, dict) else 0
    new = _value(value, start)
    if added and not isinstance(new, dict):
        root[path[-1]] = (None, value.lineno)
    elif isinstance(held, dict) and isinstance(new, dict):
        held.update(new)
    else:
        root[path[-1]] = new


def _value(value: ast.expr, start: int = 0) -> Values | Leaf:
    """The members of a value by key, or by number from ``start`` on; of anything else the constant and its line."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return {str(number): _value(one) for number, one in enumerate(value.elts, start)}
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values)
        return {str(key.value): _value(one) for key, one in pairs if isinstance(key, ast.Constant)}
    return _constant(value), value.lineno


def _constant(value: ast.expr) -> Any:
    """The text, number or truth value that an expression is; ``None`` for anything else."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, MemoryError):
        return None
    return found if isinstance(found, (str, int, float)) else None


def _flat(path: str, values: Values) -> Iterator[Entry]:
    """The constants of nested values, by dotted path."""
    for name, one in values.items():
        inner = f"{path}.{name}" if path else name
        if isinstance(one, dict):
            yield from _flat(inner, one)
        else:
            yield (inner, *one)
