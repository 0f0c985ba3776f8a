"""Whether a regular expression can be searched for in any text in bearable time, and whether it says enough.

The expression is read with the parser of :mod:`re`; what is refused can match one text in very many ways:
a quantifier over something that itself varies in length, alternatives under a quantifier that can begin alike,
neighbouring quantifiers that can take the same characters.
"""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

try:
    from re import _constants as sre_constants  # type: ignore[attr-defined]
    from re import _parser as sre_parse  # type: ignore[attr-defined]
except ImportError:  # Python before 3.11
    import sre_constants
    import sre_parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Chars = frozenset[int]
    Item = tuple[Any, Any]

#: A symptom that requires fewer characters of the text would be seen in many texts.
LITERALS_NEEDED = 8
#: A longer expression is a transcript, not a symptom.
LENGTH_LIMIT = 500
#: The length of the text for which ways to match are counted, and how many are too many: two free quantifiers are not.
_TEXT = 50
_TOO_MANY = 2 * _TEXT**2
_AMBIGUOUS = (
    "the expression can match one text in too many ways and take very long; avoid quantifiers inside quantifiers, "
    "alternatives that begin alike, and more than two `.*`: write [^']* or [\\w.]+ instead"
)

_OTHER = 256  # means every character beyond Latin-1
_ALL: Chars = frozenset(range(_OTHER + 1))
_NONE: Chars = frozenset()
_POSITIONS = {"AT", "ASSERT", "ASSERT_NOT"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


def literals(pattern: str) -> int:
    """How many characters every match must hold literally; of alternatives, the shortest counts."""
    return _literals(_parse(pattern))


def danger(pattern: str) -> str | None:
    """Why an expression could take very long on some text and what to write instead, or ``None``.

    Expects an expression that compiles.
    """
    if len(pattern) > LENGTH_LIMIT:
        return f"the expression is longer than {LENGTH_LIMIT} characters; keep the part that names the cause"
    tree = _parse(pattern)
    found = next(_dangers(tree), None)
    return found or (_AMBIGUOUS if _ways(tree, _NONE) > _TOO_MANY else None)


def _parse(pattern: str) -> list[Item]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(sre_parse.parse(pattern, re.MULTILINE))


def _dangers(items: Sequence[Item]) -> Iterator[str]:
    yield from _neighbours(items)
    for name, value in ((str(op), value) for op, value in items):
        if name in {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}:
            yield "possessive quantifiers and atomic groups are unknown to older Pythons; write a plain quantifier"
        if name in _REPEATS and not _widths(list(value[2]))[0]:
            yield "a quantifier over what can be empty can take very long; write one set such as [\\w.]+ instead"
        for inner in _children(name, value):
            yield from _dangers(inner)


def _ways(items: Sequence[Item], follow: Chars) -> float:
    """In how many ways a sequence can match one text of ``_TEXT`` characters: an upper bound.

    ``follow`` are the characters that may come next. A quantifier whose end the next character decides has one way.
    """
    ways = 1.0
    for op, value in reversed(items):
        name = str(op)
        ways *= _item_ways(name, value, follow)
        first = _ALL if name in _POSITIONS else _first([(op, value)])
        follow = first if _width(name, value)[0] else first | follow
    return min(ways, math.inf)


def _item_ways(name: str, value: Any, follow: Chars) -> float:
    children = _children(name, value)
    if name in _REPEATS:
        first = _first(children[0])
        inner = _ways(children[0], follow | first if value[1] > 1 else follow)
        again = min(int(value[1]), _TEXT)
        choices = min(int(value[1]) - int(value[0]) + 1, _TEXT) if first & follow else 1
        return choices * (inner**again if inner < _TOO_MANY else inner)
    if name == "BRANCH":
        firsts = [_first(branch) for branch in children]
        apart = sum(map(len, firsts)) == len(frozenset().union(*firsts))
        return (max if apart and all(_widths(branch)[0] for branch in children) else sum)(
            _ways(branch, follow) for branch in children
        )
    return math.prod(_ways(child, follow) for child in children)


def _unbounded(value: Any) -> bool:
    return bool(value[1] == sre_constants.MAXREPEAT)


def _children(name: str, value: Any) -> list[list[Item]]:
    """The sequences inside one item."""
    if name in _REPEATS:
        return [list(value[2])]
    if name == "SUBPATTERN":
        return [list(value[-1])]
    if name == "BRANCH":
        return [list(branch) for branch in value[1]]
    if name in {"ASSERT", "ASSERT_NOT"}:
        return [list(value[1])]
    if name == "GROUPREF_EXISTS":
        return [list(branch) for branch in value[1:] if branch]
    return [list(value)] if name == "ATOMIC_GROUP" else []


def _widths(items: Sequence[Item]) -> tuple[int, int]:
    """The least and the greatest length of what a sequence can match."""
    least = most = 0
    for op, value in items:
        low, high = _width(str(op), value)
        least, most = least + low, most + high
    return least, most


def _width(name: str, value: Any) -> tuple[int, int]:
    inner = [_widths(child) for child in _children(name, value)]
    if name in _REPEATS:
        return int(value[0]) * inner[0][0], int(value[1]) * inner[0][1]
    if name in _POSITIONS:
        return 0, 0
    if name in {"GROUPREF", "GROUPREF_EXISTS"}:
        return 0, int(sre_constants.MAXREPEAT)
    if inner:
        return min(low for low, _ in inner), max(high for _, high in inner)
    return 1, 1


def _neighbours(items: Sequence[Item]) -> Iterator[str]:
    """Quantifiers side by side, or with only optional parts between, that can take the same characters."""
    open_sets: list[Chars] = []
    for op, value in _flat(items):
        name = str(op)
        if name in _REPEATS and _unbounded(value):
            chars = _chars(list(value[2]))
            if any(chars & other for other in open_sets):
                yield "quantifiers side by side can take the same characters; merge them, or bound them as in {1,80}"
            open_sets = [*(open_sets if not value[0] else []), chars]
        elif _width(name, value)[0]:
            open_sets = []


def _flat(items: Sequence[Item]) -> Iterator[Item]:
    """Items with plain groups opened, as they follow each other in the text."""
    for op, value in items:
        if str(op) == "SUBPATTERN":
            yield from _flat(list(value[-1]))
        else:
            yield op, value


def _first(items: Sequence[Item]) -> Chars:
    """The characters that a match of a sequence can begin with."""
    found: Chars = _NONE
    for op, value in items:
        name = str(op)
        if name in _POSITIONS:
            continue
        children = _children(name, value)
        found |= frozenset().union(*map(_first, children)) if children else _set_of(name, value)
        if _width(name, value)[0]:
            break
    return found


def _chars(items: Sequence[Item]) -> Chars:
    """The characters that can be anywhere in a match of a sequence."""
    found: Chars = _NONE
    for op, value in items:
        children = _children(str(op), value)
        found |= frozenset().union(*map(_chars, children)) if children else _set_of(str(op), value)
    return found


def _set_of(name: str, value: Any) -> Chars:
    """The characters that one item without inner sequences can take; case is ignored."""
    if name in _SETS:
        return _SETS[name](value)
    return _NONE if name == "AT" else _ALL


def _literal(code: int) -> Chars:
    char = chr(code)
    return frozenset(min(ord(one), _OTHER) for one in (char, *char.lower(), *char.upper()))


def _in(members: Sequence[Item]) -> Chars:
    found: Chars = _NONE
    for op, value in members:
        if str(op) != "NEGATE":
            found |= _set_of(str(op), value)
    return (_ALL - found) | {_OTHER} if members and str(members[0][0]) == "NEGATE" else found


def _range(bounds: tuple[int, int]) -> Chars:
    inside = range(bounds[0], min(bounds[1], _OTHER - 1) + 1)
    beyond = {_OTHER} if bounds[1] >= _OTHER else _NONE
    return frozenset().union(beyond, *map(_literal, inside))


def _category(name: Any) -> Chars:
    kind = str(name).rpartition("_")[2]
    test = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": str.isalnum}[kind]
    inside = frozenset(code for code in range(_OTHER) if test(chr(code)) or (kind == "WORD" and chr(code) == "_"))
    return (_ALL - inside if "_NOT_" in str(name) else inside) | {_OTHER}


_SETS: dict[str, Callable[[Any], Chars]] = {
    "LITERAL": _literal,
    "NOT_LITERAL": lambda code: (_ALL - frozenset([code])) | {_OTHER},
    "ANY": lambda _: _ALL,
    "IN": _in,
    "RANGE": _range,
    "CATEGORY": _category,
}


def _literals(items: Sequence[Item]) -> int:
    count = 0
    for op, value in items:
        name = str(op)
        inner = [_literals(child) for child in _children(name, value)]
        if name == "LITERAL":
            count += 1
        elif name in _REPEATS:
            count += inner[0] if value[0] else 0
        elif inner and name not in _POSITIONS:
            count += min(inner)
    return count
