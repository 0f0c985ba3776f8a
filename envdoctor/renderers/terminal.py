"""A report for a person: one line that counts, then what one rule found together, the worst first, and ways out.

On a terminal prose is wrapped; commands, paths and addresses never are, so that they can be copied. Only its own bold,
dim, red, yellow, green and cyan are used, which every theme, light or dark, makes legible. What does not fit into the
lines that are given is left out, from the end, and counted.
"""

from __future__ import annotations

import os
import sys
from itertools import starmap

from envdoctor.renderers import layout, line
from envdoctor.renderers.page import Page
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Optional

    from envdoctor.model import Finding, Group, Remedy, Report
    from envdoctor.renderers.page import Part

    #: Writes one part of a report: whole for ``None``, with lists of at most so many entries, or in brief for 0.
    Block = Callable[[Optional[int]], Page]

BADGES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_TAGS = {"workaround": "yellow", "by hand": "cyan"}
#: From the most to the least detail: how long lists may be; the last is a title and the first way out.
_DETAIL = (40, 12, 4, 0)
#: So many ways out are said, unless everything is wanted.
_WAYS = 3
_EVERYTHING = "--all shows everything"
#: The lines that the end of a report takes at most, without what could not be examined.
_END = 3
#: The columns of the narrowest page, and of one that nobody measured.
_NARROWEST, _USUAL = 40, 100
#: The characters of a text, unless everything is wanted.
_LONGEST = 600


def render(
    report: Report,
    *,
    width: int | None = None,
    color: bool | None = None,
    unicode: bool | None = None,
    lines: int | None = None,
) -> str:
    """Write a report as text in at most so many ``lines``, or all of it for ``None``. Ends with a newline.

    Prose is broken to fit ``width``; for ``None`` it is not, as in a pipe, which has none. Of the other options
    ``None`` means what suits standard output.
    """
    color = line.colorful(sys.stdout, os.environ) if color is None else color
    unicode = line.carries_unicode(sys.stdout) if unicode is None else unicode
    if not report.findings and not layout.explains(report):
        return line.verdict(report, color, unicode) + "\n"
    return _whole(Page(None if width is None else max(width, _NARROWEST)), report, lines).text(
        color=color, unicode=unicode
    )


