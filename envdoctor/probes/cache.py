"""The user's cache directory, and how a file gets there. On the plain path."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The longest file that is read.
MOST_BYTES = 1 << 26
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_OTHERS_WRITE = 0o022
#: The checksum that a file begins with, and a line end.
_SUM = 9


def directory() -> str:
    """Where this user's caches live, after the conventions of each platform."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "envdoctor")


def kept(path: str, limit: int = MOST_BYTES) -> bytes | None:
    """The bytes that :func:`keep` wrote; ``None`` if they are not there, damaged, or others may have written them."""
    from binascii import crc32

    data = _bytes(path, limit)
    return data[_SUM:] if data[:_SUM] == b"%08x\n" % crc32(data[_SUM:]) else None


def holds(path: str, data: bytes) -> bool:
    """Whether :func:`kept` returns exactly this, judged without a checksum, which takes an import."""
    return _bytes(path, len(data) + _SUM)[_SUM:] == data


def _bytes(path: str, limit: int) -> bytes:
    """The content of a file that only this user can have written; empty for any other.

    A directory of caches may be in a place that all users share.
    """
    try:
        if not _is_own(os.stat(os.path.dirname(path))):
            return b""
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        whole = _is_own(status) and status.st_size <= limit
        return os.read(descriptor, status.st_size + 1) if whole else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _is_own(status: os.stat_result) -> bool:
    """Whether this user owns a file or directory, and nobody else may write to it; Windows says it in another way."""
    return os.name == "nt" or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE)


def keep(path: str, data: bytes) -> None:
    """Write a cache file in one step; one that cannot be written costs time, not the run."""
    import time
    from binascii import crc32

    folder = os.path.dirname(path)
    temporary = f"{path}.{os.getpid()}.{time.perf_counter_ns()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        if not _is_own(os.stat(folder)):
            if os.stat(folder).st_uid != os.geteuid():
                return  # root, too, keeps nothing where another user may exchange it
            os.chmod(folder, 0o700)
        descriptor = os.open(temporary, _WRITE, 0o600)
    except OSError:
        return
    try:
        with open(descriptor, "wb") as file:
            file.write(b"%08x\n" % crc32(data) + data)
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            return


def remembered(path: str, age: float | None = None, shape: type = list) -> Any:
    """The value that :func:`remember` wrote; ``None`` where it has another type, or is older than ``age`` seconds."""
    import json
    import time

    try:
        if age is not None and time.time() - os.stat(path).st_mtime > age:
            return None
        found = json.loads(kept(path) or b"null")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, shape) else None


def remember(path: str, value: Any) -> None:
    """Write what JSON can hold into a cache file."""
    import json

    keep(path, json.dumps(value).encode())


def prune(folder: str, most: int, size: int) -> None:
    """Remove the oldest files of a folder until it has at most so many, of so many bytes together."""
    entries = []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                status = entry.stat()
                entries.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum(entry[1] for entry in entries)
        entries.sort(reverse=True)
        while entries and (len(entries) > most or total > size):
            _, one, path = entries.pop()
            total -= one
            os.unlink(path)
    except OSError:
        return  # another process tidies as well
