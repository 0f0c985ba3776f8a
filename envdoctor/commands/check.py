"""``envdoctor check``."""

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
from envdoctor.commands.output import show, status
from envdoctor.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.commands.options import Parser


def run(words: Sequence[str]) -> int:
    """``envdoctor check``."""
    options = parse(_parser(), words)
    if options.fetch and not options.link:
        raise UsageError("--fetch reads wheels for --link: give both")
    more: dict[str, Any] = {"candidates": options.candidates, "ignore": options.ignoring}
    if options.link:
        from envdoctor.commands.progress import talk

        with talk() as say:
            report = doctor.check(examine(options), options.rules, link=say, fetch=options.fetch, **more)
    else:
        report = doctor.check(examine(options), options.rules, **more)
    show(report, options.format, options.output, everything=options.all)
    return status(report, options.fail_on)


def _parser() -> Parser:
    parser = parser_for(
        "check",
        "Examine an environment and print every known-bad combination in it, with the fix.",
        TARGET_EXAMPLES.format(command="check") + "  envdoctor check -f json -o findings.json --fail-on warning\n",
    )
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    add_ignore(parser)
    add_output(parser)
    parser.add_argument(
        "--fail-on",
        choices=["error", "warning", "info", "never"],
        default="error",
        help="the least severity that makes the exit status 1 (default: error); "
        "with warning, envdoctor does all that pip check does",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="also look for names and modules that installed distributions, the project and saved artefacts take of "
        "each other, or of Python, and that are not there; nothing is executed",
    )
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="with --link, where -r or --snapshot names what is not installed: read source and metadata of the wheels "
        "from the index that pip is configured with; they are kept, and nothing is executed",
    )
    return parser
