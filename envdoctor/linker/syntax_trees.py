"""Syntax trees of source, and walks through them."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from envdoctor.linker.branches import LEAVES, children

if TYPE_CHECKING:
    from collections.abc import Iterator


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
