"""A report as one page for a browser, a telephone and paper: no script, and nothing that is loaded from elsewhere.

Elements are made, never joined from texts, so that nothing in an environment can begin one, and the page's own policy
forbids what is not in it. What is folded unfolds with the keyboard, and is printed.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from envdoctor._version import __version__
from envdoctor.renderers import layout, line, markdown, several
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TypeVar, Union

    from envdoctor.model import Finding, Group, Remedy, Report
    from envdoctor.plans import Move, Plan

    T = TypeVar("T")

    Child = Union[str, ET.Element, None]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: What begins a line of the file.
_BLOCKS = {"article", "details", "h1", "h2", "h3", "head", "p", "summary", "table", "tr"}
#: So many reasons of what could not be examined are listed.
_REASONS = 100
#: The darkest and the lightest of two neighbouring colours differ by 4.5 to 1 at least. Paper is always light.
_STYLE = """
.envdoctor {
  --page: #ffffff; --text: #1d1f21; --quiet: #5a5f66; --line: #d5d9de; --box: #f3f5f7; --link: #0b57d0;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
  box-sizing: border-box; max-width: 60rem; margin: 0 auto; padding: 1rem; text-align: left; color-scheme: light;
}
.envdoctor h1 { font-size: 1.5rem; margin: 0; }
.envdoctor h2 { font-size: 1.25rem; margin: 1.5rem 0 0; }
.envdoctor h3 { font-size: 1rem; margin: 0; }
.envdoctor p { margin: .25rem 0; }
.envdoctor .quiet { color: var(--quiet); font-size: .875em; }
.envdoctor article { border: 1px solid var(--line); border-left: .3rem solid #5a5f66; padding: .75rem; margin: 1rem 0; }
.envdoctor article.error { border-left-color: #b3261e; }
.envdoctor article.warning { border-left-color: #8a5300; }
.envdoctor article.info { border-left-color: #005f8a; }
.envdoctor .badge { background: #5a5f66; color: #ffffff; border-radius: .25rem; padding: 0 .4rem; }
.envdoctor .error .badge { background: #b3261e; }
.envdoctor .warning .badge { background: #8a5300; }
.envdoctor .info .badge { background: #005f8a; }
.envdoctor code { font: .875em/1.5 ui-monospace, monospace; background: none; color: inherit; padding: 0; }
.envdoctor .command { background: var(--box); display: block; padding: .5rem; margin: .25rem 0; white-space: pre-wrap; }
.envdoctor .command { user-select: all; }
.envdoctor details { margin: .5rem 0; }
.envdoctor summary { cursor: pointer; padding: .25rem 0; }
.envdoctor summary:focus-visible, .envdoctor a:focus-visible { outline: .2rem solid var(--link); }
.envdoctor a { color: var(--link); text-decoration: underline; }
.envdoctor table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .875em; }
.envdoctor th, .envdoctor td { border-bottom: 1px solid var(--line); padding: .25rem .5rem .25rem 0; text-align: left; }
.envdoctor th, .envdoctor td { vertical-align: top; font-weight: normal; min-width: 7em; }
.envdoctor table.plan td, .envdoctor table.plan th { min-width: 0; width: auto; overflow-wrap: break-word; }
.envdoctor th { color: var(--quiet); white-space: nowrap; width: 7em; }
@media screen and (prefers-color-scheme: dark) {
  .envdoctor {
    --page: #16191c; --text: #e8eaed; --quiet: #aab1b9; --line: #3c4249; --box: #23282d; --link: #8ab4f8;
    color-scheme: dark;
  }
  html.page { background: #16191c; }
}
@media print {
  .envdoctor { max-width: none; padding: 0; font-size: .8rem; }
  .envdoctor article { break-inside: avoid; }
  .envdoctor details::details-content { content-visibility: visible; block-size: auto; }
}
"""


def render(
    report: Report,
    *,
    width: int | None = None,
    color: bool | None = None,
    lines: int | None = None,
    plan: Plan | None = None,
) -> str:
    """Write a report as one HTML document, ending in a newline; with a plan, that is first."""  # fmt: skip
    head = _element(
        "head",
        _element("meta", charset="utf-8"),
        _element("meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        _element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        _element("title", f"envdoctor: {_headline(report)}"),
        _style(),
    )
    body = _element("body", _element("main", *_whole(report, plan), **{"class": "envdoctor"}), style="margin: 0")
    page = _element("html", head, body, lang="en", **{"class": "page"})
    return "<!doctype html>\n" + ET.tostring(page, encoding="unicode", method="html") + "\n"


def fragment(report: Report, heading: str = "") -> str:
    """The report as a part of another page, such as a notebook, with its own colours; without secrets."""
    from envdoctor.renderers.secrets import without_secrets

    part = _element("div", _style(), _quiet(heading), *_whole(without_secrets(report)), **{"class": "envdoctor"})
    return ET.tostring(part, encoding="unicode", method="html")


def _element(tag: str, *children: Child, **attributes: str) -> ET.Element:
    """An element with texts, in which control characters are spelled out, and other elements in it."""
    made = ET.Element(tag, {name: safe(value) for name, value in attributes.items()})
    made.tail = "\n" if tag in _BLOCKS else None
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            made.append(child)
            last = child
        elif child and last is None:
            made.text = (made.text or "") + safe(child)
        elif child and last is not None:
            last.tail = (last.tail or "") + safe(child)
    return made


def _style() -> ET.Element:
    made = ET.Element("style")
    made.text = _STYLE
    return made


def _quiet(*children: Child) -> ET.Element:
    return _element("p", *children, **{"class": "quiet"})


def _headline(report: Report) -> str:
    return several.headline(report) if report.parts else markdown.headline(report)


def _whole(report: Report, plan: Plan | None = None) -> Iterator[ET.Element]:
    yield _element("h1", _headline(report))
    what = "" if report.parts else line.subject(report.snapshot) + ", "
    yield _quiet(f"{what}{line.count(report.rules, 'rule')}, envdoctor {__version__}")
    yield from _plan(plan) if plan else ()
    for part in report.parts or [report]:
        if report.parts:
            yield _element("h2", str(part.snapshot.target["environment"]))
        yield from _of_environment(part, planned=plan is not None)
    left = [[str(item["path"]), str(item["reason"])] for item in report.snapshot.target.get("left_out", ())]
    yield from _folded("Left out", left, len(left))


def _of_environment(report: Report, *, planned: bool) -> Iterator[ET.Element]:
    """The report of one environment."""
    together = None if planned or report.planned else layout.together(report)
    if report.planned and not planned:
        yield _element("p", "Plan:", _element("code", report.planned[0], **{"class": "command"}))
        yield _quiet(report.planned[1])
    if together:
        yield _element("p", _element("code", together[0]), f" {together[1]}")
    for number, (heading, group) in enumerate(layout.headed(report)):
        if heading:
            yield _element("h2", heading)
        yield _article(group, report, unfolded=not number)
    for finding in report.ruled_out:
        yield _ruled_out(finding, report)
    if not layout.known(report):
        yield from _table(layout.understood(report), "th")
    if report.ignored:
        yield _quiet(f"{line.ignored(report).capitalize()}.")
    reasons = line.reasons(report, most=_REASONS)
    yield from _folded("What could not be examined", ([text] for text in reasons), len(reasons))
    yield from _environment(report)


def _environment(report: Report) -> Iterator[ET.Element]:
    """What was examined, and its distributions."""
    yield _element("h2", "Environment")
    cells = ((label, " · ".join(str(one) for one in said if one)) for label, said in markdown.environment(report))
    yield from _table(((label, said) for label, said in cells if said), "th")
    packages = report.snapshot.packages.values()
    rows = ([one.name, one.version or "version unknown"] for one in sorted(packages, key=lambda one: one.name))
    yield from _folded(f"All {line.count(len(packages), 'distribution')}", rows, len(packages))


def _plan(plan: Plan) -> Iterator[ET.Element]:
    """What to do about all findings together."""
    from envdoctor.renderers.plan import diff, headline

    yield _element("h2", f"Plan: {headline(plan).rstrip(':')}")
    if plan.moves:
        table = [_row("th", ("package", "from", "to", "step", "why")), *(_row("td", _move(one)) for one in plan.moves)]
        yield _element("table", *table, **{"class": "plan"})
    for label, edit in _labelled("Edit", plan.edits, ", edit", plan.instead_edits):
        lines = [part for text in diff(edit) for part in (text, _element("br"))]
        yield _element("p", f"{label}:", _element("code", *lines, **{"class": "command"}))
    if plan.line:
        yield _element("p", "Do:", _element("code", plan.line, **{"class": "command"}))
    for label, remedy in _labelled("By hand", plan.advice, "", plan.instead):
        yield from _remedy(label, remedy)
    yield from (_element("p", "Not cured: ", *_prose(one.title)) for one in plan.left)
    yield from (_element("p", f"No releases cure together: {'; '.join(names)}") for names in plan.conflicts)


def _move(one: Move) -> tuple[str, ...]:
    """The cells of a table for one step of a plan."""
    from envdoctor.renderers.plan import step

    return one.package, one.before or "-", one.after or "-", step(one), "; ".join(one.why)


def _labelled(label: str, some: Iterable[T], end: str, instead: Mapping[str, Iterable[T]]) -> Iterator[tuple[str, T]]:
    """What is to be done, under a label, and what could be done instead, by the rule that it is for."""
    yield from ((label, one) for one in some)
    yield from ((f"Or, for {rule}{end}", one) for rule, others in instead.items() for one in others)


def _row(tag: str, cells: Iterable[str]) -> ET.Element:
    return _element("tr", *(_element(tag, cell) for cell in cells))


def _article(group: Group, report: Report, *, unfolded: bool) -> ET.Element:
    """What one rule found: what to do is open, its evidence is folded."""
    finding = group.findings[0]
    badge = _element("span", finding.severity, **{"class": "badge"})
    made = _element("article", _element("h3", badge, " ", *_prose(group.title)), **{"class": finding.severity})
    made.append(_quiet(" · ".join((finding.rule, finding.impact, layout.credit(finding)))))
    for matched in finding.matched:
        made.append(_element("p", _element("code", line.one_line(matched))))
    if finding.matched:
        made.append(_quiet(layout.confirmation(finding, report)))
    for number, remedy in enumerate(group.remedies):
        made.extend(_remedy("Or" if number else "Fix", remedy))
    rows, _ = layout.rows(group, report)
    more = [*_table(rows), *(_element("p", *_prose(why)) for why in layout.whys(group))]
    more += [_quiet(_link(reference)) for reference in layout.references(group)]
    details = _element("details", _element("summary", "Evidence and reason"), *more)
    if unfolded:
        details.set("open", "")
    made.append(details)
    return made


def _remedy(label: str, remedy: Remedy) -> Iterator[ET.Element]:
    """A command by itself, so that a tap takes all of it; what costs or limits it below."""
    way = layout.way(remedy)
    tag = f" ({way.tag})" if way.tag else ""
    if way.typed:
        yield _element("p", f"{label}{tag}:", _element("code", way.text, **{"class": "command"}))
    else:
        yield _element("p", f"{label}{tag}: ", _element("strong", *_prose(way.text)))
    for text in (way.cost, *way.remarks):
        if text:
            yield _quiet(*_prose(text))


def _ruled_out(finding: Finding, report: Report) -> ET.Element:
    title = _element("h3", _element("span", "ruled out", **{"class": "badge"}), " ", *_prose(finding.title))
    rows = [(layout.found(one), layout.near(one.source, report)) for one in finding.evidence]
    return _element("article", title, _quiet(finding.rule), *_table(rows))


def _prose(text: str) -> Iterator[Child]:
    """Text with what is in back quotes as code."""
    for number, piece in enumerate(re.split(r"`([^`]+)`", line.one_line(text))):
        yield _element("code", piece) if number % 2 else piece


def _link(reference: str) -> ET.Element:
    if re.match(r"https?://", reference):
        return _element("a", reference, href=reference, rel="noreferrer")
    return _element("code", reference)


def _table(rows: Iterable[tuple[str, str]], first: str = "td") -> Iterator[ET.Element]:
    """What is said of what, a row each; no table where there are none."""
    made = [_element("tr", _element(first, what), _element("td", said)) for what, said in rows]
    if made:
        yield _element("table", *made)


def _folded(title: str, rows: Iterable[list[str]], number: int) -> Iterator[ET.Element]:
    """A folded table of so many rows; nothing where there are none."""
    if number:
        cells = (_element("tr", *(_element("td", line.one_line(text)) for text in row)) for row in rows)
        yield _element("details", _element("summary", title), _element("table", *cells))
