"""A report without the secrets that a project, a variable or an address in it may hold; all else stays as it is.

A report that is printed ends in the logs of a build, which strangers read. What only names distributions and their
versions is not searched: most findings are of that kind, and the expressions cost more than all of them.
"""

from __future__ import annotations

from envdoctor.facts import KINDS
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from envdoctor.model import Finding, Group, Report

#: The kinds of fact whose values hold a secret in an address at most.
_PLAIN = {
    *(kind.name for kind in KINDS if kind.public), "platform", "requirements", "requires_python", "tags", "environment",
}  # fmt: skip
#: Fields of a finding that a rule states, and that nothing from outside fills.
_STATED = frozenset(("rule", "severity", "impact", "references", "proof", "status", "confirmed"))


def without_secrets(report: Report) -> Report:
    """The report with every secret in its findings, in what was understood of a text and in its reasons replaced."""
    clean: Report = report.replace(
        findings=[_of_finding(one) for one in report.findings],
        groups=[_of_group(one) for one in report.groups],
        ignored=[(_of_finding(one), wish) for one, wish in report.ignored],
        parts=[without_secrets(one) for one in report.parts],
        ruled_out=[_of_finding(one) for one in report.ruled_out],
        understood=_replaced(report.understood, _hidden) if report.understood else report.understood,
        unknown=_reasons(report.unknown),
        snapshot=report.snapshot.replace(notes=_reasons(report.snapshot.notes)),
    )
    return clean


def _reasons(unknown: Any) -> Any:
    return [one.replace(reason=_hidden(one.reason)) if _is_open(one.reason) else one for one in unknown]


def _of_finding(finding: Finding) -> Finding:
    if all(one.fact.partition(".")[0] in _PLAIN and not _is_open(one.value) for one in finding.evidence) and not any(
        _is_open(text) for text in (finding.title, *[one.command or one.requirement or "" for one in finding.remedies])
    ):
        return finding
    fields = {name: value for name, value in finding.as_dict().items() if name not in _STATED}
    hidden: Finding = finding.replace(**_replaced(fields, _hidden))
    return hidden


def _of_group(group: Group) -> Group:
    findings = [_of_finding(one) for one in group.findings]
    if all(new is old for new, old in zip(findings, group.findings)):
        return group
    hidden: Group = group.replace(
        title=_hidden(group.title), findings=findings, remedies=_replaced(list(group.remedies), _hidden)
    )
    return hidden


def _is_open(text: str) -> bool:
    """Whether a text may hold more than names, versions and paths: an address."""
    return "://" in text


def _replaced(value: Any, hide: Callable[[str], str]) -> Any:
    """The same value with every text in it passed through a function."""
    if isinstance(value, str):
        hidden = hide(value)
        return value if hidden == value else hidden  # which may know more than its text, such as a line
    if isinstance(value, Record):
        return value.replace(**_replaced(value.as_dict(), hide))
    if hasattr(value, "items"):
        return {key: _replaced(item, hide) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, hide) for item in value]
    return value


def _hidden(text: str) -> str:
    from envdoctor.renderers.redaction import Redactor

    return Redactor(personal=False).text(text)
