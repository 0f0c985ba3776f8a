"""The cheapest choice among the alternatives of all findings, as far as releases alone tell. Pure.

Each finding is a clause: one of its alternatives has to hold. An alternative wants distributions to be of certain
releases. Which releases go together is the resolver's to say: what it refuses is kept as a set of wants that must not
be chosen together again.
"""

from __future__ import annotations

import heapq
from itertools import count

from envdoctor.engine.versions import key, within
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from envdoctor.model import Remedy

    #: Who has to move with a distribution, as nothing that it may be is what they require.
    Unwilling = Callable[[str, frozenset[str]], Collection[str]]
    #: The releases that a distribution may have, by name; ``""`` is that it is not there.
    Wants = Mapping[str, frozenset[str]]
    Cost = tuple[int, ...]

#: What a plan costs, dearest first. Packages that go down only decide between equals.
LEFT, LEFT_BESIDE, REMOVED, BESIDE, ASKED, MAJOR, MINOR, PATCH, PACKAGES, DOWN = range(10)
FREE: Cost = (0,) * 10
#: So many choices are looked at before the search gives up.
MOST = 20_000
ABSENT = ""
GONE = frozenset([ABSENT])


class Alternative(Record):
    """One way to end a finding. One that wants no releases is a ``remedy`` of another kind, or leaves the finding."""

    wants: Wants
    cost: Cost = FREE
    remedy: Remedy | None = None


class Clause(Record):
    """A finding, by its ``name``, of which one alternative has to hold."""

    name: str
    alternatives: Sequence[Alternative]


def widest(ways: Sequence[Alternative]) -> list[Alternative]:
    """The alternatives without those that want what another one wants, and more; of equals the first stays."""
    kept: list[Alternative] = []
    for way in ways:
        if not any(_is_in(way, other) for other in kept):
            kept = [other for other in kept if not _is_in(other, way)] + [way]
    return kept


def _is_in(one: Alternative, other: Alternative) -> bool:
    same = one.cost == other.cost and one.wants.keys() == other.wants.keys() != set()
    return same and all(one.wants[name] <= other.wants[name] for name in one.wants)


class Choice(Record):
    """An alternative for each clause: all that they want, and what that costs at least."""

    wants: Wants
    cost: Cost
    picks: Sequence[tuple[Clause, Alternative]]


def cost_of_one(place: int) -> Cost:
    """The cost of one thing of a kind."""
    return tuple(int(number == place) for number in range(len(FREE)))


def total(costs: Iterable[Cost]) -> Cost:
    """Costs together."""
    return tuple(map(sum, zip(FREE, *costs)))


def step(before: str, after: str) -> tuple[str, int]:
    """What kind of step leads from one version to another, and how many of the kind: ``("major", 2)``."""
    if before == after:
        return "", 0
    if not before or not after:
        return "removed" if before else "new", 1
    old, new = key(before), key(after)
    if old is None or new is None:
        return "major", 1
    numbers = [((*known[1], 0, 0)[0], (*known[1], 0, 0)[1]) for known in (old, new)]
    if old[0] != new[0] or numbers[0][0] != numbers[1][0]:
        return "major", min(abs(numbers[1][0] - numbers[0][0]) or 1, 9)
    return ("minor", 1) if numbers[0][1] != numbers[1][1] else ("patch", 1)


def is_down(before: str, after: str) -> bool:
    """Whether a step goes down."""
    old, new = (key(before), key(after)) if before and after else (None, None)
    return old is not None and new is not None and new < old


class Market:
    """What is installed, what else could be, oldest first, and what the user has asked for, with or without a range."""

    def __init__(
        self,
        installed: Mapping[str, str],
        releases: Callable[[str], Sequence[str]],
        asked: Mapping[str, str | None],
        unwilling: Unwilling = lambda *_: (),
    ) -> None:
        self.installed, self.releases, self.asked, self._unwilling = installed, releases, asked, unwilling
        self._forced: dict[tuple[str, frozenset[str]], Collection[str]] = {}
        self._best: dict[tuple[str, frozenset[str]], tuple[Cost, str]] = {}
        self._by_cost: dict[str, list[tuple[Cost, str]]] = {}

    def cost(self, name: str, after: str) -> Cost:
        """What it costs that a distribution is of a release, or gone."""
        before = self.installed.get(name, ABSENT)
        kind, steps = step(before, after)
        if not kind:
            return FREE
        if kind == "removed":
            return cost_of_one(REMOVED)
        places = {"major": (MAJOR, steps), "minor": (MINOR, 1), "patch": (PATCH, 1)}
        place, number = places.get(kind, (PACKAGES, 0))
        values = [0] * len(FREE)
        values[place] += number
        values[PACKAGES] += 1
        values[ASKED] += self._breaks(name, after)
        values[DOWN] += is_down(before, after)
        return tuple(values)

    def _breaks(self, name: str, after: str) -> int:
        """Whether that is a change of what the user has asked for: of its range, where one is stated."""
        if name not in self.asked:
            return 0
        stated = self.asked[name]
        return int(stated is None or within(after, stated) is not True)

    def best(self, name: str, allowed: frozenset[str]) -> tuple[Cost, str]:
        """The cheapest of some releases, of equals the newest."""
        known = self._best.get((name, allowed))
        if known is None:
            newest = sorted(allowed, key=lambda version: key(version) or [], reverse=True)
            known = self._best[name, allowed] = min(
                ((self.cost(name, one), one) for one in newest), key=lambda it: it[0]
            )
        return known

    def by_cost(self, name: str) -> Sequence[tuple[Cost, str]]:
        """All releases of a distribution with their costs, the cheapest first, of equals the newest."""
        if name not in self._by_cost:
            newest = sorted(self.releases(name), key=lambda version: key(version) or [], reverse=True)
            self._by_cost[name] = sorted(((self.cost(name, one), one) for one in newest), key=lambda it: it[0])
        return self._by_cost[name]

    def closed(self, wants: Wants, names: Iterable[str]) -> Wants | None:
        """Some wants, with what has to move because of some names among them; ``None`` where no release will do."""
        both, pending = dict(wants), list(names)
        while pending:
            name = pending.pop()
            for owner in self._forced_by(name, both[name]):
                allowed = both[owner] if owner in both else frozenset(self.releases(owner))
                both[owner] = allowed - {self.installed[owner]}
                if not both[owner]:
                    return None
                if both[owner] != allowed:
                    pending.append(owner)
        return both

    def _forced_by(self, name: str, allowed: frozenset[str]) -> Collection[str]:
        if (name, allowed) not in self._forced:
            self._forced[name, allowed] = self._unwilling(name, allowed)
        return self._forced[name, allowed]


