"""Lines of text with a label in the gutter: wrapped and coloured by rich on a terminal, and as they are in a pipe."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    Part = tuple[str, str]
    Item = TypeVar("Item")

GUTTER = 10
_PROSE = 100
_ASCII = {"—": "-", "·": "-", "→": "->", "…": "..."}


class Page:
    """Lines under construction, of a terminal's ``width``, or ``None`` where nothing needs to be broken.

    ``cut`` tells whether something was left out of them.
    """

    def __init__(self, width: int | None) -> None:
        self.width = width
        self.cut = False
        self._lines: list[list[Part]] = []

    @property
    def height(self) -> int:
        """The rows of the terminal that the lines take; a long one takes several."""
        if self.width is None:
            return len(self._lines)
        return sum(max(1, -(-cells("".join(text for text, _ in parts)) // self.width)) for parts in self._lines)

    def put(self, *parts: Part) -> None:
        """Add one line that is never broken."""
        said = [part for part in parts if part[0]]
        while said and not said[-1][0].rstrip():
            said.pop()
        if said:
            said[-1] = (said[-1][0].rstrip(), said[-1][1])
        self._lines.append(said)

    def row(self, label: Part, *parts: Part) -> None:
        """Add one line with a label, never broken."""
        self.put((label[0].ljust(GUTTER), label[1]), *parts)

    def prose(self, label: Part, *parts: Part) -> None:
        """Add words with a label, broken between words to fit the page; nothing where there are none."""
        said = [part for part in parts if part[0]]
        wide = None if self.width is None else min(self.width, _PROSE) - GUTTER
        for piece in _broken(said, wide) if said else ():
            self.row(label, *piece)
            label = ("", "")

    def fits(self, text: str) -> bool:
        """Whether a text fits in one line behind the gutter."""
        return self.width is None or cells(text) <= self.width - GUTTER

    def add(self, other: Page) -> None:
        """Add the lines of another page."""
        self._lines += other._lines
        self.cut |= other.cut

    def some(self, items: Sequence[Item], most: int | None) -> Sequence[Item]:
        """The first so many of a list; ``None`` is all of it."""
        self.cut |= most is not None and len(items) > most
        return items[:most]

    def shortened(self, most: int | None) -> Page:
        """The page without its last lines where it is higher than so many rows."""
        while most is not None and self.height > most:
            self._lines.pop()
            self.cut = True
        return self

    def text(self, *, color: bool, unicode: bool) -> str:
        """Everything, with or without the terminal's colours and the marks beyond ASCII; ends with a newline."""
        write = _styled if color else _plain
        whole = "".join(write(parts) + "\n" for parts in self._lines)
        for mark, plain in {} if unicode else _ASCII.items():
            whole = whole.replace(mark, plain)
        return whole


def cells(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _plain(parts: Sequence[Part]) -> str:
    return "".join(text for text, _ in parts)


def _styled(parts: Sequence[Part]) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    return "".join(Style.parse(style).render(text, color_system=ColorSystem.STANDARD) for text, style in parts)


def _broken(parts: Sequence[Part], width: int | None) -> Iterator[Sequence[Part]]:
    """Parts broken between words into lines of a width, as rich does it.

    Where a word is longer than that, all of it is one line, which a terminal breaks in such a way that what is copied
    stays whole; rich would fold or crop it.
    """
    text = "".join(text for text, _ in parts)
    if width is None or cells(text) <= width or any(cells(word) > width for word in text.split(" ")):
        yield parts
        return
    from rich.console import Console
    from rich.text import Text

    for piece in Text.assemble(*parts).wrap(Console(width=width), width):
        styles = {at: str(span.style) for span in piece.spans for at in range(span.start, span.end)}
        ends = sorted({0, len(piece), *(end for span in piece.spans for end in (span.start, span.end))})
        yield [(piece.plain[start:end], styles.get(start, "")) for start, end in zip(ends, ends[1:])]
