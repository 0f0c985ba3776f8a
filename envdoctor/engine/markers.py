"""PEP 508 environment markers, three-valued.

``and``, ``or``, brackets and the common comparisons are read here without an import; any other comparison is left to
``packaging``, one at a time. A variable that is not known makes its comparison unknown, so that a marker is decided
as far as the known variables go.
"""

from __future__ import annotations

from envdoctor.engine.versions import within
from envdoctor.facts import MARKER, Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Optional

    from envdoctor.model import Snapshot

    Lookup = Callable[[str], Optional[str]]

#: The variables of an environment.
VARIABLES = (
    *("implementation_name", "implementation_version", "os_name", "platform_machine", "platform_release"),
    *("platform_system", "platform_version", "python_full_version", "platform_python_implementation"),
    *("python_version", "sys_platform"),
)
#: Those that are chosen by whoever installs, so a lock file holds entries for every value.
CHOICES = frozenset({"extra", "extras", "dependency_groups"})
_NAMES = CHOICES.union(VARIABLES)
_ALIASES = {
    "os.name": "os_name",
    "sys.platform": "sys_platform",
    "platform.version": "platform_version",
    "platform.machine": "platform_machine",
    "platform.python_implementation": "platform_python_implementation",
    "python_implementation": "platform_python_implementation",
}
_VERSIONS = {"python_version", "python_full_version"}
_FULL_VERSIONS = {"python_full_version", "implementation_version"}
_TEXTS = {
    "os_name",
    "sys_platform",
    "platform_machine",
    "platform_python_implementation",
    "platform_system",
    "implementation_name",
    "extra",
}
_EQUALITY = {"==", "!="}
_CLAUSES = {*_EQUALITY, "<=", ">=", "~=", "<", ">"}
_OPERATORS = {*_CLAUSES, "===", "in", "not in"}
_SIGNS = "=!<>~"


class Verdict(Record):
    """Whether a marker holds: ``True``, ``False``, or ``None`` with what would have to be known."""

    holds: bool | None
    unknown: frozenset[str] = frozenset()

    def __and__(self, other: Verdict) -> Verdict:
        if self.holds is False or other.holds is False:
            return NO
        if self.holds and other.holds:
            return YES
        return Verdict(holds=None, unknown=self.unknown | other.unknown)

    def __or__(self, other: Verdict) -> Verdict:
        if self.holds or other.holds:
            return YES
        if self.holds is False and other.holds is False:
            return NO
        return Verdict(holds=None, unknown=self.unknown | other.unknown)


YES = Verdict(holds=True)
NO = Verdict(holds=False)
UNREAD = Verdict(holds=None, unknown=frozenset({"the meaning of that marker"}))


class _Malformed(Exception):  # noqa: N818 - it never leaves this file
    """The text is no marker."""


def evaluate(marker: str, lookup: Lookup) -> bool | None:
    """Whether a marker holds where no extra was asked for; ``None`` where that is not known."""
    return decide(marker, lambda name: "" if name == "extra" else lookup(name)).holds


def decide(marker: str, lookup: Lookup) -> Verdict:
    """Whether a marker holds, ``lookup`` giving a variable's value or ``None``; one that cannot be read is unknown."""
    try:
        tokens = _tokens(marker)
        verdict = _either(tokens, lookup)
    except (_Malformed, RecursionError):  # the latter of brackets within brackets without end
        return UNREAD
    return UNREAD if tokens else verdict


def variables(snapshot: Snapshot) -> Lookup:
    """The values of the variables of markers, ``None`` for what is not known."""

    def variable(name: str) -> str | None:
        value = snapshot.facts.ask(MARKER, name)
        return None if isinstance(value, Unknown) else value

    return variable


def _tokens(marker: str) -> list[str]:
    """Brackets, words, operators, and literals without their last quote, which begin with ``"``; the last one first."""
    tokens: list[str] = []
    while marker:
        single, double = marker.find("'"), marker.find('"')
        glue, quote, marker = marker.partition("'" if double < 0 or 0 <= single < double else '"')
        tokens += _words(glue)
        if quote:
            literal, closed, marker = marker.partition(quote)
            if not closed:
                raise _Malformed
            tokens.append('"' + literal)
    tokens.reverse()
    return tokens


