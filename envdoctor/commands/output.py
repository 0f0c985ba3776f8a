"""Where text goes: stdout or a file, with the colour and the letters that it can carry. On the plain path."""

from __future__ import annotations

import sys

from envdoctor.model import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        print(verdict(report))
    else:
        write(rendered(report, form, plain=output is not None), output)


def rendered(report: Report, form: str, *, plain: bool) -> str:
    """A report as text; ``plain`` for a file, which has neither colour nor a width of its own."""
    import os
    import shutil

    from envdoctor import renderers
    from envdoctor.renderers.line import colorful

    width = 100
    if not plain and (sys.stdout.isatty() or "COLUMNS" in os.environ):
        width = shutil.get_terminal_size((width, 24)).columns
    return renderers.load(form)(report, width=width, color=not plain and colorful(sys.stdout, os.environ))


def write(text: str, output: str | None) -> None:
    """Write to a file, or to stdout in whatever letters it has.

    Raises :class:`~envdoctor.errors.UsageError` where the file cannot be written.
    """
    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
        return
    try:
        with open(output, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        from envdoctor.errors import UsageError

        raise UsageError(f"{output} could not be written: {error.strerror}; choose another -o FILE") from error
