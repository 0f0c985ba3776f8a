"""Regular files are read within a limit; nothing else is ever opened."""

from __future__ import annotations

import os
import stat

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_FILES = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a directory"))
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))


class UnreadError(Exception):
    """A file cannot be read; the text completes ``FILE is not read: ``."""


def content(path: str, limit: int) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes. Raises :class:`UnreadError`."""
    try:
        descriptor = os.open(path, _READ)
        try:
            return _read(descriptor, limit)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UnreadError(error.strerror or str(error)) from None


def begins(path: str, beginning: bytes) -> bool:
    """Whether the bytes of a regular file begin so; no more of it is read."""
    try:
        descriptor = os.open(path, _READ)
        try:
            is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return is_regular and os.read(descriptor, len(beginning)) == beginning
        finally:
            os.close(descriptor)
    except OSError:
        return False


def _read(descriptor: int, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadError(f"it is {kind_of(status.st_mode)}")
    if status.st_size > limit:
        raise UnreadError(f"it has {_size(status.st_size)}, and more than {_size(limit)} are not read")
    data = os.read(descriptor, status.st_size + 1)
    while len(data) != status.st_size:  # it grows, shrinks, or is made as it is read
        more = os.read(descriptor, limit + 1 - len(data))
        data += more
        if not more:
            break
        if len(data) > limit:
            raise UnreadError(f"it grows beyond {_size(limit)}")
    return data


def kind_of(mode: int) -> str:
    """The kind of a file that is not regular, in words."""
    return next((what for is_it, what in _NOT_FILES if is_it(mode)), "a device")


def _size(number: int) -> str:
    scale, unit = next((one for one in _UNITS if number >= one[0]), _UNITS[-1])
    return f"{number / scale:.3g} {unit}"
