"""A report as the Markdown attachment of a bug report: short on top, everything else folded, private data taken out.

Whatever comes from the examined environment is redacted first and then set as code, in which neither Markdown nor
HTML nor a table's bars mean anything. Whatever the environment, a report has at most :data:`LIMIT` characters: whole
entries of lists are left out, and counted.
"""

from __future__ import annotations

import html
import re
from typing import Any

from envdoctor._version import __version__
from envdoctor.facts import SYSTEM
from envdoctor.renderers import FORMATS, layout, line
from envdoctor.renderers.redaction import Redactor
from envdoctor.renderers.snapshot_document import SUMMARY, packed
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.model import Distribution, Finding, Group, Report

LIMIT = FORMATS["markdown"].limit or 0
#: So many characters are kept for the last line, and so many may the parts before the list of distributions take.
_LAST_LINE, _OF_FINDINGS, _OF_KNOWN, _OF_A_LIST, _OF_A_SNAPSHOT = 100, 36_000, 4_000, 5_000, 20_000
#: So many characters of a value are shown, and of a command, which is of use only as a whole.
_LONGEST, _LONGEST_COMMAND = 500, 8_000
#: So many findings that explain an error are shown.
_OF_EXPLAINED = 3
#: So many pieces of evidence of a group are listed, and so many characters of each.
_ROWS, _OF_A_ROW = 40, 300

#: What the page shows of the machine.
ASKED = {SYSTEM: ("glibc", "musl", "container")}
_PUNCTUATION = re.compile(r"([\\`*_\[\]<>~#|!$])")


def render(
    report: Report,
    *,
    width: int | None = None,
    color: bool | None = None,
    lines: int | None = None,
    redactor: Redactor | None = None,
) -> str:
    """Write a report as GitHub-flavoured Markdown, ending in a newline.

    ``redactor`` decides what is private; the default protects whoever runs this process.
    """
    page = _Page(Redactor.of_this_user() if redactor is None else redactor)
    page.redactor.keep(report.snapshot.packages)
    said = [
        *page.taking(["### envdoctor report", "", *_environment(page, report), "", f"#### {headline(report)}", ""]),
        *_error(page, report),
        *_findings(page, report),
        *_known(page, report),
        *_folded(page, report),
        f"<sub>{_redactions(page.redactor.count)}</sub>",
    ]
    return "\n".join(said) + "\n"


