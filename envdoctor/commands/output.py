"""Where text goes: stdout or a file, with the colour and the letters that it can carry. On the plain path."""

from __future__ import annotations

import sys

from envdoctor.model import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    from envdoctor.model import Report


def verdict(report: Report) -> str:
    """The line for a report without findings, as this terminal can show it."""
    from os import environ

    from envdoctor.renderers.line import carries_unicode, colorful
    from envdoctor.renderers.line import verdict as line

    return line(report, color=colorful(sys.stdout, environ), unicode=carries_unicode(sys.stdout))


def status(report: Report, fail_on: str) -> int:
    """The exit status: 1 where a finding is at or above ``fail_on``, else 0."""
    if fail_on == "never":
        return 0
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return int(any(finding.severity in failing for finding in report.findings))


def show(report: Report, form: str = "text", output: str | None = None) -> None:
    """Print a report in one of the formats, or write it to a file."""
    if form == "text" and output is None and not (report.findings or report.understood):
        write(verdict(report) + "\n")
    else:
        write(rendered(report, form, plain=output is not None), output)


def rendered(report: Report, form: str, *, plain: bool) -> str:
    """A report as text; ``plain`` for a file, which has neither colour nor a width of its own."""
    import os
    import shutil

    from envdoctor import renderers
    from envdoctor.renderers.line import colorful

    width = 100
    if not plain and ((sys.stdout and sys.stdout.isatty()) or "COLUMNS" in os.environ):
        width = shutil.get_terminal_size((width, 24)).columns
    if form != "markdown":  # which leaves out more than that
        from envdoctor.renderers.secrets import without_secrets

        report = without_secrets(report)
    return renderers.load(form)(report, width=width, color=not plain and colorful(sys.stdout, os.environ))


def write(text: str, output: str | None = None) -> None:
    """Write to a file, or to stdout in whatever letters it has. A reader that has gone away is no failure.

    Raises :class:`~envdoctor.errors.UsageError` where it cannot be written.
    """
    try:
        if output is None:
            _print(text, sys.stdout)
        else:
            with open(output, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
    except BrokenPipeError:
        _discard_output()
    except (OSError, ValueError) as error:
        from envdoctor.errors import UsageError

        if output is None:
            _discard_output()
        place = "standard output" if output is None else repr(output)
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the result could not be written to {place}: {reason}; give another -o FILE") from error


def say(text: str) -> None:
    """Print a line on stderr, without secrets; where that cannot be written, nobody is told."""
    import contextlib

    from envdoctor.renderers.redaction import Redactor

    with contextlib.suppress(OSError, ValueError):
        _print(Redactor(personal=False).text(text) + "\n", sys.stderr)


def _print(text: str, stream: IO[str] | None) -> None:
    if stream is None:  # it was closed before envdoctor started
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(harmless(text).encode(encoding, "replace").decode(encoding))
    stream.flush()


def harmless(text: str) -> str:
    """Text in which a terminal finds nothing to act on but line ends, tabs and the colours of envdoctor itself.

    Everything that is printed passes here, so that no file name, message or rule can move the cursor, turn the
    direction of reading or answer for the person at the keyboard.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    parts = text.split("\x1b[")
    shown = [_lines(parts[0])]
    for part in parts[1:]:
        numbers, mark, rest = part.partition("m")
        is_color = mark and all(one.isdigit() and one.isascii() for one in numbers.replace(";", ""))
        shown.append("\x1b[" + numbers + "m" + _lines(rest) if is_color else _lines("\x1b[" + part))
    return "".join(shown)


def _lines(text: str) -> str:
    from envdoctor.renderers.line import safe

    return "\n".join("\t".join(safe(piece) for piece in line.split("\t")) for line in text.split("\n"))


def _discard_output() -> None:
    """Keep the interpreter from complaining when it flushes what could not be written, at exit."""
    import contextlib
    import os

    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor holds nothing back
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
