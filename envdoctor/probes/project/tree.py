"""The files of a project: a directory or a mapping, read when one is first asked for."""

from __future__ import annotations

import os
import time

from envdoctor.facts import Answer
from envdoctor.probes.project import regular_files, walk
from envdoctor.probes.project.globs import Glob
from envdoctor.probes.project.regular_files import UnreadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from typing_extensions import Self

    V = TypeVar("V")

#: The largest file that is read, and the largest that is read where it is asked for by its exact name.
MOST_BYTES = 2 << 20
MOST_BYTES_EXACT = 32 << 20
#: Source that is kept in memory; what is beyond is read again.
MOST_KEPT = 64 << 20
#: How a program begins whose first line says what runs it.
_PROGRAM = b"#!"
#: Lines of one answer that say what could not be read.
MOST_GAPS = 20
#: Seconds that reading all source files may take.
_SECONDS = 5.0


class Files:
    """The files of a project. Names are relative, with ``/``, and printable; nothing is read before the first call."""

    def __init__(self, files: _Disk | _Memory, root: str | None = None) -> None:
        #: The directory, or ``None`` for a project that is not on disk.
        self.root = root
        self._source = files
        self._mentions: dict[bytes, list[str]] = {}
        self._unread: dict[str, str] = {}
        self._kept: _Kept | None = None
        self._names: list[str] | None = None
        self._sources: list[str] | None = None

    @classmethod
    def at(cls, directory: str, limits: walk.Limits | None = None) -> Self:
        """Give the project in a directory."""
        root = os.path.abspath(directory)
        return cls(_Disk(root, limits or walk.Limits()), root)

    @classmethod
    def of(cls, files: Mapping[str, str | bytes]) -> Self:
        """Give a project that is not on disk, by relative name."""
        return cls(_Memory(files))

    def files(self) -> list[str]:
        """All files that are not left out, sorted."""
        if self._names is None:
            self._names = sorted(self._source.names())
        return self._names

    def sources(self) -> list[str]:
        """The files of Python source: modules, and programs without a suffix whose first line names Python."""
        if self._sources is None:
            self._sources = [name for name in self.files() if walk.is_module(name) or self._is_script(name)]
        return self._sources

    def code(self) -> list[str]:
        """The files of Python source, and notebooks."""
        return [*self.sources(), *(name for name in self.files() if walk.is_notebook(name))]

    def _is_script(self, name: str) -> bool:
        if "." in name.rpartition("/")[2] or not self._source.is_program(name):
            return False
        first = self.read(name).partition(b"\n")[0]
        return b"python" in first

    @property
    def gaps(self) -> list[str]:
        """What of the project was not read, and why."""
        return self._source.gaps()

    def unread(self, wanted: Callable[[str], bool]) -> list[str]:
        """A line for each of the wanted files that are there, were asked for, and could not be read."""
        both = {**self._source.unread(), **self._unread}
        return [f"{name} is not read: {reason}" for name, reason in sorted(both.items()) if wanted(name)]

    def read(self, name: str, limit: int = MOST_BYTES) -> bytes:
        """The bytes of a file; nothing where it cannot be read or is too large, and :meth:`unread` then says so."""
        data = None if self._kept is None else self._kept.get(name)
        if data is not None:
            return data
        try:
            data = self._source.read(name, limit)
        except UnreadError as error:
            self.refuse(name, str(error))
            return b""
        self._unread.pop(name, None)
        return data

    def refuse(self, name: str, reason: str) -> None:
        """Remember that a file cannot be read."""
        self._unread[name] = reason

    def mentioning(self, word: bytes) -> list[str]:
        """The source files whose bytes contain a word, sorted."""
        if word not in self._mentions:
            self._mentions[word] = self.kept().mentioning(word)
        return self._mentions[word]

    def kept(self) -> _Kept:
        """Give the source files in memory, from where :meth:`read` then takes them."""
        if self._kept is None:
            self._kept = _Kept(self)
        return self._kept

    def matching(self, pattern: str) -> list[str]:
        """The files that a glob names, sorted."""
        glob = Glob(pattern)
        return [name for name in self.files() if glob.matches(name)]

    def is_file(self, name: str) -> bool:
        """Whether a regular file has this name, even one that is left out of :meth:`files`."""
        return self._source.is_file(name)

    def is_directory(self, name: str) -> bool:
        """Whether a directory has this name, even one that is left out."""
        return self._source.is_directory(name)

    def answer(self, found: list[V], gaps: Iterable[str], about: Callable[[str], bool]) -> Answer[V]:
        """What was found, with what was not read of the project and of the files that matter."""
        lines = list(dict.fromkeys([*gaps, *self.unread(about), *self.gaps]))
        if len(lines) > MOST_GAPS:
            lines[MOST_GAPS - 1 :] = [f"and {len(lines) - MOST_GAPS + 1} more files or directories were not read"]
        return Answer(found=found, gaps=lines)


