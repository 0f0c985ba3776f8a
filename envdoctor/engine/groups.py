"""Findings as a person wants them: a pair that two rules are about once, and what one rule finds together. Pure."""

from __future__ import annotations

from envdoctor.model import SEVERITIES, Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from envdoctor.model import Finding, Remedy

    Join = Callable[[Sequence[Remedy]], Sequence[Remedy]]


def united(findings: Sequence[Finding]) -> list[Finding]:
    """The findings in their order, those about one broken requirement united with those of rules about the same pair.

    The more severe one stays, of equals the rule's own, and gains the other's evidence. An ``info`` stays as it is.
    """
    about = _of_rules(findings)
    kept: dict[int, Finding] = dict(enumerate(findings))
    for at, finding in enumerate(findings):
        owner, required = _broken(finding) or ("", "")
        for other in about.get(owner, ()):
            if other in kept and required in _named(findings[other]):
                rank = [SEVERITIES.index(findings[one].severity) for one in (other, at)]
                stays, goes = (other, at) if rank[0] <= rank[1] else (at, other)
                kept[stays] = _with_evidence(kept[stays], kept.pop(goes))
                break
    return list(kept.values())


def _of_rules(findings: Sequence[Finding]) -> dict[str, list[int]]:
    """The places of those that are about no broken requirement and no ``info``, by each name of their evidence."""
    about: dict[str, list[int]] = {}
    for at, finding in enumerate(findings):
        if finding.severity != SEVERITIES[-1] and _broken(finding) is None:
            for name in _named(finding):
                about.setdefault(name, []).append(at)
    return about


def _broken(finding: Finding) -> tuple[str, str] | None:
    """Who requires whom, where a finding is about a requirement that is not met."""
    owners = [one.fact[13:] for one in finding.evidence if one.fact[:13] == "requirements."]
    return (owners[0], _named(finding)[-1]) if owners else None


def _named(finding: Finding) -> list[str]:
    return [one.fact[9:] for one in finding.evidence if one.fact[:9] == "packages."]


def _with_evidence(finding: Finding, other: Finding) -> Finding:
    more = [one for one in other.evidence if one not in finding.evidence]
    made: Finding = finding.replace(evidence=[*finding.evidence, *more])
    return made


def grouped(findings: Iterable[Finding], join: Join) -> list[Group]:
    """The findings by rule and title of several, in the order of each one's first.

    ``join`` makes one remedy of several of a kind where it can, and returns as many as there are then.
    """
    by_rule: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault((finding.rule, finding.several), []).append(finding)
    return [
        Group(title=_title(together), findings=together, remedies=_remedies(together, join))
        for together in by_rule.values()
    ]


def _title(findings: Sequence[Finding]) -> str:
    first, more = findings[0], len(findings) - 1
    if not more:
        return first.title
    return first.several.replace("{count}", f"{more + 1:,}") or f"{first.title}, and {more:,} more like it"


def _remedies(findings: Sequence[Finding], join: Join) -> list[Remedy]:
    """Equal remedies once, and those that differ in nothing but what they are about as one."""
    alike: dict[tuple[object, ...], dict[tuple[object, ...], Remedy]] = {}
    for finding in findings:
        for remedy in finding.remedies:
            kind = (remedy.kind, remedy.safety, remedy.effect, remedy.at)
            alike.setdefault(kind, {})[_about(remedy)] = remedy
    return [remedy for distinct in alike.values() for remedy in join(list(distinct.values()))]


def _about(remedy: Remedy) -> tuple[object, ...]:
    """A key by which remedies of a kind differ, quick to compare."""
    about = (remedy.requirement, remedy.package, remedy.file, remedy.line, remedy.key, remedy.name, remedy.text)
    return (*about, str(remedy.to))
