"""Reads members of a wheel on an index, of a large one only the parts that hold them (HTTP range requests)."""

from __future__ import annotations

import io
import zipfile

from envdoctor.errors import TargetError
from envdoctor.probes import releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 128 * 1024
TIMEOUT = 60
_PARTIAL = 206


class _Remote(io.RawIOBase):
    """A file on a server, read in blocks that are asked for when they are needed, and once.

    ``size`` is in bytes; where it is not known, the server tells it. One that knows no ranges sends the whole file.
    """

    def __init__(self, address: str, size: int | None) -> None:
        self._address = address
        self._at = 0
        self._blocks: dict[int, bytes] = {}
        self._size = BLOCK
        if size is None:
            self._block(0)
        self._size = size or self._size

    def seekable(self) -> bool:
        """A zip archive is read from its end."""
        return True

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def tell(self) -> int:
        """The position of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill a buffer from the position on; at most to the end of one block."""
        number, start = divmod(self._at, BLOCK)
        piece = self._block(number)[start : start + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _block(self, number: int) -> bytes:
        if number * BLOCK >= self._size:
            return b""
        if number not in self._blocks:
            content, whole = _fetch(self._address, number * BLOCK)
            if whole is None:
                self._size = len(content)
                self._blocks = {at // BLOCK: content[at : at + BLOCK] for at in range(0, len(content), BLOCK)}
            else:
                self._size = whole
                self._blocks[number] = content
        return self._blocks.get(number, b"")


def _fetch(address: str, start: int | None = None) -> tuple[bytes, int | None]:
    """The bytes at an address; with ``start``, a block of them and the size of the whole where the server gives ranges.

    Raises :class:`TargetError` where they cannot be had.
    """
    headers = {} if start is None else {"Range": f"bytes={start}-{start + BLOCK - 1}"}
    try:
        with releases.request(address, headers, TIMEOUT) as answer:
            size = (answer.headers.get("Content-Range") or "").rpartition("/")[2]
            return answer.read(), int(size) if answer.status == _PARTIAL else None
    except (OSError, ValueError) as error:
        raise TargetError(f"{address} could not be read: {error}; try again later") from error


def fetch(address: str) -> bytes:
    """The bytes at an address. Raises :class:`TargetError` where they cannot be fetched."""
    return _fetch(address)[0]


def opened(address: str, size: int | None, *, whole: bool) -> zipfile.ZipFile:
    """The archive at an address: fetched at once where ``whole``, else in the parts that are read of it.

    ``size`` is in bytes, ``None`` where the index does not tell it. Raises :class:`TargetError` where the archive
    cannot be read.
    """
    try:
        file = io.BytesIO(fetch(address)) if whole else io.BufferedReader(_Remote(address, size))
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise TargetError(f"{address} is no wheel that can be read: {error}") from error


def members(address: str, size: int | None, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes | None]]:
    """Name and content of the members of a wheel; the content is ``None`` for those that are not wanted.

    ``size`` and errors are those of :func:`opened`.
    """
    small = (size or BLOCK * 9) <= 8 * BLOCK or address.endswith("-none-any.whl") or address.startswith("file:")
    try:
        with opened(address, size, whole=small) as archive:
            for member in sorted(archive.infolist(), key=lambda one: one.header_offset):
                yield member.filename, archive.read(member) if wanted(member.filename) else None
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise TargetError(f"{address} is no wheel that can be read: {error}") from error
