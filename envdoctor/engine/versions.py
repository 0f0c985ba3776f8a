"""PEP 440 versions and specifiers as plain lists that compare by themselves.

Versions in every form and specifiers in the common ones are read here without an import; the rest is left to
``packaging``, and a property test holds the two equal. A version becomes a *key*, a list; a specifier becomes
*intervals*, a list of half-open ``[low, high]`` pairs of keys, where ``None`` means no bound. Both survive JSON.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Optional

    Key = list[Any]
    Interval = list[Optional[Key]]

_INFINITY = 1 << 62
#: Spellings of each phase, longer ones before their beginnings, with the rank that orders them.
_PRE = {"alpha": 0, "beta": 1, "preview": 2, "pre": 2, "rc": 2, "a": 0, "b": 1, "c": 2}
_POST = {"post": 0, "rev": 0, "r": 0}
_DEV = {"dev": 0}
_SEPARATORS = frozenset("-_.")
#: The rank of a release that is none before the final one.
FINAL = 3
_PLAIN = [FINAL, 0, -1, _INFINITY]
_OPERATORS = ("~=", "==", "!=", "<=", ">=", "<", ">")
_ANYTHING: list[list[None]] = [[None, None]]

#: A longer text is no version that anybody released, and its numbers may be too long for Python to read.
LONGEST = 200

_keys: dict[str, Key | None] = {}
_intervals: dict[str, list[Interval] | None] = {}


def key(version: str) -> Key | None:
    """The sort key of a version without its local part, or ``None`` where it is not a PEP 440 version.

    Keys are ``[epoch, release, pre rank, pre number, post, dev]`` with trailing zeros of the release removed, ordered
    as PEP 440 orders versions.
    """
    if version not in _keys:
        _keys[version] = _read_key(version)
    return _keys[version]


def _read_key(version: str) -> Key | None:
    """Read any form of PEP 440, normal or not: ``1.2.3``, ``v1.0-alpha.1``, ``1!2.0.post3.dev4+local``."""
    if len(version) > LONGEST:
        return None
    if version.isascii() and version.replace(".", "").isdigit():
        parts = version.split(".")
        return None if "" in parts else [0, _release(parts), *_PLAIN]
    public, plus, local = version.strip().lower().partition("+")
    if not version.isascii() or (plus and not _is_local(local)):
        return None
    return _read_public(public)


def _read_public(public: str) -> Key | None:
    """Read a version without its local part, in small letters."""
    epoch, bang, rest = public.lstrip("v").partition("!") if public[:2] != "vv" else (public, "", "")
    if not bang:
        epoch, rest = "0", epoch
    end = _release_length(rest)
    parts = rest[:end].split(".")
    if not end or not epoch.isdigit() or not all(part.isdigit() for part in parts):
        return None
    phases = _phases(rest[end:]) if end < len(rest) else _PLAIN
    return None if phases is None else [int(epoch), _release(parts), *phases]


def _release_length(text: str) -> int:
    """How many characters the numbers, with a dot between each two, take at the beginning of a text."""
    end = 0
    while end < len(text) and (text[end].isdigit() or (text[end] == "." and text[end + 1 : end + 2].isdigit())):
        end += 1
    return end


def _phases(text: str) -> list[int] | None:
    """``[pre rank, pre number, post, dev]`` of what follows a release; ``None`` where it is something else."""
    pre, text = _phase(text, _PRE)
    post, text = _post(text)
    dev, text = _phase(text, _DEV)
    if text:
        return None
    rank, number = pre or (-1 if dev and post is None else FINAL, 0)
    return [rank, number, -1 if post is None else post, dev[1] if dev else _INFINITY]


def _is_local(local: str) -> bool:
    return all(part.isalnum() for part in local.replace("-", ".").replace("_", ".").split("."))


def _phase(text: str, phases: dict[str, int]) -> tuple[tuple[int, int] | None, str]:
    """Read ``[separator] letters [separator] [number]`` off the front: its rank and number, and the rest."""
    body = text[1:] if text[:1] in _SEPARATORS else text
    for letters, rank in phases.items():
        if body.startswith(letters):
            number, rest = _number(body[len(letters) :])
            return (rank, number), rest
    return None, text


def _post(text: str) -> tuple[int | None, str]:
    if text[:1] == "-" and text[1:2].isdigit():
        return _number(text[1:])
    found, rest = _phase(text, _POST)
    return (None if found is None else found[1]), rest


def _number(text: str) -> tuple[int, str]:
    """Read ``[separator] digits`` off the front; no digits are zero."""
    start = 1 if text[:1] in _SEPARATORS else 0
    end = start
    while text[end : end + 1].isdigit():
        end += 1
    return int(text[start:end] or 0), text[end:]


def _release(parts: list[str]) -> list[int]:
    release = list(map(int, parts))
    while release and not release[-1]:
        release.pop()
    return release


def intervals(specifier: str) -> list[Interval] | None:
    """The intervals of a specifier set, pre-releases included, or ``None`` where only ``packaging`` reads it."""
    if specifier not in _intervals:
        _intervals[specifier] = _read(specifier)
    return _intervals[specifier]


def _read(specifier: str) -> list[Interval] | None:
    admitted: list[Interval] = [list(pair) for pair in _ANYTHING]
    for clause in specifier.split(","):
        text = clause.strip()
        if not text:
            continue
        admits = _clause(text)
        if admits is None:
            return None
        admitted = intersect(admitted, admits)
    return admitted


def _clause(clause: str) -> list[Interval] | None:
    operator = next((name for name in _OPERATORS if clause.startswith(name)), "")
    version = clause[len(operator) :].strip()
    if version.endswith(".*"):
        return _prefix(operator, version[:-2])
    at = _read_key(version) if operator and "+" not in version else None
    return None if at is None else _compared(operator, version, at)


def _compared(operator: str, version: str, at: Key) -> list[Interval] | None:
    """The versions on one side of a key. ``<`` and ``>`` of a post-release, and ``>`` of a pre-release, are unusual."""
    if operator == "~=":
        return _compatible(version, at)
    final = at[2:] == _PLAIN
    if (operator == "<" and at[4] >= 0) or (operator == ">" and not final):
        return None
    # Short keys say the same as long ones, since a list is less than one that it begins: nothing of a release lies
    # between [epoch, release, final] and the release itself, nor between that and its first post-release.
    low = at[:3] if final else at
    above = [*at[:3], 0, 0] if final else [*at, 1]
    simple: dict[str, list[Interval]] = {
        ">=": [[low, None]],
        "<=": [[None, above]],
        "==": [[low, above]],
        "!=": [[None, low], [above, None]],
        "<": [[None, [*at[:2], -2] if final else at]],
        ">": [[[*at[:2], FINAL + 1], None]],
    }
    return simple[operator]


def _prefix(operator: str, version: str) -> list[Interval] | None:
    parts = version.split(".")
    if (
        len(version) > LONGEST
        or operator not in {"==", "!="}
        or not all(part.isdigit() and part.isascii() for part in parts)
    ):
        return None
    low = [0, _release(parts), -2]
    high = [0, _release([*parts[:-1], str(int(parts[-1]) + 1)]), -2]
    return [[low, high]] if operator == "==" else [[None, low], [high, None]]


def _compatible(version: str, at: Key) -> list[Interval] | None:
    """``~= X.Y`` is ``>= X.Y, == X.*``, whatever comes after the release number."""
    end = 0
    while version[end : end + 1].isdigit() or (version[end : end + 1] == "." and version[end + 1 : end + 2].isdigit()):
        end += 1
    head, dot, _ = version[:end].rpartition(".")
    series = _prefix("==", head) if dot else None
    return intersect([[at, None]], series) if series else None


def complement(admitted: list[Interval]) -> list[Interval]:
    """What some intervals do not admit."""
    left: list[Interval] = [list(pair) for pair in _ANYTHING]
    for low, high in admitted:
        sides: list[Interval] = [[None, low]] if low is not None else []
        left = intersect(left, [*sides, [high, None]] if high is not None else sides)
    return left


def intersect(left: list[Interval], right: list[Interval]) -> list[Interval]:
    """What two lists of intervals both admit."""
    found = []
    for low_a, high_a in left:
        for low_b, high_b in right:
            low = low_b if low_a is None or (low_b is not None and low_b > low_a) else low_a
            high = high_b if high_a is None or (high_b is not None and high_b < high_a) else high_a
            if low is None or high is None or low < high:
                found.append([low, high])
    return found


def within(version: str, specifier: str | None, admitted: list[Interval] | None = None) -> bool | None:
    """Whether a specifier set contains a version, pre-releases included; ``None`` where the version is not PEP 440.

    ``admitted`` are the specifier's intervals, where they are at hand; the specifier may be left out then.
    """
    if admitted is None:
        specifier = specifier or ""
        verdict = meets(version, specifier)
        if verdict is not None:
            return verdict
        admitted = intervals(specifier)
    if admitted is None:
        return _packaging_within(version, specifier or "")
    if admitted == _ANYTHING:
        return True
    at = key(version)
    if at is None:
        return None
    return any((low is None or low <= at) and (high is None or at < high) for low, high in admitted)


def covers(inner: str, outer: str, admitted: list[Interval] | None = None) -> bool | None:
    """Whether a specifier set contains all versions of another one (``True``), none, or some (``None``).

    ``admitted`` are the intervals of ``outer``, where they are at hand.
    """
    stated = intervals(inner)
    admitted = intervals(outer) if admitted is None else admitted
    if not stated or admitted is None:
        return None
    common = intersect(stated, admitted)
    return common == stated or (None if common else False)


def meets(version: str, specifier: str) -> bool | None:
    """Answer like :func:`within` for clauses of ``>=``, ``<=``, ``<``, ``==`` and ``!=``; ``None`` for others."""
    at = _keys.get(version) or key(version)
    if at is None:
        return None
    for clause in specifier.split(","):
        test = _tests.get(clause)
        if test is None:
            test = _tests[clause] = _test(clause.strip())
        compare, bound = test
        if compare is None:
            return None
        if not compare(at, bound):
            return False
    return True


def _test(clause: str) -> tuple[Callable[[Key, Key], bool] | None, Key]:
    """A comparison and the key to compare with; no comparison where only intervals can tell."""
    operator = clause[:2]
    direct = _DIRECT.get(operator)
    if direct:
        bound = key(clause[2:].strip())
    elif operator[:1] == "<":
        direct, bound = list.__lt__, key(clause[1:].strip())
        bound = [bound[0], bound[1], -2] if bound and bound[2:] == _PLAIN else None
    else:
        return None, []
    return (direct, bound) if bound and "+" not in clause else (None, [])


_tests: dict[str, tuple[Callable[[Key, Key], bool] | None, Key]] = {}
_DIRECT: dict[str, Callable[[Key, Key], bool]] = {
    ">=": list.__ge__,
    "<=": list.__le__,
    "==": list.__eq__,
    "!=": list.__ne__,
}


def _packaging_within(version: str, specifier: str) -> bool | None:
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except ValueError:  # an invalid specifier or version, or a number that is too long for Python
        return None
