"""``envdoctor explain``."""

from __future__ import annotations

import codecs
import os
import sys

from envdoctor import doctor
from envdoctor.commands.options import (
    add_candidates,
    add_output,
    add_project,
    add_target,
    examine,
    parser_for,
    target_of,
)
from envdoctor.commands.output import show
from envdoctor.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

#: How much of a text is read, counted from its end.
LIMIT = 16 << 20


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
    parser.add_argument("--no-rules", action="store_true", help="ask no rule: only what follows from the text itself")
    add_output(parser)
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    options = parser.parse_args(words)
    if options.file == "-" and options.snapshot == "-":
        raise UsageError("the text and the snapshot cannot both come from stdin: give one of them as a file")
    if options.no_target and (given := target_of(options)):
        raise UsageError(f"--no-target leaves out what --{given[0]} names: give one of the two")
    text = read_text(options.file)
    if not text.strip():
        raise UsageError("there is no text to explain: give a file, or pipe a traceback or log into envdoctor explain")
    target = None if options.no_target else examine(options)
    report = doctor.explain(text, target, options.rules, candidates=options.candidates, ruled=not options.no_rules)
    show(report, options.format, options.output)
    return int(any(one.status != "derived" or one.severity != "info" for one in report.findings))


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``: its last :data:`LIMIT` bytes."""
    try:
        if path == "-":
            return _decoded(_end_of(sys.stdin.buffer)) if _prompted() else ""
        with open(path, "rb") as file:
            return _decoded(_end_of(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        name = "standard input" if path == "-" else repr(path)
        raise UsageError(f"{name} could not be read: {reason}; give the file of a traceback or log") from error


def _prompted() -> bool:
    """Whether there is a standard input; a person at it is told what to do."""
    if sys.stdin is None:
        return False
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        print(f"envdoctor: paste the traceback or log, then press {end}", file=sys.stderr)
    return True


def _end_of(stream: IO[bytes]) -> bytes:
    """All of a stream, or the last :data:`LIMIT` bytes of it: what went wrong stands at the end of a log."""
    kept = b""
    cut = False
    while True:
        chunk = stream.read(LIMIT)
        cut = cut or len(kept) + len(chunk) > LIMIT
        kept = (kept + chunk)[-LIMIT:]
        if len(chunk) < LIMIT:  # the end; a terminal would have to be told again that this is it
            break
    if cut:
        print(f"envdoctor: the text is long; its last {LIMIT >> 20} MiB are read", file=sys.stderr)
    return kept


def _decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 with a mark, as some shells on Windows redirect it; what is neither is replaced."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")
