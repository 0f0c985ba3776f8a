"""A report as one JSON document, whose shape ``docs/check.schema.json`` promises."""

from __future__ import annotations

import json
import math
from typing import Any

from envdoctor._version import __version__
from envdoctor.model import Record, Unknown
from envdoctor.renderers import layout
from envdoctor.renderers.machine_text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.model import Finding, Remedy, Report, Snapshot


def render(report: Report, *, width: int | None = None, color: bool | None = None, lines: int | None = None) -> str:
    """Write a report as JSON: ASCII, one document, ending in a newline."""
    findings = layout.ordered(report)
    document: dict[str, Any] = {
        "envdoctor": __version__,
        "target": of_target(report),
        "rules": report.rules,
        "findings": [of_finding(finding) for finding in findings],
        "groups": _groups(report, findings),
        "ignored": [{**of_finding(finding), "ignored": plain(wish.as_dict())} for finding, wish in report.ignored],
        "unknown": [unknown for part in report.parts or [report] for unknown in _unknown(part)],
    }
    if layout.explains(report):
        document["ruled_out"] = [of_finding(finding) for finding in report.ruled_out]
        document["understood"] = report.understood
    return dump(document)


def dump(document: Any) -> str:
    """Text of a document that any JSON reader accepts."""
    return json.dumps(plain(document), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Records, tuples and the like as JSON knows them; what JSON cannot say becomes a text."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")  # a path that is not text
    if isinstance(value, (int, type(None))) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Unknown):
        return None
    if isinstance(value, Record):
        value = value.as_dict()
    if hasattr(value, "items"):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else plain(str(value))


def of_target(report: Report) -> dict[str, Any]:
    """What was examined; of several environments the first, and each of them."""
    snapshots = [part.snapshot for part in report.parts or [report]]
    target = {**report.snapshot.target, **_described(report.snapshot)}
    if "environment" in target:
        target["distributions"] = sum(len(snapshot.packages) for snapshot in snapshots)
        target["environments"] = [
            {
                "path": snapshot.target["environment"],
                "interpreter": snapshot.target.get("interpreter"),
                **_described(snapshot),
            }
            for snapshot in snapshots
        ]
    return target


def _described(snapshot: Snapshot) -> dict[str, Any]:
    return {"python": snapshot.python, "platform": snapshot.platform, "distributions": len(snapshot.packages)}


def _unknown(report: Report) -> Iterator[dict[str, Any]]:
    environment = report.snapshot.target.get("environment")
    for unknown in (*report.snapshot.notes, *report.unknown):
        yield {**unknown.as_dict(), **({"environment": environment} if environment else {})}


def of_finding(finding: Finding) -> dict[str, Any]:
    """A finding, without what it does not have."""
    document = finding.as_dict()
    document["fingerprint"] = fingerprint(finding)
    document["proven"] = finding.proof == "proven"
    document["evidence"] = [item.as_dict() for item in finding.evidence]
    document["remedies"] = [of_remedy(remedy) for remedy in finding.remedies]
    del document["several"]
    for name in ("consumer", "environment"):
        if document[name] is None:
            del document[name]
    if not finding.matched:
        del document["matched"]
        if finding.confirmed is None:
            del document["confirmed"]
    return document


def _groups(report: Report, findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings as people are shown them; each group names its own by their places in the list of ``findings``."""
    explains = layout.explains(report)

    def key(finding: Finding) -> tuple[str | None, ...]:
        return finding.rule, finding.environment, finding.consumer if explains else None

    places: dict[tuple[str | None, ...], list[int]] = {}
    for place, finding in enumerate(findings):
        places.setdefault(key(finding), []).append(place)
    return [
        {
            "rule": group.findings[0].rule,
            "severity": group.findings[0].severity,
            "title": group.title,
            "findings": places[key(group.findings[0])],
            "remedies": [of_remedy(remedy) for remedy in group.remedies],
        }
        for group in layout.groups(report)
    ]


def of_remedy(remedy: Remedy) -> dict[str, Any]:
    """A remedy, without what it does not have."""
    return {name: value for name, value in remedy.as_dict().items() if value is not None and name != "action"}
