"""Whether a word is written anywhere in a file or in a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.linker.layout import Layout

#: Of a file so many bytes are looked through.
_LIMIT = 512 << 20
#: A word shorter than this may be put together from parts, or stand in any text.
_SHORTEST = 5


class Words:
    """Looks words up in files; nothing is looked through twice for the same word."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._files: dict[tuple[str, str], bool | None] = {}
        self._owners: dict[tuple[str, str], bool] = {}

    def in_file(self, path: str, word: str) -> bool | None:
        """Whether a file contains a word; ``None`` where it cannot be read."""
        key = (path, word)
        if key not in self._files:
            try:
                with open(path, "rb") as file:
                    data = file.read(_LIMIT)
                self._files[key] = word.encode() in data or _is_packed(path, data)
            except OSError:
                self._files[key] = None
        return self._files[key]

    def anywhere(self, owner: str, word: str) -> bool:
        """Whether a module of a distribution contains a word, or the word is too short to tell."""
        if len(word) < _SHORTEST:
            return True
        key = (owner, word)
        if key not in self._owners:
            modules = self._layout.modules
            paths = [modules[name].path for name in self._layout.names.get(owner, ())]
            paths += self._layout.others.get(owner, ())
            self._owners[key] = any(self.in_file(path, word) is not False for path in paths)
        return self._owners[key]


def _is_packed(path: str, data: bytes) -> bool:
    """Whether a binary may keep its words compressed, as newer releases of Cython do."""
    return path.endswith((".so", ".pyd")) and b"__pyx" in data and b"decompress" in data
