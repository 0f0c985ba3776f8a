"""Whether a word is written anywhere in a file or in a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.linker.module_files import Layout

#: Of a file so many bytes are looked through.
_LIMIT = 512 << 20
#: A word shorter than this may be put together from parts, or stand in any text.
_SHORTEST = 5
_TEXTS = (".py", ".json", ".yaml", ".txt")


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

    def quoted(self, owner: str, word: str) -> bool:
        """Whether a source file, a table or a binary of a distribution contains a word as a text of its own."""
        key = (owner, f'"{word}"')
        if key not in self._owners:
            modules = self._layout.modules
            paths = [modules[name].path for name in self._layout.names.get(owner, ()) if name in modules]
            paths += [path for path in self._layout.others.get(owner, ()) if not path.endswith(".pyi")]
            self._owners[key] = any(_is_text(path, word.encode()) for path in paths)
        return self._owners[key]


def _is_text(path: str, word: bytes) -> bool:
    """Whether a file has a word between marks, or as a text that ends with a zero; so it is where nobody can tell."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LIMIT)
    except OSError:
        return True
    if not path.endswith(_TEXTS):
        return b"\0" + word + b"\0" in data or _is_packed(path, data)
    return word in data and any(mark + word + mark in data for mark in (b"'", b'"'))


def _is_packed(path: str, data: bytes) -> bool:
    """Whether a binary may keep its words compressed, as newer releases of Cython do."""
    return path.endswith((".so", ".pyd")) and b"__pyx" in data and b"decompress" in data
