"""Reads members of a wheel on an index, of a large one only the parts that hold them (HTTP range requests)."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
import zipfile
from typing import TYPE_CHECKING

from envdoctor.errors import TargetError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

BLOCK = 128 * 1024
TIMEOUT = 60


class _Remote(io.RawIOBase):
    """A file on a server, read in blocks that are asked for when they are needed, and once."""

    def __init__(self, address: str, size: int, context: ssl.SSLContext | None) -> None:
        self._address, self._size, self._context = address, size, context
        self._at = 0
        self._blocks: dict[int, bytes] = {}

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
            last = min((number + 1) * BLOCK, self._size) - 1
            self._blocks[number] = fetch(self._address, self._context, f"bytes={number * BLOCK}-{last}")[:BLOCK]
        return self._blocks[number]


def fetch(address: str, context: ssl.SSLContext | None, part: str | None = None) -> bytes:
    """The bytes at an address, or the ``part`` of them that a ``Range`` header names.

    Raises :class:`TargetError` where they cannot be had.
    """
    request = urllib.request.Request(address, headers={"User-Agent": "envdoctor", **({"Range": part} if part else {})})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT, context=context) as answer:  # noqa: S310 - an index's address
            content: bytes = answer.read()
    except (OSError, ValueError) as error:
        raise TargetError(f"{address} could not be read: {error}; try again later") from error
    return content


def members(
    address: str, size: int, wanted: Callable[[str], bool], context: ssl.SSLContext | None = None
) -> Iterator[tuple[str, bytes | None]]:
    """Name and content of the members of a wheel; the content is ``None`` for those that are not wanted.

    Raises :class:`TargetError` where the archive cannot be read.
    """
    small = size <= 8 * BLOCK or address.endswith("-none-any.whl")
    try:
        file = io.BytesIO(fetch(address, context)) if small else io.BufferedReader(_Remote(address, size, context))
        with zipfile.ZipFile(file) as archive:
            for member in sorted(archive.infolist(), key=lambda one: one.header_offset):
                yield member.filename, archive.read(member) if wanted(member.filename) else None
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise TargetError(f"{address} is no wheel that can be read: {error}") from error


def opened(address: str, size: int, context: ssl.SSLContext | None = None, *, whole: bool) -> zipfile.ZipFile:
    """The archive at an address: fetched at once where ``whole``, else in the parts that are read of it.

    Raises :class:`TargetError` where it cannot be read.
    """
    try:
        file = io.BytesIO(fetch(address, context)) if whole else io.BufferedReader(_Remote(address, size, context))
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise TargetError(f"{address} is no wheel that can be read: {error}") from error