def _words(text: str) -> list[str]:
    """The words of a text, with brackets and operators apart."""
    if "(" in text or ")" in text:
        text = text.replace("(", " ( ").replace(")", " ) ")
    words = []
    for word in text.split():
        rest = word.lstrip(_SIGNS)
        name = rest.rstrip(_SIGNS)
        words += [part for part in (word[: len(word) - len(rest)], name, rest[len(name) :]) if part]
    return words


def _either(tokens: list[str], lookup: Lookup) -> Verdict:
    verdict = _both(tokens, lookup)
    while tokens and tokens[-1] == "or":
        tokens.pop()
        verdict |= _both(tokens, lookup)
    return verdict


def _both(tokens: list[str], lookup: Lookup) -> Verdict:
    verdict = _one(tokens, lookup)
    while tokens and tokens[-1] == "and":
        tokens.pop()
        verdict &= _one(tokens, lookup)
    return verdict


def _one(tokens: list[str], lookup: Lookup) -> Verdict:
    try:
        left = tokens.pop()
        if left == "(":
            verdict = _either(tokens, lookup)
            if tokens.pop() != ")":
                raise _Malformed
            return verdict
        operator, right = tokens.pop(), tokens.pop()
        if operator == "not" and right == "in":
            operator, right = "not in", tokens.pop()
    except IndexError:
        raise _Malformed from None
    turned = left[0] == '"'
    variable, literal = (right, left) if turned else (left, right)
    name = _ALIASES.get(variable, variable)
    if literal[0] != '"' or name not in _NAMES or operator not in _OPERATORS:  # nobody compares two variables
        raise _Malformed
    return _compare(name, operator, literal[1:], lookup, turned=turned)


def _compare(name: str, operator: str, literal: str, lookup: Lookup, *, turned: bool) -> Verdict:
    value = lookup(name)
    values = [value] if value is not None else _micros(name, operator, literal, lookup)
    answers = {_answer(name, one, operator, literal, turned=turned) for one in values}
    if len(answers) == 1 and None not in answers:
        return YES if answers.pop() else NO
    minor = name in _FULL_VERSIONS and lookup("python_version") is None  # the micro version is of no use without it
    return Verdict(holds=None, unknown=frozenset({"python_version" if minor else name}))


def _micros(name: str, operator: str, literal: str, lookup: Lookup) -> list[str]:
    """Values that decide the comparison of a full version of which the minor version is known; none for others."""
    minor = lookup("python_version") if name in _FULL_VERSIONS and operator in _CLAUSES else None
    if minor is None or (name == "implementation_version" and lookup("implementation_name") != "cpython"):
        return []
    named = literal.partition(f"{minor}.")[2].partition(".")[0]
    return [f"{minor}.{micro}" for micro in ("0", "99", *([named] if named.isdigit() else ()))]


def _answer(name: str, value: str, operator: str, literal: str, *, turned: bool) -> bool | None:
    """Whether a comparison with a value holds; ``None`` where that cannot be compared."""
    verdict = None
    if turned:
        pass  # an order that is rare
    elif name in _VERSIONS and operator in _CLAUSES and literal.replace(".", "").rstrip("*").isdigit():
        verdict = within(value.rstrip("+"), operator + literal)
    elif name in _TEXTS and operator in _EQUALITY and not literal[:1].isdigit():
        verdict = (value == literal) is (operator == "==")
    if verdict is not None:
        return verdict
    from packaging.markers import Marker

    quoted = f"'{literal}'" if '"' in literal else f'"{literal}"'
    comparison = f"{quoted} {operator} {name}" if turned else f"{name} {operator} {quoted}"
    try:  # what it raises for values that cannot be compared, or a number too long for Python
        return Marker(comparison).evaluate({"extra": "", name: value})
    except (ValueError, KeyError):
        return None
