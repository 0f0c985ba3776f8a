"""A plan for a person, and as JSON whose shape ``docs/plan.schema.json`` promises."""

from __future__ import annotations

import difflib
from itertools import chain

from envdoctor._version import __version__
from envdoctor.renderers import json, layout, line
from envdoctor.renderers.page import Page, cells
from envdoctor.renderers.terminal import BADGES
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.model import Remedy, Report
    from envdoctor.plans import Edit, Move, Plan
    from envdoctor.renderers.page import Part

_STEPS = {"major": "bold yellow", "removed": "bold red"}
#: So many of the findings that stay are said, and of what could be done instead of a step.
_LEFT = 8


def document(plan: Plan, report: Report, trial: Mapping[str, object] | None = None) -> str:
    """A plan as JSON. ``report`` is of what was examined, with the findings that the plan leaves."""
    target = json.of_target(report)
    made = {
        "moves": [one.as_dict() for one in plan.moves],
        "edits": [one.as_dict() for one in plan.edits],
        "advice": [json.of_remedy(one) for one in plan.advice],
        "instead": {rule: [json.of_remedy(one) for one in some] for rule, some in plan.instead.items()},
        "instead_edits": {rule: [one.as_dict() for one in some] for rule, some in plan.instead_edits.items()},
        "left": [json.of_finding(one) for one in report.findings],
        "conflicts": plan.conflicts,
        "command": plan.line,
        "python": plan.python,
    }
    return json.dump({"envdoctor": __version__, "target": target, "plan": made, "trial": trial})


def text(plan: Plan, report: Report, *, width: int | None, color: bool, unicode: bool) -> str:
    """A plan as a table, the edits, the one command, what is to be done besides, and what it does not cure."""
    page = Page(width)
    page.put((headline(plan), "bold"), (f" {line.subject(report.snapshot)}", ""))
    page.put()
    _moves(page, plan.moves)
    for one in plan.edits:
        _edit(page, one)
    if plan.line:
        page.row(("do", "green"), (safe(plan.line), "bold"))
        page.put()
    for remedy in plan.advice:
        _advice(page, remedy)
    for rule, some in plan.instead_edits.items():
        for one in some:
            _edit(page, one, "or", f"in place of the steps for {rule}; ")
    others = [(rule, remedy) for rule, some in plan.instead.items() for remedy in some]
    for rule, remedy in others[:_LEFT]:
        _advice(page, remedy, "or", f"in place of the steps for {safe(rule)}")
    _left(page, plan, report)
    return page.text(color=color, unicode=unicode)


def headline(plan: Plan) -> str:
    """How many steps a plan has, and what else is to be done."""
    steps = line.count(len(plan.moves), "step")
    if plan.python:
        steps = f"a new environment with Python {plan.python}, {steps}"
    more = [line.count(len(plan.edits), "file") + " to edit"] if plan.edits else []
    more += [line.count(len(plan.advice), "thing") + " to do by hand"] if plan.advice else []
    return ", ".join([steps, *more]) + ":"


def _moves(page: Page, moves: Sequence[Move]) -> None:
    """A row for each step, with its reasons in the last column, or below it where the page is too narrow for that.

    A table of rich would fold names and reasons, which are copied.
    """
    if not moves:
        return
    rows = [(safe(one.package), one.before or "-", one.after or "-", step(one)) for one in moves]
    heads = ("package", "from", "to", "step")
    widths = [max(map(len, column)) + 2 for column in zip(heads, *rows)]
    reasons = [list(map(safe, one.why)) for one in moves]
    longest = max(map(cells, chain(*reasons)), default=0)
    column = sum(widths) if page.width is None or sum(widths) + longest <= page.width else None
    page.put(*((cell.ljust(wide), "dim") for cell, wide in zip((*heads, "why" if column else ""), (*widths, 0))))
    for one, row, some in zip(moves, rows, reasons):
        styles = ("bold", "", "", _STEPS.get(one.step, ""))
        _row(page, list(zip(map(str.ljust, row, widths), styles)), some, column)
    page.put()


def _row(page: Page, step: Sequence[Part], reasons: Sequence[str], column: int | None) -> None:
    """A step, with its reasons from a column on, or below it."""
    beside = 0 if column is None else 1
    page.put(*step, *((why, "") for why in reasons[:beside]))
    for why in reasons[beside:]:
        page.put((" " * (column or 2), ""), (why, ""))


def step(one: Move) -> str:
    """What kind of step a move is, and whether the user has asked for what it moves."""
    said = f"{one.step} down" if one.down else one.step
    return f"{said}, asked for" if one.asked and one.before else said


def _edit(page: Page, edit: Edit, label: str = "edit", remark: str = "") -> None:
    """What changes in a file, as a diff that patch takes."""
    said = safe(remark + ", ".join(edit.why))
    page.row((label, "green"), (safe(edit.path), "bold"), (f"  {said}", "dim"))
    for one in diff(edit):
        page.put((safe(one), {"+": "green", "-": "red"}.get(one[:1], "dim")))
    page.put()


def diff(edit: Edit) -> Iterator[str]:
    """The lines of a unified diff of a file."""
    before = (edit.before or "").splitlines()
    yield from difflib.unified_diff(before, edit.after.splitlines(), edit.path, edit.path, lineterm="", n=1)


def _advice(page: Page, remedy: Remedy, label: str = "by hand", remark: str = "") -> None:
    way = layout.way(remedy)
    place = f"{remedy.file}:{remedy.line}" if remedy.line else remedy.file or ""
    page.prose((label, "cyan"), (way.text, "bold"), (f"  {safe(place)}" * (remedy.kind != "set"), "dim"))
    page.prose(("", ""), ("; ".join(filter(None, (remark, way.cost))), "" if way.cost else "dim"))


def _left(page: Page, plan: Plan, report: Report) -> None:
    """What the plan does not cure, and what cannot be cured together."""
    for number, one in enumerate(report.findings[:_LEFT]):
        label = "" if number else "not cured"
        page.prose((label, "yellow"), (one.severity, BADGES[one.severity]), (f" {line.one_line(one.title)}", ""))
    if len(report.findings) > _LEFT:
        page.row(("", ""), (f"and {len(report.findings) - _LEFT:,} more, listed by -f json", "dim"))
    for names in plan.conflicts:
        page.prose(("conflict", "bold red"), ("no releases cure together: " + "; ".join(map(safe, names)), ""))
