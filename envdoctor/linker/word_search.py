"""Whether a word is written anywhere in a file or in a distribution."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envdoctor.linker.module_files import Layout

#: Of a file so many bytes are looked through, and of a binary so many at a time.
_LIMIT, _PIECE = 512 << 20, 1 << 20
#: A word shorter than this may be put together from parts, or be in any text.
_SHORTEST = 5
_DIGITS = frozenset("abcdefABCDEF")
_TEXTS = (".py", ".json", ".yaml", ".txt")


class Words:
    """Looks words up in files; nothing is looked through twice for the same word."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._files: dict[tuple[str, str], bool | None] = {}
        self._owners: dict[tuple[str, str], bool] = {}
        self._packed: dict[str, bool] = {}

    def in_file(self, path: str, word: str) -> bool | None:
        """Whether a file contains a word; ``None`` where it cannot be read."""
        key = (path, word)
        if key not in self._files:
            try:
                self._files[key] = self._is_written(path, word)
            except OSError:
                self._files[key] = None
        return self._files[key]

    def ends_in_binary(self, path: str, word: str) -> bool:
        """Whether a binary contains a word that nothing follows; Cython may write its words one behind the other."""
        is_joined = self.in_file(path, "__pyx") is not False
        return self.in_file(path, word if is_joined else f"{word}\0") is not False

    def _is_written(self, path: str, word: str) -> bool:
        """Whether a file contains a word, or may keep it compressed. Raises :class:`OSError`."""
        if path[-3:] != ".py":
            return any(_contained(path, [*_spelled(word)], any)) or self._is_packed(path)
        with open(path, "rb") as file:
            data = file.read(_LIMIT)
        return any(one in data and _is_outside_comments(data, one) for one in _spelled(word))

    def _is_packed(self, path: str) -> bool:
        """Whether a binary may keep its words compressed, as newer releases of Cython do, with one that all have."""
        if path not in self._packed:
            made, packs, plain = (
                _contained(path, [b"__pyx", b"decompress", b"__test__"], all) if path.endswith((".so", ".pyd")) else ()
            ) or (False, False, False)
            self._packed[path] = made and packs and not plain
        return self._packed[path]

    def anywhere(self, owner: str, word: str) -> bool:
        """Whether a module of a distribution contains a word, or the word is too short to be searched for."""
        if len(word) < _SHORTEST:
            return True
        key = (owner, word)
        if key not in self._owners:
            modules = self._layout.modules
            paths = [modules[name].path for name in self._layout.names.get(owner, ())]
            paths += self._layout.others.get(owner, ())
            self._owners[key] = any(self.in_file(path, word) is not False for path in paths)
        return self._owners[key]

    def in_source(self, owner: str, word: str) -> bool:
        """Whether a source file of a distribution contains a word, whatever its binaries do."""
        modules = self._layout.modules
        paths = [modules[name].path for name in self._layout.names.get(owner, ()) if name in modules]
        return any(self.in_file(path, word) is not False for path in paths if path.endswith(".py"))

    def quoted(self, owner: str, word: str, before: str = "") -> bool:
        """Whether a source file, a table or a binary of a distribution contains a word as a text.

        With ``before``, a text that ends with that and the word counts too.
        """
        key = (owner, f'"{before}{word}"')
        if key not in self._owners:
            modules = self._layout.modules
            paths = [modules[name].path for name in self._layout.names.get(owner, ()) if name in modules]
            paths += [path for path in self._layout.others.get(owner, ()) if not path.endswith(".pyi")]
            self._owners[key] = any(self._is_text(path, word.encode(), before.encode()) for path in paths)
        return self._owners[key]

    def _is_text(self, path: str, word: bytes, before: bytes) -> bool:
        """Whether a file has a word between marks, or as a text that ends with a zero; so it is where nobody knows."""
        try:
            if not path.endswith(_TEXTS):
                return any(_contained(path, [b"\0" + word + b"\0"], any)) or self._is_packed(path)
            with open(path, "rb") as file:
                data = file.read(_LIMIT)
        except OSError:
            return True
        return word in data and any(one + word + mark in data for mark in (b"'", b'"') for one in (mark, before) if one)


def _contained(path: str, words: list[bytes], enough: Callable[[list[bool]], bool]) -> list[bool]:
    """Which words a file contains, as far as it was read when that was enough. Raises :class:`OSError`."""
    found, rest, longest = [False] * len(words), b"", max(map(len, words))
    with open(path, "rb") as file:
        for _ in range(_LIMIT // _PIECE):
            piece = file.read(_PIECE)
            data = rest + piece
            found = [one or word in data for one, word in zip(found, words)]
            if not piece or enough(found):
                break
            rest = data[1 - longest :]
    return found


def _spelled(word: str) -> Iterator[bytes]:
    """A word as it is written in a file; in generated bytes its first letter may be written as a number.

    It is where it could be another digit of the number before it.
    """
    yield word.encode()
    if word[:1] in _DIGITS:
        yield f"\\x{ord(word[0]):x}{word[1:]}".encode()


def _is_outside_comments(data: bytes, word: bytes) -> bool:
    """Whether a word that source contains is in it elsewhere than in comments; a mark before ``#`` may begin a text."""
    return re.search(rb"(?m)^[^#\n]*(?:['\"].*)?" + re.escape(word), data) is not None
