"""``envdoctor check``."""

from __future__ import annotations

import os
from argparse import Namespace

from envdoctor import doctor
from envdoctor.commands import instead
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
    target_of,
)
from envdoctor.commands.output import show, status, with_pages
from envdoctor.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from envdoctor.commands.options import Parser
    from envdoctor.model import Snapshot


def run(words: Sequence[str]) -> int:
    """``envdoctor check``."""
    options = parse(_parser(), words)
    if options.fetch and not options.link:
        raise UsageError("--fetch reads wheels for --link: give both")
    snapshot = _of_files(options) if options.files else examine(options)
    more: dict[str, Any] = {"candidates": options.candidates, "ignore": options.ignoring}
    if options.link:
        from envdoctor.commands.progress import talk

        with talk() as say:
            report = doctor.check(snapshot, options.rules, link=say, fetch=options.fetch, **more)
    else:
        report = doctor.check(snapshot, options.rules, **more)
    if options.baseline is not None:
        from envdoctor.commands.baseline import without_known

        report = without_known(report, options.baseline)
    show(with_pages(report, options.catalogue), options.format, options.output, everything=options.all)
    return status(report, options.fail_on)


def _of_files(options: Namespace) -> Snapshot:
    """The snapshot of one requirements or lock file, or of several, each to be judged by itself."""
    given = target_of(options)
    if given:
        raise UsageError(f"{options.files[0]} and --{given[0]} are both targets: give one")
    for file in options.files:
        meant = instead.word(file)
        if not os.path.isfile(file) or not (meant or "").startswith("envdoctor -r "):
            hint = f"; did you mean {meant}?" if meant else "; check takes requirements and lock files"
            raise UsageError(f"{file!r} is one word too many{hint}")
    snapshots = [examine(Namespace(**{**vars(options), "requirements": file})) for file in options.files]
    return doctor.together(snapshots, options.files)


def _parser() -> Parser:
    parser = parser_for(
        "check",
        "Examine an environment and print every known-bad combination in it, with the fix.",
        TARGET_EXAMPLES.format(command="check") + "  envdoctor check uv.lock docs/requirements.txt\n"
        "  envdoctor check -f json -o findings.json --fail-on warning\n",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="requirements or lock files, each judged by itself")
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
        "--baseline",
        metavar="FILE",
        help="count, but do not show, what an earlier run with -f json or -f sarif found: only what is new since fails",
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
