"""From entries to packages: the markers choose, and a note names what they leave open."""

from __future__ import annotations

from envdoctor.engine.markers import CHOICES
from envdoctor.model import Distribution
from envdoctor.targets.locks.contents import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Entry

_SHOWN = 10
_FLAGS = (
    ("python_version", "--python-version"),
    ("python_full_version", "--python-version with all three parts"),
    ("implementation_version", "--python-version with all three parts"),
    ("sys_platform", "--platform"),
    ("os_name", "--platform"),
    ("platform_system", "--platform"),
    ("platform_machine", "--machine"),
)


def choose(entries: Iterable[Entry]) -> tuple[dict[str, Distribution], list[UnknownFact]]:
    """One distribution for each name that the markers allow, and a note for each that they do not settle."""
    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.verdict.holds is not False:
            by_name.setdefault(entry.name, []).append(entry)
    packages, notes = {}, []
    for name, candidates in by_name.items():
        found, reason = _one(name, candidates)
        packages[name] = found.replace(optional=True) if all(one.optional for one in candidates) else found
        if reason:
            notes.append(note(reason, name))
    return packages, notes


def _one(name: str, candidates: Sequence[Entry]) -> tuple[Distribution, str | None]:
    certain = [entry for entry in candidates if entry.verdict.holds]
    pool = certain or candidates
    pinned = {entry.version: entry for entry in reversed(pool) if entry.version is not None}
    if len(pinned) == 1:
        (entry,) = pinned.values()
        return _found(entry, entry.version), None if certain else _unsettled(name, pool)
    first = pool[0]
    if not pinned:
        return _found(first, None), first.reason or f"{first.where}: no version of {name} is stated"
    missing = "extras or groups" if certain else _missing(pool)
    undecided, versions = _open(pool, pinned)
    return undecided, f"{first.where}: {name} may be {versions}; that depends on {missing}"


def _open(pool: Sequence[Entry], pinned: dict[str, Entry]) -> tuple[Distribution, str]:
    """A distribution with the several versions that it may have, each with its place in the file."""
    ordered = list(reversed(list(pinned.values())))
    versions = ", ".join(f"{entry.version} ({entry.where})" for entry in ordered[:_SHOWN])
    versions += f" and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
    named = [*ordered, *[entry for entry in pool if entry.version is None][:1]]
    return _found(pool[0], None).replace(candidates=[_found(one, one.version) for one in named]), versions


def _found(entry: Entry, version: str | None) -> Distribution:
    return Distribution(name=entry.name, version=version, path=entry.where)


def _unsettled(name: str, pool: Sequence[Entry]) -> str | None:
    """Why it is not certain that the only candidate gets installed; extras and groups are all taken in."""
    if all(entry.verdict.unknown <= CHOICES for entry in pool):
        return None
    return f"{pool[0].where}: {name} may be left out; that depends on {_missing(pool)}"


def _missing(pool: Sequence[Entry]) -> str:
    unknown = frozenset[str]().union(*(entry.verdict.unknown for entry in pool)) - CHOICES
    if not unknown:
        return "extras or groups"
    flags = list(dict.fromkeys(flag for variable, flag in _FLAGS if variable in unknown))
    hint = f"; state {' and '.join(flags)}" if flags else ""
    return f"{', '.join(sorted(unknown))} (not known{hint})"
