"""The shipped index of import names: which distribution an import name is of, where the two are called differently.

``python -m envdoctor.workshop.import_index`` writes it.
"""

from __future__ import annotations

import gzip
import re

from envdoctor.linker.history import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "import-names.gz"


def distributions(modules: Iterable[str]) -> dict[str, str]:
    """The distribution of the first part of each dotted name; without those that are called like theirs, or unknown."""
    tops = {module.partition(".")[0] for module in modules}
    text = _shipped() if tops else ""
    wanted = "|".join(map(re.escape, sorted(tops)))
    return dict(re.findall(rf"^({wanted}) (.+)$", text, re.MULTILINE)) if wanted else {}


def _shipped() -> str:
    """One line for each name: the import name, a space, and the distribution; empty where the file cannot be read."""
    for path in places(FILE):
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                return file.read()
        except (OSError, EOFError, ValueError):
            continue
    return ""
