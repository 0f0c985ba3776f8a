"""The marker environment of what is not installed: only what was stated is known.

A comparison is left to ``packaging``; ``and``, ``or`` and brackets are read here, three-valued, so that a marker is
decided as far as the known variables go. Values of the variables: PEP 508 and the documentation of ``sys.platform``
and ``platform``.
"""

from __future__ import annotations

import re
from functools import reduce

from packaging.markers import InvalidMarker, Marker
from packaging.specifiers import SpecifierSet

from envdoctor.errors import UsageError
from envdoctor.model import Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SYSTEMS = {
    "linux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
    "darwin": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "win32": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
}
_SYSTEM_STARTS = {"linux": "linux", "manylinux": "linux", "musllinux": "linux", "darwin": "darwin", "macos": "darwin"}
_SYSTEM_STARTS["win"] = "win32"
#: One processor has a name on each system.
_MACHINES = {
    ("linux", "arm64"): "aarch64",
    ("darwin", "aarch64"): "arm64",
    ("win32", "x86_64"): "AMD64",
    ("win32", "amd64"): "AMD64",
    ("win32", "aarch64"): "ARM64",
    ("win32", "arm64"): "ARM64",
    ("linux", "amd64"): "x86_64",
    ("darwin", "amd64"): "x86_64",
}
_ALIASES = {
    "os.name": "os_name",
    "sys.platform": "sys_platform",
    "platform.version": "platform_version",
    "platform.machine": "platform_machine",
    "platform.python_implementation": "platform_python_implementation",
    "python_implementation": "platform_python_implementation",
}
_FULL_VERSIONS = {"python_full_version", "implementation_version"}
#: Chosen by whoever installs, so a lock file holds entries for every value.
CHOICES = frozenset({"extra", "extras", "dependency_groups"})
_DEPTH = 100
_TOKEN = re.compile(
    r"""\s*(?:(?P<literal>'[^']*'|"[^"]*")|(?P<operator>===|==|~=|!=|<=|>=|<|>)|(?P<bracket>[()])|(?P<word>[A-Za-z_][\w.]*))""",
    re.ASCII,
)


def version(stated: str | None) -> str | None:
    """``3.11`` or ``3.11.7`` for a version as pip takes it; ``None`` where no minor version is said.

    Raises :class:`UsageError` where it is no version.
    """
    if stated is None:
        return None
    match = re.fullmatch(r"([0-9])(?:\.?([0-9]{1,4})(\.[0-9]{1,4}(?:(?:a|b|rc)[0-9]+)?)?)?", stated.strip())
    if match is None or (match[3] and "." not in stated[:2]):
        raise UsageError(f"--python-version {stated!a} is not a version of Python: give one such as 3.11 or 3.11.7")
    major, minor, micro = match.groups()
    return None if minor is None else f"{major}.{int(minor)}{micro or ''}"


def system(stated: str | None) -> str | None:
    """``linux``, ``darwin`` or ``win32`` for a platform as it was stated. Raises :class:`UsageError`."""
    if stated is None:
        return None
    for start, name in _SYSTEM_STARTS.items():
        if stated.strip().lower().startswith(start):
            return name
    raise UsageError(f"--platform {stated!a} is not known: give linux, darwin or win32")


def machine_of(name: str | None, stated: str | None) -> str | None:
    """The name that a system has for a processor: ``x86_64`` is ``AMD64`` on Windows."""
    return None if stated is None else _MACHINES.get((name or "", stated.lower()), stated)


def environment(
    python_version: str | None = None,
    platform: str | None = None,
    machine: str | None = None,
) -> dict[str, str]:
    """The marker variables that are known, by name. Raises :class:`UsageError` for a value that is not understood."""
    found = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    python = version(python_version)
    if python is not None:
        found["python_version"] = ".".join(python.split(".")[:2])
        if python.count(".") > 1:
            found["python_full_version"] = found["implementation_version"] = python
    name = system(platform)
    found.update(_SYSTEMS.get(name or "", {}))
    processor = machine_of(name, machine)
    if processor is not None:
        found["platform_machine"] = processor
    return found


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
_UNREAD = Verdict(holds=None, unknown=frozenset({"the meaning of that marker"}))


class _Malformed(Exception):  # noqa: N818 - it never leaves this file
    """The text is no marker."""


