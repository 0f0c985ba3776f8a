"""``envdoctor fix --link``, ``--try`` and ``--apply``: the plan that none of them refuses, and what is said of it."""

from __future__ import annotations

from itertools import islice

from envdoctor.commands.progress import talk
from envdoctor.engine.versions import key
from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from envdoctor.model import Finding, Report, Snapshot, UnknownFact
    from envdoctor.plans import Plan
    from envdoctor.remedies.trial import Outcome
    from envdoctor.searching import Refused

#: So many plans are tried before the last of them is given up, and so many are made.
_TRIALS, _PLANS = 4, 8
_SHOWN = 6


class Wishes(Record):
    """What the user wants to be done, and how to do that with the options given.

    ``plan`` takes the snapshot, ``refused`` and ``tell`` (see :func:`envdoctor.fixing.plan`); ``broken`` a plan, the
    snapshot and ``tell`` (see :func:`envdoctor.fixing.broken_by`); ``None`` where nobody wants to know.
    """

    command: Sequence[str]
    attempt: bool
    apply: bool
    consent: bool
    examine: Callable[[], Snapshot]
    plan: Callable[..., tuple[Plan, Snapshot]]
    check: Callable[[Snapshot], Report]
    broken: Callable[..., tuple[Sequence[Finding], Sequence[UnknownFact]]] | None = None


def planned(wishes: Wishes) -> tuple[Plan, Snapshot, Outcome | None]:
    """The plan, what was examined, and what a trial of the plan showed; a plan that passes what it is put to.

    Raises :class:`TargetError` where no plan passes.
    """
    judged = wishes.attempt or wishes.broken is not None
    examined = wishes.examine()
    refused: list[Plan] = []
    ways: list[frozenset[Refused]] = [frozenset()]
    for apart in islice(ways, _PLANS):  # to which each trial adds
        with talk() as tell:
            plan, snapshot = wishes.plan(examined, refused=apart, tell=tell)
            can_be_tried = plan.moves and not plan.python
            if not refused and not (judged and can_be_tried):
                return plan, snapshot, None
            if not can_be_tried or (refused and not _is_another(plan, refused)):
                continue
            foreseen, closed = wishes.broken(plan, snapshot, tell) if wishes.broken else ((), ())
            trial = not foreseen and wishes.attempt
            outcome = _tried(plan, snapshot, wishes.command, tell) if trial else None
        for one in closed:
            say(f"not looked into: {one.fact.partition('.')[2]}: {one.reason}")
        why = "\n".join(one.title for one in foreseen) or (outcome.refused if outcome else None)
        if why is None:
            return plan, snapshot, outcome
        say(f"refused: {' '.join(_pins(plan))}: {why}")
        refused.append(plan)
        if len(refused) == _TRIALS:
            break
        broken = {name for one in foreseen for name in one.packages} or set(outcome.broken if outcome else ())
        ways += [apart | one for one in _blamed(plan, broken)]
    raise TargetError("every plan would break something, which is said above. Nothing was changed")


def _pins(plan: Plan) -> list[str]:
    return [f"{one.package}=={one.after}" for one in plan.moves if one.after]


def _is_another(plan: Plan, refused: Sequence[Plan]) -> bool:
    """Whether a plan is none of those, and leaves no more errors than the first of them."""
    left = [sum(one.severity == "error" for one in some.left) for some in (plan, refused[0])]
    return left[0] <= left[1] and plan.moves not in [one.moves for one in refused]


def _tried(plan: Plan, snapshot: Snapshot, command: Sequence[str], tell: Callable[[str], None]) -> Outcome:
    from envdoctor.remedies import guard
    from envdoctor.remedies.clone import clone
    from envdoctor.remedies.commands import installer
    from envdoctor.remedies.trial import tried

    place = guard.place_of(snapshot)
    tell(f"copying {place.prefix}")
    with clone(place) as copy:
        return tried(copy, place, command, plan, installer(snapshot) or "uv", tell)


def shown(outcome: Outcome) -> list[str]:
    """What a trial showed, in lines: the proof first."""
    said = []
    if outcome.command:
        words = {(False, False): "passes before the plan and after it", (True, False): "failed, and passes now"}
        before, after = map(bool, outcome.command)
        said.append(f"tried: the command {words.get((before, after), 'fails as it did before')}")
    worked = sum(why is None for why in outcome.after.values())
    said.append(f"tried: {worked} of {len(outcome.after)} modules can be imported, none fewer than before")
    if outcome.mended:
        said.append(f"tried: could not be imported before, and can be now: {_few(outcome.mended)}")
    still = [f"{name} ({why})" for name, why in outcome.after.items() if why]
    if still:
        said.append(f"tried: cannot be imported, as before: {_few(still)}")
    if outcome.command and outcome.command[1] and outcome.output:
        said.append(f"tried: what the command says at its end:\n{outcome.output}")
    return said


def result_of(outcome: Outcome, clean: Callable[[str], str]) -> dict[str, object]:
    """What a trial showed, as the values that ``plan.schema.json`` describes; ``clean`` takes secrets out of a text."""
    modules = {
        name: {when: why and clean(why) for when, why in (("before", outcome.before.get(name)), ("after", after))}
        for name, after in outcome.after.items()
    }
    if outcome.command is None:
        return {"modules": modules, "command": None}
    before, after = outcome.command
    return {"modules": modules, "command": {"before": before, "after": after, "output": clean(outcome.output or "")}}


def _few(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _blamed(plan: Plan, broken: Collection[str]) -> list[frozenset[Refused]]:
    """What the next plans must not have, the likeliest first: releases of what is broken, else each step in turn.

    First what the user has asked for, and the largest steps; at last another release of the first of them.
    """
    moved = [one for one in plan.moves if one.after]
    moved.sort(key=lambda one: (not one.asked, one.step != "major"))
    names = {name.replace("_", "-").lower() for name in broken}
    theirs = frozenset((one.package, one.after) for one in moved if one.package in names)
    if theirs:
        return [theirs]
    stays: list[Refused] = [(one.package, None) for one in moved if one.before]
    return [frozenset([one]) for one in [*stays, *((one.package, one.after) for one in moved[:1])]]


def applied(wishes: Wishes, plan: Plan, snapshot: Snapshot) -> None:
    """Carry the plan out, and say so. Raises :class:`TargetError` where everything stays as it was."""
    from envdoctor.remedies.apply import apply

    before = {(one.rule, one.consumer) for one in wishes.check(snapshot).findings}

    def wrong() -> list[str]:
        return _unexpected(wishes.check(wishes.examine()), before, plan)

    apply(plan, snapshot, wrong, say, consent=wishes.consent)
    say("applied, and examined again: envdoctor undo brings back what was")


def _elsewhere(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """The packages that are not of the release that they were to have."""
    there = snapshot.packages
    for one in plan.moves:
        version = there[one.package].version if one.package in there else None
        if (version and key(version)) != (one.after and key(one.after)):
            yield f"{one.package} is {version or 'not there'}, and not {one.after or 'gone'}"


def _unexpected(report: Report, before: set[tuple[str, str | None]], plan: Plan) -> list[str]:
    """What is not as planned: another release, or an error that the plan was to end, or has made."""
    said = [*_elsewhere(report.snapshot, plan)]
    left = {(one.rule, one.consumer) for one in plan.left}
    for found in report.findings:
        name = (found.rule, found.consumer)
        beside = plan.advice and name in before  # it may be what is to be ended by hand
        if found.severity == "error" and name not in left and not beside:
            said.append(found.title)
    return said
