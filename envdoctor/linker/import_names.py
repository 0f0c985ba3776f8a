"""The shipped index of import names: which distribution an import name is of, where the two are called differently.

``python -m envdoctor.workshop.import_index`` writes it.
"""

from __future__ import annotations

import gzip
import itertools

from envdoctor.engine.installed_requirements import normalise
from envdoctor.linker.history import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE = "import-names.gz"


def distributions(modules: Iterable[str]) -> dict[str, list[str]]:
    """By the first part of each dotted name, the distributions that it may be of, the likeliest first.

    By more of its parts, where a popular distribution is called like a module inside another. Without the names that
    are called like theirs, or unknown.
    """
    below = {normalise(part): part for module in modules for part in _parents(module)}
    lines = _shipped() if below else ""
    found = {}
    for name in sorted({module.partition(".")[0] for module in below.values()}):
        _, known, rest = lines.partition(f"\n{name} ")
        if known:
            found[name] = rest.partition("\n")[0].split()
    found.update((module, [name]) for name, module in below.items() if "." in module and f"\n{name}\n" in lines)
    return found


def _parents(module: str) -> Iterator[str]:
    """A dotted name without its last parts, and it itself."""
    return itertools.accumulate(module.split("."), "{}.{}".format)


def _shipped() -> str:
    """Each line an import name and its distributions, or one that is called like a module inside another.

    Nothing where the file cannot be read.
    """
    for path in places(FILE):
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                return f"\n{file.read()}\n"
        except (OSError, EOFError, ValueError):
            continue
    return ""
