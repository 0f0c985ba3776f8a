"""``envdoctor report``."""

from __future__ import annotations

from envdoctor import doctor
from envdoctor.commands.configuration import parse
from envdoctor.commands.options import (
    TARGET_EXAMPLES,
    add_candidates,
    add_ignore,
    add_output,
    add_project,
    add_target,
    examine,
    parser_for,
)
from envdoctor.commands.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run(words: Sequence[str]) -> int:
    """``envdoctor report``."""
    parser = parser_for(
        "report",
        "Write the Markdown attachment for a bug report: the environment, the findings, the packages that matter.\n"
        "Home directory, user and host names, credentials and tokens are left out, and their number is said.",
        TARGET_EXAMPLES.format(command="report") + "  envdoctor report -o report.md\n",
    )
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    add_ignore(parser)
    add_output(parser, formats=False)
    options = parse(parser, words)
    examined = doctor.check(examine(options), options.rules, candidates=options.candidates, ignore=options.ignoring)
    show(doctor.with_known_packages(examined, options.rules), "markdown", options.output)
    return 0
