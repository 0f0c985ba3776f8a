"""A file's syntax tree without the bodies of functions that cannot matter: parsing is most of what a file costs.

A body is the lines behind a function's header that are indented further. Where it holds none of the words that are
asked for, something of as many lines takes its place until someone wants to look into the function. Lines are not all
there is to Python's grammar: strings and brackets go on over lines of less indentation. A body that ends within a
string stays, one that ends within brackets leaves something behind that Python does not understand, and what has been
parsed is held against what has been left out: each function has to be there, with nothing else in it, or it stood in a
string. Whatever does not fit, the whole text is parsed.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import warnings
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

#: Characters of a body from which on leaving it out pays.
WORTH_LEAVING_OUT = 120
#: Before 3.11, Python's own parser could run out of stack on long chains of operators.
_MOST_OPERATORS = 160_000
#: Lines that a header may have, and characters before its ``def``.
_MOST_LINES = 100
_MOST_BEFORE = 200
_DEF = "def "
_BEGINNING = re.compile(r"([ \t]*)(?:async[ \t]+)?def ")
_LAST = re.compile(r":[ \t]*(?:#.*)?\Z")
#: A statement of Python 2 makes a file unreadable, wherever it stands.
_OLD = [re.compile(one) for one in (r"print[ \t]+[\w\"'%]", r"except[ \t]+[\w.]+[ \t]*,", r"raise[ \t]+[\w.]+[ \t]*,")]
#: Text in which every string that begins ends as well.
_CLOSED = re.compile(
    r"""(?:[^"'#]+|\#[^\n]*"""
    r"""|\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}"""
    r"""|"(?!"")(?:[^"\\\n]|\\.)*"|'(?!'')(?:[^'\\\n]|\\.)*')*""",
    re.DOTALL,
)
#: What stands for a body.
_NOTHING = "0"
#: How often a text is shortened before all of it is parsed.
_TRIES = 3
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Outline:
    """The ``tree`` of a text, in which functions may lack their bodies. Raises what ``ast.parse`` raises."""

    def __init__(self, source: str, words: Iterable[str] | None = None) -> None:
        #: The text of each function whose body is left out, by the line of its ``def``, and where that text ends.
        self._left_out: dict[int, tuple[str, int]] = {}
        #: Lines that look like the ``def`` of such a function and are none.
        self._others: set[int] = set()
        self.tree = self._shortened(source, words) or _parse(source)

    def _shortened(self, source: str, words: Iterable[str] | None) -> ast.Module | None:
        """The tree of as much of a text as has to be parsed; nothing where that cannot be told from the rest."""
        if words is None or _is_old(source):
            return None
        for _ in range(_TRIES):
            try:
                text = "".join(self._pieces(source, tuple(words)))
                tree = _parse(text) if self._left_out else None
            except (SyntaxError, ValueError):
                break
            if tree is None or self._is_outline(tree):
                return tree
            self._left_out.clear()
        self._left_out.clear()
        return None

    def restore(self, node: Any) -> None:
        """Give a function its body, if that has been left out. Raises what ``ast.parse`` raises."""
        text, _ = self._left_out.pop(node.lineno, ("", 0))
        if text:
            above = "\n" * (node.lineno - 1) if text[:1] not in " \t" else "\n" * (node.lineno - 2) + "if 1:\n"
            whole: Any = _parse(above + text)
            node.body = whole.body[0].body if text[:1] not in " \t" else whole.body[0].body[0].body

    def _pieces(self, source: str, words: tuple[str, ...]) -> Iterator[str]:
        """The text with nothing in place of the bodies that can be left out."""
        kept = line = at = 0
        header = _header(source, 0)
        while header is not None:
            indentation = header[1]
            start = _after(source, header.end())
            end = _body(indentation).match(source, start).end() if start else header.end()  # type: ignore[union-attr]
            body = _without_comments(source, start, end) if start else ""
            line += source.count("\n", at, header.start())
            at = header.start()
            if _can_be_left_out(body, words) and line + 1 not in self._others:
                below = body.count("\n")
                end = start + len(body)
                self._left_out[line + 1] = source[at:end], line + 1 + source.count("\n", at, end)
                yield source[kept:start]
                yield "\n" * below + indentation + " " + _NOTHING
                kept = end
            header = _header(source, end)
        yield source[kept:]

    def _is_outline(self, tree: ast.Module) -> bool:
        """Whether what has been left out are bodies of functions in a tree, or parts of its docstrings."""
        functions, strings = _outermost(tree)
        there = {node.lineno for node in functions if self._is_empty(node)}
        missing = self._left_out.keys() - there
        self._others.update(missing)
        return all(self._is_within(line, strings) for line in missing)

    def _is_empty(self, node: Any) -> bool:
        """Whether a function is one whose body has been left out, and has nothing else in it."""
        _, end = self._left_out.get(node.lineno, ("", 0))
        return len(node.body) == 1 and node.body[0].lineno == end and isinstance(node.body[0], ast.Expr)

    def _is_within(self, line: int, strings: Sequence[tuple[int, int]]) -> bool:
        """Whether what has been left out there is a part of one of some strings, given by their lines."""
        text, end = self._left_out[line]
        quoted = '"""' in text or "'''" in text
        first, last = strings[bisect_left(strings, (line, 0)) - 1] if strings else (0, 0)
        return not quoted and first < line <= end < last


def _is_old(source: str) -> bool:
    """Whether a line begins with a statement of Python 2."""
    found = (match.start() for one in _OLD for match in one.finditer(source))
    return any(_beginning(source, at) >= 0 and not source[_beginning(source, at) : at].strip() for at in found)


def _beginning(source: str, at: int) -> int:
    """Where the line begins that a place is in, or -1 where that is far away."""
    first = max(at - _MOST_BEFORE, 0)
    start = source.rfind("\n", first, at)
    return start + 1 if start >= 0 else -1 if first else 0


def _header(source: str, at: int) -> re.Match[str] | None:
    """The beginning of the next function: its indentation, and all up to its name."""
    at = source.find(_DEF, at)
    while at >= 0:
        start = _beginning(source, at)
        found = _BEGINNING.fullmatch(source, start, at + len(_DEF)) if start >= 0 else None
        if found is not None:
            return found
        at = source.find(_DEF, at + len(_DEF))
    return None


def _after(source: str, at: int) -> int:
    """Where the line behind a function's header begins, 0 where something else stands there. Raises ``ValueError``.

    A header ends with a colon outside of all brackets.
    """
    opened = closed = 0
    for _ in range(_MOST_LINES):
        end = source.find("\n", at)
        if end < 0:
            return 0
        opened += source.count("(", at, end)
        closed += source.count(")", at, end)
        if opened and opened == closed:
            return end + 1 if _LAST.search(source, at, end) else 0
        at = end + 1
    raise ValueError("a header without an end")


@functools.lru_cache(maxsize=64)
def _body(indentation: str) -> re.Pattern[str]:
    """Lines that are indented further, or hold nothing but a comment."""
    return re.compile(rf"(?:{indentation}[ \t]+[^\s#][^\n]*(?:\n|\Z)|[ \t]*(?:#[^\n]*)?\n)*")


def _without_comments(source: str, start: int, end: int) -> str:
    """Lines up to the last that holds more than a comment."""
    while start < end:
        line = source.rfind("\n", start, end - 1) + 1 or start
        if source[line:end].strip()[:1] not in {"", "#"}:
            break
        end = line
    return source[start:end].rstrip()


def _can_be_left_out(body: str, words: Iterable[str]) -> bool:
    return (
        len(body) >= WORTH_LEAVING_OUT
        and not any(word in body and _stands(word).search(body) for word in words)
        and body[-1] != "\\"
        and not (('"""' in body or "'''" in body) and _CLOSED.match(body).end() < len(body))  # type: ignore[union-attr]
    )


@functools.lru_cache(maxsize=256)
def _stands(word: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(word)}\b")


def _outermost(tree: ast.Module) -> tuple[list[Any], list[tuple[int, int]]]:
    """The functions that are in no other, and the first and last lines of the strings that stand beside them."""
    functions = []
    strings = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            for one in getattr(node, name, ()):
                if isinstance(one, _FUNCTIONS):
                    functions.append(one)
                elif isinstance(one, ast.Expr):
                    strings += [(one.lineno, one.end_lineno or 0)] if isinstance(one.value, ast.Constant) else []
                elif hasattr(one, "body") or hasattr(one, "cases"):
                    waiting.append(one)
    return functions, sorted(strings)


def _parse(source: str) -> ast.Module:
    if sys.version_info < (3, 11) and sum(map(source.count, "+-*/%|&^.([")) > _MOST_OPERATORS:
        raise RecursionError
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in somebody else's strings
        return ast.parse(source)
