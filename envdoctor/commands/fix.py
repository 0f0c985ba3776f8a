"""``envdoctor fix``."""

from __future__ import annotations

import os
import sys
from functools import partial

from envdoctor import doctor, fixing
from envdoctor.commands.carry_out import Wishes, applied, planned, result_of, shown
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import (
    TARGET_EXAMPLES,
    add_candidates,
    add_format,
    add_ignore,
    add_output,
    add_project,
    add_target,
    examine,
    parser_for,
    parted,
)
from envdoctor.commands.output import page_width, write
from envdoctor.errors import UsageError
from envdoctor.talk import say
from envdoctor.targets.project import default

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.commands.options import Parser
    from envdoctor.model import Report, Snapshot
    from envdoctor.plans import Plan
    from envdoctor.remedies.trial import Outcome


EXAMPLES = """\
  envdoctor fix --all                          warnings too
  envdoctor fix --try -- python -c "import app"
  envdoctor fix --try --apply -- pytest -x -q  apply it only if the tests pass with it, or did not before
  envdoctor fix -f html -o plan.html           the page of a report, with the plan in it
  envdoctor undo                               bring back what was
"""


def run(words: Sequence[str]) -> int:
    """``envdoctor fix``: 0 where nothing is left to do, 1 where there is a plan, or something that stays."""
    words, command = parted(words)
    options = parse(_parser(), words)
    if command and not options.attempt:
        raise UsageError("a command after -- is run before and after a plan is tried: give --try, too")
    more = {"candidates": options.candidates, "ignore": options.ignoring, "everything": options.all}
    more["project"] = options.project or default()
    wishes = Wishes(
        command=command, attempt=options.attempt, apply=options.apply, consent=options.yes_really,
        examine=lambda: examine(options),
        plan=lambda snapshot, **excluded: fixing.plan(snapshot, options.rules, **more, **excluded),
        check=lambda snapshot: doctor.check(
            snapshot, options.rules, candidates=options.candidates, ignore=options.ignoring
        ),
        broken=partial(fixing.broken_by, rules=options.rules) if options.link else None,
    )  # fmt: skip
    plan, snapshot, outcome = planned(wishes)
    if plan.line and not options.all:
        _keep(plan, wishes.check(snapshot))
    if options.format == "html":
        text = _page(plan, wishes.check(wishes.examine()))
    else:
        text = _said(plan, snapshot, outcome, options.format, plain=options.output is not None)
    write(text, options.output)
    for line in shown(outcome) if outcome else ():
        say(line)
    todo = any((plan.moves, plan.edits, plan.line))
    if options.apply and todo:
        applied(wishes, plan, snapshot)
        todo = False
    return int(any((todo, plan.advice, plan.left)))


def _keep(plan: Plan, report: Report) -> None:
    """Keep the line of a plan of all errors: ``check`` ends with it while they are the same."""
    from envdoctor.remedies import kept
    from envdoctor.renderers.line import count
    from envdoctor.renderers.plan import headline

    left = sum(one.severity == "error" for one in plan.left)
    kept.keep(str(plan.line), headline(plan).rstrip(":") + (f", {count(left, 'error')} left" if left else ""), report)


def _said(plan: Plan, snapshot: Snapshot, outcome: Outcome | None, form: str, *, plain: bool) -> str:
    """The plan as text or JSON, the latter with what its trial showed, without secrets."""
    from envdoctor.model import Report
    from envdoctor.renderers import line
    from envdoctor.renderers import plan as renderer
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.renderers.secrets import without_secrets

    report: Report = without_secrets(Report(snapshot=snapshot, findings=plan.left))
    redactor = Redactor(personal=False)
    if form == "json":
        return renderer.document(plan, report, result_of(outcome, redactor.text) if outcome else None)
    color = not plain and line.colorful(sys.stdout, os.environ)
    unicode = plain or line.carries_unicode(sys.stdout)
    if plan.is_empty:
        return line.verdict(report, color, unicode).partition(":")[0] + ": there is nothing to fix\n"
    text = renderer.text(plan, report, width=page_width(plain=plain), color=color, unicode=unicode)
    return redactor.text(text)


def _page(plan: Plan, report: Report) -> str:
    """The page of a report with the plan in it, without secrets."""
    from envdoctor.renderers import html
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.renderers.secrets import without_secrets

    return Redactor(personal=False).text(html.render(without_secrets(report), plan=None if plan.is_empty else plan))


def _parser() -> Parser:
    parser = parser_for(
        "fix",
        "Plan one set of changes that ends every error, and show it: fewest changes of what you asked for, then the\n"
        "smallest steps. uv says which releases go together; every plan is examined again before it is shown. The\n"
        "index that pip is configured with is asked for releases and their metadata. Nothing is changed, built or run\n"
        "without --try or --apply.",
        TARGET_EXAMPLES.format(command="fix") + EXAMPLES,
    )
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    add_ignore(parser)
    add_format(parser, ("text", "json", "html"))
    parser.add_argument("--all", action="store_true", help="end warnings too, not only errors")
    parser.add_argument(
        "--link", action="store_true",
        help="look into the wheels of what the plan moves for names and modules that others take of them and that are "
        "not there, as check --link does; a plan that would bring such an error is refused, and another one looked for",
    )  # fmt: skip
    group = parser.add_argument_group("carrying it out")
    group.add_argument(
        "--try", action="store_true", dest="attempt",
        help="carry the plan out in a copy of the environment first, and import there all that could be imported; what "
        "is behind -- is run before and after. A plan that breaks something is refused, and another one looked for",
    )  # fmt: skip
    group.add_argument(
        "--apply", action="store_true",
        help="carry the plan out and examine the environment again; where that fails all is put back. envdoctor undo "
        "brings back what was, also after a run that was killed",
    )  # fmt: skip
    group.add_argument(
        "--yes-really", action="store_true", help="apply it even to a Python that is no environment, or that is running"
    )
    add_output(parser, formats=False)
    return parser
