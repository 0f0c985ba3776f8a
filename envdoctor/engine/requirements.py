"""Requirement lines as installed metadata states them, held against what is installed.

The plain forms of PEP 508 are read here without an import; the rest is left to ``packaging``.
"""

from __future__ import annotations

from envdoctor.engine.markers import evaluate
from envdoctor.engine.versions import intervals, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Optional

    from envdoctor.model import Distribution

    Parsed = tuple[str, str, Optional[str]]

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
_names: dict[str, str] = {}


def normalise(name: str) -> str:
    """The PEP 503 form of a distribution's name."""
    found = _names.get(name)
    if found is None:
        found = name.lower().replace("_", "-").replace(".", "-")
        while "--" in found:
            found = found.replace("--", "-")
        _names[name] = found
    return found


def parse(line: str) -> Parsed | None:
    """Split a requirement line into normalised name, specifier set and marker; ``None`` where it is not one.

    A direct reference (``name @ url``) has the empty specifier. Extras are dropped, as the base requirement stands
    without them.
    """
    head, semicolon, marker = line.partition(";")
    end = 0
    for character in head:
        if character not in _NAME:
            break
        end += 1
    name, rest = head[:end], head[end:].strip()
    if rest[:1] == "[":
        rest = rest.partition("]")[2].strip()
    if rest[:1] == "(" and rest[-1:] == ")":
        rest = rest[1:-1].strip()
    if not end or (rest and (rest[0] not in "<>=!~" or "@" in rest or intervals(rest) is None)):
        return _packaging_parse(line)
    return normalise(name), rest, marker.strip() or None if semicolon else None


def _packaging_parse(line: str) -> Parsed | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        found = Requirement(line)
    except InvalidRequirement:
        return None
    return normalise(found.name), str(found.specifier), str(found.marker) if found.marker else None


def applies(line: str, lookup: Callable[[str], str | None], verdicts: dict[str, bool | None]) -> bool | None:
    """Whether a requirement line counts here without extras; ``verdicts`` remembers markers already decided."""
    marker = line.partition(";")[2].strip()
    if not marker:
        return True
    if "extra" in marker and " or " not in marker and ("extra ==" in marker or "extra==" in marker):
        return False
    if marker not in verdicts:
        verdicts[marker] = evaluate(marker, lookup)
    return verdicts[marker]


def unmet(
    lines: Iterable[str],
    packages: Mapping[str, Distribution],
    lookup: Callable[[str], str | None],
    verdicts: dict[str, bool | None],
) -> Iterator[tuple[str, str, str]]:
    """Yield ``(kind, requirement, name)`` for each line that is ``missing`` or ``incompatible``."""
    for line in lines:
        if ";" in line and applies(line, lookup, verdicts) is not True:
            continue
        parsed = parse(line)
        if parsed is None:
            continue
        name, specifier, _ = parsed
        found = packages.get(name)
        if found is None:
            yield "missing", line, name
        elif specifier and found.version is not None and within(found.version, specifier) is False:
            yield "incompatible", line, name
