"""Where the requirements of a rule's remedies can be installed: on the Pythons that some release of each is for."""

from __future__ import annotations

import functools
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.engine.versions import within
from envdoctor.engine.wording import fill
from envdoctor.model import Record
from envdoctor.rulebase import record
from envdoctor.rulebase.document import Complaint
from envdoctor.rulebase.sources import proof_of
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.every_release import PYTHONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.every_release import Published

    Index = Callable[[str], "Sequence[Published] | None"]

_EVERY = frozenset(PYTHONS)


class Barred(Record):
    """A requirement of a remedy that cannot be installed on a Python, and whether another remedy is left there."""

    number: int
    requirement: str
    python: str
    alone: bool


def recorded(rule: Rule, vocabulary: Mapping[str, Any], index: Index) -> dict[str, str] | None:
    """The Pythons of each requirement that cannot be installed wherever the rule may hold, as a specifier.

    ``None`` where the index does not answer for everything that has to be known.
    """
    places = Places(rule, vocabulary, index)
    return _recorded(places, list(places.barred()))


def _recorded(places: Places, barred: Sequence[Barred]) -> dict[str, str] | None:
    found = {text: _specifier(places.pythons(text)) for text in sorted({one.requirement for one in barred})}
    return None if places.unknown else found


def complaints(rule: Rule, vocabulary: Mapping[str, Any], index: Index, *, write: bool = False) -> Iterator[Complaint]:
    """Remedies that leave a Python without any, and a proof that does not record where remedies can be installed.

    With ``write`` the proof records it from now on.
    """
    places = Places(rule, vocabulary, index)
    barred = list(places.barred())
    alone = [one for one in barred if one.alone]
    if alone:
        there = ", ".join(sorted({one.python for one in alone}, key=Version))
        texts = list(dict.fromkeys(one.requirement for one in alone))
        which = f"{texts[0]}{f' and {len(texts) - 1} more' if texts[1:] else ''}"
        said = (
            f"on Python {there}, where the rule may hold, nothing is left of its remedies: {which} cannot be installed"
        )
        hint = "add one that can, or envdoctor proposes another Python"
        line = rule.line("remedies", alone[0].number)
        yield Complaint(path=rule.path, line=line, message=f"{said}; {hint}", note=True)
    path = proof_of(rule.path)
    kept, found = record.read(path), _recorded(places, barred)
    if not kept or kept["edited"] or found is None or found == kept.get("installable", {}):
        return
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(record.dump(record.with_installable(kept, found)))
    else:
        said = "the proof does not record on which Pythons the remedies can be installed"
        hint = "run: envdoctor rules lint --write"
        yield Complaint(path=rule.path, line=rule.line("proof"), message=f"{said}; {hint}", note=True)


def _specifier(pythons: frozenset[str]) -> str:
    """Some Pythons as a specifier; what the newest is among may go on with those that come."""
    places = [at for at, one in enumerate(PYTHONS) if one in pythons]
    if not places:
        return f"<{PYTHONS[0]}"
    first, beyond = places[0], places[-1] + 1
    clauses = [f">={PYTHONS[first]}"] if first else []
    return ",".join([*clauses, *(f"<{one}" for one in PYTHONS[beyond : beyond + 1])])


