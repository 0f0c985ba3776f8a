"""Settings in Python, as ``settings.py`` or ``conf.py``: what a module assigns under no condition. Nothing is run.

Of a condition that orders versions, ``if lib.VERSION >= (4, 2)``, what it does for the newer ones counts.
"""

from __future__ import annotations

import ast
import copy
import warnings
from typing import Any

from envdoctor.probes.project.config_text import MOST_ENTRIES
from envdoctor.probes.source.guards import ORDERED, is_for_newer, spared_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envdoctor.probes.project.config_text import Contents, Entry

    #: A constant with its line.
    Leaf = tuple[Any, int]
    #: By name, key or number, a constant with its line, or what is inside.
    Values = dict[str, Any]


def python(data: bytes) -> Contents:
    """The values of names, attributes and keys with constant names; a value that is no constant is ``None``.

    What is assigned again replaces what there was, under a condition by ``None``; a list that is added to goes on.
    """
    if data.count(b"\n") + data.count(b",") > MOST_ENTRIES:
        return (), f"it has more than {MOST_ENTRIES} values, and was not read"
    module = _Module()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(data).body
        module.run(body)
        return list(_flat("", module.values)), None
    except (RecursionError, MemoryError):
        return (), "it is nested too deeply, and was not read"
    except (SyntaxError, ValueError) as error:
        return (), f"it cannot be parsed: {getattr(error, 'msg', error)}"


class _Module:
    """The values of a module, statement by statement."""

    def __init__(self) -> None:
        self.values: Values = {}
        #: How many values were copied from one name to another: names that double each other have no end.
        self.copied = 0

    def run(self, body: Iterable[ast.stmt], *, surely: bool = True) -> None:
        """Follow statements, which run ``surely`` or maybe."""
        for node in body:
            if isinstance(node, ast.If):
                newer = _for_newer(node)
                self.run(node.body if newer is None else newer, surely=surely and newer is not None)
                self.run(node.orelse if newer is None else [], surely=False)
            elif isinstance(node, (ast.For, ast.While, ast.With, ast.Try)):
                self.run([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)], surely=False)
            elif isinstance(node, ast.Expr):
                self._changed(node.value, surely=surely)
            else:
                for path, value in _assigned(node):
                    self._assign(path, value, added=isinstance(node, ast.AugAssign), surely=surely)

    def _changed(self, call: ast.expr, *, surely: bool) -> None:
        """``NAME.append(x)``, ``NAME.extend([...])`` and ``NAME.update({...})``."""
        if surely and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            path, method, (value,) = _path(call.func.value), call.func.attr, call.args
            if path and method == "append":
                value = ast.copy_location(ast.List(elts=[value], ctx=ast.Load()), value)
            if path and method in {"append", "extend", "update"}:
                self._assign(path, value, added=True, surely=True)

    def _assign(self, path: list[str], value: ast.expr, *, added: bool, surely: bool) -> None:
        """Put a value in its place; one that is ``added`` to what is no list or dictionary makes it unknown."""
        if not surely and (added or path[0] not in self.values):
            return
        root = self.values
        for part in path[:-1]:
            inner = root.get(part)
            if not isinstance(inner, dict):
                inner = root[part] = {}
            root = inner
        held = root.get(path[-1]) if added else None
        new = self._value(value, len(held) if isinstance(held, dict) else 0)
        if not surely or (added and not isinstance(new, dict)):
            root[path[-1]] = (None, value.lineno)
        elif isinstance(held, dict) and isinstance(new, dict):
            held.update(new)
        else:
            root[path[-1]] = new

    def _value(self, value: ast.expr, start: int = 0) -> Values | Leaf:
        """The members of a value by key, or by number from ``start`` on; of anything else the constant and its line."""
        members = _members(value, start)
        if members is not None:
            return {key: self._value(one) for key, one in members}
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            left = self._value(value.left, start)
            right = self._value(value.right, start + len(left)) if isinstance(left, dict) else None
            return {**left, **right} if isinstance(left, dict) and isinstance(right, dict) else (None, value.lineno)
        if isinstance(value, ast.Name) and value.id in self.values:
            return self._named(value, start)
        return _constant(value), value.lineno

    def _named(self, name: ast.Name, start: int) -> Values | Leaf:
        """What another name holds, its members with the line of this one."""
        held: Values | Leaf = self.values[name.id]
        if not isinstance(held, dict):
            return held
        self.copied += _size(held)
        if self.copied > MOST_ENTRIES:
            return None, name.lineno
        held = copy.deepcopy(held)
        if list(held) != [str(number) for number in range(len(held))]:
            return held
        return {str(number): one for number, one in enumerate(held.values(), start)}


def _members(value: ast.expr, start: int) -> list[tuple[str, ast.expr]] | None:
    """The members that a list, a tuple, a set or a dictionary is written with, by key; ``None`` of anything else."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return [(str(number), one) for number, one in enumerate(value.elts, start)]
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values)
        return [(str(key.value), one) for key, one in pairs if isinstance(key, ast.Constant)]
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dict" and not value.args:
        return [(one.arg, one.value) for one in value.keywords if one.arg]
    return None


def _size(values: Values) -> int:
    """How many values there are, those that hold others among them."""
    return sum(1 + (_size(one) if isinstance(one, dict) else 0) for one in values.values())


def _for_newer(node: ast.If) -> list[ast.stmt] | None:
    """What an ``if`` that orders versions runs with the newer ones; ``None`` of another one."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ORDERED) or not spared_by(test):
        return None
    return node.body if is_for_newer(test) else node.orelse


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
