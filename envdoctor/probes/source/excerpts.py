"""The text of an expression as it may be shown to anybody: on one line, without comments, every literal left out.

A literal may be a password. Which one a rule compares, and so may show, is known only where rules are evaluated: those
of a whole expression are given beside its text, in the order of their gaps.
"""

from __future__ import annotations

import ast
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TEXT = 80
#: What replaces a text, and for a number of more than so many digits.
GAP, LONG, MOST_DIGITS = "'...'", "...", 4
#: So many nodes of an expression are visited; what is longer is not shown.
_MOST_NODES = 400
_MOST_LINES = 8
_MOST_VALUE = 200
_MOST_KEY = 24
_COMMENT = re.compile(rb"#[^\n]*|\\\n")
_STRINGS = (ast.JoinedStr, *([ast.TemplateStr] if hasattr(ast, "TemplateStr") else []))


class Excerpts:
    """The source text of nodes."""

    def __init__(self, source: str) -> None:
        self.lines = source.encode("utf-8", "surrogatepass").split(b"\n")

    def of(self, node: ast.AST) -> str:
        """One line of at most ``MOST_TEXT`` characters; empty for what has too many parts."""
        return self.with_literals(node)[0]

    def with_literals(self, node: ast.AST) -> tuple[str, list[str | None]]:
        """The same, and the texts that were left out of it by gap; ``None`` for one that is long or not plain."""
        start, end = _begin(node), _end(node)
        last = min(end[0], start[0] + _MOST_LINES)
        end = end if last == end[0] else (last, len(self.lines[last]))
        pieces, literals, at = [], list[object](), start
        for number, one in enumerate(_in_order(node)):
            if number > _MOST_NODES:
                return "", []
            gap = _gap(one)
            if gap is not None and at <= _begin(one) < end:
                pieces += [self._between(at, _begin(one)), gap]
                literals += [one.value if isinstance(one, ast.Constant) else None] if gap == GAP else []
                at = _end(one)
        text = " ".join("".join([*pieces, self._between(at, end)]).split())
        cut = text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."
        return cut, [_plain(one) for one in literals[: cut.count(GAP)]]

    def import_line(self, number: int) -> str:
        """The import statements of a whole line, without its other statements."""
        line = self.lines[number - 1].decode("utf-8", "replace").partition("#")[0]
        kept = [one.strip() for one in line.split(";") if _IMPORT.fullmatch(one.strip())]
        text = "; ".join(" ".join(one.split()) for one in kept)
        return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."

    def _between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text between two places, of which the first line counts as 0; comments are left out."""
        if end <= start:
            return ""
        if start[0] == end[0]:
            text = self.lines[start[0]][start[1] : end[1]]
        else:
            text = b"\n".join(
                [self.lines[start[0]][start[1] :], *self.lines[start[0] + 1 : end[0]], self.lines[end[0]][: end[1]]]
            )
        return _COMMENT.sub(b" ", text).decode("utf-8", "replace")


#: An import, perhaps behind the word that begins its block, or the first line of a longer one.
_IMPORT = re.compile(r"(?:(?:try|else|finally): *)?(?:import|from)\b[\w\s.,*()\\]*")


def _begin(node: ast.AST) -> tuple[int, int]:
    return node.lineno - 1, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno - 1, node.end_col_offset  # type: ignore[attr-defined]


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions within one, itself first, by their place; a text in several parts is one."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.expr):
            yield one
        if not isinstance(one, _STRINGS):
            parts = [part for part in ast.iter_child_nodes(one) if not isinstance(part, ast.expr_context)]
            waiting += sorted(parts, key=_place, reverse=True)


def _place(node: ast.AST) -> tuple[int, int]:
    """Where a node begins; one without a place where its first part does."""
    if hasattr(node, "lineno"):
        return _begin(node)
    return min((_place(part) for part in ast.iter_child_nodes(node)), default=(0, 0))


def _gap(node: ast.AST) -> str | None:
    """The text in place of a literal; ``None`` for what is no literal, and for short numbers."""
    if isinstance(node, _STRINGS):
        return GAP
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, (str, bytes)):
        return GAP
    is_number = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return LONG if is_number and sum(map(str.isdigit, repr(value))) > MOST_DIGITS else None


def _plain(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= _MOST_VALUE else None


def is_plain_key(value: object) -> bool:
    """Whether the key of a dictionary is a name that describes its value, and no secret itself."""
    return isinstance(value, str) and value.isidentifier() and len(value) <= _MOST_KEY and not re.search(r"\d", value)
