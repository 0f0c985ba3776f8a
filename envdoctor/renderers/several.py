"""A report on several environments of one target: a heading and a report for each, and what was left out."""

from __future__ import annotations

from envdoctor.renderers import FORMATS, layout, line
from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envdoctor.model import Report

#: The characters that are kept for the list of what was left out, and for its last row.
_END, _MORE = 4_000, 40


def needed(report: Report) -> bool:
    """Whether a report has more to say than that of one environment."""
    return bool(report.parts or report.snapshot.target.get("left_out"))


def render(report: Report, form: str, one: Callable[[Report], str]) -> str:
    """Write the whole, ending in a newline; ``one`` writes the report of one environment in the same format.

    A format with a limit of characters ends there, with environments left out whole.
    """
    mark, limit = FORMATS[form].heading, FORMATS[form].limit
    gap = "\n" if mark else ""
    text = f"{mark}{headline(report)}\n\n" if report.parts else ""
    rows = [
        f"{safe(str(item['path']))}: {line.one_line(str(item['reason']))}"
        for item in report.snapshot.target.get("left_out", ())
    ]
    room = None if limit is None else limit - _END
    for part in report.parts or [report]:
        heading = safe(str(part.snapshot.target["environment"])) if report.parts else ""
        section = (f"{mark}{heading}\n{gap}" if heading else "") + one(part).rstrip("\n") + "\n\n"
        if room is None or len(text) + len(section) <= room:
            text += section
        else:
            rows.append(f"{heading}: {layout.tally(part.findings)}, for which there is no room; --python names it")
    return text.rstrip("\n") + "\n" + _left_out(rows, None if room is None else room + _END - len(text))


def headline(report: Report) -> str:
    """How many environments there are, where, and what was found in them."""
    files = report.snapshot.target.get("files")
    place = line.few(files) if files else line.where(report.snapshot)
    tally = layout.tally(report.findings) if report.findings else "nothing known to be wrong"
    return f"{line.count(len(report.parts), 'environment')} in {place}: {tally}"


def _left_out(rows: Sequence[str], room: int | None) -> str:
    """A list of what was left out, of as many rows as there is room for."""
    said = "\nleft out:\n" if rows else ""
    for number, row in enumerate(rows):
        if room is not None and len(said) + len(row) + _MORE > room:
            return said + f"- and {len(rows) - number:,} more\n"
        said += f"- {row}\n"
    return said