class Markers:
    """Decides markers in one environment."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = known
        self._verdicts: dict[str, Verdict] = {}

    def ask(self, name: str) -> Any:
        """The value of a variable, or :class:`Unknown`."""
        return self.known.get(name) or Unknown(reason=f"{name} was not stated and is not in the file")

    def holds(self, marker: str | None) -> Verdict:
        """Whether a marker holds; an empty one does. One that cannot be read is unknown."""
        if not marker or not marker.strip():
            return YES
        verdict = self._verdicts.get(marker)
        if verdict is None:
            try:
                verdict = _Parser(marker, self._compare).marker()
            except _Malformed:
                verdict = _UNREAD
            self._verdicts[marker] = verdict
        return verdict

    def any(self, markers: list[str]) -> Verdict:
        """Whether one of several markers holds; no marker at all holds."""
        return reduce(Verdict.__or__, map(self.holds, markers), NO) if markers else YES

    def python_within(self, specifier: str | None) -> Verdict:
        """Whether the Python is in a version specifier; one that cannot be read is unknown."""
        try:
            parts = list(SpecifierSet(specifier or ""))
        except ValueError:  # no specifier, or a number that is too long
            return _UNREAD
        return self.holds(" and ".join(f"python_full_version {part.operator} '{part.version}'" for part in parts))

    def _compare(self, left: str, operator: str, right: str) -> Verdict:
        words = [_ALIASES.get(side, side) for side in (left, right) if side[0] not in "'\""]
        if not words:
            raise _Malformed
        if not CHOICES.isdisjoint(words):
            return Verdict(holds=None, unknown=CHOICES.intersection(words))
        samples = self._samples(words[0], left + right)
        answers = {_evaluate(f"{left} {operator} {right}", {**self.known, words[0]: value}) for value in samples}
        if len(words) > 1 or len(answers) != 1 or None in answers:
            return Verdict(holds=None, unknown=frozenset(map(self._wanted, words)))
        return YES if answers.pop() else NO

    def _wanted(self, variable: str) -> str:
        """The variable to ask for: a micro version only where the minor version is known and does not decide."""
        return "python_version" if variable in _FULL_VERSIONS and "python_version" not in self.known else variable

    def _samples(self, variable: str, literal: str) -> list[str]:
        """Values of a variable that decide a comparison: a minor version is known without its micro version."""
        if variable in self.known:
            return [self.known[variable]]
        minor = self.known.get("python_version")
        if variable not in _FULL_VERSIONS or minor is None:
            return []
        named = re.findall(rf"(?<![\w.]){re.escape(minor)}\.[0-9]+", literal)
        return [minor + ".0", minor + ".99", *named[:20]]


def _evaluate(comparison: str, known: Mapping[str, str]) -> bool | None:
    try:
        return Marker(comparison).evaluate(dict(known))
    except InvalidMarker:
        raise _Malformed from None
    except (ValueError, KeyError):  # it compares what cannot be compared, or a number too long for Python
        return None


class _Parser:
    """Reads the grammar of PEP 508 above comparisons, deciding as it goes."""

    def __init__(self, text: str, compare: Any) -> None:
        self._tokens = _tokens(text)
        self._compare = compare

    def marker(self) -> Verdict:
        verdict = self._either(0)
        if self._tokens:
            raise _Malformed
        return verdict

    def _either(self, depth: int) -> Verdict:
        if depth > _DEPTH:
            raise _Malformed
        verdict = self._both(depth)
        while self._take("or"):
            verdict |= self._both(depth)
        return verdict

    def _both(self, depth: int) -> Verdict:
        verdict = self._one(depth)
        while self._take("and"):
            verdict &= self._one(depth)
        return verdict

    def _one(self, depth: int) -> Verdict:
        if self._take("("):
            verdict = self._either(depth + 1)
            if not self._take(")"):
                raise _Malformed
            return verdict
        left, operator, right = self._next(), self._next(), self._next()
        if operator == "not" and right == "in":
            operator, right = "not in", self._next()
        if {left[0], right[0]} & set("()<>=!~") or {left, right} & {"and", "or", "in", "not"}:
            raise _Malformed
        compared: Verdict = self._compare(left, operator, right)
        return compared

    def _take(self, token: str) -> bool:
        if self._tokens and self._tokens[-1] == token:
            self._tokens.pop()
            return True
        return False

    def _next(self) -> str:
        if not self._tokens:
            raise _Malformed
        return self._tokens.pop()


def _tokens(text: str) -> list[str]:
    """The tokens of a marker, last one first."""
    found, position, text = [], 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _Malformed
        found.append(match[0].strip())
        position = match.end()
    found.reverse()
    return found
