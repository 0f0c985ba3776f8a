"""Lines of text with a label in the gutter, wrapped for a page. Only colour imports rich."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    Part = tuple[str, str]
    Item = TypeVar("Item")

GUTTER = 10
_PROSE = 100
_ASCII = {"—": "-", "·": "-", "→": "->", "…": "..."}


class Page:
    """Lines under construction. ``cut`` tells whether something was left out of them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.cut = False
        self._lines: list[list[Part]] = []

    @property
    def height(self) -> int:
        """The rows of the terminal that the lines take; a long one takes several."""
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
        """Add words with a label, broken between words to fit the page."""
        breaks = _breaks("".join(text for text, _ in parts), min(self.width, _PROSE) - GUTTER)
        for piece in _divided(parts, breaks):
            self.row(label, *piece)
            label = ("", "")

    def fits(self, text: str) -> bool:
        """Whether a text stands in one line behind the gutter."""
        return cells(text) <= self.width - GUTTER

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
    if text.isascii() or text.replace("→", "-").replace("—", "-").isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def _plain(parts: Sequence[Part]) -> str:
    return "".join(text for text, _ in parts)


def _styled(parts: Sequence[Part]) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    return "".join(Style.parse(style).render(text, color_system=ColorSystem.STANDARD) for text, style in parts)


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where to break words into lines of a width; a longer word is left whole, so that it can be copied."""
    used = at = 0
    for word in text.split(" "):
        wide = cells(word)
        if used and used + wide > width:
            yield at
            used = 0
        used += wide + 1
        at += len(word) + 1


def _divided(parts: Iterable[Part], breaks: Iterable[int]) -> list[list[Part]]:
    """Parts cut at offsets into their joined text, the pieces between two of them together."""
    pieces: list[list[Part]] = [[]]
    ends = iter(breaks)
    at, end = 0, next(ends, None)
    for text, style in parts:
        while end is not None and end <= at + len(text):
            pieces[-1].append((text[: end - at], style))
            text, at = text[end - at :], end  # noqa: PLW2901 - the rest of it
            pieces.append([])
            end = next(ends, None)
        if text:
            pieces[-1].append((text, style))
        at += len(text)
    return [piece for piece in pieces if piece]