class Places:
    """The Pythons on which a rule may hold, and those on which its remedies can be installed, as an index tells."""

    def __init__(self, rule: Rule, vocabulary: Mapping[str, Any], index: Index) -> None:
        self.rule = rule
        self.families = vocabulary.get("families", {})
        self.index = functools.cache(index)
        self.unknown: set[str] = set()
        self.released = functools.cache(self._released)

    def barred(self) -> Iterator[Barred]:
        """What cannot be installed on some Python where the rule may hold and what it is about can be installed."""
        for consumer in self.rule.consumers or [""]:
            line = self.rule.consumers.get(consumer, {"bad": "", "works": ""})
            names = {"consumer": consumer, "works": line["works"] or ""} if consumer else {}
            for python in PYTHONS:
                if self.may(self.rule.when, python, consumer) and (
                    not consumer or python in self.released(consumer, line["bad"])
                ):
                    yield from self._barred(python, names)

    def _barred(self, python: str, names: Mapping[str, str]) -> Iterator[Barred]:
        offered = {
            number: remedy
            for number, remedy in enumerate(self.rule.remedies)
            if self.may(remedy.get("when", {}), python, names.get("consumer", "")) and _is_known(remedy, names)
        }
        wrong = {number: self._missing(_requirements(remedy, names), python) for number, remedy in offered.items()}
        for number, texts in wrong.items():
            left = (offered[other] for other in wrong if not wrong[other])
            alone = not any(_goes_with(one, offered[number]) for one in left)
            yield from (Barred(number=number, requirement=text, python=python, alone=alone) for text in texts)

    def _missing(self, requirements: Sequence[str], python: str) -> list[str]:
        """The requirements that cannot be installed on a Python, unless another one comes with them."""
        others = [text for text in requirements if _name(text) == "python"]
        return [] if others else [text for text in requirements if python not in self.pythons(text)]

    def pythons(self, requirement: str) -> frozenset[str]:
        """The Pythons on which a requirement can be installed."""
        parsed = requirement_of(requirement)
        return self.released(_name(requirement), str(parsed.specifier)) if parsed else _EVERY

    def _released(self, name: str, specifier: str) -> frozenset[str]:
        """The Pythons that some release of a range is for, a final one where there is any."""
        found = self.index(name)
        self.unknown.update([name] if found is None else [])
        inside = [one for one in found or () if within(one.version, specifier)]
        final = [one for one in inside if not (one.yanked or Version(one.version).is_prerelease)]
        return frozenset[str]().union(*(one.pythons for one in final or inside)) if found else _EVERY

    def may(self, condition: Mapping[str, Any], python: str, consumer: str = "", *, sure: bool = False) -> bool:
        """Whether a condition can hold on a Python, whatever is not about Pythons and releases.

        With ``sure``, whether it does hold, whatever is installed besides a consumer.
        """
        return all(self._may(fact, value, python, consumer, sure=sure) for fact, value in condition.items())

    def _may(self, fact: str, value: Any, python: str, consumer: str, *, sure: bool) -> bool:
        if fact in {"all", "any"}:
            return (all if fact == "all" else any)(self.may(one, python, consumer, sure=sure) for one in value)
        if fact == "not":
            return not self.may(value, python, consumer, sure=not sure)
        if fact == "packages" and sure:
            return all(said == "present" and name == consumer for name, said in value.items())
        if fact == "packages":
            return all(self._has(name, said, python, consumer) for name, said in value.items())
        if fact == "python" and not (sure and not isinstance(value, str)):
            return any(within(f"{python}.{patch}", _version(value)) for patch in (0, 99))
        return not sure

    def _has(self, name: str, said: str, python: str, consumer: str) -> bool:
        if said == "absent":
            return name != consumer
        range_ = "" if said == "present" else said
        return any(python in self.released(one, range_) for one in (name, *self.families.get(name, ())))


def _name(requirement: str) -> str:
    parsed = requirement_of(requirement)
    return str(canonicalize_name(parsed.name)) if parsed else ""


def _version(python: Any) -> str:
    return python if isinstance(python, str) else str(python.get("version", ""))


def _requirements(remedy: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    texts = [fill(text, names) for text in remedy.get("requirements") or [remedy.get("requirement", "")]]
    return [text for text in texts if text and "{" not in text]


def _is_known(remedy: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Whether the release that a remedy names is known; it is left out elsewhere."""
    return "{works}" not in str(remedy) or bool(names.get("works"))


def _goes_with(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether one remedy, which may be offered on a Python, is there beside another, as far as no project decides."""
    facts = {leaf.fact for leaf in leaves(one.get("when", {}), ())}
    return facts <= {"python", "packages"} or _besides_python(one) == _besides_python(other)


def _besides_python(remedy: Mapping[str, Any]) -> dict[str, Any]:
    return {fact: said for fact, said in remedy.get("when", {}).items() if fact != "python"}
