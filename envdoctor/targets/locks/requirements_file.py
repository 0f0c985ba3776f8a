"""``requirements.txt`` and its like."""

from __future__ import annotations

from envdoctor.errors import ProbeError
from envdoctor.targets.locks.contents import Contents
from envdoctor.targets.locks.requirement_lines import Lines, pinned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.targets.locks.contents import Source, Stated


def read(source: Source, stated: Stated) -> Contents:
    """The requirements of a file and of those it names. Raises :class:`ProbeError`."""
    lines = Lines(stated.markers())
    lines.file(source)
    if lines.refused and not lines.read:
        raise ProbeError(
            f"{source.path} could not be read as a requirements file, no line of it is a requirement: "
            "give a requirements or lock file",
        )
    entries = lines.entries()
    target = {} if lines.complete else pinned(entries, lines.nameless)
    return Contents(entries=entries, complete=lines.complete, target=target, notes=lines.notes)
