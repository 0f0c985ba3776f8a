"""The rounds of a search for a plan: the cheapest choice, what a resolver makes of it, and what examining that finds.

Every candidate is examined in memory, with what its releases say of themselves. What it raises is a further clause,
what the resolver refuses is not chosen again: so each round rules something out, and there are few of them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Optional

from envdoctor.engine import diagnose as engine
from envdoctor.engine.alternatives import held
from envdoctor.engine.effects import after
from envdoctor.engine.installed_requirements import normalise, parts
from envdoctor.engine.versions import key, within
from envdoctor.errors import ProbeError
from envdoctor.facts import METADATA
from envdoctor.model import Action, Record, Unknown
from envdoctor.probes import answered
from envdoctor.remedies import commands, planner, steps
from envdoctor.remedies.offers import Offers
from envdoctor.remedies.planner import ABSENT, GONE, LEFT, LEFT_BESIDE, Alternative, Clause, Market
from envdoctor.remedies.resolver import resolve
from envdoctor.remedies.task import Refusal, Task
from envdoctor.remedy_kinds import KINDS
from envdoctor.targets.asked import asked, from_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from envdoctor.engine.alternatives import Held, Way
    from envdoctor.engine.diagnose import Candidates
    from envdoctor.engine.index import Index
    from envdoctor.model import Ignore, Remedy, Snapshot
    from envdoctor.remedies.planner import Choice, Cost, Wants

    #: A distribution, and the release that it must not have; for ``None`` it must stay as it is.
    Refused = tuple[str, Optional[str]]

_WHICH = "envdoctor fix asks which releases go together on a Python, and nothing says which one is meant"
#: The calls of the resolver that a plan may take, and those that are spent on a cheaper one once there is one.
CALLS, MORE = 12, 6


class Candidate(Record):
    """A set of releases that go together, what examining them finds, what of it should not be, and what they cost."""

    versions: Mapping[str, str]
    snapshot: Snapshot
    held: Sequence[Held]
    left: Sequence[Held]
    choice: Choice
    cost: Cost


class PlanSearch:
    """The rounds of a search, and what they have ruled out."""

    def __init__(
        self,
        snapshot: Snapshot,
        indexes: Sequence[Index],
        ignore: Sequence[Ignore],
        *,
        everything: bool,
        project: str | None,
        tell: Callable[[str], None],
    ) -> None:
        self._indexes, self._ignore, self._project, self._tell = indexes, ignore, project, tell
        self._severities = {"error", "warning"} if everything else {"error"}
        self.snapshot, self.found = self._examined(snapshot)
        self.known = {name_of(one) for one in self.found}
        self.offers = Offers(self.snapshot)
        self.installed = {name: one.version or "" for name, one in self.snapshot.packages.items()}
        self.clauses: list[Clause] = []
        self._unmet: dict[str, set[tuple[str, str]]] = {}
        self.refused: list[Wants] = []
        self.conflicts: list[list[str]] = []
        self.calls = 0

    def _examined(self, snapshot: Snapshot) -> tuple[Snapshot, list[Held]]:
        snapshot, found = _held(snapshot, engine.candidates(snapshot, self._indexes))
        if self._ignore:
            import time

            from envdoctor.engine.ignored import set_apart

            kept, _ = set_apart([one.finding for one in found], self._ignore, time.strftime("%Y-%m-%d"))
            found = [one for one in found if one.finding in kept]
        return snapshot, found

    def counts(self, one: Held) -> bool:
        """Whether a plan has to end a finding: one that is severe enough, or that the environment did not have."""
        new = name_of(one) not in self.known and one.finding.severity != "info"
        return bool(one.declared) or new or one.finding.severity in self._severities

    def run(self, refused: Collection[Refused] = ()) -> Candidate | None:
        """The best candidate; ``None`` where nothing has to be done."""
        wanted = list(filter(self.counts, self.found))
        if not wanted and not self.snapshot.effects:
            return None
        self._begin(wanted, refused)
        best: Candidate | None = None
        tried: list[Wants] = []
        known: list[tuple[Wants, Cost]] = []
        last = CALLS
        while self.calls < last:
            choice = planner.cheapest(self.clauses, self.market, self.refused, tried, known)
            if choice is None or (best and choice.cost >= best.cost):
                break
            made = self.candidate(choice)
            if made is None:
                continue
            known.append((choice.wants, self._moving(made.versions)))
            tried += [choice.wants, planner.exactly(made.versions)]
            if best is None or made.cost < best.cost:
                best, last = made, last if any(made.cost[: planner.REMOVED]) else min(last, self.calls + MORE)
        best = best or self.candidate(planner.leaving(self.clauses))
        self._conclude(best)
        return best

    def _begin(self, wanted: Sequence[Held], refused: Collection[Refused]) -> None:
        """Ask the index what it has, and say what is to be ended."""
        self._tell("asking the index for releases")
        self.offers.ask([*self.installed, *_named(wanted)])
        self._read_metadata()
        self.together = steps.Together(self.snapshot, self._requires)
        unwilling = partial(self.together.unwilling, self.installed)
        self.snapshot = answered(self.snapshot, lambda now: commands.asked((), now))
        wishes = asked(self.snapshot, self._project, commands.manager(self.snapshot).get("direct"))
        self.market = Market(self.installed, self.offers.releases, wishes, unwilling)
        self.clauses = [*map(self._clause, wanted), *(self._without(*one) for one in refused)]
        self.apart = self._apart()

    def _read_metadata(self) -> None:
        """What releases say of themselves that nobody has installed, such as those of a lock file."""
        facts = self.snapshot.facts
        unread = [(name, version) for name, version in self.installed.items() if version]
        unread = [one for one in unread if isinstance(facts.metadata(*one).requires, Unknown)]
        offered = self.offers.metadata(unread) if unread else {}
        known = {one: said for one in unread for said in [offered[one]] if said}
        if known:
            self.snapshot = self.snapshot.replace(facts=facts.having({METADATA: known}))

    def _conclude(self, best: Candidate | None) -> None:
        """Say which clauses exclude each other, where not all could be cured."""
        if best is None or best.cost[LEFT] or best.cost[LEFT_BESIDE]:
            curable = [one for one in self.clauses if len(one.alternatives) > 1]
            found = planner.conflict(curable, self.market, self.refused)
            self.conflicts += [[one.name for one in found]] if found else []

    def _clause(self, one: Held) -> Clause:
        """A finding as a clause over releases that are on offer; to leave it is the dearest alternative."""
        name = name_of(one)
        made = [found for way in one.ways for found in [self._alternative(way, one)] if found is not None]
        if one.declared:
            self._unmet.setdefault(name, set()).add((one.declared["distribution"], one.declared["required"]))
        severe = LEFT if one.finding.severity == "error" else LEFT_BESIDE
        made.append(Alternative(wants={}, cost=planner.cost_of_one(severe)))
        return Clause(name=name, alternatives=planner.widest(made))

    def _without(self, name: str, version: str | None) -> Clause:
        """A distribution is to be of any release but one, or to stay as it is."""
        others = frozenset([self.installed[name]])
        if version is not None:
            others = frozenset(one for one in self.offers.releases(name) if key(one) != key(version))
        return Clause(name=f"{name} {version} was tried", alternatives=[Alternative(wants={name: others})])

    def _alternative(self, way: Way, one: Held) -> Alternative | None:
        if way.python:
            return None
        if way.remedy is not None and way.remedy.safety == "manual":
            return self._besides(way.remedy, one)
        wants = {name: frozenset(self._within(name, admitted)) for name, admitted in way.wants.items()}
        if not all(wants.values()):
            return None
        wants.update((name, GONE) for name in way.removes if name in self.installed)
        if wants:
            return Alternative(wants=wants)
        return self._besides(way.remedy, one) if way.remedy else None

    def _besides(self, remedy: Remedy, one: Held) -> Alternative | None:
        """A remedy for a person to carry out."""
        if not self._helps(remedy, one):
            return None
        return Alternative(wants={}, cost=planner.cost_of_one(planner.BESIDE), remedy=remedy)

    def _helps(self, remedy: Remedy, one: Held) -> bool:
        """Whether a finding would be gone once something is installed again; of other remedies the rule says so."""
        action = remedy.action
        if action is None or not KINDS[action.verb].renews:
            return True
        _, found = _held(after(self.snapshot, action), one.rule)
        return all(name_of(other) != name_of(one) for other in found)

    def _within(self, name: str, admitted: list[list[list[int] | None]]) -> Iterable[str]:
        return (one for one in self.offers.releases(name) if within(one, None, admitted))

    def _apart(self) -> set[str]:
        """What the resolver cannot know: what is not from the index, and of which only a source archive is there."""
        others = {name for name, version in self.installed.items() if not self.offers.has(name, version)}
        return others | from_elsewhere(self.snapshot).keys()

    def candidate(self, choice: Choice) -> Candidate | None:
        """What the resolver makes of a choice, examined; ``None`` where it refuses it.

        Where nothing is to move it is not asked: it may have something against what is there.
        """
        stays = not choice.wants and not self.snapshot.effects
        solved = dict(self.installed) if stays else self._resolved(choice)
        if solved is None:
            return None
        self.offers.metadata(self._moved(solved).items())
        solved = steps.nearer(solved, choice, self.market, self.together)
        moved = self._moved(solved)
        metadata = self.offers.metadata(moved.items())
        changed = self._changed(moved, [name for name in self.installed if name not in solved], metadata)
        snapshot, found = self._examined(changed)
        left = [one for one in found if self.counts(one) and not self.is_beside(one, choice)]
        self._learn(left, choice)
        beside = sum(self.is_beside(one, choice) for one in found)
        costs = [self._moving(solved), *[planner.cost_of_one(planner.BESIDE)] * beside]
        costs += [planner.cost_of_one(LEFT if one.finding.severity == "error" else LEFT_BESIDE) for one in left]
        return Candidate(
            versions=solved, snapshot=snapshot, held=found, left=left, choice=choice, cost=planner.total(costs)
        )

    def _moving(self, versions: Mapping[str, str]) -> Cost:
        """What it costs to go to some versions, whatever they leave of findings."""
        return planner.total(
            self.market.cost(name, versions.get(name, ABSENT)) for name in {*self.installed, *versions}
        )

    def _resolved(self, choice: Choice) -> dict[str, str] | None:
        """The version of everything: first with all pinned that is far from what has to move, then with all free."""
        near = self.together.near(self.installed, choice.wants)
        task = self._task(choice)
        far = {name: f"=={self.installed[name]}" for name in task.preferred if name not in near}
        found = self._asked(task.replace(bounds={**far, **task.bounds}))
        if isinstance(found, Refusal) and far:
            found = self._asked(task)
        if isinstance(found, Refusal):
            self._refuse(found, choice)
            return None
        solved = {**found, **{name: self.installed[name] for name in task.apart if choice.wants.get(name) != GONE}}
        if any(solved.get(name, ABSENT) not in allowed for name, allowed in choice.wants.items()):
            self.refused.append(choice.wants)  # it took what is not on offer: an early release, or a withdrawn one
            return None
        return solved

    def _asked(self, task: Task) -> dict[str, str] | Refusal:
        self.calls += 1
        self._tell(f"resolving, call {self.calls}")
        return resolve(task)

    def _task(self, choice: Choice) -> Task:
        """What is to be resolved for a choice: all may move but who keeps an unmet requirement."""
        wants, left = choice.wants, self._left_unmet(choice)
        removed = {name for name, allowed in wants.items() if allowed == GONE}
        apart = {*self.apart, *(owner for owner, _ in left)} - removed
        apart -= {name for name in apart & wants.keys() if not self._stays(name, wants)}
        names = {**self.installed, **wants}.keys() - removed - apart
        moving = {name: wants[name] for name in sorted(names & wants.keys())}
        best = {name: self.market.best(name, allowed)[1] for name, allowed in moving.items()}
        return Task(
            python=_python(self.snapshot),
            names=sorted(names),
            preferred={name: best.get(name, self.installed[name]) for name in sorted(names & self.installed.keys())},
            bounds={name: self._bound(name, allowed) for name, allowed in moving.items()},
            lines=[line for name in sorted(apart) for line in self._lines(name, left)],
            apart=[*sorted(apart), *sorted(removed)],
        )

    def _left_unmet(self, choice: Choice) -> set[tuple[str, str]]:
        """The requirements, each as its owner and the name required, that a choice leaves unmet."""
        stays = (clause.name for clause, way in choice.picks if not way.wants)
        return {one for name in stays for one in self._unmet.get(name, ())}

    def _lines(self, name: str, left: set[tuple[str, str]]) -> list[str]:
        """What an installed release requires, without what stays unmet."""
        required = self._requires(name, self.installed[name]) or ()
        return [line for line in required if (name, _required(line)) not in left]

    def _stays(self, name: str, wants: Wants) -> bool:
        return self.installed[name] in wants[name]

    def _refuse(self, found: Refusal, choice: Choice) -> None:
        if found.unknown and found.unknown in self.installed and found.unknown not in self.apart:
            self.apart.add(found.unknown)
        names = found.names or choice.wants.keys()
        self.refused.append({name: choice.wants[name] for name in names if name in choice.wants})

    def _bound(self, name: str, allowed: frozenset[str]) -> str:
        """A specifier for some of the releases of a distribution: their hull, without the holes in it."""
        every = self.offers.releases(name)
        inside = [number for number, one in enumerate(every) if one in allowed]
        first, last = inside[0], inside[-1]
        bounds = [f">={every[first]}"] if first else []
        bounds += [f"<={every[last]}"] if last < len(every) - 1 else []
        return ",".join([*bounds, *(f"!={one}" for one in every[first:last] if one not in allowed)])

    def _moved(self, solved: Mapping[str, str]) -> dict[str, str]:
        return {name: one for name, one in solved.items() if key(one) != key(self.installed.get(name) or "")}

    def _requires(self, name: str, version: str) -> Sequence[str] | None:
        """What a release requires; ``None`` where nobody says."""
        if version == self.installed.get(name):
            found = self.snapshot.facts.metadata(name, self.snapshot.packages[name].version)
        else:
            read = self.offers.metadata([(name, version)])[name, version]
            if read is None:
                return None
            found = read
        return None if isinstance(found.requires, Unknown) else found.requires

    def _changed(
        self, moved: Mapping[str, str], gone: Sequence[str], metadata: Mapping[tuple[str, str], object]
    ) -> Snapshot:
        """What was examined, after a plan."""
        known = {one: said for one, said in metadata.items() if said is not None}
        pins = tuple(f"{name}=={version}" for name, version in moved.items())
        changed = after(self.snapshot, Action(verb="install", requirements=pins), known)  # type: ignore[arg-type]
        return after(changed, Action(verb="uninstall", packages=tuple(gone))) if gone else changed

    def is_beside(self, one: Held, choice: Choice) -> bool:
        """Whether a finding is to be ended by something besides releases."""
        return any(way.remedy is not None and clause.name == name_of(one) for clause, way in choice.picks)

    def _learn(self, found: Sequence[Held], choice: Choice) -> None:
        """What a candidate raises is a further clause; where that says nothing new, the choice is refused."""
        given_up = {clause.name for clause, way in choice.picks if planner.gives_up(way)}
        left = [one for one in found if name_of(one) not in given_up]
        self.offers.ask(_named(left))
        further = [one for one in map(self._clause, left) if one not in self.clauses]
        self.clauses += further
        if left and not further and choice.wants:
            self.refused.append(choice.wants)


def _held(snapshot: Snapshot, rules: Candidates) -> tuple[Snapshot, list[Held]]:
    """A snapshot with what some rules ask, and what they find."""
    snapshot = answered(snapshot, lambda now: engine.asked(rules, now))
    return snapshot, held(snapshot, rules)


def name_of(one: Held) -> str:
    """What tells a finding from others, whatever the versions are."""
    about = [one.finding.consumer] if one.finding.consumer else [*one.finding.packages]
    return " ".join([one.finding.rule, *about])


def _required(line: str) -> str:
    """The name of what a requirement line asks for."""
    found = parts(line)
    return normalise(found[0]) if found else ""


def _named(found: Iterable[Held]) -> list[str]:
    return [name for one in found for way in one.ways for name in way.wants]


def _python(snapshot: Snapshot) -> list[str]:
    """The words for uv that say for which Python."""
    executable = snapshot.python.get("executable")
    if executable and os.path.exists(executable):
        return ["--python", executable]
    version = snapshot.python.get("version")
    if version is None:
        raise ProbeError(f"{_WHICH}: name it by --python-version")
    return ["--python-version", str(version)]
