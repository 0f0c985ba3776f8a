"""What would end each finding: its remedies, and whatever else makes the condition of its rule false. Pure."""

from __future__ import annotations

from itertools import chain, product

from envdoctor.engine.diagnose import finding, matched_by
from envdoctor.engine.evaluate import holds
from envdoctor.engine.installed_requirements import normalise, parts
from envdoctor.engine.metadata_conflicts import Requirements
from envdoctor.engine.trace import Trace
from envdoctor.engine.versions import complement, intersect, intervals
from envdoctor.facts import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.diagnose import Candidates
    from envdoctor.engine.trace import Match
    from envdoctor.engine.versions import Interval
    from envdoctor.model import Finding, Remedy, Snapshot

    Wants = Mapping[str, list[Interval]]

#: So many ways out of one condition are looked at.
MOST = 32


class Way(Record):
    """One way to end a finding: distributions that are to be in some intervals, and others that are to go.

    ``python`` is a specifier for the interpreter. ``remedy`` is that of the rule, where it is one; a way that wants
    nothing of distributions is something to do besides: a file, a variable, a program to change.
    """

    wants: Wants
    removes: Sequence[str] = ()
    python: str = ""
    remedy: Remedy | None = None


class Held(Record):
    """A finding of a ``rule``, and the ways that would end it.

    ``declared`` names the ``distribution`` and what is ``required`` where it is a requirement that is not met.
    """

    finding: Finding
    ways: Sequence[Way]
    declared: Mapping[str, str] = {}
    rule: Candidates = ()


def held(snapshot: Snapshot, candidates: Candidates) -> list[Held]:
    """Every finding of some rules with what would end it."""
    requirements, found = Requirements(snapshot), []
    for index, entries in candidates:
        for entry in entries:
            compiled = entry[2]
            for match in matched_by(compiled, snapshot, Trace(), requirements):
                made = finding(index.texts(entry), match, snapshot)
                declared = match.names if compiled.get("installed") in {"missing", "incompatible"} else {}
                ways = _ways(made, match, compiled, snapshot)
                found.append(Held(finding=made, ways=ways, declared=declared, rule=[(index, [entry])]))
    return found


def _ways(made: Finding, match: Match, compiled: Mapping[str, Any], snapshot: Snapshot) -> list[Way]:
    stated = [way for remedy in made.remedies for way in [_of_remedy(remedy)] if way]
    wanted = list(_ended(compiled["when"], snapshot))
    consumer = compiled.get("consumers", {}).get(match.consumer)
    if consumer and consumer["intervals"] is not None:
        wanted.append({str(match.consumer): _outside(consumer["intervals"])})
    if "required" in match.names:
        wanted = list(_of_requirement(match.names, snapshot))
    return [*stated, *(Way(wants=one) for one in wanted[:MOST])]


def _of_remedy(remedy: Remedy) -> Way | None:
    """What a remedy wants of distributions; ``None`` where it is about a build, or cannot be compared."""
    action = remedy.action
    if action is None or action.at != "run":
        return None
    wants: dict[str, list[Interval]] = {}
    python = ""
    for found in map(parts, action.requirements):
        admitted = intervals(found[2]) if found and not found[3] else None
        if found is None or admitted is None:
            return None
        if found[0] == "python":
            python = found[2]
        else:
            wants[normalise(found[0])] = admitted
    removes = action.packages if action.verb in {"uninstall", "replace"} else ()
    return Way(wants=wants, removes=tuple(map(normalise, removes)), python=python, remedy=remedy)


def _of_requirement(names: Mapping[str, str], snapshot: Snapshot) -> Iterator[Wants]:
    """A requirement that is not met: either side moves."""
    found, owner = parts(names["requirement"]), snapshot.packages.get(names["distribution"])
    admitted = intervals(found[2]) if found and not found[3] else None
    if admitted:
        yield {names["required"]: admitted}
    own = intervals(f"=={owner.version}") if owner and owner.version else None
    if own:
        yield {names["distribution"]: complement(own)}


def _ended(condition: Sequence[Any], snapshot: Snapshot) -> Iterator[Wants]:
    """What would make a condition that holds false."""
    operator, *rest = condition
    if operator == "packages" and rest[2] is not None:
        members = {name: _outside(rest[2]) for name in rest[0] if name in snapshot.packages}
        yield from _together([[members]])
    elif operator == "all":
        yield from chain(*(_ended(part, snapshot) for part in rest))
    elif operator == "any":
        holding = [part for part in rest if holds(part, snapshot, Trace()) is not False]
        yield from _together(list(_ended(part, snapshot)) for part in holding)
    elif operator == "not":
        yield from _begun(rest[0], snapshot)


def _outside(bad: list[Interval]) -> list[Interval]:
    """What some intervals leave, without what is older than all of them where something newer is left.

    A range begins where somebody began to look: a rule that knows of older releases that work says so in a remedy.
    """
    left = complement(bad)
    return [one for one in left if one[0] is not None] or left


def _begun(condition: Sequence[Any], snapshot: Snapshot) -> Iterator[Wants]:
    """What would make a condition that does not hold true."""
    operator, *rest = condition
    if operator == "packages" and rest[2] is not None:
        yield from ({name: rest[2]} for name in rest[0] if name in snapshot.packages)
    elif operator == "any":
        for part in rest:
            yield from _begun(part, snapshot)
    elif operator == "all":
        missing = [part for part in rest if holds(part, snapshot, Trace()) is not True]
        yield from _together(list(_begun(part, snapshot)) for part in missing)


def _together(several: Iterable[Sequence[Wants]]) -> Iterator[Wants]:
    """One of each, as far as they can be had together."""
    for number, chosen in enumerate(product(*several)):
        if number >= MOST:
            return
        wants: dict[str, list[Interval]] = {}
        for one in chosen:
            for name, admitted in one.items():
                wants[name] = intersect(wants[name], admitted) if name in wants else admitted
        if wants and all(wants.values()):
            yield wants