class _Page:
    """How text from outside is set, and how many characters are left."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.room = LIMIT - _LAST_LINE

    def taking(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines, which are counted."""
        self.room -= _size(lines)
        return lines

    def fitting(self, blocks: Iterable[Sequence[str]], most: int) -> Iterator[Sequence[str]]:
        """The blocks of lines up to the first that so many characters do not hold."""
        room = min(most, self.room)
        for block in blocks:
            room -= _size(block)
            if room < 0:
                return
            yield self.taking(block)

    def code(self, text: object, longest: int = _LONGEST) -> str:
        """Redacted text as code that fits in a table cell, whatever it holds; what is longer than allowed is cut."""
        said = self.plain(text) or " "
        code = _code(said)
        while len(code) > longest:
            said = said[: len(said) * 3 // 4]
            code = _code(said + "…")
        return code

    def plain(self, text: object) -> str:
        """Redacted text on one line."""
        return line.one_line(self.redactor.text(str(text)))

    def words(self, text: str) -> str:
        """Prose of a rule with what Markdown would act on taken literally; code in back quotes stays code.

        It is redacted too: the names that fill it, such as a requirement with an address, are from outside.
        """
        said = self.plain(text)
        said = said if len(said) <= 2 * _LONGEST else said[: 2 * _LONGEST] + "…"
        pieces = re.split(r"(`[^`]+`)", said.replace("&", "&amp;"))
        return "".join(
            html.unescape(piece) if number % 2 else _PUNCTUATION.sub(r"\\\1", piece)
            for number, piece in enumerate(pieces)
        )


def _size(lines: Iterable[str]) -> int:
    return sum(len(text) + 1 for text in lines)


def _code(said: str) -> str:
    if not re.search(r"[`|]", said) and said == said.strip():
        return f"`{said}`"
    entities = "".join(char if char.isalnum() or char in " .-/" else f"&#{ord(char)};" for char in said)
    return f"<code>{entities}</code>"


def fenced(lines: Iterable[str]) -> list[str]:
    """Lines in a block that none of them can end."""
    lines = list(lines)
    longest = max((len(run) for text in lines for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence]


def _environment(page: _Page, report: Report) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for label, cells in environment(report):
        said = [page.code(cell) for cell in cells if cell]
        if said:
            yield f"| {label} | {' '.join(said)} |"
    yield f"| envdoctor | {page.code(__version__)}, {line.count(report.rules, 'rule')} |"


def environment(report: Report) -> Iterator[tuple[str, list[Any]]]:
    """What was examined, by label; an empty value is not known."""
    snapshot = report.snapshot
    target, platform = snapshot.target, snapshot.platform
    facts = [(name, snapshot.facts.ask(SYSTEM, name)) for name in ASKED[SYSTEM]]
    system = [f"{name} {value}" for name, value in facts if isinstance(value, str)]
    system += [name for name, value in facts if value is True]
    yield "Python", [line.python(snapshot), snapshot.python.get("executable")]
    yield "Platform", [" ".join(str(platform[key]) for key in ("system", "machine") if platform.get(key)), *system]
    yield from report.attached.get("machine", ())
    yield "Installer", [target.get("installer")]
    yield "Start method", [snapshot.start_method.get("stated") or snapshot.start_method.get("default")]
    size = line.count(len(snapshot.packages), "distribution")
    yield "Target", [target.get("kind"), line.where(snapshot), target.get("chosen"), size]
    yield "Reproduced by", [report.attached.get("command")]


def headline(report: Report) -> str:
    """How many findings there are, or that there are none."""
    if layout.explains(report):
        return f"Explained by {layout.confirmations(report)}" if layout.known(report) else "No rule explains the text"
    return layout.tally(report.findings).capitalize() if report.findings else line.healthy(report.snapshot).capitalize()


def _error(page: _Page, report: Report) -> Iterator[str]:
    """The text of the error, as far as there is room for its end, and what explains it."""
    explained = report.attached.get("explained")
    if explained is None:
        return
    lines = [safe(page.redactor.text(text))[: 2 * _LONGEST] for text in report.attached["traceback"]]
    ends = [[text] for text in reversed(lines)]
    block = fenced([one[0] for one in page.fitting(ends, _OF_A_LIST)][::-1])
    yield from (f"#### {headline(explained)}", "", *block, "")
    page.taking([block[0], block[-1]])
    yield from _findings(
        page, explained.replace(findings=explained.findings[:_OF_EXPLAINED], groups=explained.groups[:_OF_EXPLAINED])
    )
    yield from page.taking(["#### In the environment", ""])


def _findings(page: _Page, report: Report) -> Iterator[str]:
    groups, shown, outside = layout.headed(report), 0, len(report.ruled_out)
    for block in page.fitting((list(_group(page, *one, report)) for one in groups), _OF_FINDINGS):
        yield from block
        shown += 1
    for block in page.fitting((list(_ruled_out(page, finding)) for finding in report.ruled_out), _OF_A_LIST):
        yield from block
        outside -= 1
    yield from page.taking(_left_out([group for _, group in groups[shown:]], outside))
    if report.ignored:
        yield from page.taking([f"{line.ignored(report).capitalize()}.", ""])
    if not layout.known(report):
        rows = [f"- {label}: {page.code(text)}" for label, text in layout.understood(report)]
        yield from page.taking([*rows, *([""] if report.understood else [])])


def _left_out(groups: Sequence[Group], outside: int) -> list[str]:
    """How many findings, and how many that were ruled out, there is no room for."""
    left = [finding for group in groups for finding in group.findings]
    said = [layout.tally(left)] * bool(left) + [f"{outside:,} ruled out"] * bool(outside)
    return [f"Left out here: {' and '.join(said)}.", ""] if said else []


def _group(page: _Page, heading: str, group: Group, report: Report) -> Iterator[str]:
    finding = group.findings[0]
    if heading:
        yield from (heading, "")
    yield f"**{finding.severity}**: {page.words(group.title)}"
    yield ""
    for matched in finding.matched[:_ROWS]:
        yield f"- matched: {page.code(matched)} ({layout.confirmation(finding, report)})"
    rows, left = layout.rows(group, report, _ROWS)
    alone = len(group.findings) == 1
    for what, place in rows:
        yield f"- found: {page.code(what, _OF_A_ROW)}{' in ' if alone else ': '}{page.code(place, _OF_A_ROW)}"
    if left:
        yield f"- and {left:,} more"
    if group.remedies:
        way = layout.way(group.remedies[0])
        remarks = "".join(f" ({page.words(text)})" for text in (way.tag, way.cost) if text)
        said = _code(page.plain(way.text))
        if len(said) > _LONGEST_COMMAND:
            said = f"one command of {len(way.text):,} characters, which is not shown"
        yield f"- fix: {said}{remarks}"
    links = "".join(f", {_link(page, reference)}" for reference in finding.references[:1])
    yield f"- rule: {page.code(finding.rule)}, {layout.credit(finding)}{links}"
    yield ""


def _ruled_out(page: _Page, finding: Finding) -> Iterator[str]:
    yield f"**ruled out**: {page.words(finding.title)} ({page.code(finding.rule)})"
    yield ""
    for item in finding.evidence[:_ROWS]:
        yield f"- because: {page.code(layout.found(item))} in {page.code(item.source)}"
    yield ""


def _link(page: _Page, reference: str) -> str:
    return f"<{reference}>" if re.fullmatch(r"https?://[^\s<>|`]{1,300}", reference) else page.code(reference)


def _known(page: _Page, report: Report) -> Iterator[str]:
    """The installed distributions that some rule is about, on one line."""
    packages = report.snapshot.packages
    installed = [packages[name] for name in sorted({*report.known_packages} & {*packages})]
    if installed:
        cells = ([page.code(_pinned(page, item, " "))] for item in installed)
        said = [block[0] for block in page.fitting(cells, _OF_KNOWN)]
        more = [f"and {len(installed) - len(said):,} more"] if len(said) < len(installed) else []
        yield from page.taking(["#### Distributions that rules know about", ""])
        page.room -= len(said) + 50  # the commas, and what is counted
        yield ", ".join([*said, *more])
        yield ""


def _pinned(page: _Page, distribution: Distribution, between: str) -> str:
    version = distribution.version
    if version is None:
        return f"{safe(distribution.name)}{between}(version unknown)"
    shown = version if re.fullmatch(r"\d[\w.!+-]{0,60}", version) else page.plain(version)
    return f"{safe(distribution.name)}{between}{shown}"


def _folded(page: _Page, report: Report) -> Iterator[str]:
    snapshot = report.snapshot
    whys = [(group.findings[0].rule, why) for group in layout.groups(report) for why in layout.whys(group)[:1]]
    yield from _details(page, "Why, rule by rule", len(whys), (f"{rule}: {page.plain(why)}" for rule, why in whys))
    again = (f"{_pinned(page, item, '==')}  {page.plain(item.path or '')}" for item in snapshot.duplicates)
    title = "Distributions hidden by another of the same name"
    yield from _details(page, title, len(snapshot.duplicates), again)
    reasons = line.reasons(report, most=100)
    yield from _details(page, "What could not be examined", len(reasons), map(page.plain, reasons))
    yield from _snapshot(page, report.attached.get("snapshot"))
    listed = (_pinned(page, snapshot.packages[name], "==") for name in sorted(snapshot.packages))
    number = len(snapshot.packages)
    yield from _details(page, f"All {line.count(number, 'distribution')}", number, listed, LIMIT)


def _snapshot(page: _Page, document: str | None) -> Iterator[str]:
    """The facts, as they are or packed, such that `--snapshot` reads them back out of the page."""
    if document is None:
        return
    for lines in (document.splitlines(), packed(document)):
        block = [f"<details><summary>{SUMMARY}</summary>", "", *fenced(lines), "", "</details>", ""]
        if _size(block) < min(page.room, _OF_A_SNAPSHOT if lines[0] == "{" else page.room):
            yield from page.taking(block)
            return
    said = "The facts have no room here: attach what `envdoctor snapshot -o facts.json` writes."
    yield from page.taking([said, ""])


def _details(page: _Page, title: str, number: int, lines: Iterable[str], most: int = _OF_A_LIST) -> Iterator[str]:
    """A folded list of as many lines as there is room for; the others are counted."""
    around = 4 * _LONGEST + 500  # its fences, and what unfolds it
    cut = ([text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST] + "…"] for text in lines)
    said: list[str] = []
    for block in page.fitting(cut, min(most, page.room - around)):
        said += block
    if len(said) < number:
        said.append(f"… and {number - len(said):,} more")
    if said:
        block = fenced(said)
        head, tail = [f"<details><summary>{html.escape(title)}</summary>", ""], ["", "</details>", ""]
        page.taking([*head, block[0], block[-1], *tail])
        yield from (*head, *block, *tail)


def _redactions(number: int) -> str:
    return f"{line.count(number, 'value')} redacted." if number else "Nothing had to be redacted."
