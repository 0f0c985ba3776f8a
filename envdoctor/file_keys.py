"""The keys under which a project's files are asked for: settings by a glob, uses in source by a name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Before a glob of names that only imports are asked for.
IMPORTED = "import "
#: Between a glob and another, in whose files alone uses of the first are asked for.
BESIDE = " beside "
_UNLESS = " unless "


def config_file(glob: str, others: Iterable[str] = ()) -> str:
    """The key under which files are asked for beside which there is none of the names ``others``."""
    return _UNLESS.join([glob, *others])


def glob_and_others(key: str) -> tuple[str, list[str]]:
    """The glob of such a key, and the names of the other files."""
    glob, *others = key.split(_UNLESS)
    return glob, others


def source_key(kind: str, name: str) -> str:
    """The key of :data:`~envdoctor.facts.SOURCE` under which uses of some kind are asked for."""
    return IMPORTED + name if kind == "import" else name
