"""A report on several environments of one target: a heading and a report for each, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.renderers import layout, line
from envdoctor.talk import safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from envdoctor.model import Report


def needed(report: Report) -> bool:
    """Whether a report has more to say than that of one environment."""
    return bool(report.parts or report.snapshot.target.get("left_out"))


def render(report: Report, form: str, one: Callable[[Report], str]) -> str:
    """Write the whole, ending in a newline; ``one`` writes the report of one environment in the same format."""
    mark, gap = ("## ", "\n") if form == "markdown" else ("", "")
    text = ""
    if report.parts:
        place = line.where(report.snapshot)
        tally = layout.tally(report.findings) if report.findings else "nothing known to be wrong"
        text = f"{mark}{line.count(len(report.parts), 'environment')} in {place}: {tally}\n\n"
    for part in report.parts or [report]:
        heading = safe(str(part.snapshot.target["environment"])) if report.parts else ""
        text += (f"{mark}{heading}\n{gap}" if heading else "") + one(part).rstrip("\n") + "\n\n"
    text = text.rstrip("\n") + "\n"
    left_out = report.snapshot.target.get("left_out", ())
    rows = [f"{safe(str(item['path']))}: {line.one_line(str(item['reason']))}" for item in left_out]
    return text + ("\nleft out:\n" + "".join(f"- {row}\n" for row in rows) if rows else "")