def merged(one: Wants, other: Wants) -> Wants | None:
    """What two alternatives want together; ``None`` where no release will do."""
    if all(other[name] >= one.get(name, frozenset()) and name in one for name in other):
        return one
    both = dict(one)
    for name, allowed in other.items():
        both[name] = both[name] & allowed if name in both else allowed
        if not both[name]:
            return None
    return both


def is_refused(wants: Wants, refused: Iterable[Wants]) -> bool:
    """Whether the resolver has already refused as much, or less."""
    return any(_is_narrower(wants, bad) for bad in refused)


def _is_narrower(wants: Wants, than: Wants) -> bool:
    return all(name in wants and wants[name] <= allowed for name, allowed in than.items())


def cheapest(
    clauses: Sequence[Clause],
    market: Market,
    refused: Collection[Wants],
    tried: Collection[Wants] = (),
    known: Collection[tuple[Wants, Cost]] = (),
) -> Choice | None:
    """The cheapest choice that nobody has refused, and that nothing that was ``tried`` is one of.

    ``known`` is what some wants cost, which is the least that it costs to want more.
    ``None`` where there is no choice, or it is not found.
    """
    ordered = sorted(clauses, key=lambda clause: len(clause.alternatives))
    number = count()
    heap: list[tuple[Cost, int, int, Wants, tuple[Alternative, ...]]] = [(FREE, 0, next(number), {}, ())]
    seen: set[object] = set()
    for _ in range(MOST):
        if not heap:
            return None
        cost, _, _, wants, picks = heapq.heappop(heap)
        if len(picks) == len(ordered):
            if not any(_is_one_of(one, wants) for one in tried):
                return Choice(wants=wants, cost=cost, picks=list(zip(ordered, picks)))
            continue
        for way, both in _further(ordered[len(picks)], wants, market):
            now = (*picks, way)
            state = (len(now), frozenset(both.items()), total(one.cost for one in now))
            if state not in seen and not is_refused(both, refused):
                seen.add(state)
                dear = max(
                    cost, _cost(both, now, market), *(one for narrow, one in known if _is_narrower(both, narrow))
                )
                heapq.heappush(heap, (dear, -len(now), next(number), both, now))
    return None


def _is_one_of(some: Wants, wants: Wants) -> bool:
    return all(some.get(name, GONE) <= allowed for name, allowed in wants.items())


def _further(clause: Clause, wants: Wants, market: Market) -> Iterator[tuple[Alternative, Wants]]:
    """The alternatives of a clause, with all that is wanted then: of those that hold already, one is enough."""
    ways = [(way, merged(wants, way.wants)) for way in clause.alternatives]
    held = [one for one in ways if one[1] is wants and one[0].wants and one[0].cost is FREE]
    for way, both in held[:1] or ways:
        whole = both if both is None or both is wants else market.closed(both, way.wants)
        if whole is not None:
            yield way, whole


def _cost(wants: Wants, picks: Sequence[Alternative], market: Market) -> Cost:
    return total([*(market.best(name, allowed)[0] for name, allowed in wants.items()), *(way.cost for way in picks)])


def ending(clause: Clause, pick: Alternative, versions: Mapping[str, str]) -> Alternative | None:
    """An alternative of a clause that holds with some versions, the one that was picked before others."""
    ways = [pick, *(way for way in clause.alternatives if way.wants)]
    return next((way for way in ways if all(versions.get(name, ABSENT) in way.wants[name] for name in way.wants)), None)


def conflict(clauses: Sequence[Clause], market: Market, refused: Collection[Wants]) -> list[Clause]:
    """A smallest set of clauses that no choice cures together: without any of them, the others have one."""
    needed = [cure_only(one) for one in clauses]
    if cheapest(needed, market, refused) is not None:
        return []
    for clause in list(needed):
        others = [one for one in needed if one is not clause]
        if cheapest(others, market, refused) is None:
            needed = others
    return needed


def exactly(versions: Mapping[str, str]) -> Wants:
    """The wants that only some versions are."""
    return {name: frozenset([version]) for name, version in versions.items()}


def leaving(clauses: Sequence[Clause]) -> Choice:
    """The choice that cures nothing."""
    picks = [(one, way) for one in clauses for way in one.alternatives if gives_up(way)]
    return Choice(wants={}, cost=total(way.cost for _, way in picks), picks=picks)


def gives_up(way: Alternative) -> bool:
    """Whether an alternative leaves the finding."""
    return any(way.cost[:REMOVED])


def cure_only(clause: Clause) -> Clause:
    """A clause that cannot be left as it is."""
    ways = [way for way in clause.alternatives if not gives_up(way)]
    return clause.replace(alternatives=ways)  # type: ignore[no-any-return]
