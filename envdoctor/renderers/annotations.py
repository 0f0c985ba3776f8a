"""A report as workflow commands, which GitHub Actions turns into annotations of a pull request.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands describes them.
"""

from __future__ import annotations

import os

from envdoctor.renderers import layout, line, machine_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Finding, Report

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, *, width: int | None = None, color: bool | None = None, lines: int | None = None) -> str:
    """Write each finding as one annotation; without any, the line that people are shown."""
    if not report.findings:
        return line.verdict(report, color=False, unicode=True) + "\n"
    return "".join(_annotation(finding, report) for finding in layout.ordered(report))


def _annotation(finding: Finding, report: Report) -> str:
    where = machine_text.place(finding)
    properties = {"title": f"{finding.title} [{finding.rule}]"}
    if where is not None and not os.path.isabs(where.path):
        properties = {"file": where.path, **({"line": str(where.line)} if where.line else {}), **properties}
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {said}::{_data(machine_text.text(finding, report))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
