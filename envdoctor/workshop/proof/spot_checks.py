"""Trials off the grid of a proof: releases that no cell names and no measurement needs, drawn with a seed.

The measurement of an edge looks at its neighbours, and a range that fails, works and fails again goes unseen by it. A
spot check is a release of another branch, or a pre-release beside an edge, on either side of what the rule states; or
all that a rule names at once, consumer, provider and Python, each in another release. Where one fails as the rule says,
the cure that is printed first for it is tried. An old release below a range is run a second time with what else was
published in its time: with what is newest, another failure may hide the one that the rule is about.
"""

from __future__ import annotations

import random

from packaging.version import Version

from envdoctor.model import Record
from envdoctor.probes import published
from envdoctor.workshop.mining import is_for
from envdoctor.workshop.proof import trials
from envdoctor.workshop.proof.ends import PYTHON, name_of
from envdoctor.workshop.proof.judge import CONTRADICTS, judge, known, symptom, through
from envdoctor.workshop.proof.measure import value, with_axis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from envdoctor.workshop.cells import Cell
    from envdoctor.workshop.proof.ends import End
    from envdoctor.workshop.proof.measure import Survey
    from envdoctor.workshop.proof.trials import StatedTrial, Trial

    #: The versions of an axis with which a cell is bad, and the others.
    Sides = tuple[list[str], list[str]]

#: Of so many draws that move everything at once one is outside what the rule calls bad.
_ONE_OUTSIDE_OF = 3

#: What a spot check can show, but that it agrees with the rule or could not be built.
WORKS, MISSED, OTHERWISE = (
    "it works, and the rule calls it bad",
    "it fails in the rule's way, and the rule does not say so",
    "it fails with an exception of the rule, or in a module of what it names, and no symptom says how",
)


class SpotCheck(Record):
    """One ``cell`` off the grid: what was moved, if it was one ``axis``, and whether the rule calls it bad.

    ``cure`` is the trial of the cure that is printed first, where there is one that can be tried; ``earlier`` are those
    of an old release beside others of its time, and beside others of the time of what it is run with.
    """

    axis: str | None
    version: str
    cell: Mapping[str, Any]
    is_bad: bool
    trial: Trial
    cure: Trial | None = None
    earlier: Sequence[Trial] = ()


def plan(survey: Survey, known: Iterable[str], most: int, seed: int) -> list[SpotCheck]:
    """At most so many spot checks of a rule, spread over what it names; ``known`` are the trials there are already."""
    names = {*known}
    drawn: dict[tuple[str | None, str | None], list[SpotCheck]] = {}
    for end in survey.ends:
        consumer = end.base.trial.consumer
        for key in ((None, consumer), (end.axis, consumer)) if end.kind == "bad" else ():
            if key not in drawn:
                text = f"{seed} {survey.rule.id} {key}"
                of_axis = key[0] is not None
                drawn[key] = (
                    _drawn(_of_axis(survey, end, names), text) if of_axis else _all_moved(survey, end, text, most)
                )
    found: dict[str, SpotCheck] = {}
    while len(found) < most and any(drawn.values()):
        turn = (left.pop() for left in drawn.values() if left)
        found.update({one.trial.key(): one for one in turn})
    return [_with_cure(survey, one) for one in [*found.values()][:most]]


def _with_cure(survey: Survey, check: SpotCheck) -> SpotCheck:
    if not check.is_bad:
        return check
    stated = (survey.rule, survey.compiled, survey.vocabulary, check.cell, check.trial, survey.pythons)
    return check.replace(cure=next(trials.remedied(*stated), None))  # type: ignore[no-any-return]


def _all_moved(survey: Survey, end: End, seed: str, most: int) -> list[SpotCheck]:
    """Cells in which everything that the rule names is another release, most of them bad by the rule."""
    base, found = end.base, {}
    sides = {axis: _sides(survey, base, axis) for axis in _axes(survey, base)}
    for number in range(most if sides.keys() - {PYTHON} else 0):
        draw = random.Random(f"{seed} {number}")  # noqa: S311 - a draw, no secret
        cell = _moved(base.cell, sides, draw, outside=number % _ONE_OUTSIDE_OF == 0)
        name = f"{base.trial.name}, on " + ", ".join(f"{axis} {value(cell, axis)}" for axis in sides)
        is_bad = survey.holds(cell, base.trial.consumer)
        trial = survey.placed(base, "bad", cell, name, sides)
        found[name] = SpotCheck(axis=None, version="", cell=cell, is_bad=is_bad, trial=trial)
    return list(found.values())


def _moved(cell: Cell, sides: Mapping[str, Sides], draw: random.Random, *, outside: bool) -> Cell:
    """A cell with a drawn version on every axis, of releases one with a wheel for its Python where there is any.

    Where it is to be ``outside`` of what the rule calls bad, it is so on one axis.
    """
    open_axes = [axis for axis, (_, others) in sides.items() if others and outside]
    other = draw.choice(open_axes) if open_axes else None
    for axis, (inside, others) in sides.items():
        drawn = others if axis == other else inside
        fitting = [one for one in drawn if axis == PYTHON or _is_for(str(value(cell, PYTHON)), axis, one)]
        cell = with_axis(cell, axis, draw.choice(fitting or drawn))
    return cell


def _is_for(python: str, name: str, version: str) -> bool:
    there = (one for one in published.wheels(name) or () if Version(one.version) == Version(version))
    return any(is_for(python, one) for one in there)


