"""The marker environment of what is not installed: only what was stated is known.

Values of the variables: PEP 508 and the documentation of ``sys.platform`` and ``platform``.
"""

from __future__ import annotations

import re
from functools import reduce

from packaging.specifiers import SpecifierSet

from envdoctor.engine.markers import NO, UNREAD, YES, Verdict, decide
from envdoctor.errors import UsageError
from envdoctor.model import Unknown

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
            verdict = self._verdicts[marker] = decide(marker, self.known.get)
        return verdict

    def any(self, markers: list[str]) -> Verdict:
        """Whether one of several markers holds; no marker at all holds."""
        return reduce(Verdict.__or__, map(self.holds, markers), NO) if markers else YES

    def python_within(self, specifier: str | None) -> Verdict:
        """Whether the Python is in a version specifier; one that cannot be read is unknown."""
        try:
            parts = list(SpecifierSet(specifier or ""))
        except ValueError:  # no specifier, or a number that is too long
            return UNREAD
        return self.holds(" and ".join(f"python_full_version {part.operator} '{part.version}'" for part in parts))
