"""How files of settings are asked for: by a glob, where none of some other files is beside them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_UNLESS = " unless "


def config_file(glob: str, others: Iterable[str] = ()) -> str:
    """The key under which files are asked for beside which there is none of the names ``others``."""
    return _UNLESS.join([glob, *others])


def glob_and_others(key: str) -> tuple[str, list[str]]:
    """The glob of such a key, and the names of the other files."""
    glob, *others = key.split(_UNLESS)
    return glob, others
