"""Finds the true edges of a rule: walks the releases, or the Pythons, between a bad and a good cell."""

from __future__ import annotations

import itertools
from typing import Any

from packaging.version import Version

from envdoctor.engine.versions import within
from envdoctor.model import Record
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.proof.ends import PYTHON, version_of
from envdoctor.workshop.proof.judge import symptom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.trials import Trial

    #: Runs one trial and gives its result.
    Run = Callable[[Trial], Mapping[str, Any]]

BAD, GOOD, UNBUILT = "fails", "passes", "cannot be built"


class Pair(Record):
    """A bad and a good trial that differ on one axis alone, and what lies between them, from the one to the other."""

    axis: str
    bad: Trial
    good: Trial
    between: Sequence[str]

    def is_upwards(self) -> bool:
        """Whether the good version is the later one."""
        return Version(_value(self.bad, self.axis)) < Version(_value(self.good, self.axis))


class Step(Record):
    """What one version on the way showed."""

    version: str
    outcome: str
    symptom: str | None = None


class MeasuredEdge(Record):
    """A measured edge: the last bad version before the first good one, the steps, and what the rule states instead."""

    axis: str
    place: str
    steps: Sequence[Step]
    proposed: str
    wrong: Sequence[str]


def pairs(
    planned: Sequence[Trial], releases: Callable[[str], Sequence[str] | None], pythons: Sequence[str]
) -> list[Pair]:
    """The pairs of trials to walk between: for each axis and direction the two that are nearest to each other."""
    best: dict[tuple[str, bool, str], Pair] = {}
    for axis, bad, good in _comparable(planned):
        known = pythons if axis == PYTHON else releases(axis) or ()
        pair = _between(axis, bad, good, known)
        key = (axis, pair.is_upwards(), bad.consumer or "")
        if key not in best or len(pair.between) < len(best[key].between):
            best[key] = pair
    return [best[key] for key in sorted(best)]


def _comparable(planned: Sequence[Trial]) -> Iterator[tuple[str, Trial, Trial]]:
    """Each bad and good trial of one consumer that differ on one axis alone, after that axis."""
    tried = [trial for trial in planned if not _idle(trial)]
    for bad, good in itertools.product(tried, tried):
        if (bad.kind, good.kind) == ("bad", "good") and bad.consumer == good.consumer:
            axis = _axis(bad, good)
            if axis is not None:
                yield axis, bad, good


def _idle(trial: Trial) -> bool:
    return bool(trial.recorded or trial.unbuildable or trial.files or trial.writer)


def _axis(bad: Trial, good: Trial) -> str | None:
    """The one thing that differs between two trials, if it is one."""
    left, right = _facts(bad), _facts(good)
    differing = [name for name in {*left, *right} if left.get(name) != right.get(name)]
    alike = (bad.env, sorted(bad.place.absent)) == (good.env, sorted(good.place.absent))
    return differing[0] if alike and len(differing) == 1 and {*differing} <= left.keys() & right.keys() else None


def _facts(trial: Trial) -> dict[str, str]:
    return {PYTHON: trial.place.python, **dict(text.split("==", 1) for text in trial.place.install)}


def _value(trial: Trial, axis: str) -> str:
    return _facts(trial)[axis]


def _between(axis: str, bad: Trial, good: Trial, known: Sequence[str]) -> Pair:
    ends = [Version(_value(bad, axis)), Version(_value(good, axis))]
    low, high = sorted(ends)
    final = not any(end.is_prerelease for end in ends)
    inside = sorted(
        {one for one in map(version_of, known) if one and low < one < high and not (final and one.is_prerelease)}
    )
    return Pair(
        axis=axis, bad=bad, good=good, between=[str(one) for one in (inside if ends[0] == low else inside[::-1])]
    )


def at(trial: Trial, axis: str, version: str) -> Trial:
    """A trial with another version on one axis."""
    if axis == PYTHON:
        place = trial.place.replace(python=version)
    else:
        kept = [text for text in trial.place.install if text.partition("==")[0] != axis]
        place = trial.place.replace(install=sorted([*kept, f"{axis}=={version}"]))
    moved: Trial = trial.replace(place=place, name=f"{axis} {version}")
    return moved


def walk(pair: Pair, run: Run, *, every: bool = False) -> list[Step]:
    """Measure between the two ends of a pair: by halving, or ``every`` version; ordered from the bad to the good end.

    A version that cannot be built is stepped over, and stays in the table.
    """
    line = [_value(pair.bad, pair.axis), *pair.between, _value(pair.good, pair.axis)]
    seen: dict[int, Step] = {}

    def step(number: int) -> Step:
        if number not in seen:
            told = run(at(pair.bad, pair.axis, line[number]))
            outcome = {"passed": GOOD, "unbuilt": UNBUILT}.get(told["outcome"], BAD)
            shown = told.get("reason") if outcome == UNBUILT else symptom(told)
            seen[number] = Step(version=line[number], outcome=outcome, symptom=shown)
        return seen[number]

    if every:
        return [step(number) for number in range(len(line))]
    low, high = 0, len(line) - 1
    step(low), step(high)
    while high - low > 1:
        middle = next((n for n in _outwards(low, high) if step(n).outcome != UNBUILT), None)
        if middle is None:
            break
        low, high = (middle, high) if step(middle).outcome == BAD else (low, middle)
    return [seen[number] for number in sorted(seen)]


def _outwards(low: int, high: int) -> Iterator[int]:
    """The numbers strictly between two, the middle one first."""
    middle = (low + high) // 2
    yield from sorted(range(low + 1, high), key=lambda number: (abs(number - middle), number))


def edge(pair: Pair, steps: Sequence[Step], rule: Rule) -> MeasuredEdge:
    """What the steps measured, and where the rule states something else."""
    worked = [one for one in steps if one.outcome != UNBUILT]
    stated = list(_stated(rule, pair))
    wrong = [
        f"{one.version} {one.outcome}, but the rule says {'bad' if _inside(one.version, stated) else 'good'}"
        for one in worked
        if stated and _inside(one.version, stated) is not (one.outcome == BAD)
    ]
    others = [text for text in pair.bad.place.install if text.partition("==")[0] != pair.axis]
    place = [*([] if pair.axis == PYTHON else [f"Python {pair.bad.place.python}"]), *others]
    return MeasuredEdge(
        axis=pair.axis, place=", ".join(place), steps=steps, proposed=_proposed(pair, worked), wrong=wrong
    )


def _proposed(pair: Pair, worked: Sequence[Step]) -> str:
    """The range that fails, by the first good version that follows a bad one."""
    for last, first in zip(worked, worked[1:]):
        if (last.outcome, first.outcome) == (BAD, GOOD):
            return f"<{first.version}" if pair.is_upwards() else f">={last.version}"
    return "no edge"


def _stated(rule: Rule, pair: Pair) -> Iterator[str]:
    """The specifiers that a rule states for an axis."""
    for leaf in leaves(rule.when, ()):
        named = (
            PYTHON if leaf.fact == PYTHON and leaf.key == "version" else leaf.key if leaf.fact == "packages" else None
        )
        if named == pair.axis and leaf.value not in {"present", "absent"} and not leaf.negated:
            yield leaf.value
    if pair.axis in rule.consumers:
        yield rule.consumers[pair.axis]["bad"]


def _inside(version: str, stated: Sequence[str]) -> bool:
    return any(within(version, text) for text in stated)
