"""What files say: of the environment, by a glob below its import path, and of the machine, by an absolute one.

Which files are asked, and for what, is data of the rule base. Nothing is followed out of a root file system; of a large
file the beginning and the end are read, where binaries keep their constants and their names.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from envdoctor.probes.file_system import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: So much of a file is read from its beginning, and from its end.
_PART = 1 << 25
#: So many files answer one question, and so many texts each of them.
_FILES, _TEXTS = 64, 512
_SEPARATOR = ": "


def said(key: str, paths: Sequence[str], directory: str | None = None) -> list[str]:
    """What the groups of an expression match in files, each once, several groups joined by a dot.

    ``key`` is ``GLOB: EXPRESSION``, or ``GLOB`` alone, which asks for the files that are there. A relative glob is
    tried below each of ``paths`` until one has such files. ``directory`` holds a file system that ``paths`` are in.
    """
    glob, _, expression = key.partition(_SEPARATOR)
    found = next(filter(None, (_matching(*place) for place in _places(glob, paths, directory))), [])
    if not expression:
        return [path for _, path in found]
    pattern = re.compile(expression.encode(), re.MULTILINE)
    return list(dict.fromkeys(text for place in found for text in _texts(*place, pattern)))


def _places(glob: str, paths: Sequence[str], directory: str | None) -> Iterator[tuple[Root, str]]:
    """The file systems that a glob is about, and what it is in each."""
    if glob.startswith("/"):
        yield Root(directory or os.sep), glob
        return
    for path in paths:
        inside = directory is not None and path.startswith(directory)
        yield (Root(directory), f"{path[len(directory) :]}/{glob}") if directory and inside else (Root(path), glob)


def _matching(root: Root, glob: str) -> list[tuple[Root, str]]:
    """The regular files that a glob names in a file system."""
    places = [""]
    for part in glob.strip("/").split("/"):
        names = {place: _named(root, place, part) for place in places}
        places = [f"{place}/{name}" for place in places for name in names[place]][: 16 * _FILES]
    return [(root, place) for place in places if root.is_file(place)][:_FILES]


def _named(root: Root, place: str, part: str) -> list[str]:
    if not set(part) & set("*?["):
        return [part]
    return [name for name in root.names(place or "/") if fnmatchcase(name, part)]


def _texts(root: Root, path: str, pattern: re.Pattern[bytes]) -> Iterator[str]:
    """What the groups of a pattern match in a file, or the whole match of a pattern without groups."""
    for _, match in zip(range(_TEXTS), pattern.finditer(_content(root.host(path)))):
        yield ".".join(one.decode("utf-8", "replace") for one in match.groups() or [match[0]] if one)


def _content(path: str) -> bytes:
    """The beginning and the end of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            first = stream.read(_PART)
            stream.seek(max(os.fstat(stream.fileno()).st_size - _PART, len(first)))
            return first + b"\0" + stream.read(_PART)
    except OSError:
        return b""
