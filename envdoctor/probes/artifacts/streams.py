"""Bytes in order from a file, a part of a file, memory or something compressed, within bounds of size and time."""

from __future__ import annotations

import bz2
import lzma
import os
import stat
import time
import zlib

from envdoctor.errors import ProbeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Protocol

    class ByteSource(Protocol):
        """What bytes are read from; ``seek`` is only called where ``seekable`` says yes."""

        def read(self, size: int = -1, /) -> bytes:
            """Up to so many bytes."""

        def seek(self, offset: int, whence: int = 0, /) -> int:
            """Go to a place."""

        def seekable(self) -> bool:
            """Whether it can."""


#: Seconds for one artefact.
TIME_LIMIT = 10.0
#: Bytes that may come out of compressed data, and how many times as many as went in.
INFLATED_LIMIT, RATIO_LIMIT = 1 << 30, 1_000
#: Of fewer bytes a ratio says nothing.
RATIO_FROM = 1 << 14
#: A line of text in a pickle is not longer.
LINE_LIMIT = 1 << 16
_CHUNK = 1 << 16
_LZMA_MEMORY = 1 << 27
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class StrangeError(ProbeError):
    """A file that is none of the known kinds, which is nothing bad. The message is as that of :class:`BrokenError`."""


class BrokenError(ProbeError):
    """A file that is cut short, damaged or hostile. The message goes on after the file's name, without a full stop."""


class EndedError(BrokenError):
    """The bytes end too early."""

    def __init__(self) -> None:
        super().__init__("ends too early: it is cut short. Copy or save it again")


class Budget:
    """The limits of one artefact, over everything that is inside it; the time is that of the processor."""

    def __init__(self, seconds: float = TIME_LIMIT) -> None:
        self.deadline = time.process_time() + seconds
        self.inflated = INFLATED_LIMIT
        self.kept = 1 << 25
        self.steps = 1_000_000

    def late(self) -> bool:
        """Whether the time is over."""
        return time.process_time() > self.deadline

    def keep(self, size: int) -> bool:
        """Whether so many more bytes may stay in memory."""
        self.kept -= size
        return self.kept >= 0


def open_file(path: str) -> BinaryIO:
    """A regular file, opened without ever waiting. ``ProbeError`` for anything else."""
    try:
        descriptor = os.open(path, _OPEN)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise BrokenError("is not a regular file")
    except (OSError, ValueError) as error:
        raise BrokenError(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    return os.fdopen(descriptor, "rb")


class Part:
    """A part of a seekable file, read like a file."""

    def __init__(self, file: ByteSource, start: int, size: int) -> None:
        self.file, self.start, self.size, self.at = file, start, size, 0

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """How far it is read."""
        return self.at

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """As a file's."""
        self.at = max(0, offset + (0, self.at, self.size)[whence])
        return self.at

    def read(self, size: int = -1, /) -> bytes:
        """As a file's; never beyond the part."""
        left = max(0, self.size - self.at)
        size = left if size < 0 else min(size, left)
        self.file.seek(self.start + self.at)
        data = self.file.read(size)
        self.at += len(data)
        return data


class Inflated:
    """Compressed data, unpacked while it is read. Raises ``BrokenError`` where it is damaged or unpacks to too much."""

    def __init__(self, file: ByteSource, budget: Budget) -> None:
        self.file, self.budget = file, budget
        self.rest = self.file.read(_CHUNK)
        self.given, self.taken = 0, len(self.rest)
        self.first = self.rest[:6]
        self.machine = self._machine()

    def _machine(self) -> Any:
        """A decompressor by the first bytes."""
        if self.first.startswith(b"BZh"):
            return bz2.BZ2Decompressor()
        if self.first.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
            return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)
        return zlib.decompressobj(47)  # a gzip or a zlib header

    def seekable(self) -> bool:
        """No."""
        return False

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Never called."""
        raise NotImplementedError

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        size = _CHUNK if size < 0 else min(size, _CHUNK)
        while size:
            if self.machine.eof:
                if not self._next_member():
                    return b""
            elif not self.rest and getattr(self.machine, "needs_input", True):
                self.rest = self.file.read(_CHUNK)
                self.taken += len(self.rest)
                if not self.rest:
                    raise EndedError
            data = self._step(size)
            if data:
                return data
        return b""

    def _step(self, size: int) -> bytes:
        """The next bytes, unpacked."""
        try:
            data: bytes = self.machine.decompress(self.rest, size)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError) as error:
            raise BrokenError(f"holds damaged compressed data ({error})") from error
        self.rest = getattr(self.machine, "unconsumed_tail", b"")
        self.given += len(data)
        self.budget.inflated -= len(data)
        if self.budget.inflated < 0 or self.budget.late():
            raise BrokenError("holds more compressed data than envdoctor unpacks")
        if self.given > RATIO_LIMIT * max(self.taken, RATIO_FROM):
            raise BrokenError(f"unpacks to more than {RATIO_LIMIT} times its size: it is not read further")
        return data

    def _next_member(self) -> bool:
        """Go on behind one compressed part; whether there is another."""
        rest = self.machine.unused_data or self.file.read(_CHUNK)
        if not rest.startswith(self.first[:2]) or self.first[:1] not in b"\x1fB\xfd":
            return False
        self.rest = rest
        self.machine = self._machine()
        return True


class BoundedReader:
    """Exact numbers of bytes from a source. ``EndedError`` where there are not so many."""

    def __init__(self, source: ByteSource, budget: Budget, size: int | None = None) -> None:
        self.source, self.budget, self.size = source, budget, size
        self.buffer, self.at, self.before = b"", 0, 0

    @property
    def position(self) -> int:
        """How many bytes were read or skipped."""
        return self.before + self.at

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes."""
        end = self.at + size
        while end > len(self.buffer):
            self._more()
            end = self.at + size
        data = self.buffer[self.at : end]
        self.at = end
        return data

    def peek(self, size: int) -> bytes:
        """Up to ``size`` of the next bytes, which stay unread."""
        while self.at + size > len(self.buffer):
            try:
                self._more()
            except EndedError:
                break
        return self.buffer[self.at : self.at + size]

    def line(self) -> bytes:
        """The bytes up to the end of a line, which is left out."""
        end = self.buffer.find(b"\n", self.at)
        while end < 0:
            if len(self.buffer) - self.at > LINE_LIMIT:
                raise BrokenError(f"holds a line of more than {LINE_LIMIT} bytes")
            self._more()
            end = self.buffer.find(b"\n", self.at)
        data = self.buffer[self.at : end]
        self.at = end + 1
        return data

    def skip(self, size: int) -> None:
        """Go on behind ``size`` bytes, without reading them where the source can."""
        ahead = len(self.buffer) - self.at
        if size <= ahead:
            self.at += size
            return
        if self.size is not None and self.position + size > self.size:
            raise EndedError
        if self.size is not None and self.source.seekable():
            self.source.seek(size - ahead, 1)
            self.before += len(self.buffer) + size - ahead
            self.buffer, self.at = b"", 0
            return
        while size:
            step = min(size, _CHUNK)
            self.read(step)
            size -= step

    def _more(self) -> None:
        """Put more bytes into the buffer."""
        data = self.source.read(_CHUNK)
        if not data:
            raise EndedError
        if self.budget.late():
            raise BrokenError("takes too long to read: it is not read further")
        self.before += self.at
        self.buffer = self.buffer[self.at :] + data
        self.at = 0
