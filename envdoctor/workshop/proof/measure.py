"""Measures where a rule really begins and ends: the releases, and the Pythons, on both sides of everything it names.

A cell of a proof is moved along one axis: to the outermost version that the rule still calls bad, and to the first that
it does not. Where one cannot be built there, or fails in another way, the line to the cell is halved until of two
neighbours one is shown. An old release that fails in another way is tried on the oldest Python as well, and there with
what else was published in its time, and in that of the newest release that is named with it: today's dependencies often
make it fail for another reason, which hides the rule's. Where it does so there too, the range begins above it. Past any
other edge such a failure shows nothing. What is planned follows from the rule, the index and the results so far alone.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from packaging.version import Version

from envdoctor.model import Record
from envdoctor.rulebase.compile import compile_rule
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.cells import matched
from envdoctor.workshop.proof import far_cures, severity, trials
from envdoctor.workshop.proof.ends import PYTHON, End, name_of, search, version_of
from envdoctor.workshop.proof.judge import CONTRADICTS, OTHERWISE, UNPROVEN
from envdoctor.workshop.proof.trials import StatedTrial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule
    from envdoctor.rulebase.when_tree import Leaf
    from envdoctor.workshop.cells import Cell
    from envdoctor.workshop.every_release import Published
    from envdoctor.workshop.proof.trials import Trial

    #: The published releases of a distribution, oldest first; ``None`` where no index tells.
    Index = Callable[[str], "Sequence[Published] | None"]
    #: The verdict on a trial by its name, ``OTHERWISE`` where it fails in another way; ``None`` where it was not run.
    Verdicts = Callable[[str], "str | None"]

#: How many versions past an edge are tried where no cell is beyond it.
_TRIED = 3
#: For so long after a release what it was made with is the newest, or about so.
_SEASON = dt.timedelta(days=60)


class Attempt(Record):
    """One way to show what a version does: a cell, with what was published ``until`` a day where one is given."""

    name: str
    cell: Mapping[str, Any]
    until: str = ""


class Survey:
    """What there is to be measured of one rule."""

    def __init__(self, rule: Rule, vocabulary: Mapping[str, Any], pythons: Sequence[str], index: Index) -> None:
        self.rule = rule
        self.vocabulary = vocabulary
        self.compiled = compile_rule(rule, vocabulary)
        self.pythons = sorted(pythons, key=Version)
        self.index = index
        self.unknown: set[str] = set()
        found = [] if "installed" in rule.when else list(self._bases())
        self.bad = [one for one in found if one.trial.kind == "bad"]
        self.good = [one for one in found if one.trial.kind == "good"]
        self.ends = list(self._ends())

    def _bases(self) -> Iterator[StatedTrial]:
        number = 0
        for kind in ("bad", "good"):
            for place, cell in enumerate(self.rule.proof[kind], 1):
                for trial in trials.of_cell(self.rule, kind, f"{kind} {place}", cell):
                    number += 1
                    if not (trial.recorded or trial.unbuildable or trial.prepare):
                        yield StatedTrial(cell=cell, trial=trial, number=number)

    def _ends(self) -> Iterator[End]:
        consumers = list(dict.fromkeys(one.trial.consumer for one in self.bad))
        for consumer in consumers:
            bad = [one for one in self.bad if one.trial.consumer == consumer]
            good = [one for one in self.good if one.trial.consumer in {consumer, None}]
            axes = [consumer] if consumer else [name for name in self.rule.consumers if value(bad[0].cell, name)]
            if consumer == consumers[0]:  # what the rule itself is about is measured with the first of them
                axes += [*self.named(), PYTHON]
            for axis in dict.fromkeys(axes):
                yield from self._along(axis, bad, good)

    def named(self) -> list[str]:
        """The distributions whose releases the rule itself is about, families resolved."""
        return self._members(one.key for one in self._packages() if one.value != "absent")

    def asked(self) -> list[str]:
        """The distributions that the rule asks for, those among them that have to be absent; families resolved."""
        return self._members(one.key for one in self._packages())

    def _packages(self) -> Iterator[Leaf]:
        return (leaf for leaf in leaves(self.rule.when, ()) if leaf.fact == "packages")

    def _members(self, names: Iterable[str]) -> list[str]:
        families = self.vocabulary.get("families", {})
        return [one for name in names for one in (name, *families.get(name, ()))]

    def _along(self, axis: str, bad: Sequence[StatedTrial], good: Sequence[StatedTrial]) -> Iterator[End]:
        bad = [one for one in bad if version_of(value(one.cell, axis))]
        line = self._line(axis, [*bad, *good]) if bad else []
        states = [self.holds(with_axis(bad[0].cell, axis, one), bad[0].trial.consumer) for one in line]
        for first, last in _runs(states):
            inside = [one for one in bad if value(one.cell, axis) in line[first : last + 1]]
            if inside:
                yield from self._run_of(axis, line, (first, last), inside, good)

    def _line(self, axis: str, bases: Iterable[StatedTrial]) -> list[str]:
        """The versions of an axis, oldest first, those of the cells among them."""
        stated = {text for one in bases for text in [value(one.cell, axis)] if text and version_of(text)}
        if axis == PYTHON:
            known = [] if any(text.count(".") > 1 for text in stated) else self.pythons
        else:
            known = self._published(axis)
        have = {Version(text) for text in stated}
        return sorted({*stated, *(one for one in known if Version(one) not in have)}, key=Version)

    def _published(self, name: str) -> list[str]:
        """The final releases of a distribution that were not withdrawn."""
        found = self.index(name)
        self.unknown.update([name] if found is None else [])
        return [one.version for one in found or () if not (one.yanked or Version(one.version).is_prerelease)]

    def holds(self, cell: Cell, consumer: str | None) -> bool:
        """Whether the rule matches in a cell, for a consumer where one is given."""
        found = matched(self.compiled["match"], cell, self.vocabulary)
        return any(consumer in {None, one.consumer} for one in found)

    def _run_of(
        self,
        axis: str,
        line: Sequence[str],
        run: tuple[int, int],
        bad: Sequence[StatedTrial],
        good: Sequence[StatedTrial],
    ) -> Iterator[End]:
        """The ends of a stretch that the rule calls bad, and of what lies on both sides of it."""
        places = {value(one.cell, axis): one for one in bad}
        for side, edge, step, pick in (("lower", run[0], -1, min), ("upper", run[1], 1, max)):
            anchor = pick(line.index(str(text)) for text in places)
            beyond = edge + step
            is_open = not 0 <= beyond < len(line)
            common: dict[str, Any] = {"axis": axis, "side": side, "is_open": is_open}
            base = places[line[anchor]]
            order = [line[at] for at in range(edge, anchor, -step) if self._moves(base, axis, line[at])]
            past = None if is_open else line[beyond]
            yield End(kind="bad", base=base, order=order, anchor=line[anchor], beyond=past, **common)
            if not is_open:
                yield from self._past_it(axis, line, beyond, (base, *bad), good, common)
            elif axis == PYTHON:
                yield from self._good_there(line, edge, step, bad[0], good, common)

    def _past_it(
        self,
        axis: str,
        line: Sequence[str],
        beyond: int,
        bases: Iterable[StatedTrial],
        good: Sequence[StatedTrial],
        common: Mapping[str, Any],
    ) -> list[End]:
        """What lies past an edge of the first bad cell from which something can be measured there; else nothing."""
        past_it = (self._outside(axis, line, beyond, one, good, common) for one in bases)
        return [end for end in past_it if end.order or end.anchor][:1]

    def _outside(
        self,
        axis: str,
        line: Sequence[str],
        beyond: int,
        base: StatedTrial,
        good: Sequence[StatedTrial],
        common: Mapping[str, Any],
    ) -> End:
        """The first versions past an edge, with the nearest good cell beyond it that differs by this axis alone."""
        step = 1 if common["side"] == "upper" else -1
        cured = {value(one.cell, axis): one for one in good if self._is_cured(one, axis, base)}
        stretch: list[str] = []
        for at in range(beyond, len(line) if step > 0 else -1, step):
            if line[at] in cured:
                near = cured[line[at]]
                return End(kind="good", base=near, order=stretch, anchor=line[at], **common)
            if self._moves(base, axis, line[at]):
                break  # the next stretch that the rule calls bad
            stretch.append(line[at])
        is_below = common["side"] == "lower" and axis != PYTHON
        order = _ever_farther(stretch) if is_below else stretch[:_TRIED]
        return End(kind="good", base=base, order=order, anchor=None, **common)

    def _is_cured(self, good: StatedTrial, axis: str, bad: StatedTrial) -> bool:
        """Whether a good cell would be bad with what a bad one has on an axis."""
        there = value(bad.cell, axis)
        return there is not None and self.holds(with_axis(good.cell, axis, there), bad.trial.consumer)

    def _moves(self, base: StatedTrial, axis: str, version: str) -> bool:
        """Whether a cell is bad with another version on an axis."""
        return self.holds(with_axis(base.cell, axis, version), base.trial.consumer)

    def _good_there(
        self,
        line: Sequence[str],
        edge: int,
        step: int,
        bad: StatedTrial,
        good: Sequence[StatedTrial],
        common: Mapping[str, Any],
    ) -> Iterator[End]:
        """A good cell on the outermost Python."""
        near = next((one for one in good if value(one.cell, PYTHON) == value(bad.cell, PYTHON)), None)
        if near is not None and not self._moves(near, PYTHON, line[edge]):
            anchor = line.index(str(value(near.cell, PYTHON)))
            order = [line[at] for at in range(edge, anchor, -step)]
            yield End(kind="good", base=near, order=order, anchor=line[anchor], **common)

    # --- what is run --------------------------------------------------------------------------------------------

    def plan(self, verdicts: Verdicts) -> list[Trial]:
        """The trials that are to be run for the measurement as far as the verdicts so far tell."""
        found: dict[str, Trial] = {}
        for end in self.ends:
            for version in search(end, self.seen(end, verdicts))[1]:
                for one in self.tried(end, version, verdicts):
                    found.setdefault(one.name, self.attempted(end, one))
            for version in self._branches(end):
                found.setdefault(name_of(end, version), self.moved(end, version))
        for trial in (
            *far_cures.plan(self, verdicts),
            *severity.plan(self.rule, self.bad, self.compiled, self.vocabulary),
        ):
            found.setdefault(trial.name, trial)
        return list(found.values())

    def seen(self, end: End, verdicts: Verdicts) -> Callable[[str], str | None]:
        """What is known of each version at an end, by the last attempt that shows anything."""

        def seen(version: str) -> str | None:
            shown = [verdicts(one.name) for one in self.tried(end, version, verdicts)]
            return next((one for one in reversed(shown) if one != UNPROVEN), UNPROVEN)

        return seen

    def tried(self, end: End, version: str, verdicts: Verdicts) -> list[Attempt]:
        """What shows what a version does: of an old release that fails in another way, one attempt after the other."""
        first = Attempt(name=name_of(end, version), cell=with_axis(end.base.cell, end.axis, version))
        found = [first]
        if not end.is_of_old_releases() or verdicts(first.name) != OTHERWISE:
            return found
        for one in self._others(end, first, verdicts):
            found.append(one)
            if verdicts(one.name) not in {OTHERWISE, UNPROVEN}:
                break
        return found

    def _others(self, end: End, first: Attempt, verdicts: Verdicts) -> Iterator[Attempt]:
        """An old release on the oldest Python, and there with what was published in its time."""
        python, last = self._oldest(verdicts), first
        if python is not None and python != value(first.cell, PYTHON):
            there = with_axis(first.cell, PYTHON, python)
            if end.kind == "good" or self.holds(there, end.base.trial.consumer):
                last = Attempt(name=f"{first.name}, on Python {python}", cell=there)
                yield last
        for day in self.seasons(self.attempted(end, last)):
            yield last.replace(name=f"{last.name}, until {day}", until=day)

    def attempted(self, end: End, attempt: Attempt) -> Trial:
        """The trial of an attempt at an end."""
        trial = self.placed(end.base, end.kind, attempt.cell, attempt.name, [end.axis])
        return trial.replace(place=trial.place.replace(until=attempt.until)) if attempt.until else trial

    def seasons(self, trial: Trial) -> list[str]:
        """The days until which others are of the time of the oldest release of a trial, and of the newest."""
        named = [text.partition("==")[::2] for text in trial.place.install]
        days = sorted(day for name, version in named if version and (day := self._uploaded(name, version)))
        return [str(dt.date.fromisoformat(day) + _SEASON) for day in dict.fromkeys(days[:1] + days[-1:])]

    def _uploaded(self, name: str, version: str) -> str:
        there = (one for one in self.index(name) or () if Version(one.version) == Version(version))
        return next((one.uploaded for one in there), "")

    def _oldest(self, verdicts: Verdicts) -> str | None:
        """The oldest Python on which a bad cell was seen to fail, where that is known by now."""
        for end in self.ends:
            if (end.axis, end.side, end.kind) == (PYTHON, "lower", "bad"):
                shown, asked = search(end, self.seen(end, verdicts))
                return shown if all(verdicts(name_of(end, one)) for one in asked) else None
        return None

    def moved(self, end: End, version: str) -> Trial:
        """The trial of a cell that has another version on the axis of an end."""
        cell = with_axis(end.base.cell, end.axis, version)
        return self.placed(end.base, end.kind, cell, name_of(end, version), [end.axis])

    def placed(self, base: StatedTrial, kind: str, cell: Cell, name: str, axes: Iterable[str]) -> Trial:
        """The trial of a cell that was moved along some axes from where one is stated."""
        same = trials.of_cell(self.rule, kind, name, cell)
        moved = next((one for one in same if one.consumer == base.trial.consumer), None) or base.trial
        wheels = all(self._has_wheel(*text.split("==", 1)) for text in moved.place.install)
        kept = {*axes, *self.asked(), *([moved.consumer] if moved.consumer else self.rule.consumers)}
        loose = [text for text in moved.place.install if text.partition("==")[0] not in kept]
        place = moved.place.replace(brief=True, wheels=wheels, loose=() if moved.place.together else loose)
        return moved.replace(name=name, measured=True, place=place)  # type: ignore[no-any-return]

    def _has_wheel(self, name: str, version: str) -> bool:
        return any(one.wheel for one in self.index(name) or () if Version(one.version) == Version(version))

    def _branches(self, end: End) -> Iterator[str]:
        """The last releases of older branches that came after the first good one: they may have what mends it."""
        if end.kind != "bad" or end.side != "upper" or end.beyond is None or end.axis == PYTHON:
            return
        late = self._late(end.axis, end.beyond)
        yield from [one for one in late[-_TRIED:] if self._moves(end.base, end.axis, one)]

    def _late(self, name: str, version: str) -> list[str]:
        """The last release of each branch before a release that was published after it."""
        came = {one.version: one.uploaded for one in self.index(name) or ()}
        older = filter(Version(version).__gt__, map(Version, self._published(name)))
        last = {one.release[:2]: str(one) for one in older}
        return [one for one in last.values() if came[one] > (came.get(version) or "9")]

    # --- what was found ----------------------------------------------------------------------------------------

    def edges(self, verdicts: Verdicts) -> list[dict[str, Any]]:
        """Each end as a proof tells it: what was wanted there, and the nearest version that shows it."""
        found = []
        for end in self.ends:
            seen = self.seen(end, verdicts)
            shown, todo = search(end, seen)
            wanted = [*end.order, *([end.anchor] if end.anchor else [])][0]
            wrong = [one for one in todo if seen(one) == CONTRADICTS]
            unlike = end.unlike(seen)
            told = {
                "axis": end.axis, "consumer": end.base.trial.consumer, "side": end.side, "kind": end.kind,
                "open": end.is_open, "at": wanted, "shown": shown, "wrong": wrong,
                "unlike": unlike, "begins": end.after(unlike),
            }  # fmt: skip
            found.append({key: said for key, said in told.items() if said not in (None, [], False)})
        return found


def _ever_farther(stretch: Sequence[str]) -> list[str]:
    """The nearest versions, others at ever greater distances, and the last: old releases can often not be built."""
    places = {*range(_TRIED), *(1 << power for power in range(2, len(stretch).bit_length())), len(stretch) - 1}
    return [stretch[at] for at in sorted(places) if 0 <= at < len(stretch)]


def value(cell: Cell, axis: str) -> str | None:
    """What a cell has on an axis."""
    found = cell.get(PYTHON) if axis == PYTHON else cell.get("packages", {}).get(axis)
    return None if found is None else str(found)


def with_axis(cell: Cell, axis: str, version: str) -> dict[str, Any]:
    """A cell with another version on one axis."""
    if axis == PYTHON:
        return {**cell, PYTHON: version}
    return {**cell, "packages": {**cell.get("packages", {}), axis: version}}


def _runs(states: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The stretches that are true, each by its first and its last place."""
    first = None
    for at, state in enumerate([*states, False]):
        if state and first is None:
            first = at
        elif not state and first is not None:
            yield first, at - 1
            first = None
