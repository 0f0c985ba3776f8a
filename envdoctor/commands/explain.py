"""``envdoctor explain``."""

from __future__ import annotations

import codecs
import functools
import os
import sys

from envdoctor import explaining
from envdoctor.commands import instead
from envdoctor.commands.configuration import parse
from envdoctor.commands.online import add_online, permitted
from envdoctor.commands.options import (
    add_candidates,
    add_output,
    add_project,
    add_target,
    examine,
    parser_for,
    target_of,
)
from envdoctor.commands.output import say, show, with_pages
from envdoctor.errors import UsageError
from envdoctor.probes.error_text import read as read_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from envdoctor.probes.error_text import ErrorText

#: How much of a text is read, counted from its end.
LIMIT = 16 << 20
#: How many bytes are read to reach that end; what goes on is taken to have none.
MOST = 1 << 30


def run(words: Sequence[str]) -> int:
    """``envdoctor explain``."""
    parser = parser_for(
        "explain",
        "Find the rules that explain a traceback or a log, ranked, and confirmed or ruled out by the environment:\n"
        "the one that the traceback's files lie in, where they are here, else the one that envdoctor check examines.",
        "examples:\n"
        "  envdoctor explain error.log\n"
        "  python train.py 2>&1 | envdoctor explain -\n"
        "  envdoctor explain --no-target <error.log    by the text alone\n"
        "  envdoctor explain error.log --snapshot facts.json\n",
    )
    parser.add_argument("file", nargs="?", default="-", help="the text; - or nothing reads stdin")
    parser.add_argument("--no-target", action="store_true", help="go by the text alone")
    parser.add_argument("--no-rules", action="store_true", help="ask no rule: only what follows from the text itself")
    add_online(parser)
    add_output(parser)
    add_target(parser)
    add_project(parser)
    add_candidates(parser)
    options = parse(parser, words)
    if options.file == "-" and options.snapshot == "-":
        raise UsageError("the text and the snapshot cannot both come from stdin: give one of them as a file")
    if options.no_target and (given := target_of(options)):
        raise UsageError(f"--no-target leaves out what --{given[0]} names: give one of the two")
    text = read_text(options.file)
    if not text.strip():
        raise UsageError("there is no text to explain: give a file, or pipe a traceback or log into envdoctor explain")
    error_text = read_error(text)
    frames = frames_of(error_text)
    target = None if options.no_target else examine(options, frames)
    if target is not None and target.siblings:
        from envdoctor.targets.traced import among

        target = among(target, frames)
    asked = {"candidates": options.candidates, "ruled": not options.no_rules}
    online = functools.partial(permitted, option=options.online)
    report = explaining.explain(error_text, target, options.rules, online=online, **asked)
    show(with_pages(report, options.catalogue), options.format, options.output, everything=options.all)
    return int(any(one.status != "derived" or one.severity != "info" for one in report.findings))


def frames_of(error_text: ErrorText) -> list[str]:
    """The files of the frames that run through something installed."""
    return [frame.file for failure in error_text.failures for frame in failure.frames if frame.installed]


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``: its last :data:`LIMIT` bytes."""
    try:
        if path == "-":
            return _decoded(_end_of(sys.stdin.buffer)) if _prompted() else ""
        with open(path, "rb", opener=_opened) as file:
            return _decoded(_end_of(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        name = "standard input" if path == "-" else repr(path)
        if instead.is_rule(path):
            raise UsageError(f"{name} is a rule and no file; did you mean envdoctor rules show {path}?") from error
        raise UsageError(f"{name} could not be read: {reason}; give the file of a traceback or log") from error


def _opened(path: str, flags: int) -> int:
    """Open a file; one that is a device, such as ``/dev/zero``, is refused, as it may never end."""
    import stat

    descriptor = os.open(path, flags)
    if stat.S_ISBLK(os.fstat(descriptor).st_mode) or (
        stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor) and path != os.devnull
    ):
        os.close(descriptor)
        raise ValueError("it is a device")
    return descriptor


def _prompted() -> bool:
    """Whether there is a standard input; a person at it is shown what to do."""
    if sys.stdin is None:
        return False
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        say(f"envdoctor: paste the traceback or log, then press {end}")
    return True


def _end_of(stream: IO[bytes]) -> bytes:
    """All of a stream, or the last :data:`LIMIT` bytes of it: a log has at its end what went wrong."""
    kept = b""
    cut = False
    seen = 0
    while True:
        chunk = stream.read(LIMIT)
        seen += len(chunk)
        if seen > MOST:
            raise ValueError(f"it goes on for more than {MOST >> 30} GiB")
        cut = cut or len(kept) + len(chunk) > LIMIT
        kept = (kept + chunk)[-LIMIT:]
        if len(chunk) < LIMIT:  # the end; at a terminal it would have to be typed again
            break
    if cut:
        say(f"envdoctor: the text is long; its last {LIMIT >> 20} MiB are read")
    return kept


def _decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 with a mark, as some shells on Windows redirect it; what is neither is replaced."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")
