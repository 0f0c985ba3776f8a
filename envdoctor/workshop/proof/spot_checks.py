"""Trials off the grid of a proof: releases that no cell names and no measurement needs, drawn with a seed.

The measurement of an edge looks at its neighbours, and a range that fails, works and fails again goes unseen by it. A
spot check is a release of another branch, or a pre-release beside an edge, on either side of what the rule states.
"""

from __future__ import annotations

import random

from packaging.version import Version

from envdoctor.model import Record
from envdoctor.workshop.proof.judge import known, symptom
from envdoctor.workshop.proof.measure import PYTHON, name_of, value, with_axis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from envdoctor.workshop.proof.measure import End, Survey
    from envdoctor.workshop.proof.trials import Trial

#: What a spot check can show, but that it agrees with the rule or could not be built.
WORKS, MISSED, OTHERWISE = (
    "it works, and the rule calls it bad",
    "it fails in the rule's way, and the rule does not say so",
    "it fails with an exception of the rule, and no symptom says how",
)


class SpotCheck(Record):
    """One release off the grid: the ``cell`` in which it is, whether the rule calls it bad, and the trial to run."""

    axis: str
    version: str
    cell: Mapping[str, Any]
    is_bad: bool
    trial: Trial


def plan(survey: Survey, known: Iterable[str], most: int, seed: int) -> list[SpotCheck]:
    """At most so many spot checks of a rule, spread over what it names; ``known`` are the trials there are already."""
    by_axis: dict[tuple[str, str | None], list[SpotCheck]] = {}
    for end in survey.ends:
        key = (end.axis, end.base.trial.consumer)
        if end.kind == "bad" and key not in by_axis:
            by_axis[key] = _drawn(_of_axis(survey, end, {*known}), f"{seed} {survey.rule.id} {key}")
    found: list[SpotCheck] = []
    while len(found) < most and any(by_axis.values()):
        found += [left.pop() for left in by_axis.values() if left]
    return found[:most]


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
            found.append(SpotCheck(axis=end.axis, version=version, cell=cell, is_bad=is_bad, trial=trial))
    return _without_far_previews(found)


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
    return OTHERWISE if check.is_bad and _is_alike(seen, texts) else None


def _is_alike(seen: str, texts: Mapping[str, Any]) -> bool:
    """Whether a failure has the exception of a symptom of the rule: others are of what else an old release lacks."""
    name = seen.partition(":")[0].rpartition(".")[2]
    return any(name == str(one.get("raises", "")).rpartition(".")[2] for one in texts["symptoms"])
