"""Which releases the rules bar, as far as a bound on single distributions can say it. Pure.

A rule bars one distribution's releases, or a combination of several. Of a combination one side is bounded: one that the
environment does not use, so that what it uses stays; where that leaves a choice, the one whose bound stays right as
time goes by, a lower one. What depends on more than releases (source, files, settings) is not barred by a bound.
"""

from __future__ import annotations

from itertools import chain, product

from envdoctor.engine.diagnose import candidates
from envdoctor.engine.evaluate import holds
from envdoctor.engine.installed_requirements import parts, unmet
from envdoctor.engine.markers import variables
from envdoctor.engine.metadata_conflicts import required_by
from envdoctor.engine.trace import Trace
from envdoctor.engine.versions import FINAL, intersect, intervals, key, within
from envdoctor.facts import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.engine.versions import Interval, Key
    from envdoctor.model import Snapshot

    #: Distributions that are bad together, each with its bad releases; empty where it holds anyway.
    Combination = dict[str, list[Interval]]

#: What is decided by the target as it is, whatever releases are chosen.
_GIVEN = frozenset({"python", "trait", "marker", "present", "absent"})
#: The combinations that make such a condition hold, by what is decided of it.
_SAID: dict[bool | None, list[Combination] | None] = {True: [{}], False: [], None: None}
_SEVERE = frozenset({"error", "warning"})


class Bound(Record):
    """A specifier for a distribution, and the rule that it is for.

    ``since`` names what else is used here, with its version, and is the reason why this side is bounded. ``broken``
    says that the combination is there now. ``against`` is a requirement of what is installed that the bound leaves no
    release for: an installer takes the bound only in place of that.
    """

    package: str
    specifier: str
    rule: str
    title: str
    since: Sequence[str] = ()
    broken: bool = False
    against: str = ""


def bounds(snapshot: Snapshot, indexes: Iterable[Index]) -> list[Bound]:
    """A bound for each combination that a rule bars and whose distributions are all there, by distribution."""
    made: list[Bound] = []
    said: dict[str, str] = {}
    for index, entries in candidates(snapshot, indexes):
        for entry in entries:
            texts = index.texts(entry)
            if texts["severity"] in _SEVERE and "installed" not in entry[2]:
                for one in _combinations(entry[2], snapshot):
                    bound = _bound(one, texts, snapshot, said)
                    if bound:
                        said[bound.package] = _joined(said, bound.package, bound.specifier)
                        made.append(bound.replace(against=_against(bound, snapshot)))
    return sorted({(one.package, one.rule, one.specifier): one for one in made}.values(), key=lambda one: one.package)


def _against(bound: Bound, snapshot: Snapshot) -> str:
    """The first requirement that a bound leaves no release for, with its owner."""
    verdicts: dict[str, Any] = {}
    left, lookup = intervals(bound.specifier) or [], variables(snapshot)
    for owner in snapshot.packages.values():
        for _, line, name in unmet(required_by(owner, snapshot), {}, lookup, verdicts, set()):
            found = parts(line) if name == bound.package else None
            stated = intervals(found[2]) if found and not found[3] else None
            if stated and not intersect(stated, left):
                return f"{owner.name} {owner.version} requires {line.partition(';')[0].strip()}"
    return ""


def _combinations(compiled: dict[str, Any], snapshot: Snapshot) -> Iterator[Combination]:
    ways = _ways(compiled["when"], snapshot)
    consumers = compiled.get("consumers")
    if consumers is not None:
        bad = [{name: one["intervals"]} for name, one in consumers.items() if name in snapshot.packages]
        ways = _every([ways, bad]) if ways else ways
    return (one for one in ways or () if one and None not in one.values())


