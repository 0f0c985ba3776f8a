"""conda's names of platforms and its match specifications, as the documentation of conda gives them."""

from __future__ import annotations

import re

from envdoctor.targets.locks.contents import name_of

#: Subdirectory of a channel: system and machine.
PLATFORMS = {
    "linux-32": ("linux", "i686"),
    "linux-64": ("linux", "x86_64"),
    "linux-aarch64": ("linux", "aarch64"),
    "linux-ppc64le": ("linux", "ppc64le"),
    "linux-s390x": ("linux", "s390x"),
    "osx-64": ("darwin", "x86_64"),
    "osx-arm64": ("darwin", "arm64"),
    "win-32": ("win32", "x86"),
    "win-64": ("win32", "AMD64"),
    "win-arm64": ("win32", "ARM64"),
}
_SPEC = re.compile(r"(?:[^\s:=<>]+::?)?([A-Za-z0-9_][A-Za-z0-9._-]*)\s*(.*)", re.ASCII)
_EXACT = re.compile(r"(={1,2})\s*([0-9][0-9A-Za-z._+!-]*)(?:[=\s]+(\S+))?", re.ASCII)
_BARE = re.compile(r"([0-9][0-9A-Za-z._+!-]*)(?:\s+(\S+))?", re.ASCII)
_PRECISE = 3


def marker(platform: str) -> str | None:
    """The PEP 508 marker for a conda platform; ``None`` for one that says nothing, such as ``noarch``."""
    found = PLATFORMS.get(platform)
    return found and f"sys_platform == '{found[0]}' and platform_machine == '{found[1]}'"


def match_spec(written: str) -> tuple[str, str | None, bool] | None:
    """Name, the version it is pinned to, and whether the build is pinned too; ``None`` where it is no specification.

    ``name=1.2`` means any 1.2.*, so it pins nothing; ``name=1.2.3``, ``name==1.2`` and ``name=1.2=build`` do.
    """
    match = _SPEC.fullmatch(written.strip())
    name = match and name_of(match[1])
    if match is None or not name:
        return None
    rest = match[2].strip()
    exact, bare = _EXACT.fullmatch(rest), _BARE.fullmatch(rest)
    if exact:
        operator, version, build = exact.groups()
    elif bare:
        operator, (version, build) = "==", bare.groups()
    else:
        return name, None, False
    if operator == "=" and build is None and version.count(".") + 1 < _PRECISE:
        return name, None, False
    return name, version, build not in {None, "*"}


def python_of(written: str) -> str | None:
    """The version of Python that a specification fixes, at least to its minor version."""
    match = re.fullmatch(
        r"(?:\S+::)?python\s*(?:={1,2}\s*)?([23]\.[0-9]{1,3}(?:\.[0-9]{1,3})?)(?:\.?\*)?(?:[=\s].*)?", written.strip()
    )
    return match and match[1]
