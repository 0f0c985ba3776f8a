"""Where text goes: stdout or a file, with the colour and the letters that it can carry. On the plain path."""

from __future__ import annotations

import sys

from envdoctor.model import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Finding, Report

#: How many screens a report takes at most, and the lines of one where there is no terminal.
SCREENS = 2
HEIGHT = 40


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


def with_pages(report: Report, catalogue: str | None) -> Report:
    """The report whose findings name, before other references, the page of their rule in a catalogue."""
    if not catalogue:
        return report

    def named(one: Finding) -> Finding:
        page = f"{catalogue.rstrip('/')}/rules/{one.rule}.html"
        has_page = one.references and one.status != "derived"  # each rule that somebody wrote has references
        found: Finding = one.replace(references=[page, *one.references]) if has_page else one
        return found

    linked: Report = report.replace(
        findings=[named(one) for one in report.findings],
        groups=[group.replace(findings=[named(one) for one in group.findings]) for group in report.groups],
        parts=[with_pages(part, catalogue) for part in report.parts],
    )
    return linked


def show(report: Report, form: str = "text", output: str | None = None, *, everything: bool = False) -> None:
    """Print a report in one of the formats, or write it to a file.

    Text is cut after :data:`SCREENS` screens unless ``everything`` is wanted.
    """
    said = report.findings or report.understood or report.parts or "left_out" in report.snapshot.target
    if form == "text" and output is None and not said:
        write(verdict(report) + "\n")
    else:
        write(rendered(report, form, plain=output is not None, everything=everything), output)


def rendered(report: Report, form: str, *, plain: bool, everything: bool = False) -> str:
    """A report as text; ``plain`` for a file, which has neither colour nor a size."""
    import os

    from envdoctor import doctor, renderers
    from envdoctor.renderers import several
    from envdoctor.renderers.line import colorful

    render, row = renderers.load(form), renderers.FORMATS[form]
    if row.document:
        report = doctor.prescribed(report)
    if row.machine:
        report = doctor.of_machine(report)
    if not row.redacts:
        from envdoctor.renderers.secrets import without_secrets

        report = without_secrets(report)
    width, height = _size(plain=plain)
    color = not plain and colorful(sys.stdout, os.environ)
    lines = None if everything else SCREENS * height
    if not row.document and several.needed(report):
        shared = lines and max(lines // max(len(report.parts), 1), height // 2)
        return several.render(report, form, lambda one: render(one, width=width, color=color, lines=shared))
    return render(report, width=width, color=color, lines=lines)


def _size(*, plain: bool) -> tuple[int | None, int]:
    """The columns and rows of a page: the terminal's; a pipe or a file has no columns, unless ``COLUMNS`` says so."""
    import os

    live = not plain and sys.stdout is not None and sys.stdout.isatty()
    if not (live or (not plain and "COLUMNS" in os.environ)):
        return None, HEIGHT
    import shutil

    columns, rows = shutil.get_terminal_size()
    return columns, rows if live else HEIGHT


def page_width(*, plain: bool) -> int | None:
    """The columns of a page, ``None`` where it has none."""
    return _size(plain=plain)[0]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of text in columns, a line each; on a terminal laid out by rich, with the last column below the first."""
    width = _size(plain=False)[0] if sys.stdout is not None and sys.stdout.isatty() else None
    if width is None:
        widths = [max(map(len, cells)) for cells in zip(*rows)]
        return "".join("  ".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in rows)
    import os

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from envdoctor.renderers.line import colorful
    from envdoctor.renderers.terminal import BADGES

    made = Table(*heads[1:-1], heads[0], box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, *middle, said in rows:
        cells = [Text(cell, style=BADGES.get(cell, "")) for cell in middle]
        made.add_row(*cells, Text.assemble((name, "bold"), "\n", said))
    color = colorful(sys.stdout, os.environ)
    console = Console(width=width, force_terminal=color, color_system="standard" if color else None)
    with console.capture() as captured:
        console.print(made)
    return captured.get()


def write(text: str, output: str | None = None) -> None:
    """Write to a file, or to stdout in whatever letters it has. A reader that has gone away is no failure.

    Raises :class:`~envdoctor.errors.UsageError` where it cannot be written.
    """
    from envdoctor.talk import discard, put

    try:
        if output is None:
            put(text, sys.stdout)
        else:
            with open(output, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
    except BrokenPipeError:
        discard(sys.stdout)
    except (OSError, ValueError) as error:
        from envdoctor.errors import UsageError

        if output is None:
            discard(sys.stdout)
        place = "standard output" if output is None else repr(output)
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the result could not be written to {place}: {reason}; give another -o FILE") from error


def say(text: str) -> None:
    """Print a line on stderr, without secrets, whether or not anybody can read it."""
    from envdoctor.renderers.redaction import Redactor
    from envdoctor.talk import tell

    tell(Redactor(personal=False).text(text) + "\n")
