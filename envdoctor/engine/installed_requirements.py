"""Requirement lines of installed metadata, checked against what is installed.

The plain forms of PEP 508 are read here without an import; the rest is left to ``packaging``.
"""

from __future__ import annotations

from envdoctor.engine.markers import evaluate
from envdoctor.engine.versions import LONGEST, intervals, key, meets, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Optional

    from packaging.requirements import Requirement

    from envdoctor.model import Distribution

    Parsed = tuple[str, str, Optional[str]]
    Parts = tuple[str, tuple[str, ...], str, str]

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
_INNER = "-_."
_names: dict[str, str] = {}
_parts: dict[str, Parts | None] = {}


def normalise(name: str) -> str:
    """The PEP 503 form of a distribution's name."""
    found = _names.get(name)
    if found is None:
        found = name.lower().replace("_", "-").replace(".", "-")
        while "--" in found:
            found = found.replace("--", "-")
        _names[name] = found
    return found


def is_name(text: str) -> bool:
    """Whether a text is the name of a distribution as PEP 508 has it: never an option, a path or an address."""
    return bool(text) and not text.lstrip(_NAME) and text[0] not in _INNER and text[-1] not in _INNER


def is_version(text: str) -> bool:
    """Whether a text is a PEP 440 version and nothing besides."""
    if text.isascii() and text.replace(".", "").isdigit():
        return ".." not in text and text[0] != "." != text[-1]
    return key(text) is not None and text == text.strip()


def parts(line: str) -> Parts | None:
    """Name as written, extras, specifier set and address of a requirement in any of its forms; ``None`` for others.

    The specifier set has no spaces and no parentheses. A marker is left out.
    """
    if line not in _parts:
        _parts[line] = _read_parts(line)
    return _parts[line]


def _read_parts(line: str) -> Parts | None:
    head = line.partition(";")[0].strip()
    name, rest = _split(head)
    extras = head[len(name) :].strip() if "[" in head else ""
    wanted = sorted({one.strip() for one in extras[1:].partition("]")[0].split(",") if one.strip()})
    clauses = ["".join(clause.split()) for clause in rest.split(",") if clause.strip()]
    plain = "@" not in head and ("[" in head) is ("]" in extras) and (bool(clauses) or "," not in rest)
    if plain and all(map(is_name, (name, *wanted))) and all(map(_is_clause, clauses)):
        return name, tuple(wanted), ",".join(clauses), ""
    return _packaging_parts(line)


def _is_clause(text: str) -> bool:
    return text[0] in "<>=!~" and intervals(text) is not None


def canonical(found: Parts) -> str:
    """The requirement in its canonical form."""
    name, extras, specifier, url = found
    return name + (f"[{','.join(extras)}]" if extras else "") + (f" @ {url}" if url else specifier)


def _packaging_parts(line: str) -> Parts | None:
    found = requirement_of(line)
    if found is None:
        return None
    url = found.url or ""
    arbitrary = [one.version for one in found.specifier if one.operator == "==="]
    if not (url.isprintable() and url.isascii() and all(map(is_version, arbitrary))):
        return None
    return found.name, tuple(sorted(found.extras)), str(found.specifier), url


def requirement_of(line: str) -> Requirement | None:
    """The requirement that ``packaging`` reads, with versions as somebody may have released them; or ``None``."""
    from packaging.requirements import Requirement

    try:
        found = Requirement(line)
    except (ValueError, RecursionError):  # invalid, a number too long for Python, brackets without end
        return None
    return found if all(len(one.version) <= LONGEST for one in found.specifier) else None


def parse(line: str) -> Parsed | None:
    """Split a requirement line into normalised name, specifier set and marker; ``None`` where it is not one.

    A direct reference (``name @ url``) has the empty specifier. Extras are dropped, as the base requirement
    holds without them.
    """
    head, semicolon, marker = line.partition(";")
    name, rest = _split(head)
    rest = rest.strip()
    if not is_name(name) or (rest and (rest[0] not in "<>=!~" or "@" in rest or intervals(rest) is None)):
        return _packaging_parse(line)
    return normalise(name), rest, marker.strip() or None if semicolon else None


def name_of(line: str) -> str:
    """The normalised name that a requirement line begins with; the rest of the line is not read."""
    return normalise(line[: len(line) - len(line.lstrip(_NAME))])


def _split(head: str) -> tuple[str, str]:
    """Name as written and specifier set of a requirement in its plain form, unchecked."""
    rest = head.lstrip(_NAME)
    if not rest:
        return head, rest
    name = head[: -len(rest)]
    if rest[0] in "<>=!~":
        return name, rest
    rest = rest.strip()
    if rest[:1] == "[":
        rest = rest.partition("]")[2].strip()
    if rest[:1] == "(" and rest[-1] == ")":
        rest = rest[1:-1]
    return name, rest


def _packaging_parse(line: str) -> Parsed | None:
    found = requirement_of(line)
    if found is None:
        return None
    return normalise(found.name), str(found.specifier), str(found.marker) if found.marker else None


def _strange(line: str) -> Iterator[tuple[str, str, str]]:
    """The line as an unreadable one, where it is no requirement."""
    if _packaging_parse(line) is None:
        yield "unreadable", line, ""


def _contradicted(line: str, found: Distribution, specifier: str) -> Iterator[tuple[str, str, str]]:
    """The line as an incompatible one, where an installed version is none of those that it wants."""
    if parse(line) is None:
        yield "unreadable", line, found.name
    elif specifier[0] != "@" and within(str(found.version), specifier) is False:
        yield "incompatible", line, found.name


def _decided(marker: str, lookup: Callable[[str], str | None], verdicts: dict[str, Any]) -> bool | None:
    """Whether a marker holds, decided once."""
    if marker not in verdicts:
        verdicts[marker] = evaluate(marker.strip(), lookup)
    verdict: bool | None = verdicts[marker]
    return verdict


def unmet(
    lines: Iterable[str],
    packages: Mapping[str, Distribution],
    lookup: Callable[[str], str | None],
    verdicts: dict[str, Any],
    met: set[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield ``(kind, requirement, name)`` for each line that is ``missing``, ``incompatible`` or ``unreadable``.

    ``verdicts`` remembers markers already decided, ``met`` lines. A line whose marker does not hold, or is undecided,
    does not count.
    """
    for line in lines:
        if line in met:
            continue
        head, semicolon, marker = line.partition(";")
        if semicolon:
            verdict = _decided(marker, lookup, verdicts)
            if verdict is None:
                yield from _strange(line)
            if not verdict:
                continue
        written, specifier = _split(head)
        name = _names.get(written) or normalise(written)
        found = packages.get(name)
        if found is None:
            yield "missing" if parse(line) is not None else "unreadable", line, name
        elif not specifier or found.version is None or meets(found.version, specifier):
            met.add(line)
        else:
            yield from _contradicted(line, found, specifier)
