"""Syntax trees of source, and walks through them."""

from __future__ import annotations

import ast
from typing import Any

from envdoctor.linker.branches import LEAVES, children
from envdoctor.probes.syntax import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: The trees that are held are of so many bytes of source, of which they take some thirty times as much.
_MOST_HELD = 2 << 20
#: The methods of a mapping that leave it as it is.
_READING = {"items", "keys", "values", "get", "copy"}


class SyntaxTrees:
    """The trees of modules by name, those that were asked for last; ``text`` returns the source of a module."""

    def __init__(self, text: Callable[[str], bytes]) -> None:
        self._text = text
        self._trees: dict[str, tuple[int, ast.Module | None]] = {}
        self._size = 0

    def get(self, name: str) -> ast.Module | None:
        """The tree of a module; nothing where it cannot be parsed."""
        held = self._trees.pop(name, None)
        if held is None:
            text = self._text(name)
            held = len(text), parsed(text)
            self._size += held[0]
        while self._trees and self._size > _MOST_HELD:
            self._size -= self._trees.pop(next(iter(self._trees)))[0]
        self._trees[name] = held
        return held[1]


def walked(node: ast.AST) -> Iterator[Any]:
    """A node and all that is in it, but for constants, in no order."""
    nodes: list[Any] = [node]
    while nodes:
        one = nodes.pop()
        if type(one) not in LEAVES:
            yield one
            nodes += children(one)


def chain(node: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    """The name that a chain of attributes begins with, and the attributes; ``None`` where it begins with no name."""
    if type(node) is ast.Name:
        return node.id, ()
    attributes = []
    while type(node) is ast.Attribute:
        attributes.append(node.attr)
        node = node.value
    return (node.id, tuple(attributes[::-1])) if type(node) is ast.Name else None


def bound_in(node: ast.AST) -> set[str]:
    """The names that something within a syntax tree stores or defines; imports and parameters are none."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored | {one.name for one in ast.walk(node) if isinstance(one, defined) and one is not node}


def only_reads(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function does nothing with its parameters but read items of them: it adds none, nor passes them on."""
    nodes = list(ast.walk(function))
    given = {one.arg for one in nodes if isinstance(one, ast.arg)}
    reading = {
        id(one.value)
        for one in nodes
        if (isinstance(one, ast.Attribute) and one.attr in _READING)
        or (isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load))
    }
    return all(id(one) in reading for one in nodes if isinstance(one, ast.Name) and one.id in given)


#: Methods that change a list, a set or a mapping.
CHANGING = frozenset(
    ["update", "append", "add", "extend", "setdefault", "pop", "clear", "remove", "discard", "popitem", "insert"]
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def changed_later(tree: ast.Module) -> set[str]:
    """The names whose values functions of a module change when they are called."""
    found: set[str] = set()
    for function in _outermost(tree):
        for node in walked(function):
            stored = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
            whole = getattr(node, "value", None) if stored or getattr(node, "attr", "") in CHANGING else None
            if isinstance(whole, ast.Name):
                found.add(whole.id)
            elif isinstance(node, ast.Global):
                found.update(node.names)
    return found


def _outermost(tree: ast.Module) -> Iterator[ast.AST]:
    """The functions of a module that are in no other function."""
    todo: list[Any] = [tree]
    while todo:
        one = todo.pop()
        if isinstance(one, _FUNCTIONS):
            yield one
        elif type(one) not in LEAVES:
            todo += children(one)
