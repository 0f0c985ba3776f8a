"""A directory tree kept beside itself by hard links, and put back from there file by file.

Installers replace files rather than write into them, so that a second link to a file keeps what it was: no byte is
copied, and what comes back is the very same file. What some tools do write into, ``.pth`` files and scripts, is copied.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is at most so long, and is a script or adds paths, is copied.
_SMALL = 1 << 16
_WRITTEN_INTO = (".pth", ".egg-link", "pyvenv.cfg")
_SCRIPTS = frozenset({"bin", "Scripts"})
#: What a file is called until it has its name.
PART = ".envdoctor-part"


def copy(source: str, target: str) -> None:
    """Make ``target`` a tree like ``source``, with links to its files; symbolic links are kept as they are.

    Where the file system cannot link, files are copied. Raises :class:`OSError`.
    """
    os.makedirs(target, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            place(entry.path, os.path.join(target, entry.name), entry)
    os.chmod(target, stat.S_IMODE(os.stat(source).st_mode))


def place(source: str, target: str, known: os.DirEntry[str] | None = None) -> None:
    """Make ``target``, which is not there yet, what ``source`` is: a link, a tree, or a file."""
    if known.is_symlink() if known else os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif known.is_dir() if known else os.path.isdir(source):
        copy(source, target)
    else:
        _file(source, target)


def _file(source: str, target: str) -> None:
    if not is_written_into(source):
        try:
            os.link(source, target)
        except OSError:  # another file system, one without links, or a file of somebody else
            pass
        else:
            return
    shutil.copy2(source, target)


def is_written_into(path: str) -> bool:
    """Whether some tool changes such a file in place."""
    if path.endswith(_WRITTEN_INTO):
        return True
    return os.path.basename(os.path.dirname(path)) in _SCRIPTS and os.path.getsize(path) <= _SMALL


def restore(kept: str, live: str) -> None:
    """Make ``live`` what :func:`copy` kept of it; what is there besides is removed. May be interrupted, and repeated.

    Each file changes in one step. Raises :class:`OSError`.
    """
    if os.path.islink(kept) or not os.path.isdir(kept):
        if not _same(kept, live):
            _replace(kept, live)
        return
    if os.path.islink(live) or not os.path.isdir(live):
        remove(live)
        os.makedirs(live)
    wanted, there = set(os.listdir(kept)), set(os.listdir(live))
    for name in there - wanted:
        remove(os.path.join(live, name))
    for name in wanted:
        restore(os.path.join(kept, name), os.path.join(live, name))
    if os.stat(live).st_mode != os.stat(kept).st_mode:
        os.chmod(live, stat.S_IMODE(os.stat(kept).st_mode))


def _same(kept: str, live: str) -> bool:
    """Whether a file or symbolic link is what was kept of it."""
    try:
        one, other = os.lstat(kept), os.lstat(live)
    except FileNotFoundError:
        return False
    if one.st_mode != other.st_mode:
        return False
    if stat.S_ISLNK(one.st_mode):
        return os.readlink(kept) == os.readlink(live)
    if os.path.samestat(one, other):
        return True
    return one.st_mtime_ns == other.st_mtime_ns and filecmp.cmp(kept, live, shallow=False)


def _replace(kept: str, live: str) -> None:
    if os.path.isdir(live) and not os.path.islink(live):
        shutil.rmtree(live)
    part = live + PART
    remove(part)
    place(kept, part)
    os.replace(part, live)


def remove(path: str) -> None:
    """Remove a file, a link or a whole tree, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def written_since(kept: str, moment_ns: int) -> Iterator[str]:
    """The files, from ``kept`` on, that were written into since a moment: by their links, what was kept changed too."""
    for folder, _, names in os.walk(kept):
        for name in names:
            path = os.path.join(folder, name)
            if os.lstat(path).st_mtime_ns > moment_ns and not os.path.islink(path):
                yield os.path.relpath(path, kept)
