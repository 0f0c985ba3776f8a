"""Poetry's version constraints as PEP 440 specifiers. The meaning of ``^`` and ``~``: Poetry's documentation."""

from __future__ import annotations

import re

_PART = re.compile(r"\s*(\^|~=|~|===|==|!=|<=|>=|<|>|=)?\s*([0-9A-Za-z][0-9A-Za-z.*+!-]*|\*)\s*", re.ASCII)


def specifiers(constraint: str) -> tuple[str, ...]:
    """The specifiers of which one must hold; none where any version will do or the text is not understood."""
    found = []
    for alternative in constraint.split("||"):
        parts = [_specifier(part) for part in re.split(r",|(?<=[0-9*])\s+(?=[<>=!^~])", alternative) if part.strip()]
        if None in parts or not any(parts):
            return ()
        found.append(",".join(part for part in parts if part))
    return tuple(found)


def python_marker(constraint: str) -> str | None:
    """A constraint on Python as a marker."""
    found = []
    for alternative in specifiers(constraint):
        terms = re.findall(r"(===|==|~=|!=|<=|>=|<|>)([^,]+)", alternative)
        found.append(" and ".join(f"python_full_version {operator} '{version}'" for operator, version in terms))
    return " or ".join(f"({one})" for one in found) or None


def _specifier(part: str) -> str | None:
    """One part, as a specifier; empty where it allows all, ``None`` where it cannot be read."""
    match = _PART.fullmatch(part)
    if match is None:
        return None
    operator, version = match.groups()
    if version == "*":
        return ""
    if operator in {"^", "~"}:
        return _compatible(operator, version)
    return f"{'==' if operator in {None, '='} else operator}{version}"


def _compatible(operator: str, version: str) -> str | None:
    leading = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    if leading is None:
        return None
    numbers = [int(number) for number in leading[0].split(".")[:10] if len(number) < 20]  # noqa: PLR2004 - no real one is longer
    if not numbers:
        return None
    if operator == "~":
        kept = min(len(numbers), 2)
    else:
        kept = next((place for place, number in enumerate(numbers, 1) if number), len(numbers))
    upper = [*numbers[: kept - 1], numbers[kept - 1] + 1]
    return f">={version.rstrip('.*')},<{'.'.join(map(str, upper))}"
