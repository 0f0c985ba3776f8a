"""The picture in docs/architecture.md: rooms, their size, and who imports whom, from the imports themselves.

    python benchmarks/architecture.py

Writes the block between the two marks of the page anew. Needs import-linter, whose graph it draws.
"""

from __future__ import annotations

import os
from collections import Counter

import grimp
import tool

PAGE = os.path.join(tool.CHECKOUT, "docs", "architecture.md")
BEGIN, END = "<!-- picture: made by benchmarks/architecture.py -->\n", "<!-- end of the picture -->\n"
#: What nearly everything imports, or what is alone: no arrows for these, they would be all that is seen.
COMMON = {"errors", "facts", "model", "_version", "plainjson", "talk", "__main__", "found", "tools", "remedy_kinds"}


def room(module: str) -> str:
    """The first part of a module's name below the package."""
    return [*module.split("."), "__init__"][1]


def picture(package: str = "envdoctor") -> str:
    """A Mermaid graph: each room with its modules and lines, an arrow for imports between two, by how many."""
    graph = grimp.build_graph(package)
    modules: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    arrows: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        here = room(module)
        modules[here] += 1
        lines[here] += _lines(module)
        for other in graph.find_modules_directly_imported_by(module):
            if room(other) != here and not {here, room(other)} & COMMON:
                arrows[here, room(other)] += 1
    drawn = sorted({one for pair in arrows for one in pair})
    boxes = [f'  {one}["{one}<br>{_count(modules[one])}, {lines[one]:,} lines"]' for one in drawn]
    links = [f"  {one} -->|{number}| {other}" for (one, other), number in sorted(arrows.items())]
    common = ", ".join(f"`{one}` ({lines[one]:,})" for one in sorted(COMMON) if lines[one])
    total = f"{len(graph.modules)} modules, {sum(lines.values()):,} lines. Without arrows: {common}."
    return "\n".join(["```mermaid", "graph TD", *boxes, *links, "```", "", total, ""])


def _count(number: int) -> str:
    return "1 module" if number == 1 else f"{number} modules"


def _lines(module: str) -> int:
    path = os.path.join(tool.CHECKOUT, *module.split("."))
    path = os.path.join(path, "__init__.py") if os.path.isdir(path) else path + ".py"
    with open(path, encoding="utf-8") as file:
        return sum(1 for _ in file)


def main() -> None:
    """Put the picture into the page."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    new = before + BEGIN + "\n" + picture() + "\n" + END + after
    with open(PAGE, "w", encoding="utf-8", newline="\n") as file:
        file.write(new)


if __name__ == "__main__":
    main()
