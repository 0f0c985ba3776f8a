"""A report for a person at a terminal: findings with evidence and ways out, one summary line, what stayed unknown.

Prose is wrapped; commands, paths and addresses never are, so that they can be copied. Only the terminal's own
bold, dim, red, yellow, green and cyan are used, which every theme, light or dark, makes legible.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from envdoctor.renderers import layout, line

if TYPE_CHECKING:
    from rich.text import Text

    from envdoctor.model import Finding, Remedy, Report

    Part = tuple[str, str]

_GUTTER = 10
_PROSE = 100
_BADGES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_TAGS = {"workaround": "yellow", "by hand": "cyan"}


def render(report: Report, *, width: int | None = None, color: bool | None = None, unicode: bool | None = None) -> str:
    """Write a report as text; ``None`` means what suits standard output. Ends with a newline."""
    color = line.colorful(sys.stdout, os.environ) if color is None else color
    unicode = line.carries_unicode(sys.stdout) if unicode is None else unicode
    if not report.findings and not layout.explains(report):
        return line.verdict(report, color, unicode) + "\n"
    page = _Page(_columns(width), unicode=unicode)
    for heading, finding in layout.headed(report):
        if heading:
            page.put((heading, "bold"))
            page.put()
        _finding(page, finding, report)
    for finding in report.ruled_out:
        _ruled_out(page, finding, report)
    if report.findings:
        _summary(page, report)
    if not layout.known(report):
        _understood(page, report)
    for number, reason in enumerate(line.reasons(report)):
        page.prose(("" if number else "unknown", "dim"), (reason, "dim"))
    return page.text(color=color)


def _columns(width: int | None) -> int:
    if width is None:
        import shutil

        width = shutil.get_terminal_size().columns
    return max(width, 40)


class _Page:
    """Lines under construction, each with a label in the gutter."""

    def __init__(self, width: int, *, unicode: bool) -> None:
        self.width = width
        self.unicode = unicode
        self.lines: list[Text] = []

    def put(self, *parts: Part) -> None:
        """Add one line that is never broken."""
        from rich.text import Text

        self.lines.append(Text.assemble(*(part for part in parts if part[0])))

    def row(self, label: Part, *parts: Part) -> None:
        """Add one line with a label, never broken."""
        text, style = label
        self.put((text.ljust(_GUTTER), style), *parts)

    def prose(self, label: Part, *parts: Part) -> None:
        """Add words with a label, broken between words to fit the page."""
        from rich.text import Text

        whole = Text.assemble(*(part for part in parts if part[0]))
        if not whole:
            return
        for piece in whole.divide(_breaks(whole.plain, min(self.width, _PROSE) - _GUTTER)):
            piece.rstrip()
            self.lines.append(Text.assemble((label[0].ljust(_GUTTER), label[1]), piece))
            label = ("", "")

    def fits(self, text: str) -> bool:
        """Whether a text stands in one line behind the gutter."""
        from rich.cells import cell_len

        return cell_len(text) <= self.width - _GUTTER

    def text(self, *, color: bool) -> str:
        """Everything, with or without the terminal's colours."""
        import io

        from rich.console import Console

        out = io.StringIO()
        console = Console(
            file=out, width=self.width, force_terminal=color, color_system="standard" if color else None,
            no_color=not color, highlight=False, legacy_windows=False,
        )  # fmt: skip
        for entry in self.lines:
            entry.rstrip()
            console.print(entry, soft_wrap=True)
        text = out.getvalue()
        return text if self.unicode else text.replace("—", "-").replace("·", "-")


def _breaks(text: str, width: int) -> list[int]:
    """Where to break words into lines of a width; a longer word is left whole, so that it can be copied."""
    from rich.cells import cell_len

    offsets, used, at = [], 0, 0
    for word in text.split(" "):
        cells = cell_len(word)
        if used and used + cells > width:
            offsets.append(at)
            used = 0
        used += cells + 1
        at += len(word) + 1
    return offsets


