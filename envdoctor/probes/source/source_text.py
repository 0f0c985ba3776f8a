"""The text of a source file, and that of a notebook's code cells."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Larger files are not scanned.
MOST_BYTES = 2 << 20
#: The last line of a text that is a notebook's: what it defines, no other process can import.
NOTEBOOK = "# the end of a notebook\n"
#: Cell magics after which Python follows.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")


class TextError(Exception):
    """A file is no text that Python could read."""


class SourceText:
    """Source text; ``cells`` has the first line of each code cell of a notebook with its number.

    ``gaps`` are cells that Python does not understand, ``unreadable`` says why there is no text at all.
    """

    def __init__(
        self, source: str, cells: list[tuple[int, int]] | None = None, gaps: Sequence[str] = (), unreadable: str = ""
    ) -> None:
        self.source = source
        self.cells = cells
        self.gaps = gaps
        self.unreadable = unreadable

    def place(self, line: int) -> dict[str, int | None]:
        """The ``line``; of a notebook ``None``, and the number of the code ``cell`` and the ``row`` in it instead."""
        if self.cells is None:
            return {"line": line}
        first, number = max((pair for pair in self.cells if pair[0] <= line), default=(1, 1))
        return {"line": None, "cell": number, "row": line - first + 1}


def decode(name: str, data: bytes) -> SourceText:
    """The text of a file. Raises ``TextError``."""
    if name.endswith(".ipynb"):
        return _notebook(data)
    if len(data) > MOST_BYTES:
        raise TextError(f"it has {len(data)} bytes, and more than {MOST_BYTES} are not read")
    if b"\0" in data:
        raise TextError("it contains null bytes")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, LookupError, ValueError) as error:
        raise TextError(f"its encoding is not understood: {error}") from None
    return SourceText(text.replace("\r\n", "\n").replace("\r", "\n"))


def _notebook(data: bytes) -> SourceText:
    try:
        cells = json.loads(data)["cells"]
        sources = [_cell(cell) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TextError("it is not a notebook of format 4") from None
    lines: list[str] = []
    starts = []
    gaps = []
    for number, source in enumerate(sources, 1):
        error = _error(source)
        if error is not None:
            gaps.append(f"cell {number}: {error}")
            continue
        starts.append((len(lines) + 1, number))
        lines += source.split("\n")
    return SourceText("\n".join([*lines, NOTEBOOK]), starts, gaps)


def _cell(cell: Any) -> str:
    """The Python of a code cell; lines for the shell and for the notebook itself are left out."""
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("%%") and not text.lstrip().startswith(_PYTHON_CELLS):
        return ""
    text = re.sub(r"(?m)^([ \t]*)[%!?].*$", r"\1pass", text)
    return re.sub(r"(?m)^([ \t]*)\w+[ \t]*=[ \t]*[%!].*$|^[ \t]*[\w.]+\?{1,2}[ \t]*$", r"\1pass", text)


def _error(source: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return str(error) or "it is nested too deeply"
    return None
