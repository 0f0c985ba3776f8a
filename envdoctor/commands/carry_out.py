"""``envdoctor fix --try`` and ``--apply``: the plan that a trial does not refuse, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.commands.progress import talk
from envdoctor.engine.versions import key
from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.talk import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.model import Report, Snapshot
    from envdoctor.plans import Plan
    from envdoctor.remedies.trial import Outcome

#: So many plans are tried before the last of them is given up.
_TRIALS = 3
_SHOWN = 6


class Wishes(Record):
    """What the user wants to be done, and how to do that with the options given.

    ``plan`` takes the snapshot, ``refused`` and ``tell`` (see :func:`envdoctor.fixing.plan`).
    """

    command: Sequence[str]
    attempt: bool
    apply: bool
    consent: bool
    examine: Callable[[], Snapshot]
    plan: Callable[..., tuple[Plan, Snapshot]]
    check: Callable[[Snapshot], Report]


def planned(wishes: Wishes) -> tuple[Plan, Snapshot, Outcome | None]:
    """The plan, what was examined, and what a trial of the plan showed; with a trial, a plan that passes it.

    Raises :class:`TargetError` where no plan passes.
    """
    refused: set[tuple[str, str]] = set()
    examined = wishes.examine()
    for _ in range(_TRIALS):
        with talk() as tell:
            plan, snapshot = wishes.plan(examined, refused=refused, tell=tell)
            if not wishes.attempt or plan.python or not plan.moves:
                break
            outcome = _tried(plan, snapshot, wishes.command, tell)
        if outcome.refused is None:
            return plan, snapshot, outcome
        say(f"refused: {' '.join(f'{one.package}=={one.after}' for one in plan.moves if one.after)}: {outcome.refused}")
        refused |= _blamed(plan, outcome)
    if refused:
        raise TargetError("no plan passed its trial; what each of them breaks is said above. Nothing was changed")
    return plan, snapshot, None


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


def _blamed(plan: Plan, outcome: Outcome) -> set[tuple[str, str]]:
    """The releases that the next plan must not have: those whose modules break, else that of the largest step."""
    moved = [(one.package, one.after) for one in sorted(plan.moves, key=lambda one: one.step != "major") if one.after]
    broken = {name.replace("_", "-").lower() for name in outcome.broken}
    return {one for one in moved if one[0] in broken} or set(moved[:1])


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