def _finding(page: _Page, finding: Finding, report: Report) -> None:
    page.prose((finding.severity, _BADGES[finding.severity]), (line.one_line(finding.title), "bold"))
    traits = [finding.rule, finding.impact, layout.credit(finding)]
    page.row(("", ""), (" · ".join(traits), "dim"))
    for number, matched in enumerate(finding.matched):
        page.prose(_label("" if number else "matched"), (line.one_line(matched), ""))
    if finding.matched:
        page.prose(_label(""), (layout.confirmation(finding, report), "green" if finding.confirmed else "yellow"))
    _found(page, finding, report)
    if finding.why:
        page.prose(_label("why"), (line.one_line(finding.why), ""))
    for number, remedy in enumerate(finding.remedies):
        _remedy(page, "or" if number else "fix", remedy)
    for number, reference in enumerate(finding.references):
        page.row(_label("" if number else "see"), (line.safe(reference), "cyan"))
    page.put()


def _label(text: str, style: str = "dim") -> Part:
    return (f"  {text}", style)


def _found(page: _Page, finding: Finding, report: Report) -> None:
    """The evidence: what and where; in two columns if all of it fits, else the place below."""
    rows = [
        (layout.found(item), layout.near(item.source, report))
        for item in finding.evidence
        if not (item.fact == "text" and finding.matched)  # said already
    ]
    wide = max((len(what) for what, _ in rows), default=0) + 2
    beside = all(page.fits(what.ljust(wide) + source) for what, source in rows)
    for number, (what, source) in enumerate(rows):
        label = _label("" if number else "found")
        if beside:
            page.row(label, (what.ljust(wide), ""), (source, "dim"))
        else:
            page.prose(label, (what, ""))
            page.row(_label(""), (f"  {source}", "dim"))


def _remedy(page: _Page, label: str, remedy: Remedy) -> None:
    """A command on a line of its own, however long; words wrapped; and below, what it costs."""
    way = layout.way(remedy)
    gutter, mark = _label(label, "green"), (way.tag, _TAGS.get(way.tag, ""))
    if way.typed:
        page.row(gutter, (way.text, "bold"))
    elif way.tag == "by hand":
        page.prose(gutter, mark, (": ", ""), (way.text, ""))
        mark = ("", "")
    else:
        page.prose(gutter, (way.text, "bold"))
    page.prose(_label(""), mark, (": " if mark[0] and way.cost else "", ""), (way.cost, ""))
    for remark in way.remarks:
        page.prose(_label(""), (remark, ""))


def _ruled_out(page: _Page, finding: Finding, report: Report) -> None:
    page.prose(("ruled out", "dim"), (line.one_line(finding.title), ""))
    page.row(("", ""), (finding.rule, "dim"))
    for number, item in enumerate(finding.evidence):
        place = layout.near(item.source, report)
        page.row(_label("" if number else "because"), (layout.found(item), ""), (f"  {place}", "dim"))
    page.put()


def _understood(page: _Page, report: Report) -> None:
    if report.rules:
        page.put((f"None of {line.count(report.rules, 'rule')} explains this.", "bold"))
    rows = layout.understood(report)
    for label, text in rows:
        page.prose(_label(label), (text, ""))
    page.put()
    if rows:
        page.put(("Once the cause is known, a rule spares the next person the search:", ""))
        page.put(("  ", ""), (layout.new_rule(report), "bold"))


def _summary(page: _Page, report: Report) -> None:
    parts = layout.standing(report) if layout.explains(report) else layout.tally(report.findings)
    place = line.where(report.snapshot)
    whole = f"{line.python(report.snapshot)}{f' at {place}' if place else ''}"
    if not layout.examined(report):
        whole = "the text alone"
    page.put((parts, "bold"), (f" in {whole} — {line.count(report.rules, 'rule')}", ""))