def _whole(page: Page, report: Report, lines: int | None) -> Page:
    """All of a report: the headline, what was found, and what is left out or not known."""
    end = _together(page.width, report)
    end.add(_unknown(page.width, report, None if lines is None else lines // 4))
    if report.findings:
        page.put((layout.headline(report), "bold"), (layout.subject(report), ""))
        page.put()
    blocks = _blocks(page.width, report, lines)
    left = len(blocks) - _fit(page, blocks, None if lines is None else lines - end.height - _END)
    if not layout.known(report):
        _understood(page, report)
    if left or page.cut or end.cut:
        page.prose(("left out", "dim"), (_left_out(report, left), "dim"))
    page.add(end)
    return page


def _together(width: int | None, report: Report) -> Page:
    """The line of a plan that is known; else, where several findings have ways out, which may fight, who plans one."""
    page = Page(width)
    if report.planned:
        line, said = report.planned
        page.row(("plan", "green"), (safe(line), "bold"))
        page.prose(("", ""), (safe(said), ""))
        return page
    together = layout.together(report)
    if together:
        page.prose(("together", "dim"), (together[0], "bold"), (f" {together[1]}", ""))
    return page


def _blocks(width: int | None, report: Report, lines: int | None) -> list[Block]:
    def of_group(heading: str, group: Group) -> Block:
        return lambda most: _group(_begun(width, heading), group, report, most, lines)

    def of_ruled_out(finding: Finding) -> Block:
        return lambda most: _ruled_out(Page(width), finding, report, most)

    return [*starmap(of_group, layout.headed(report)), *map(of_ruled_out, report.ruled_out)]


def _begun(width: int | None, heading: str) -> Page:
    """A page with a heading, or an empty one."""
    page = Page(width)
    if heading:
        page.put((heading, "bold"))
        page.put()
    return page


def _fit(page: Page, blocks: Sequence[Block], lines: int | None) -> int:
    """Add as many blocks as fit, each in as much detail as the later ones leave room for; return how many."""
    if lines is None:
        for block in blocks:
            page.add(block(None))
        return len(blocks)
    room, briefs = lines - page.height, list[Page]()
    for block in blocks:
        brief = block(0)
        if briefs and brief.height > room:
            break
        room -= brief.height
        briefs.append(brief)
    for block, brief in zip(blocks, briefs):
        room += brief.height
        chosen = next((one for most in _DETAIL[:-1] for one in [block(most)] if one.height <= room), brief)
        room -= chosen.height
        page.add(chosen)
    return len(briefs)


def _left_out(report: Report, blocks: int) -> str:
    """How many findings are not shown at all, and how to see them."""
    groups = layout.groups(report)
    shown = max(len(groups) + len(report.ruled_out) - blocks, 0)
    missing = [finding for group in groups[shown:] for finding in group.findings]
    if not missing:
        return f"{f'{blocks:,} ruled out' if blocks else 'some details'}; {_EVERYTHING}"
    return f"{layout.tally(missing)}; {_EVERYTHING}"


def _group(page: Page, group: Group, report: Report, most: int | None, lines: int | None) -> Page:
    """What one rule found: with ``most`` entries of each list, all for ``None``, in brief for 0."""
    finding = group.findings[0]
    title = _shortened(page, line.one_line(group.title), lines)
    page.prose((finding.severity, BADGES[finding.severity]), (title, "bold"))
    page.row(("", ""), (" · ".join((finding.rule, finding.impact, layout.credit(finding))), "dim"))
    if most != 0:
        _matched(page, finding, report)
        _found(page, group, report, most)
        for number, why in enumerate(page.some(layout.whys(group), most)):
            page.prose(_label("" if number else "why"), (line.one_line(why), ""))
    remedies = page.some(group.remedies, None if most is None else min(most, _WAYS) or 1)
    for number, remedy in enumerate(remedies):
        _remedy(page, "or" if number else "fix", remedy, lines)
    if most == 0:
        page.cut = True
    else:
        for number, reference in enumerate(page.some(layout.references(group), most)):
            page.row(_label("" if number else "see"), (safe(reference), "cyan"))
    page.put()
    return page


def _shortened(page: Page, text: str, lines: int | None) -> str:
    if lines is None or len(text) <= _LONGEST:
        return text
    page.cut = True
    return text[:_LONGEST] + " ..."


def _label(text: str, style: str = "dim") -> Part:
    return (f"  {text}", style)


def _matched(page: Page, finding: Finding, report: Report) -> None:
    for number, matched in enumerate(finding.matched):
        page.prose(_label("" if number else "matched"), (line.one_line(matched), ""))
    if finding.matched:
        page.prose(_label(""), (layout.confirmation(finding, report), "green" if finding.confirmed else "yellow"))


def _found(page: Page, group: Group, report: Report, most: int | None) -> None:
    """The evidence: what and where; the place below where it does not fit beside."""
    rows, left = layout.rows(group, report, most)
    wide = min(max((len(what) for what, _ in rows), default=0), (page.width or _USUAL) // 3)
    for number, (what, place) in enumerate(rows):
        label = _label("" if number else "found")
        beside = what.ljust(wide) + "  "
        if page.fits(beside + place):
            page.row(label, (beside, ""), (place, "dim"))
        else:
            page.prose(label, (what, ""))
            page.row(_label(""), (f"  {place}", "dim"))
    if left:
        page.cut = True
        page.row(_label(""), (f"and {left:,} more", "dim"))


def _remedy(page: Page, label: str, remedy: Remedy, lines: int | None) -> None:
    """A command on one line, however long; words wrapped; and below, what it costs."""
    way = layout.way(remedy)
    gutter, mark = _label(label, "green"), (way.tag, _TAGS.get(way.tag, ""))
    if way.typed and lines is not None and len(way.text) > (page.width or _USUAL) * lines // 2:
        page.cut = True
        page.row(gutter, (f"one command of {len(way.text):,} characters, which --all shows", ""))
    elif way.typed:
        page.row(gutter, (way.text, "bold"))
    elif way.tag == "by hand":
        page.prose(gutter, mark, (": ", ""), (_shortened(page, way.text, lines), ""))
        mark = ("", "")
    else:
        page.prose(gutter, (_shortened(page, way.text, lines), "bold"))
    page.prose(_label(""), mark, (": " if mark[0] and way.cost else "", ""), (way.cost, ""))
    for remark in way.remarks:
        page.prose(_label(""), (remark, ""))


def _ruled_out(page: Page, finding: Finding, report: Report, most: int | None) -> Page:
    page.prose(("ruled out", "dim"), (line.one_line(finding.title), ""))
    page.row(("", ""), (finding.rule, "dim"))
    for number, item in enumerate(page.some(finding.evidence, most)):
        place = layout.near(item.source, report)
        page.row(_label("" if number else "because"), (layout.found(item), ""), (f"  {place}", "dim"))
    page.put()
    return page


def _understood(page: Page, report: Report) -> None:
    if report.rules:
        page.put((f"None of {line.count(report.rules, 'rule')} explains this.", "bold"))
    rows = layout.understood(report)
    for label, text in rows:
        page.prose(_label(label), (text, ""))
    page.put()
    if rows:
        page.put(("Once the cause is known, a rule spares the next person the search:", ""))
        page.put(("  ", ""), (layout.new_rule(report), "bold"))


def _unknown(width: int | None, report: Report, most: int | None) -> Page:
    """What could not be examined, and what is ignored, in at most so many lines."""
    page = Page(width)
    if report.ignored:
        page.prose(("ignored", "dim"), (line.count(len(report.ignored), "finding"), "dim"))
    listed = line.FEW if most is not None else len(report.unknown) + len(report.snapshot.notes)
    for number, reason in enumerate(line.reasons(report, most=listed)):
        page.prose(("" if number else "unknown", "dim"), (reason, "dim"))
    return page.shortened(most)
