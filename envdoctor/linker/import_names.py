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
    tops = {module.partition(".")[0] for module in below.values()}
    found = {}
    for line in _shipped() if below else ():
        name, _, names = line.partition(" ")
        if names and name in tops:
            found[name] = names.split()
        elif not names and "." in below.get(name, ""):
            found[below[name]] = [name]
    return found


def _parents(module: str) -> Iterator[str]:
    """A dotted name without its last parts, and it itself."""
    return itertools.accumulate(module.split("."), "{}.{}".format)


def _shipped() -> list[str]:
    """Each line an import name and its distributions, or one that is called like a module inside another.

    None where the file cannot be read.
    """
    for path in places(FILE):
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                return file.read().splitlines()
        except (OSError, EOFError, ValueError):
            continue
    return []
