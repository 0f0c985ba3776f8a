"""A report as the Markdown attachment of a bug report: short on top, everything else folded, private data taken out.

Whatever comes from the examined environment is redacted first and then set as code, in which neither Markdown nor
HTML nor a table's bars mean anything.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from envdoctor._version import __version__
from envdoctor.renderers import layout, line
from envdoctor.renderers.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.model import Distribution, Finding, Report

_SYSTEM = ("glibc", "musl", "container")
_PUNCTUATION = re.compile(r"([\\`*_\[\]<>~#|!$])")


def render(
    report: Report,
    *,
    width: int | None = None,
    color: bool | None = None,
    redactor: Redactor | None = None,
) -> str:
    """Write a report as GitHub-flavoured Markdown, ending in a newline.

    ``redactor`` decides what is private; the default protects whoever runs this process.
    """
    page = _Page(Redactor.of_this_user() if redactor is None else redactor)
    page.redactor.keep(report.snapshot.packages)
    lines = [
        "### envdoctor report",
        "",
        *_environment(page, report),
        "",
        f"#### {_headline(report)}",
        "",
        *_findings(page, report),
        *_known(page, report),
        *_folded(page, report),
        f"<sub>{_redactions(page.redactor.count)}</sub>",
    ]
    return "\n".join(lines) + "\n"


class _Page:
    """How text from outside is set."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def code(self, text: object) -> str:
        """Redacted text as code that fits in a table cell, whatever it holds."""
        said = self.plain(text) or " "
        if not re.search(r"[`|]", said) and said == said.strip():
            return f"`{said}`"
        entities = "".join(char if char.isalnum() or char in " .-/" else f"&#{ord(char)};" for char in said)
        return f"<code>{entities}</code>"

    def plain(self, text: object) -> str:
        """Redacted text on one line."""
        return line.one_line(self.redactor.text(str(text)))

    def words(self, text: str) -> str:
        """Prose of a rule with what Markdown would act on taken literally; code in back quotes stays code.

        It is redacted too: the names that fill it, such as a requirement with an address, are from outside.
        """
        pieces = re.split(r"(`[^`]+`)", self.plain(text).replace("&", "&amp;"))
        return "".join(
            html.unescape(piece) if number % 2 else _PUNCTUATION.sub(r"\\\1", piece)
            for number, piece in enumerate(pieces)
        )


def fenced(lines: Iterable[str], language: str = "text") -> list[str]:
    """Lines in a block that none of them can end."""
    lines = list(lines)
    longest = max((len(run) for text in lines for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *lines, fence]


def _environment(page: _Page, report: Report) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for label, cells in _rows(report):
        said = [page.code(cell) for cell in cells if cell]
        if said:
            yield f"| {label} | {' '.join(said)} |"
    yield f"| envdoctor | {page.code(__version__)}, {line.count(report.rules, 'rule')} |"


def _rows(report: Report) -> Iterator[tuple[str, list[Any]]]:
    snapshot = report.snapshot
    target, platform = snapshot.target, snapshot.platform
    facts = [(name, snapshot.lookup("system", name)) for name in _SYSTEM]
    system = [f"{name} {value}" for name, value in facts if isinstance(value, str)]
    system += [name for name, value in facts if value is True]
    yield "Python", [line.python(snapshot), snapshot.python.get("executable")]
    yield "Platform", [" ".join(str(platform[key]) for key in ("system", "machine") if platform.get(key)), *system]
    yield "Installer", [target.get("installer")]
    yield "Start method", [snapshot.start_method.get("stated") or snapshot.start_method.get("default")]
    yield "Target", [target.get("kind"), line.where(snapshot), line.count(len(snapshot.packages), "distribution")]


def _headline(report: Report) -> str:
    if layout.explains(report):
        return f"Explained by {layout.standing(report)}" if layout.known(report) else "No rule explains the text"
    return layout.tally(report.findings).capitalize() if report.findings else "Nothing known to be wrong"


def _findings(page: _Page, report: Report) -> Iterator[str]:
    for heading, finding in layout.headed(report):
        if heading:
            yield heading
            yield ""
        yield from _finding(page, finding, report)
    for finding in report.ruled_out:
        yield f"**ruled out**: {page.words(finding.title)} ({page.code(finding.rule)})"
        yield ""
        yield from _evidence(page, finding, "because")
        yield ""
    if not layout.known(report):
        for label, text in layout.understood(report):
            yield f"- {label}: {page.code(text)}"
        if report.understood:
            yield ""


def _finding(page: _Page, finding: Finding, report: Report) -> Iterator[str]:
    yield f"**{finding.severity}**: {page.words(finding.title)}"
    yield ""
    for matched in finding.matched:
        yield f"- matched: {page.code(matched)} ({layout.confirmation(finding, report)})"
    yield from _evidence(page, finding, "found")
    if finding.remedies:
        way = layout.way(finding.remedies[0])
        remarks = "".join(f" ({page.words(text)})" for text in (way.tag, way.cost) if text)
        yield f"- fix: {page.code(way.text)}{remarks}"
    links = "".join(f", {_link(page, reference)}" for reference in finding.references[:1])
    yield f"- rule: {page.code(finding.rule)}, {layout.credit(finding)}{links}"
    yield ""


def _evidence(page: _Page, finding: Finding, label: str) -> Iterator[str]:
    for item in finding.evidence:
        yield f"- {label}: {page.code(layout.found(item))} in {page.code(item.source)}"


def _link(page: _Page, reference: str) -> str:
    return f"<{reference}>" if re.fullmatch(r"https?://[^\s<>|`]+", reference) else page.code(reference)


def _known(page: _Page, report: Report) -> Iterator[str]:
    """The installed distributions that some rule is about, on one line."""
    packages = report.snapshot.packages
    installed = [packages[name] for name in sorted({*report.known_packages} & {*packages})]
    if installed:
        yield "#### Distributions that rules know about"
        yield ""
        yield ", ".join(page.code(_pinned(page, item, " ")) for item in installed)
        yield ""


def _pinned(page: _Page, distribution: Distribution, between: str) -> str:
    version = distribution.version
    if version is None:
        return f"{line.safe(distribution.name)}{between}(version unknown)"
    told = version if re.fullmatch(r"\d[\w.!+-]{0,60}", version) else page.plain(version)
    return f"{line.safe(distribution.name)}{between}{told}"


def _folded(page: _Page, report: Report) -> Iterator[str]:
    snapshot = report.snapshot
    whys = [f"{finding.rule}: {page.plain(finding.why)}" for finding in layout.ordered(report) if finding.why]
    yield from _details("Why, rule by rule", whys)
    listed = [_pinned(page, snapshot.packages[name], "==") for name in sorted(snapshot.packages)]
    yield from _details(f"All {line.count(len(listed), 'distribution')}", listed)
    again = [f"{_pinned(page, item, '==')}  {page.plain(item.path or '')}" for item in snapshot.duplicates]
    yield from _details("Distributions that stand behind another of the same name", again)
    reasons = [page.plain(reason) for reason in line.reasons(report, most=100)]
    yield from _details("What could not be examined", reasons)


def _details(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from (f"<details><summary>{html.escape(title)}</summary>", "", *fenced(lines), "", "</details>", "")


def _redactions(number: int) -> str:
    return f"{line.count(number, 'value')} redacted." if number else "Nothing had to be redacted."
