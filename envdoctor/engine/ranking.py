"""The findings of rules about a text, of the environment beside it, and derived ones, in one order. Pure."""

from __future__ import annotations

from typing import Any

from envdoctor.engine.derived_case import VAGUE
from envdoctor.engine.message_names import named_in
from envdoctor.engine.places import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from envdoctor.engine.names import Names
    from envdoctor.model import Finding

#: How many findings that merely hold in the environment are shown beside those that know the text.
MOST_HOLDING = 3
#: How many rules that no environment confirms come before what was derived and is in none of them.
MOST_BEFORE = 2
_NOT_PICKLABLE = "derived-not-picklable"


def together(
    recognised: Sequence[Finding],
    derived: Sequence[Finding],
    holding: Iterable[Finding],
    error_text: Any,
    names: Names,
) -> list[Finding]:
    """All findings of a text, best first.

    Rules that know the text come first, two of them where none is confirmed, then what was derived, then what holds of
    the distributions concerned though its symptoms are not in the text, unless a rule is confirmed. A rule that is
    about nothing in the frames, in the message or installed comes last; where the message only says that something
    cannot be pickled, being installed is not enough, and the object and the code that did it come before rules about
    what the text does not show.
    """
    said = _shown(error_text, names)
    shown = said | {name for one in derived for name in one.packages}
    generic = any(one.rule == _NOT_PICKLABLE for one in derived)
    near = shown if generic else shown | {*names.installed}
    close, remote = _parted(recognised, lambda one: bool(one.confirmed or not one.packages or near & {*one.packages}))
    known = {(one.rule, one.consumer) for one in recognised}
    beside = [] if _confirmed(close) else _beside(holding, shown, known)
    pairs, rest = _parted(beside, lambda one: any(_pair(each, one) for each in derived))
    first, telling, vague = _by_what_they_tell(derived, close, said)
    lead = len(close) if _confirmed(close) else MOST_BEFORE
    return [*first, *close[:lead], *pairs, *telling, *close[lead:], *rest, *vague, *remote]


def _by_what_they_tell(
    derived: Iterable[Finding], close: Sequence[Finding], said: Collection[str]
) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """The derived findings that no rule has: those that say more than the rules do, others, and vague ones."""
    vague, telling = _parted([one for one in derived if not _said(one, close)], lambda one: one.rule in VAGUE)
    is_of_text = any(one.confirmed or not {*one.packages}.isdisjoint(said) for one in close)
    first, telling = _parted(telling, lambda one: one.rule == _NOT_PICKLABLE and not is_of_text)
    return first, telling, vague


def _parted(findings: Iterable[Finding], fits: Callable[[Finding], bool]) -> tuple[list[Finding], list[Finding]]:
    """The findings that fit, and the others."""
    parts: tuple[list[Finding], list[Finding]] = ([], [])
    for finding in findings:
        parts[not fits(finding)].append(finding)
    return parts


def _pair(derived: Finding, holding: Finding) -> bool:
    """Whether what holds in the environment is about all of the several distributions that were derived."""
    return len(derived.packages) > 1 and {*derived.packages} <= {*holding.packages}


def _shown(error_text: Any, names: Names) -> set[str]:
    """The distributions that the text shows: in its frames, in its messages, or with a version."""
    found = {place.distribution for failure in error_text.failures for place in places(failure, names)}
    found |= {name for failure in error_text.failures for name in named_in(failure.message, names)}
    return {name for name in found if name} | {*error_text.versions}


def _confirmed(findings: Iterable[Finding]) -> list[Finding]:
    return [one for one in findings if one.confirmed]


def _said(finding: Finding, close: Sequence[Finding]) -> bool:
    """Whether rules that know the text already name all that was derived, or one that holds leaves no need of it."""
    confirmed = _confirmed(close)
    if finding.rule in VAGUE and confirmed:
        return True
    return bool(finding.packages) and any({*finding.packages} <= {*one.packages} for one in confirmed or close[:1])


def _beside(holding: Iterable[Finding], concerned: Collection[str], known: Collection[Any]) -> list[Finding]:
    """The findings in the environment about a distribution that is concerned, each noting that its text was not met."""
    found = []
    for one in holding:
        about = [name for name in one.packages if name in concerned]
        if about and one.severity != "info" and (one.rule, one.consumer) not in known:
            matched = f"it is about {' and '.join(about)}, which the text shows; its own symptoms are not in the text"
            found.append(one.replace(matched=[matched], confirmed=True))
    return found[:MOST_HOLDING]
