"""Which public names of a distribution were there in which releases, read from its wheels. Nothing is executed."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import zipfile
from typing import Any

from packaging.version import Version

from envdoctor.errors import TargetError
from envdoctor.linker.history import CLASSES, ROOTS
from envdoctor.linker.index_files import wheels
from envdoctor.linker.surface import ModuleSurface, surface
from envdoctor.probes import cache
from envdoctor.probes.wheel_files import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from envdoctor.linker.index_files import File

#: Of how many releases of one distribution the names are read.
MOST_RELEASES = 60
#: The shortest name of a class that tells something.
SHORTEST = 6
#: Parts of a module's path that hold no names for others.
_ASIDE = frozenset(
    {"tests", "test", "testing", "_tests", "_vendor", "vendor", "vendored", "benchmarks", "docs", "conftest"}
)
_NATIVE = (".so", ".pyd")


def chosen(wheels_of: Sequence[File], most: int = MOST_RELEASES) -> list[File]:
    """The first and the last release of each minor version; of many the last of major and of the newest minor ones."""
    both, minors, majors = (_ends(wheels_of, *form) for form in ((2, (0, -1)), (2, (-1,)), (1, (-1,))))
    newest = list(dict.fromkeys([*majors[-most // 2 :], *minors[::-1]]))[:most]
    picked = both if len(both) <= most else minors if len(minors) <= most else newest
    return [one for one in wheels_of if one.version in picked]


def _ends(wheels_of: Sequence[File], parts: int, ends: Sequence[int]) -> list[str]:
    """The first or last versions of those that are alike in so many parts of their version, or both."""
    groups: dict[tuple[int, ...], list[File]] = {}
    for wheel in wheels_of:
        groups.setdefault(Version(wheel.version).release[:parts], []).append(wheel)
    return list(dict.fromkeys(group[end].version for group in groups.values() for end in ends))


def names_in(wheel: File) -> set[str]:
    """The public names of a release; kept for good, since a wheel never changes.

    Raises :class:`TargetError` where it cannot be read.
    """
    place = os.path.join(cache.directory(), "history", "5", os.path.basename(wheel.address) + ".json.gz")
    kept = cache.kept(place)
    if kept is not None:
        return set(json.loads(gzip.decompress(kept)))
    found = _read(wheel)
    cache.keep(place, gzip.compress(json.dumps(sorted(found)).encode()))
    return found


def _read(wheel: File) -> set[str]:
    modules: dict[str, ModuleSurface] = {}
    native: set[str] = set()
    for path, content in members(wheel.address, wheel.size, _wanted):
        name, package = _module(path)
        if not name:
            continue
        if content is None:
            native |= {name} if path.endswith(_NATIVE) else set()
            continue
        try:
            modules.setdefault(name, ModuleSurface(name, content, package=package))
        except (SyntaxError, ValueError, RecursionError):
            native.add(name)  # what it offers is not known
    found = surface(modules)
    for name in native:
        if not any(part.startswith("_") for part in name.split(".")):
            found |= {name, f"{name}.*"}
    return found


def _wanted(path: str) -> bool:
    return path.endswith(".py") and bool(_module(path)[0])


def _module(path: str) -> tuple[str, bool]:
    """The module that a member of a wheel is, empty where it is none, and whether it is a package."""
    parts = path.split("/")
    stem, _, _ = parts[-1].partition(".")
    if parts[0].endswith((".dist-info", ".data")) or not path.endswith((".py", *_NATIVE)):
        return "", False
    if _ASIDE & {*parts[:-1], stem} or not all(part.isidentifier() for part in [*parts[:-1], stem]):
        return "", False
    package = stem == "__init__"
    return ".".join(parts[:-1] if package else [*parts[:-1], stem]), package


def intervals(releases: Sequence[tuple[str, set[str]]]) -> dict[str, list[str]]:
    """Names that some of the releases lack, by the releases that have them: ``{"0-17,20-": [name, ...]}``.

    Numbers are positions in ``releases``; an interval without an end goes on to the last. A part of a scope that is
    not there itself is left out, and counts as there in a release where the scope may have more than its source shows.
    """
    everything = set().union(*(names for _, names in releases))
    found: dict[str, list[str]] = {}
    for name in sorted(everything):
        if name.endswith("*"):
            continue
        text = _life(name, [names for _, names in releases])
        if text:
            found.setdefault(text, []).append(name)
    return found


def _life(name: str, releases: Sequence[set[str]]) -> str:
    """The releases that have a name, or nothing where none that has its scope lacks it."""
    sign = ":" if ":" in name else "."
    scope = name.rpartition(sign)[0]
    states = [name in names or f"{scope}{sign}*" in names for names in releases]
    known_scopes = ["." not in name or scope in names or name in names for names in releases]
    if all(state or not known for state, known in zip(states, known_scopes)):
        return ""
    return ",".join(_spans(states))


def _spans(states: Sequence[bool]) -> Iterator[str]:
    """The positions of those that hold, as ``4-17``; the last span has no end where it goes on to the last."""
    at = 0
    for state, group in itertools.groupby(states):
        after = at + len(list(group))
        if state:
            yield f"{at}-{after - 1 if after < len(states) else ''}"
        at = after


def history(name: str, say: Callable[[str], None], most: int = MOST_RELEASES) -> dict[str, Any]:
    """The history of one distribution: ``releases`` that were read, and the ``names`` that some of them lack.

    Raises :class:`TargetError` where no index answers, or no release can be read.
    """
    read: list[tuple[str, set[str]]] = []
    picked = chosen(wheels(name), most)
    for number, wheel in enumerate(picked, 1):
        say(f"{name} {wheel.version} ({number} of {len(picked)})")
        try:
            names = names_in(wheel)
        except TargetError as error:
            say(f"{name} {wheel.version} left out: {error}")
            continue
        read.append((wheel.version, names))
    if not read:
        raise TargetError(f"{name} has no release with a wheel that can be read")
    roots = sorted({one.partition(".")[0] for _, names in read for one in names})
    versions = [version for version, _ in read]
    return {"releases": versions, "roots": roots, "names": intervals(read), "classes": classes(read[-1][1])}


def classes(names: Collection[str]) -> list[str]:
    """The names of the classes that have members, and are long enough to be no accident."""
    owners = (name.partition(":")[0].rpartition(".")[0].rpartition(".")[2] for name in names)
    return sorted({one for one in owners if len(one) >= SHORTEST and one[0].isupper() and not one.isupper()})


def stored(path: str) -> dict[str, Any]:
    """The histories that a file holds, by distribution; none where there is no such file.

    Raises :class:`TargetError` for a file of another kind.
    """
    if not os.path.exists(path):
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            members_of = [one for one in archive.namelist() if one not in {ROOTS, CLASSES}]
            found = {os.path.splitext(one)[0]: json.loads(archive.read(one)) for one in members_of}
            kept = json.loads(archive.read(CLASSES)) if CLASSES in archive.namelist() else {}
            return {name: {**one, "classes": kept.get(name, [])} for name, one in found.items()}
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile) as error:  # RuntimeError: a Python without bz2
        raise TargetError(f"{path} holds no history: {error}; give another file, or remove it") from error


def store(path: str, histories: Mapping[str, Mapping[str, Any]]) -> None:
    """Write histories into one file, the same bytes for the same histories."""
    roots: dict[str, list[str]] = {}
    for name in sorted(histories):
        for root in histories[name]["roots"]:
            roots.setdefault(root, []).append(name)
    named = {name: one["classes"] for name, one in sorted(histories.items()) if one.get("classes")}
    plain = {f"{name}.json": {**one, "classes": None} for name, one in sorted(histories.items())}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in [(ROOTS, roots), (CLASSES, named), *plain.items()]:
            kept = {key: value for key, value in content.items() if value is not None}
            text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_BZIP2, compresslevel=9)
