"""A measured grid as text for a terminal, and as a picture that needs nothing else: SVG, or HTML around it. Pure."""

from __future__ import annotations

from html import escape

from envdoctor.workshop.proof.edge_search import GOOD, UNBUILT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.workshop.proof.matrix import Grid, Square

_SIGNS = {GOOD: "ok", UNBUILT: "-"}
#: Colours that stay apart for those who see no red and green: blue for what passes, orange for what fails, and paler
#: the more of it passes.
_GOOD, _BAD, _PART, _NONE = (38, 120, 178), (214, 104, 20), (248, 219, 166), (224, 224, 224)
_INK, _PAPER = "#1b1f24", "#ffffff"
_WIDE, _HIGH, _LEFT, _TOP, _LEGEND = 58, 26, 110, 74, 54


def text(grid: Grid) -> str:
    """The grid in columns: ``ok``, ``-`` where nothing could be built, a count, or ``x``."""
    table = [["", *grid.columns.versions]]
    table += [[row, *map(_sign, squares)] for row, squares in zip(grid.rows.versions, grid.squares)]
    widths = [max(len(line[number]) for line in table) for number in range(len(table[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in table]
    return (
        "\n".join([f"{grid.rows.name} (down) and {_named(grid.columns.name)} (across)", *lines, *_legend(grid)]) + "\n"
    )


def _named(axis: str) -> str:
    return "Python" if axis == "python" else axis


def _sign(square: Square) -> str:
    return _SIGNS.get(square.outcome) or square.text or "x"


def _legend(grid: Grid) -> list[str]:
    said = ["", "ok passes, x fails, - cannot be built"]
    if any(square.text for row in grid.squares for square in row):
        said[1] += "; a number is how many of the script's objects pass"
    return said


def svg(grid: Grid) -> str:
    """The grid as one self-contained SVG; each square tells its symptom where the pointer rests."""
    width = _LEFT + _WIDE * len(grid.columns.versions) + 16
    height = _TOP + _HIGH * len(grid.rows.versions) + _LEGEND
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    look = f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(grid.title)}" {look}>',
        f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>',
        f'<text x="12" y="22" font-size="14" font-weight="600">{escape(grid.title)}</text>',
        f'<text x="12" y="{_TOP - 10}">{escape(grid.rows.name)}</text>',
        f'<text x="{_LEFT}" y="{_TOP - 28}">{escape(_named(grid.columns.name))}</text>',
    ]
    for number, name in enumerate(grid.columns.versions):
        parts.append(_label(_LEFT + _WIDE * number + _WIDE // 2, _TOP - 10, name, "middle"))
    for row, (name, squares) in enumerate(zip(grid.rows.versions, grid.squares)):
        parts.append(_label(_LEFT - 10, _TOP + _HIGH * row + 17, name, "end"))
        parts += [_square(one, _LEFT + _WIDE * column, _TOP + _HIGH * row) for column, one in enumerate(squares)]
    return "\n".join([*parts, *_key(height), "</svg>"]) + "\n"


def _label(x: int, y: int, said: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(said)}</text>'


def _square(one: Square, x: int, y: int) -> str:
    sign = {GOOD: "✓", UNBUILT: "-"}.get(one.outcome) or one.text or "✗"
    ink = _INK if one.outcome == UNBUILT or 0 < one.share < 1 else _PAPER
    box = f'x="{x + 1}" y="{y + 1}" width="{_WIDE - 2}" height="{_HIGH - 2}" rx="3" fill="{_colour(one)}"'
    said = f'<text x="{x + _WIDE // 2}" y="{y + 17}" text-anchor="middle" fill="{ink}">{sign}</text>'
    return f"<g><title>{escape(one.symptom or one.outcome)}</title><rect {box}/>{said}</g>"


def _colour(one: Square) -> str:
    if one.outcome == UNBUILT:
        return _hex(_NONE)
    mixed = [round(bad + (part - bad) * one.share) for bad, part in zip(_BAD, _PART)]
    return _hex(_GOOD if one.outcome == GOOD else mixed)


def _hex(colour: Sequence[int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _key(height: int) -> list[str]:
    rows = ((_GOOD, "passes"), (_BAD, "fails; a number is how many pass"), (_NONE, "cannot be built"))
    parts, x = [], _LEFT
    for colour, said in rows:
        parts.append(f'<rect x="{x}" y="{height - 34}" width="14" height="14" rx="3" fill="{_hex(colour)}"/>')
        parts.append(_label(x + 20, height - 23, said, "start"))
        x += 34 + 7 * len(said)
    return parts


def html(grid: Grid) -> str:
    """The picture as a separate page."""
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(grid.title)}</title>\n'
        f"<body>\n{svg(grid)}</body>\n</html>\n"
    )


#: How a file's ending chooses the form.
FORMS = {".svg": svg, ".html": html, ".txt": text}
