"""Report -> text. One file per output format, one row each in :data:`FORMATS`."""

from __future__ import annotations

from envdoctor.facts import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
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


class Format(Row):
    """How a report is written, and what is made ready for it.

    ``render`` is ``module:function`` (a :class:`Render`). A ``document`` lists each finding with its own commands,
    and is one of all environments; other formats have a section for each, below a line that begins with ``heading``,
    and leave out whole ones after ``limit`` characters. A format that ``redacts`` leaves out more than secrets; one
    about the ``machine`` shows facts of it.
    """

    render: str
    document: bool = False
    machine: bool = False
    redacts: bool = False
    heading: str = ""
    limit: int | None = None


#: GitHub takes 65,536 characters, and whoever files a bug adds some.
_OF_A_BUG = 60_000
FORMATS: Mapping[str, Format] = {
    "text": Format(render="renderers.terminal:render"),
    "json": Format(render="renderers.json:render", document=True),
    "markdown": Format(render="renderers.markdown:render", machine=True, redacts=True, heading="## ", limit=_OF_A_BUG),
    "sarif": Format(render="renderers.sarif:render", document=True),
    "github": Format(render="renderers.annotations:render", document=True),
    "junit": Format(render="renderers.junit:render", document=True),
    "html": Format(render="renderers.html:render", document=True, machine=True),
}


def load(name: str) -> Render:
    """Import the renderer of one format. Raises :class:`UsageError` for a name that is not in the table."""
    if name not in FORMATS:
        from envdoctor.errors import UsageError

        raise UsageError(f"there is no output format {name!r}; the formats are {', '.join(FORMATS)}")
    render: Render = FORMATS[name].function("render")
    return render
