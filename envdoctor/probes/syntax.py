"""The syntax tree of source that anybody wrote, for any Python."""

from __future__ import annotations

import ast
import warnings


def parsed(source: bytes) -> ast.Module | None:
    """The tree of some source; ``None`` where this Python cannot parse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in somebody else's strings
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