class _Disk:
    """The files below a directory."""

    def __init__(self, directory: str, limits: walk.Limits) -> None:
        self._directory = directory
        self._limits = limits
        self._listing: walk.Listing | None = None

    def _list(self) -> walk.Listing:
        if self._listing is None:
            self._listing = walk.walk(self._directory, self._limits)
        return self._listing

    def names(self) -> Iterable[str]:
        return self._list().paths

    def gaps(self) -> list[str]:
        return self._list().gaps

    def unread(self) -> dict[str, str]:
        return self._list().unread

    def read(self, name: str, limit: int) -> bytes:
        listing = self._list()
        if name not in listing.paths:
            raise UnreadError(listing.unread.get(name, "it is not one of the project's files"))
        return regular_files.content(listing.paths[name], limit)

    def is_program(self, name: str) -> bool:
        path = self._list().paths[name]
        return os.access(path, os.X_OK) and regular_files.begins(path, _PROGRAM)

    def is_file(self, name: str) -> bool:
        return os.path.isfile(os.path.join(self._directory, name))

    def is_directory(self, name: str) -> bool:
        return os.path.isdir(os.path.join(self._directory, name))


class _Memory:
    """Files that are given by name."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self._files = {
            name: data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
            for name, data in files.items()
        }

    def names(self) -> Iterable[str]:
        return self._files

    def gaps(self) -> list[str]:
        return []

    def unread(self) -> dict[str, str]:
        return {}

    def read(self, name: str, limit: int) -> bytes:
        if name not in self._files:
            raise UnreadError("it is not one of the project's files")
        if len(self._files[name]) > limit:
            raise UnreadError(f"it has {len(self._files[name])} bytes, and more than {limit} are not read")
        return self._files[name]

    def is_program(self, name: str) -> bool:
        return self._files[name].startswith(_PROGRAM)

    def is_file(self, name: str) -> bool:
        return name in self._files

    def is_directory(self, name: str) -> bool:
        return any(one.startswith(name + "/") for one in self._files)


class _Kept:
    """The source files in one piece of memory, so that a word is searched in all of them at once."""

    def __init__(self, project: Files) -> None:
        self._project = project
        self._starts: list[int] = []
        self._names: list[str] = []
        self._beyond: list[str] = []
        self._places: dict[str, tuple[int, int]] = {}
        pieces: list[bytes] = []
        size = 0
        deadline = time.monotonic() + _SECONDS
        for name in project.sources():
            if time.monotonic() > deadline:
                project.refuse(name, f"reading the project's source took longer than {_SECONDS:g} s")
                continue
            if size > MOST_KEPT:
                self._beyond.append(name)
                continue
            data = project.read(name)
            self._starts.append(size)
            self._names.append(name)
            self._places[name] = size, size + len(data)
            pieces += data, b"\n"
            size += len(data) + 1
        self._all = b"".join(pieces)

    def get(self, name: str) -> bytes | None:
        place = self._places.get(name)
        return None if place is None else self._all[place[0] : place[1]]

    def mentioning(self, word: bytes) -> list[str]:
        from bisect import bisect_right

        found = []
        at = self._all.find(word)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            found.append(self._names[number])
            if number + 1 == len(self._starts):
                break
            at = self._all.find(word, self._starts[number + 1])
        return sorted([*found, *(name for name in self._beyond if word in self._project.read(name))])
