"""A rule where a lock file leaves open which versions will be installed.

What holds for all of them holds, what holds for none does not, and the rest is unknown. Pure.
"""

from __future__ import annotations

from itertools import product
from math import prod

from envdoctor.engine.evaluate import matches
from envdoctor.engine.trace import Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Optional

    from envdoctor.engine.trace import Match
    from envdoctor.model import Distribution, Evidence, Snapshot

    #: The matches of one combination by consumer and number, and what was unknown with it.
    Tried = tuple[dict[tuple[Optional[str], int], Match], Trace]

#: So many combinations of versions are tried; a rule about more stays unknown.
COMBINATIONS = 64


def over_all(compiled: Mapping[str, Any], snapshot: Snapshot, matched: list[Match], trace: Trace) -> list[Match]:
    """The matches that every combination of candidates has, each with the evidence of all of them.

    ``matched`` and ``trace`` are the result while they were unknown. What holds in some combinations stays unknown in
    ``trace``, and so does everything where there are too many.
    """
    found = _every(compiled, snapshot, trace)
    if not found:
        return matched
    common = [key for key in found[0][0] if all(key in other for other, _ in found)]
    if all(len(other) == len(common) for other, _ in found):
        trace.unknown = [missed for _, one in found for missed in one.unknown]
    return [found[0][0][key].replace(evidence=_joined([other[key] for other, _ in found])) for key in common]


def _every(compiled: Mapping[str, Any], snapshot: Snapshot, trace: Trace) -> list[Tried]:
    """Each combination of the candidates that matter, tried; empty where there are too many.

    One distribution may only matter once another is decided: ``trace`` is left with what was unknown last of all.
    """
    names: list[str] = []
    found: list[Tried] = []
    unknown = trace.unknown
    while further := undecided(snapshot, unknown) - set(names):
        names += sorted(further)
        trace.unknown = unknown
        choices = [snapshot.packages[name].candidates for name in names]
        if prod(map(len, choices)) > COMBINATIONS:
            return []
        found = [_tried(compiled, snapshot, dict(zip(names, chosen))) for chosen in product(*choices)]
        unknown = [missed for _, one in found for missed in one.unknown]
    return found


def undecided(snapshot: Snapshot, unknown: Iterable[tuple[str, str]]) -> set[str]:
    """The distributions with several candidates among the facts that were unknown."""
    names = {fact.partition(".")[2] for fact, _ in unknown if fact.startswith("packages.")}
    return {name for name in names if name in snapshot.packages and snapshot.packages[name].candidates}


def _tried(compiled: Mapping[str, Any], snapshot: Snapshot, chosen: Mapping[str, Distribution]) -> Tried:
    """The matches of one combination, and what was unknown with it."""
    trace = Trace()
    packages = {**snapshot.packages, **chosen}
    return _numbered(matches(compiled, snapshot.replace(packages=packages), trace)), trace


def _numbered(matched: Sequence[Match]) -> dict[tuple[str | None, int], Match]:
    """Matches by their consumer, and by their number among those without one."""
    seen: dict[str | None, int] = {}
    numbered = {}
    for one in matched:
        seen[one.consumer] = seen.get(one.consumer, 0) + 1
        numbered[one.consumer, seen[one.consumer]] = one
    return numbered


def _joined(matched: Sequence[Match]) -> list[Evidence]:
    """All evidence once, that of one fact together."""
    every = dict.fromkeys(evidence for one in matched for evidence in one.evidence)
    facts = list(dict.fromkeys(evidence.fact for evidence in every))
    return sorted(every, key=lambda evidence: facts.index(evidence.fact))
