"""From a set of releases that go together to the steps that lead there: as few and as small as they can be. Pure."""

from __future__ import annotations

from functools import partial

from envdoctor.engine.installed_requirements import name_of, normalise, unmet
from envdoctor.engine.markers import variables
from envdoctor.engine.versions import key, within
from envdoctor.facts import MANAGER
from envdoctor.model import Action, Distribution, Remedy
from envdoctor.plans import Move
from envdoctor.remedies.commands import installer, manager, with_command
from envdoctor.remedies.planner import ABSENT, ending, is_down, step
from envdoctor.tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Optional

    from envdoctor.model import Snapshot
    from envdoctor.remedies.planner import Choice, Market, Wants

    #: What a release requires, by name and version; ``None`` where that is not known.
    Requires = Callable[[str, str], Optional[Sequence[str]]]
    Versions = Mapping[str, str]

#: So many releases are tried in the place of one, and so many times over.
_TRIED, _PASSES = 16, 5


class Together:
    """Whether releases go together, by what they require of each other in an environment."""

    def __init__(self, snapshot: Snapshot, requires: Requires) -> None:
        self._lookup, self._requires = variables(snapshot), requires
        self._verdicts: dict[str, bool | None] = {}
        self._lines: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._met: dict[tuple[str, str], bool] = {}

    def lines(self, owner: str, version: str) -> Mapping[str, Sequence[str]]:
        """What a release requires here, by the name of what it requires; nothing where that is not known."""
        found = self._lines.get((owner, version))
        if found is None:
            found = self._lines[owner, version] = {}
            for kind, line, name in unmet(
                self._requires(owner, version) or (), {}, self._lookup, self._verdicts, set()
            ):
                if kind == "missing":
                    found.setdefault(name, []).append(line)
        return found

    def admits(self, line: str, name: str, version: str) -> bool:
        """Whether a requirement is met by a release of what it requires."""
        found = self._met.get((line, version))
        if found is None:
            there = {name: Distribution(name=name, version=version)}
            found = not any(unmet([line], there, self._lookup, self._verdicts, set()))
            self._met[line, version] = found
        return found

    def unmet(self, versions: Versions, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """The owner and the line of each requirement of, or about, some distributions that is not met."""
        wanted = set(names)
        for owner, version in versions.items():
            about = self.lines(owner, version)
            for name in about if owner in wanted else wanted & about.keys():
                have = versions.get(name)
                for line in about[name]:
                    if have is None or not self.admits(line, name, have):
                        yield owner, line

    def near(self, versions: Versions, names: Iterable[str]) -> set[str]:
        """Some distributions, what they require or are required by, and the same of whatever lacks something."""
        links: dict[str, set[str]] = {name: set() for name in versions}
        for owner, version in versions.items():
            for name in self.lines(owner, version):
                links[owner].add(name)
                links.setdefault(name, set()).add(owner)
        found = {*names, *(part for pair in self.unmet(versions, versions) for part in (pair[0], name_of(pair[1])))}
        return found.union(*(links.get(name, ()) for name in found))

    def askers(self, versions: Versions, name: str) -> Iterator[tuple[str, str]]:
        """The owner and the line of each requirement about a distribution that applies here."""
        for owner, version in versions.items():
            if owner != name:
                for line in self.lines(owner, version).get(name, ()):
                    yield owner, line

    def unwilling(self, versions: Versions, name: str, allowed: Collection[str]) -> set[str]:
        """Who requires a release of a distribution that is none of some others."""
        if ABSENT in allowed:
            return set()
        asking = self.askers(versions, name)
        return {owner for owner, line in asking if not any(self.admits(line, name, one) for one in allowed)}


def moved(before: Versions, after: Versions) -> list[str]:
    """The distributions of which another release is there afterwards."""
    return [name for name, version in after.items() if key(version) != key(before.get(name) or ABSENT)]


def nearer(solved: Versions, choice: Choice, market: Market, together: Together) -> dict[str, str]:
    """The releases with steps taken back, or made smaller, that neither a rule nor a requirement asks for."""
    found = dict(solved)
    free = [name for name in moved(market.installed, found) if name not in choice.wants and _stays(name, market)]
    back = {**found, **{name: market.installed[name] for name in free}}
    if free and not any(together.unmet(back, free)):
        found = back
    for _ in range(_PASSES):  # a step that is taken back may free another one
        smaller = _fewer(_smaller(found, choice, market, together), choice, market, together)
        if smaller == found:
            break
        found = smaller
    return _needed(found, choice.wants, market, together)


def _stays(name: str, market: Market) -> bool:
    """Whether a distribution may stay as it is."""
    return market.installed.get(name, ABSENT) in market.releases(name)


def _smaller(versions: Versions, choice: Choice, market: Market, together: Together) -> dict[str, str]:
    """The releases with each step, the dearest first, as small as the others let it be."""
    found = dict(versions)
    for name in sorted(moved(market.installed, found), key=lambda name: market.cost(name, found[name]), reverse=True):
        for version in _cheaper(name, found[name], choice, market):
            other = {**found, name: version}
            if _holds(other, [name], choice, together):
                found = other
                break
    return found


def _holds(versions: Versions, names: Sequence[str], choice: Choice, together: Together) -> bool:
    """Whether some releases end every finding still, and meet all that concerns some of them."""
    return all(ending(*pick, versions) for pick in choice.picks) and not any(together.unmet(versions, names))


def _brought(versions: Versions, wants: Wants, market: Market) -> list[str]:
    """What is new, and only required."""
    return [name for name in versions if name not in market.installed and name not in wants]


def _fewer(versions: Versions, choice: Choice, market: Market, together: Together) -> dict[str, str]:
    """The releases without new distributions that another release, no dearer, of what requires them does without."""
    found = dict(versions)
    for new in _brought(versions, choice.wants, market):
        rest = {name: version for name, version in found.items() if name != new}
        owner = next((owner for owner, _ in together.askers(found, new) if owner in market.installed), None)
        for version in _cheaper(owner, found[owner], choice, market, even=True) if owner else ():
            other = {**rest, str(owner): version}
            if _holds(other, [str(owner), new], choice, together):
                found = other
                break
    return found


def _cheaper(name: str, than: str, choice: Choice, market: Market, *, even: bool = False) -> list[str]:
    """Some releases that are cheaper than one, the cheapest first: the last of each minor, and what is wanted.

    With ``even`` also those that are as cheap.
    """
    limit = market.cost(name, than)
    offered = market.by_cost(name) if name in market.installed else ()
    cheaper = [one for cost, one in offered if cost < limit or (even and cost == limit)]
    newest: dict[object, str] = {}
    for one in cheaper:
        newest.setdefault(tuple((key(one) or [0, []])[1][:2]), one)
    wanted = [one for one in cheaper if one in choice.wants.get(name, ())]
    return list(dict.fromkeys([*cheaper[:2], *[*newest.values()][:_TRIED], *wanted[:2]]))


def _needed(versions: Versions, wants: Wants, market: Market, together: Together) -> dict[str, str]:
    """The releases without new distributions that nothing asks for any more."""
    found = dict(versions)
    for name in _brought(versions, wants, market):
        if next(together.askers(found, name), None) is None:
            del found[name]
    return found


def moves(versions: Versions, choice: Choice, market: Market, together: Together) -> list[Move]:
    """The steps from what is installed, each with the rules or the requirement that it is for."""
    names = [*moved(market.installed, versions), *(name for name in market.installed if name not in versions)]
    made = []
    for name in sorted(names):
        before, after = market.installed.get(name, ABSENT), versions.get(name, ABSENT)
        made.append(
            Move(
                package=name,
                before=before or None,
                after=after or None,
                why=_why(name, before, versions, choice, together),
                step=step(before, after)[0],
                down=is_down(before, after),
                asked=name in market.asked,
            )
        )
    return [one if one.after else one.replace(heir=_heir(one, made)) for one in made]


def _heir(gone: Move, moves: Sequence[Move]) -> str | None:
    """The requirement of what comes for the same rule as something goes."""
    new = (one for one in moves if not one.before and not {*gone.why}.isdisjoint(one.why))
    return next((f"{one.package}=={one.after}" for one in new), None)


def _why(name: str, before: str, versions: Versions, choice: Choice, together: Together) -> list[str]:
    ends = [(clause.name.partition(" ")[0], ending(clause, way, versions)) for clause, way in choice.picks]
    rules = [rule for rule, way in ends if way and name in way.wants and before not in way.wants[name]]
    if rules:
        return list(dict.fromkeys(rules))
    if not before:
        asking = [(owner, versions[owner], line) for owner, line in together.askers(versions, name)]
    else:
        as_it_was = {**versions, name: before}
        asking = [(owner, as_it_was[owner], line) for owner, line in together.unmet(as_it_was, [name])]
    return [f"{owner} {version} requires {line.partition(';')[0].strip()}" for owner, version, line in asking[:1]]


def is_brought(one: Move) -> bool:
    """Whether something is new, and comes along with what requires it."""
    return not one.before and all(" requires " in why for why in one.why)


def action(steps: Sequence[Move], said: Callable[[Move], str] = lambda one: f"=={one.after}") -> Action | None:
    """All steps at once, to the releases that are ``said`` of each; ``None`` where there are none."""
    pins = tuple(one.package + said(one) for one in steps if one.after)
    gone = tuple(normalise(one.package) for one in steps if not one.after)
    if not pins and not gone:
        return None
    return Action(verb="install" if not gone else "replace" if pins else "uninstall", requirements=pins, packages=gone)


def at_once(
    steps: Sequence[Move],
    snapshot: Snapshot,
    asked: Mapping[str, str | None],
    edited: Collection[str],
    narrow: Callable[[str, Move], str],
) -> Remedy | None:
    """The one command that takes all steps, in the words of the tool that manages the environment, and what to know.

    One of a project would write down as the project's own what only comes along: that is left to its resolver, which
    finds what was ``edited`` in the project's file. What is ``asked`` for in a range, and stays in it, moves within the
    lock where that can be said; elsewhere a range is written, made by ``narrow``.
    """  # fmt: skip
    tool, said = installer(snapshot) or "", None
    if TOOLS.get(tool, TOOLS["pip"]).of_project:
        steps = [one for one in steps if not is_brought(one)]
        snapshot = _with_admitted(snapshot, steps, asked, edited)
        said = partial(narrow, "") if tool != "uv-project" else None
    whole = action(steps, said) if said else action(steps)
    return with_command(Remedy(kind=whole.verb, action=whole), snapshot) if whole else None


def _with_admitted(
    snapshot: Snapshot, steps: Sequence[Move], asked: Mapping[str, str | None], edited: Collection[str]
) -> Snapshot:
    """A snapshot whose project says which steps its file admits: by an edit, or anyway where the lock says the rest."""
    found, admitted = manager(snapshot), set(edited)
    if found.get("tool") == "uv-project" and found.get("direct") is not None:
        admitted.update(
            one.package for one in steps
            if one.after and one.before and within(one.after, asked.get(one.package) or "") is not False
        )  # fmt: skip
    prefix = str(snapshot.python.get("prefix") or "")
    facts = snapshot.facts.having({MANAGER: {prefix: {**found, "admitted": admitted}}})
    return snapshot.replace(facts=facts)  # type: ignore[no-any-return]
