"""A report as JUnit XML, which most servers for continuous integration show: an error is a failed test."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from envdoctor.renderers import layout, line, machine_text
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Finding, Report


def render(report: Report, *, width: int | None = None, color: bool | None = None, lines: int | None = None) -> str:
    """Write one test for each finding: an error has failed, anything less was skipped, with what is to be said of it.

    Without findings there is one test, which has passed.
    """
    findings = layout.ordered(report)
    failures = sum(finding.severity == "error" for finding in findings)
    suite = ET.Element(
        "testsuite", name="envdoctor", tests=str(len(findings) or 1), failures=str(failures), errors="0",
        skipped=str(len(findings) - failures),
    )  # fmt: skip
    for finding in findings:
        _case(suite, finding, report)
    if not findings:
        said = line.verdict(report, color=False, unicode=True)
        ET.SubElement(suite, "testcase", classname="envdoctor", name=_text(said))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _case(suite: ET.Element, finding: Finding, report: Report) -> None:
    where = machine_text.place(finding)
    case = ET.SubElement(suite, "testcase", classname="envdoctor." + finding.rule, name=_text(finding.title))
    if where is not None:
        case.set("file", _text(where.path))
    if where is not None and where.line is not None:
        case.set("line", str(where.line))
    outcome = "failure" if finding.severity == "error" else "skipped"
    said = ET.SubElement(case, outcome, type=finding.severity, message=_text(finding.title))
    said.text = _text(machine_text.text(finding, report))


def _text(text: str) -> str:
    """Text without what XML cannot hold."""
    return "\n".join(safe(one) for one in text.split("\n")).encode("utf-8", "backslashreplace").decode("utf-8")
