"""``envdoctor fix``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from envdoctor import fixing
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import (
    TARGET_EXAMPLES,
    add_candidates,
    add_format,
    add_ignore,
    add_project,
    add_target,
    examine,
    parser_for,
)
from envdoctor.commands.output import page_width, write
from envdoctor.commands.progress import talk
from envdoctor.targets.project import default

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.commands.options import Parser
    from envdoctor.model import Report, Snapshot
    from envdoctor.plans import Plan


def run(words: Sequence[str]) -> int:
    """``envdoctor fix``: 0 where nothing is to be done, 1 where there is a plan, or something that stays."""
    options = parse(_parser(), words)
    more = {"candidates": options.candidates, "ignore": options.ignoring, "everything": options.all}
    more["project"] = options.project or default()
    with talk() as say:
        plan, snapshot = fixing.plan(examine(options), options.rules, tell=say, **more)
    write(_said(plan, snapshot, options.format, plain=options.output is not None), options.output)
    return int(bool(plan.moves or plan.edits or plan.advice or plan.left))


def _said(plan: Plan, snapshot: Snapshot, form: str, *, plain: bool) -> str:
    """The plan as text or JSON, without secrets."""
    from envdoctor.model import Report
    from envdoctor.renderers import line
    from envdoctor.renderers import plan as renderer
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.renderers.secrets import without_secrets

    report: Report = without_secrets(Report(snapshot=snapshot, findings=plan.left))
    if form == "json":
        return renderer.document(plan, report)
    color = not plain and line.colorful(sys.stdout, os.environ)
    unicode = plain or line.carries_unicode(sys.stdout)
    if not (plan.moves or plan.edits or plan.advice or plan.left):
        return line.verdict(report, color, unicode).partition(":")[0] + ": there is nothing to fix\n"
    text = renderer.text(plan, report, width=page_width(plain=plain), color=color, unicode=unicode)
    return Redactor(personal=False).text(text)


def _parser() -> Parser:
    parser = parser_for(
        "fix",
        "Plan one set of changes that ends every error, and show it: fewest changes of what you asked for, then the\n"
        "smallest steps. uv says which releases go together; every plan is examined again before it is shown. Nothing\n"
        "is changed, built or run. The index that pip is configured with is asked for releases and their metadata.",
        TARGET_EXAMPLES.format(command="fix") + "  envdoctor fix --all                          warnings too\n",
    )
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    add_ignore(parser)
    add_format(parser, ("text", "json"))
    parser.add_argument("--all", action="store_true", help="end warnings too, not only errors")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    return parser
