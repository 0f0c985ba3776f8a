"""``envdoctor report``."""

from __future__ import annotations

import shlex
from typing import Any

from envdoctor import doctor, explaining
from envdoctor.commands.configuration import parse
from envdoctor.commands.explain import frames_of, read_text
from envdoctor.commands.options import (
    TARGET_EXAMPLES,
    add_candidates,
    add_ignore,
    add_output,
    add_project,
    add_target,
    examine,
    parser_for,
    parted,
)
from envdoctor.commands.output import show
from envdoctor.engine import families
from envdoctor.probes import answered, machine
from envdoctor.probes.error_text import read as read_error
from envdoctor.renderers import snapshot_document
from envdoctor.renderers.redaction import Redactor
from envdoctor.rulebase import load
from envdoctor.rulebase.shipped import shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.facts import Questions
    from envdoctor.model import Report
    from envdoctor.probes.error_text import ErrorText

#: The families of errors that a compiler has a part in.
_BUILDS = {"build", "compile", "compiler"}
#: What is on this machine.
_HERE = {"interpreter", "process"}
#: So many lines of an error are kept, from its end.
_LINES = 200


def run(words: Sequence[str]) -> int:
    """``envdoctor report``."""
    parser = parser_for(
        "report",
        "Write the Markdown attachment for a bug report: machine, environment, findings, and the facts themselves,\n"
        "which envdoctor check --snapshot judges again elsewhere.\n"
        "Home directory, user and host names, credentials and tokens are left out, and their number is said.",
        TARGET_EXAMPLES.format(command="report") + "  envdoctor report -o report.md\n"
        "  envdoctor report --traceback error.log -o report.md -- python train.py\n",
    )
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    add_ignore(parser)
    add_output(parser, formats=False)
    parser.add_argument("--traceback", metavar="FILE", help="the error, to be explained too; - reads stdin")
    words, command = parted(words)
    options = parse(parser, words)
    text = read_text(options.traceback) if options.traceback else ""
    error_text = read_error(text)
    snapshot = examine(options, frames_of(error_text))
    found = doctor.check(snapshot, options.rules, candidates=options.candidates, ignore=options.ignoring)
    asked = doctor.asked_for(found, options.rules, candidates=options.candidates)
    found = doctor.with_known_packages(found, options.rules)
    attached = _attached(found, text, error_text, options.rules, asked)
    show(found.replace(attached={**attached, "command": shlex.join(command)}), "markdown", options.output)
    return 0


def _attached(
    found: Report, text: str, error_text: ErrorText, rules: Sequence[str], asked: Questions
) -> Mapping[str, Any]:
    """What the page has besides: the machine, the error with what explains it, and the facts."""
    wanted, public = doctor.wanted(rules), shipped().wanted["env"]
    vocabulary = load.words(load.further(rules))
    recorded = answered(found.snapshot, lambda now: snapshot_document.asked(now, wanted))
    document = snapshot_document.render(recorded, wanted, Redactor.of_this_user(public), asked)
    rows: list[Any] = []
    if found.snapshot.target.get("kind") in _HERE:
        rows += machine.rows(found.snapshot, vocabulary["machine"])
    attached: dict[str, Any] = {"machine": rows, "snapshot": document}
    if text.strip():
        clues = families.clues(error_text, vocabulary.get("voices"))
        if any(clue.family in _BUILDS for clue in clues):
            rows.append(("Compiler", machine.compiler()))
        explained = explaining.explain(error_text, found.snapshot, rules)
        attached.update(explained=explained, traceback=text.rstrip().splitlines()[-_LINES:])
    return attached
