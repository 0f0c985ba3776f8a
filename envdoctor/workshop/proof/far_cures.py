"""Remedies from the far ends of a rule: up to the first that cures, and the Pythons on the way where one fails."""

from __future__ import annotations

from packaging.version import Version

from envdoctor.workshop.proof import trials
from envdoctor.workshop.proof.ends import PYTHON, End, search
from envdoctor.workshop.proof.judge import AGREES, CONTRADICTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from envdoctor.rulebase.rule import Rule
    from envdoctor.workshop.proof.trials import Trial

    class Survey(Protocol):
        """What is measured of a rule, at its ends."""

        rule: Rule
        compiled: dict[str, Any]
        vocabulary: Mapping[str, Any]
        pythons: list[str]
        ends: list[End]

        def seen(self, end: End, verdicts: Verdicts) -> Callable[[str], str | None]:
            """What is known of each version at an end."""

        def tried(self, end: End, version: str, verdicts: Verdicts) -> Sequence[Any]:
            """The attempts to show what a version does, each with its ``name`` and its ``cell``."""

        def attempted(self, end: End, attempt: Any) -> Trial:
            """The trial of an attempt at an end."""

    #: The verdict on a trial by its name, ``OTHERWISE`` where it fails in another way; ``None`` where it was not run.
    Verdicts = Callable[[str], "str | None"]


def plan(survey: Survey, verdicts: Verdicts) -> Iterator[Trial]:
    """The trials of remedies at the far ends that are shown, as far as the verdicts so far tell."""
    for end, shown in _shown(survey, verdicts):
        yield from _until_cured(survey, end, shown, verdicts)
        if end.axis == PYTHON:
            for version in _inward(survey, end, shown, verdicts):
                yield from _remedied(survey, end, version, verdicts)[:1]


def not_everywhere(survey: Survey, verdicts: Verdicts) -> dict[str, str]:
    """The Pythons of the requirements of remedies that were seen to fail on others, where another remedy is left."""
    found: dict[str, str] = {}
    for end, shown in _shown(survey, verdicts):
        tried = list(_until_cured(survey, end, shown, verdicts)) if end.axis == PYTHON else []
        failed = [one for one in tried if verdicts(one.name) not in {None, AGREES, CONTRADICTS}]
        if len(failed) < len(tried) or any(one["kind"] == "change" for one in survey.rule.remedies):
            inner = list(_inward(survey, end, shown, verdicts))
            for number, one in enumerate(failed):
                version = [shown, *(() if number else inner)][-1]
                for text in one.applies.requirements if one.applies else ():
                    found[text] = _beyond(end, version)
    return found


def _beyond(end: End, version: str) -> str:
    """All Pythons but one and those farther out than it."""
    number = Version(version)
    return f"<{version}" if end.side == "upper" else f">={number.major}.{number.minor + 1}"


def _shown(survey: Survey, verdicts: Verdicts) -> Iterator[tuple[End, str]]:
    """The ends of what is bad that are known by now, and are no cell of the rule, with the version that shows each."""
    for end in (one for one in survey.ends if one.kind == "bad"):
        shown, asked = search(end, survey.seen(end, verdicts))
        settled = all(survey.seen(end, verdicts)(one) for one in asked)
        if settled and shown is not None and shown != end.anchor:
            yield end, shown


def _until_cured(survey: Survey, end: End, version: str, verdicts: Verdicts) -> Iterator[Trial]:
    """The remedies at a far end up to the first that cures there, or has not been tried."""
    for one in _remedied(survey, end, version, verdicts):
        yield one
        if verdicts(one.name) in {None, AGREES}:
            break


def _inward(survey: Survey, end: End, shown: str, verdicts: Verdicts) -> Iterator[str]:
    """The versions nearer to the cell where the first remedy fails, too, and the next, which has not been tried."""
    order = list(end.order)
    for version, inner in zip(order[order.index(shown) :], order[order.index(shown) + 1 :]):
        first = _remedied(survey, end, version, verdicts)[:1]
        if not first or verdicts(first[0].name) in {None, AGREES, CONTRADICTS}:
            break
        there = _remedied(survey, end, inner, verdicts)[:1]
        if there and verdicts(there[0].name) in {AGREES, CONTRADICTS}:
            break
        yield inner


def _remedied(survey: Survey, end: End, version: str, verdicts: Verdicts) -> list[Trial]:
    """The trials of the remedies that are offered at a version."""
    tried = survey.tried(end, version, verdicts)
    shown = next((one for one in tried if verdicts(one.name) == AGREES), tried[0])
    bad = survey.attempted(end, shown)
    rule, pythons = survey.rule, survey.pythons
    return list(trials.remedied(rule, survey.compiled, survey.vocabulary, shown.cell, bad, pythons))
