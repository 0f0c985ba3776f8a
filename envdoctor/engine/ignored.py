"""Findings that the user does not want to see, and wishes that are out of date or of no use. Pure."""

from __future__ import annotations

from envdoctor.engine.installed_requirements import normalise
from envdoctor.model import Evidence, Finding, Remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Ignore

    Ignored = list[tuple[Finding, Ignore]]


def set_apart(findings: Sequence[Finding], wishes: Sequence[Ignore], today: str) -> tuple[list[Finding], Ignored]:
    """The findings that stay, and those that a wish is about, with the wish.

    A wish whose last day is before ``today`` (``YYYY-MM-DD``), or that no finding fits, makes a finding itself.
    """
    kept: list[Finding] = []
    ignored: Ignored = []
    used: set[int] = set()
    for finding in findings:
        fitting = [number for number, wish in enumerate(wishes) if _fits(wish, finding)]
        used.update(fitting)
        good = [wishes[number] for number in fitting if not _expired(wishes[number], today)]
        if good:
            ignored.append((finding, good[0]))
        else:
            kept.append(finding)
    for number, wish in enumerate(wishes):
        if _expired(wish, today):
            kept.append(_finding(wish, "ignore-expired", f"was to be ignored until {wish.until}"))
        elif number not in used:
            kept.append(_finding(wish, "ignore-useless", "is ignored, but there is no such finding"))
    return kept, ignored


def _fits(wish: Ignore, finding: Finding) -> bool:
    named = wish.package is None or normalise(wish.package) in finding.packages
    return wish.rule == finding.rule and named


def _expired(wish: Ignore, today: str) -> bool:
    return wish.until is not None and wish.until < today


_WHYS = {
    "ignore-expired": "The day that was set for it is over, so that its findings are shown again.",
    "ignore-useless": "What it was for has gone, or its rule or package is spelled in another way here.",
}


def _finding(wish: Ignore, rule: str, said: str) -> Finding:
    whole = " of ".join(filter(None, (wish.rule, wish.package)))
    return Finding(
        rule=rule,
        severity="info",
        impact="slow",
        title=f"{whole} {said}",
        why=_WHYS[rule],
        packages=[normalise(wish.package)] if wish.package else [],
        facts=["configuration"],
        evidence=[Evidence(fact="configuration.ignore", value=wish.reason or whole, source=wish.source)],
        remedies=[Remedy(kind="change", text=f"remove it, or change it: {wish.source}", safety="safe")],
    )
