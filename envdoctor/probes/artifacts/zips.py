"""Zip files, read with bounds on their directory, the size and the ratio of their members, and nesting."""

from __future__ import annotations

import contextlib
import io
import lzma
import struct
import zipfile
import zlib

from envdoctor.probes.artifacts.streams import RATIO_FROM, RATIO_LIMIT, BoundedReader, BrokenError, EndedError, Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.probes.artifacts.streams import Budget, ByteSource

#: Bytes of a zip's directory, and of one member that is read into memory.
DIRECTORY_LIMIT, MEMORY_LIMIT = 1 << 22, 1 << 25
_END, _END_SIZE, _COMMENT_LIMIT = b"PK\x05\x06", 22, 1 << 16
_END_64, _LOCATOR_64, _LOCATOR_SIZE = b"PK\x06\x06", b"PK\x06\x07", 20
_LOCAL, _LOCAL_SIZE = b"PK\x03\x04", 30


@contextlib.contextmanager
def _spoken() -> Iterator[None]:
    """Say what a damaged zip is in one line."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise BrokenError(f"is a damaged zip ({error}). Copy or save it again") from error
    except (RuntimeError, NotImplementedError) as error:
        raise BrokenError(f"is a zip that cannot be unpacked ({error})") from error
    except (struct.error, ValueError, OverflowError, IndexError, MemoryError) as error:
        raise BrokenError("is a damaged zip. Copy or save it again") from error


class Zip:
    """The members of a zip file. ``BrokenError`` where its directory cannot be true."""

    def __init__(self, file: ByteSource, size: int, budget: Budget) -> None:
        self.file, self.budget = file, budget
        with _spoken():
            if _directory_size(file, size) > DIRECTORY_LIMIT:
                raise BrokenError(f"is a zip whose directory has more than {DIRECTORY_LIMIT} bytes: it is not read")
            file.seek(0)
            self.archive = zipfile.ZipFile(file)
        self.members = {info.filename: info for info in self.archive.infolist()}
        _refuse_overlaps(self.archive.infolist(), size)

    def ending(self, text: str) -> Sequence[str]:
        """The names that end so."""
        return [name for name in self.members if name.endswith(text)]

    def content(self, name: str, limit: int = MEMORY_LIMIT) -> bytes:
        """One member in memory. ``BrokenError`` where it is larger."""
        info = self.members[name]
        if info.file_size > limit:
            raise BrokenError(f"holds {shown(name)} of {info.file_size} bytes, which is more than is looked at")
        source, size = self.source(name)
        return BoundedReader(source, self.budget, size).read(size)

    def source(self, name: str) -> tuple[ByteSource, int]:
        """One member to be read in order, and its size; a part of the file itself where it is not compressed."""
        info = self.members[name]
        if info.flag_bits & 1:
            raise BrokenError(f"holds {shown(name)}, which is encrypted")
        with _spoken():
            self.file.seek(info.header_offset)
            header = self.file.read(_LOCAL_SIZE)
            if not header.startswith(_LOCAL):
                raise zipfile.BadZipFile(f"no member where {shown(name)} should be")
            if info.compress_type == zipfile.ZIP_STORED:
                start = info.header_offset + _LOCAL_SIZE + sum(struct.unpack_from("<HH", header, 26))
                return Part(self.file, start, info.compress_size), info.compress_size
            return _Member(self.archive.open(info), info, self.budget), info.file_size

    def nested(self, name: str) -> tuple[ByteSource, int]:
        """One member as a file in which can be searched: a zip within a zip, for one."""
        source, size = self.source(name)
        if source.seekable():
            return source, size
        return io.BytesIO(self.content(name)), size


class _Member:
    """A compressed member while it is unpacked."""

    def __init__(self, file: object, info: zipfile.ZipInfo, budget: Budget) -> None:
        self.file, self.info, self.budget, self.given = file, info, budget, 0

    def seekable(self) -> bool:
        """No."""
        return False

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Never called."""
        raise NotImplementedError

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        with _spoken():
            data: bytes = self.file.read(size)  # type: ignore[attr-defined]
        self.given += len(data)
        self.budget.inflated -= len(data)
        if self.given > RATIO_LIMIT * max(self.info.compress_size, RATIO_FROM):
            raise BrokenError(f"holds {shown(self.info.filename)}, which unpacks to over {RATIO_LIMIT} times its size")
        if self.budget.inflated < 0 or self.budget.late():
            raise BrokenError("holds more compressed data than envdoctor unpacks")
        return data


def shown(name: str) -> str:
    """A member's name as it may be printed."""
    return "".join(character if character.isprintable() else "?" for character in name[:80])


def _directory_size(file: ByteSource, size: int) -> int:
    """The size in bytes of a zip's directory as its end states it; of several possible ends, the largest."""
    start = max(0, size - _END_SIZE - _COMMENT_LIMIT)
    file.seek(start)
    tail = file.read(size - start)
    sizes = []
    for at in {tail.rfind(_END), len(tail) - _END_SIZE}:
        if at < 0 or not tail.startswith(_END, at) or len(tail) - at < _END_SIZE:
            continue
        sizes.append(struct.unpack_from("<I", tail, at + 12)[0])
        locator = tail[max(0, at - _LOCATOR_SIZE) : at]
        if locator.startswith(_LOCATOR_64):
            file.seek(struct.unpack_from("<Q", locator, 8)[0])
            record = file.read(56)
            if not record.startswith(_END_64):
                raise zipfile.BadZipFile("no directory where it should be")
            sizes[-1] = struct.unpack_from("<Q", record, 40)[0]
    if not sizes:
        raise EndedError
    return int(max(sizes))


def _refuse_overlaps(infos: Sequence[zipfile.ZipInfo], size: int) -> None:
    """``BrokenError`` where two members share bytes, as they do in a zip that is made to overflow."""
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise BrokenError("is a zip whose members overlap: it is not unpacked")
        end = info.header_offset + _LOCAL_SIZE + info.compress_size
    if end > size:
        raise EndedError
