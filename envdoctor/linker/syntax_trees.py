"""Syntax trees of source, and walks through them."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from envdoctor.linker.branches import LEAVES, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: The methods of a mapping that leave it as it is.
_READING = {"items", "keys", "values", "get", "copy"}


def parsed(text: bytes) -> ast.Module | None:
    """The tree of some source; nothing where it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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


def is_itself(node: ast.Subscript) -> bool:
    """Whether something is ``sys.modules[__name__]``, the module that is read."""
    return is_table(node.value) and isinstance(node.slice, ast.Name) and node.slice.id == "__name__"


def is_table(node: ast.expr) -> bool:
    """Whether something is ``sys.modules``, by whatever name ``sys`` is imported."""
    return (chain(node) or ("", ()))[1] == ("modules",)


def hands_itself(body: Sequence[ast.stmt], module: str, name: str) -> bool:
    """Whether a statement of a module calls something with the module's own name, and with a text that is this name."""
    calls = (one.value for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call))
    for call in calls:
        given = [part for one in (*call.args, *(each.value for each in call.keywords)) for part in ast.walk(one)]
        texts = {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        if name in texts and (module in texts or any(getattr(one, "id", "") == "__name__" for one in given)):
            return True
    return False


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