def _ways(condition: Sequence[Any], snapshot: Snapshot) -> list[Combination] | None:
    """The combinations that make a condition hold; ``None`` where it depends on more than releases."""
    operator, *rest = condition
    if operator in _GIVEN:
        return _SAID[holds(list(condition), snapshot, Trace())]
    if operator == "packages":
        return [{name: rest[2]} for name in rest[0] if name in snapshot.packages]
    if operator not in {"all", "any"}:
        return None
    parts = [_ways(part, snapshot) for part in rest]
    known = [one for one in parts if one is not None]
    if operator == "any":
        return [*chain(*known)]
    return _every(known) if [] in known or len(known) == len(parts) else None


def _every(parts: Sequence[list[Combination]]) -> list[Combination]:
    """One way of each part; not those that want a distribution twice."""
    made: list[Combination] = []
    for chosen in product(*parts):
        names = [name for one in chosen for name in one]
        if len(names) == len(set(names)):
            made.append({name: admitted for one in chosen for name, admitted in one.items()})
    return made


def _bound(one: Combination, texts: dict[str, Any], snapshot: Snapshot, said: dict[str, str]) -> Bound | None:
    used = {name for name, bad in one.items() if _is_in(snapshot, name, bad)}
    specifiers = {name: _without(one[name], snapshot.packages[name].version) for name in one.keys() - used or one}
    allowed = [name for name in one if specifiers.get(name) and _is_open(said, name, specifiers[name])]
    if not allowed:
        return None
    best = min(allowed, key=lambda name: not specifiers[name].startswith(">"))
    return Bound(
        package=best, specifier=specifiers[best], rule=texts["id"], title=texts["title"],
        since=[f"{name} {snapshot.packages[name].version or ''}".strip() for name in one if name != best],
        broken=len(used) == len(one),
    )  # fmt: skip


def _is_open(said: dict[str, str], name: str, specifier: str) -> bool:
    """Whether a specifier leaves any release beside what is said already."""
    return intervals(_joined(said, name, specifier)) != []


def _is_in(snapshot: Snapshot, name: str, bad: list[Interval]) -> bool:
    version = snapshot.packages[name].version
    return version is not None and within(version, None, bad) is True


def _joined(said: dict[str, str], name: str, specifier: str) -> str:
    return ",".join(dict.fromkeys([*filter(None, said.get(name, "").split(",")), *specifier.split(",")]))


def _without(bad: list[Interval], version: str | None) -> str:
    """A specifier for everything but some intervals; empty where none says it.

    Of what is on both sides of a wider gap, the side of ``version`` is kept.
    """
    at = key(version) if version else None
    return ",".join(filter(None, (_beside(low, high, at) for low, high in bad)))


def _beside(low: Key | None, high: Key | None, at: Key | None) -> str:
    if low is None or high is None:
        return _above(high) if high else _below(low)
    if low[:2] == high[:2]:
        return f"!={_text(low)}"
    if low[2:] == high[2:] == [-2] and low[0] == 0 and high[1] == [*low[1][:-1], *(one + 1 for one in low[1][-1:])]:
        return f"!={'.'.join(map(str, low[1]))}.*"
    return _below(low) if at is not None and at < low else _above(high)


def _above(high: Key) -> str:
    return f">={_text(high)}" if _is_before(high) else f">{_text(high)}"


def _below(low: Key | None) -> str:
    return "" if low is None else f"<{_text(low)}" if _is_before(low) else f"<={_text(low)}"


def _is_before(at: Key) -> bool:
    """Whether a bound is before the release that it names, not behind it."""
    return at[2] < FINAL or (at[2] == FINAL and len(at) == len([0, [], FINAL]))


def _text(at: Key) -> str:
    """The release that a bound names: to name one before a final release would let installers take others like it."""
    epoch, release, *phase = at
    said = (f"{epoch}!" if epoch else "") + ".".join(map(str, [*release, *[0] * (2 - len(release))]))
    return said + (f".post{phase[2]}" if len(phase) > 3 and phase[2] >= 0 else "")  # noqa: PLR2004 - a whole key
