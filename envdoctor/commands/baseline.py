"""What was known before: findings that an earlier run of ``envdoctor check`` wrote down."""

from __future__ import annotations

import json

from envdoctor.errors import UsageError
from envdoctor.model import Ignore
from envdoctor.renderers.machine_text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Report


def without_known(report: Report, path: str) -> Report:
    """The report with the findings of a baseline among those that are ignored.

    Raises :class:`UsageError` for a file that ``-f json`` or ``-f sarif`` has not written.
    """
    known = _fingerprints(path)
    wish = Ignore(rule="*", source=path, reason="known since the baseline")
    parts = [_apart(part, known, wish) for part in report.parts]
    left: Report = _apart(report, known, wish).replace(parts=parts)
    return left


def _apart(report: Report, known: set[str], wish: Ignore) -> Report:
    old = [finding for finding in report.findings if fingerprint(finding) in known]
    groups = [
        group.replace(findings=new)
        for group in report.groups
        if (new := [one for one in group.findings if one not in old])
    ]
    new = [finding for finding in report.findings if finding not in old]
    left: Report = report.replace(
        findings=new,
        groups=groups,
        ignored=[*report.ignored, *((finding, wish.replace(rule=finding.rule)) for finding in old)],
    )
    return left


def _fingerprints(path: str) -> set[str]:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if "runs" in document:
            return {one["partialFingerprints"]["envdoctor/v1"] for run in document["runs"] for one in run["results"]}
        return {one["fingerprint"] for one in [*document["findings"], *document["ignored"]]}
    except OSError as error:
        raise UsageError(f"--baseline {path} could not be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"--baseline {path} is no baseline: write one with envdoctor check -f json -o {path} --fail-on never"
        ) from error
