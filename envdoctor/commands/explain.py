"""``envdoctor explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from envdoctor import doctor
from envdoctor.commands.options import add_output, add_target, examine, parser_for
from envdoctor.commands.output import show
from envdoctor.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(words: Sequence[str]) -> int:
    """``envdoctor explain``."""
    parser = parser_for(
        "explain",
        "Find the rules that explain a traceback or a log, ranked, and confirmed or ruled out by the environment.",
        "examples:\n"
        "  envdoctor explain error.log\n"
        "  python train.py 2>&1 | envdoctor explain -\n"
        "  envdoctor explain --no-target <error.log    by the text alone\n"
        "  envdoctor explain error.log --snapshot facts.json\n",
    )
    parser.add_argument("file", nargs="?", default="-", help="the text; - or nothing reads stdin")
    parser.add_argument("--no-target", action="store_true", help="go by the text alone")
    add_output(parser)
    add_target(parser)
    options = parser.parse_args(words)
    if options.file == "-" and options.snapshot == "-":
        raise UsageError("the text and the snapshot cannot both come from stdin: give one of them as a file")
    text = _read_text(options.file)
    if not text.strip():
        raise UsageError("there is no text to explain: give a file, or pipe a traceback or log into envdoctor explain")
    report = doctor.explain(text, None if options.no_target else examine(options), options.rules)
    show(report, options.format, options.output)
    return int(bool(report.findings))


def _read_text(path: str) -> str:
    if path == "-":
        if sys.stdin.isatty():
            print("envdoctor: paste the traceback or log, then press Ctrl-D", file=sys.stderr)
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path} could not be read: {error.strerror}") from error
