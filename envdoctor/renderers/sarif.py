"""A report as SARIF 2.1.0, which code hosts and editors show beside the lines that it is about.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

from __future__ import annotations

import os
import pathlib
from typing import Any
from urllib.parse import quote

from envdoctor._version import __version__
from envdoctor.renderers import layout, line, machine_text
from envdoctor.renderers.json import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Finding, Location, Report

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, *, width: int | None = None, color: bool | None = None, lines: int | None = None) -> str:
    """Write a report as one SARIF document: ASCII, ending in a newline. What was ignored is listed as suppressed."""
    findings = layout.ordered(report)
    known = {finding.rule: finding for finding in reversed([*findings, *(one for one, _ in report.ignored)])}
    places = {rule: place for place, rule in enumerate(known)}
    results = [_result(finding, places, report) for finding in findings]
    for finding, wish in report.ignored:
        suppression = {"kind": "external", "justification": wish.reason or f"ignored by {wish.source}"}
        results.append({**_result(finding, places, report), "suppressions": [suppression]})
    driver = {
        "name": "envdoctor",
        "semanticVersion": __version__,
        "informationUri": "https://pypi.org/project/pyenvdoctor/",
        "rules": [_rule(finding) for finding in known.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(finding: Finding) -> dict[str, Any]:
    why = finding.why.strip() or finding.title
    more = "".join(f"\n- {reference}" for reference in finding.references)
    rule: dict[str, Any] = {
        "id": finding.rule,
        "shortDescription": {"text": finding.title},
        "fullDescription": {"text": line.one_line(why)},
        "help": {"text": why + more},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {"tags": [finding.impact, finding.status, finding.proof]},
    }
    return {**rule, "helpUri": finding.references[0]} if finding.references else rule


def _result(finding: Finding, places: dict[str, int], report: Report) -> dict[str, Any]:
    where = machine_text.place(finding)
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.title}\n{machine_text.text(finding, report)}"},
        "locations": [] if where is None else [_location(where)],
        "partialFingerprints": {"envdoctor/v1": machine_text.fingerprint(finding)},
    }


def _location(where: Location) -> dict[str, Any]:
    if os.path.isabs(where.path):
        artifact = {"uri": pathlib.Path(where.path).as_uri()}
    else:
        artifact = {"uri": quote(where.path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if where.line is not None:
        physical["region"] = {"startLine": where.line}
    return {"physicalLocation": physical}


def _notifications(report: Report) -> list[dict[str, Any]]:
    """What could not be examined."""
    return [
        {"level": "note", "message": {"text": reason}}
        for part in report.parts or [report]
        for reason in line.reasons(part)
    ]