def _axes(survey: Survey, base: StatedTrial) -> list[str]:
    """What can be moved of a cell: the Python, unless a bugfix release is stated, its consumer, what the rule names."""
    consumer = base.trial.consumer
    named = [*([consumer] if consumer else survey.rule.consumers), *survey.named()]
    there = [one for one in dict.fromkeys(named) if value(base.cell, one) is not None]
    return [*([PYTHON] if str(value(base.cell, PYTHON)).count(".") == 1 else []), *there]


def _sides(survey: Survey, base: StatedTrial, axis: str) -> Sides:
    """The versions of an axis with which a cell is bad, and the others; of releases the last of each branch."""
    final = [one for one in _versions(survey, axis) if not Version(one).is_prerelease]
    there = {one: survey.holds(with_axis(base.cell, axis, one), base.trial.consumer) for one in final}
    inside = [one for one, is_bad in there.items() if is_bad] or [str(value(base.cell, axis))]
    return inside, [one for one, is_bad in there.items() if not is_bad]


def _of_axis(survey: Survey, end: End, known: set[str]) -> list[SpotCheck]:
    """The releases of other branches, and the pre-releases beside each edge, with what the rule says of each."""
    found = []
    stated = value(end.base.cell, end.axis)
    for version in _versions(survey, end.axis):
        name = name_of(end, version)
        if name not in known and Version(version) != Version(stated or "0"):
            cell = with_axis(end.base.cell, end.axis, version)
            is_bad = survey.holds(cell, end.base.trial.consumer)
            trial = survey.moved(end, version)
            is_old = not is_bad and end.axis != PYTHON and Version(version) < Version(stated or "0")
            earlier = _of_their_time(survey, trial) if is_old else []
            found.append(
                SpotCheck(axis=end.axis, version=version, cell=cell, is_bad=is_bad, trial=trial, earlier=earlier)
            )
    return _without_far_previews(found)


def _of_their_time(survey: Survey, trial: Trial) -> list[Trial]:
    """A trial with what was published in the time of its oldest named release, and in that of its newest."""
    return [trial.replace(place=trial.place.replace(until=day)) for day in survey.seasons(trial)]


def _versions(survey: Survey, axis: str) -> list[str]:
    """The last release of each branch, and of each release the last that came before it; or the Pythons."""
    if axis == PYTHON:
        return list(survey.pythons)
    there = [Version(one.version) for one in survey.index(axis) or () if not one.yanked]
    last = {(one.release[:2], ""): one for one in there if not one.is_prerelease}
    last.update({(one.release, "before"): one for one in there if one.is_prerelease})
    return [str(one) for one in sorted(last.values())]


def _without_far_previews(checks: Sequence[SpotCheck]) -> list[SpotCheck]:
    """The checks without the pre-releases that are not beside an edge."""
    at_edge = {
        number
        for number, (one, other) in enumerate(zip(checks, checks[1:]))
        if one.is_bad != other.is_bad
        for number in (number, number + 1)
    }
    return [one for at, one in enumerate(checks) if at in at_edge or not Version(one.version).is_prerelease]


def _drawn(checks: Sequence[SpotCheck], seed: str) -> list[SpotCheck]:
    """The checks in a random order in which those the rule calls bad and the others take turns, the last to be first.

    Those that the rule does not call bad begin: it is there that a proof has looked least.
    """
    order = random.Random(seed)  # noqa: S311 - a draw, no secret
    sides = [[one for one in checks if one.is_bad is side] for side in (False, True)]
    for side in sides:
        order.shuffle(side)
    turns = [side[at] for at in range(len(checks)) for side in sides if at < len(side)]
    return turns[::-1]


def shown(check: SpotCheck, result: Mapping[str, Any], texts: Mapping[str, Any]) -> str | None:
    """What a result says against the rule, of :data:`WORKS`, :data:`MISSED` and :data:`OTHERWISE`, if anything."""
    seen = symptom(result)
    if result["outcome"] == "unbuilt":
        return None
    if seen is None:
        return WORKS if check.is_bad else None
    if known(result, texts):
        return None if check.is_bad else MISSED
    return OTHERWISE if check.is_bad and (_is_alike(seen, texts) or _is_within(check, result)) else None


def is_as_stated(check: SpotCheck, result: Mapping[str, Any], texts: Mapping[str, Any]) -> bool:
    """Whether a check that the rule calls bad failed as it says, so that its cure can be tried."""
    return check.is_bad and result["outcome"] in {"failed", "timeout"} and known(result, texts)


def uncured(cure: Trial, result: Mapping[str, Any], texts: Mapping[str, Any]) -> str | None:
    """Why a cure does not cure, if it was tried and does not."""
    found = judge(cure, result, texts)
    return f"{cure.name.rpartition(', then ')[2]}: {found['reason']}" if found["verdict"] == CONTRADICTS else None


def _is_alike(seen: str, texts: Mapping[str, Any]) -> bool:
    """Whether a failure has the exception of a symptom of the rule: others are of what else an old release lacks."""
    name = seen.partition(":")[0].rpartition(".")[2]
    return any(name == str(one.get("raises", "")).rpartition(".")[2] for one in texts["symptoms"])


def _is_within(check: SpotCheck, result: Mapping[str, Any]) -> bool:
    """Whether the last frame of an installed package in a failure is of one that the cell names."""
    named = {one.replace("-", "_") for one in check.cell.get("packages", {})}
    return through(result)[-1:] != [] and through(result)[-1].lower() in named
