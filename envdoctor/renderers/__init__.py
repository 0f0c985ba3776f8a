"""Report -> text. One file per output format, one row each in :data:`FORMATS`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from envdoctor.model import Report

    class Render(Protocol):
        """What a renderer is: a report in, the whole text out, ending in a newline.

        ``width`` and ``color`` are ``None`` where standard output should decide, ``lines`` where there is no limit to
        them; formats without these ignore them.
        """

        def __call__(
            self, report: Report, *, width: int | None = None, color: bool | None = None, lines: int | None = None
        ) -> str:
            """Put the report into words."""


FORMATS = {
    "text": "envdoctor.renderers.terminal:render",
    "json": "envdoctor.renderers.json:render",
    "markdown": "envdoctor.renderers.markdown:render",
}


def load(name: str) -> Render:
    """Import the renderer of one format. Raises :class:`UsageError` for a name that is not in the table."""
    from importlib import import_module

    if name not in FORMATS:
        from envdoctor.errors import UsageError

        raise UsageError(f"there is no output format {name!r}; the formats are {', '.join(FORMATS)}")
    module, _, function = FORMATS[name].partition(":")
    render: Render = getattr(import_module(module), function)
    return render
