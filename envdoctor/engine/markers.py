"""PEP 508 environment markers, three-valued.

Comparisons of a variable with a literal, joined by ``and``, ``or`` and brackets, are read here without an import;
the rest is left to ``packaging``. A variable that is not in the environment makes a comparison unknown.
"""

from __future__ import annotations

from envdoctor.engine.versions import within
from envdoctor.facts import MARKER, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Optional

    from envdoctor.model import Snapshot

    Verdict = Optional[bool]

#: The variables of an environment: a marker asks for them, and ``extra`` for nothing.
VARIABLES = (
    *("implementation_name", "implementation_version", "os_name", "platform_machine", "platform_release"),
    *("platform_system", "platform_version", "python_full_version", "platform_python_implementation"),
    *("python_version", "sys_platform"),
)
_VERSIONS = {"python_version", "python_full_version"}
_TEXTS = {
    "os_name",
    "sys_platform",
    "platform_machine",
    "platform_python_implementation",
    "platform_system",
    "implementation_name",
    "extra",
}
_OPERATORS = {"==", "!=", "<=", ">=", "~=", "<", ">"}
_SIGNS = frozenset("=!<>~")


class _Unusual(Exception):  # noqa: N818 - it never leaves this file
    """The marker has a form that only ``packaging`` reads."""


def evaluate(marker: str, lookup: Callable[[str], str | None]) -> bool | None:
    """Whether a marker holds, ``lookup`` giving a variable's value or ``None``; ``None`` where that decides."""
    try:
        tokens = _tokens(marker)
        verdict = _either(tokens, lookup)
    except _Unusual:
        return _packaging(marker, lookup)
    except RecursionError:  # brackets within brackets without end
        return None
    return _packaging(marker, lookup) if tokens else verdict


def variables(snapshot: Snapshot) -> Callable[[str], str | None]:
    """The values of the variables of markers, ``None`` for what is not known."""

    def variable(name: str) -> str | None:
        value = snapshot.facts.ask(MARKER, name)
        return None if isinstance(value, Unknown) else value

    return variable


def _tokens(marker: str) -> list[str | tuple[str, str, str]]:
    """Split into brackets, ``and``, ``or`` and comparisons ``(variable, operator, literal)``."""
    if "'" in marker:
        if '"' in marker:
            raise _Unusual
        marker = marker.replace("'", '"')
    pieces = marker.split('"')
    if len(pieces) % 2 == 0:
        raise _Unusual
    tokens: list[str | tuple[str, str, str]] = []
    for glue, literal in zip(pieces[::2], pieces[1::2]):
        text = glue.rstrip()
        operator = text[-2:] if text[-2:] in _OPERATORS else text[-1:]
        words = _words(text[: -len(operator)])
        if not words or operator not in _OPERATORS or words[-1][-1] in _SIGNS:
            raise _Unusual
        tokens += words[:-1]
        tokens.append((words[-1], operator, literal))
    tokens += _words(pieces[-1])
    tokens.reverse()
    return tokens


def _words(text: str) -> list[str]:
    if "(" in text or ")" in text:
        text = text.replace("(", " ( ").replace(")", " ) ")
    return text.split()


def _either(tokens: list[str | tuple[str, str, str]], lookup: Callable[[str], str | None]) -> Verdict:
    verdict = _both(tokens, lookup)
    while tokens and tokens[-1] == "or":
        tokens.pop()
        right = _both(tokens, lookup)
        verdict = True if verdict or right else None if verdict is None or right is None else False
    return verdict


def _both(tokens: list[str | tuple[str, str, str]], lookup: Callable[[str], str | None]) -> Verdict:
    verdict = _one(tokens, lookup)
    while tokens and tokens[-1] == "and":
        tokens.pop()
        right = _one(tokens, lookup)
        verdict = False if verdict is False or right is False else None if verdict is None or right is None else True
    return verdict


def _one(tokens: list[str | tuple[str, str, str]], lookup: Callable[[str], str | None]) -> Verdict:
    if not tokens:
        raise _Unusual
    token = tokens.pop()
    if token == "(":  # noqa: S105 - a bracket
        verdict = _either(tokens, lookup)
        if not tokens or tokens.pop() != ")":
            raise _Unusual
        return verdict
    if isinstance(token, str):
        raise _Unusual
    return _compare(token, lookup)


def _compare(comparison: tuple[str, str, str], lookup: Callable[[str], str | None]) -> Verdict:
    variable, operator, literal = comparison
    if variable in _VERSIONS:
        if not literal.replace(".", "").rstrip("*").isdigit():
            raise _Unusual
        value = lookup(variable)
        return None if value is None else within(value.rstrip("+"), operator + literal)
    if variable not in _TEXTS or operator not in {"==", "!="} or literal[:1].isdigit():
        raise _Unusual
    value = "" if variable == "extra" else lookup(variable)
    return None if value is None else (value == literal) is (operator == "==")


def _packaging(marker: str, lookup: Callable[[str], str | None]) -> bool | None:
    from packaging.markers import Marker

    try:  # what it raises for a marker that is invalid or cannot be decided are all of these kinds
        parsed = Marker(marker)
        names = _variables(str(parsed))
        environment: Mapping[str, str] = {
            name: value for name in names for value in [lookup(name)] if value is not None
        }
        return parsed.evaluate({"extra": "", **environment}) if len(environment) == len(names) else None
    except (ValueError, RecursionError):
        return None


def _variables(marker: str) -> set[str]:
    """The variables that a canonical marker names."""
    import re

    outside = re.sub(r'"[^"]*"', " ", marker)
    return set(re.findall(r"[a-z_]{5,}", outside)) - {"not", "and", "extra"}
