"""The names in a repository's index, laid out as https://git-scm.com/docs/index-format says.

A file that is kept is not ignored, whatever the rules say of it. Only repositories with SHA-1 are understood; for
others the rules alone hold.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: A larger index is not read.
MOST_BYTES = 32 << 20
_MOST_NAMES = 32 << 20
_LONGEST = 1 << 12
_FIXED = 62
_EXTENDED = 0x4000


def tracked(data: bytes) -> frozenset[str]:
    """The names of the files in an index and of their directories, byte by byte as latin-1; none where it is broken."""
    found: set[str] = set()
    size = 0
    last = ""
    for raw in _names(data):
        name = raw.decode("latin-1")
        size += len(name)
        if size > _MOST_NAMES:
            return frozenset()
        found.add(name)
        above = name.rpartition("/")[0]
        while above and above != last and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
        last = name.rpartition("/")[0]
    return frozenset(found)


def _names(data: bytes) -> Iterator[bytes]:
    version = int.from_bytes(data[4:8], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        return
    at, name = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        start = at + _FIXED + 2 * bool(int.from_bytes(data[at + _FIXED - 2 : at + _FIXED], "big") & _EXTENDED)
        kept = b""
        if version == 4:  # noqa: PLR2004 - names are written as what differs from the one before
            dropped, start = _number(data, start)
            kept = name[: len(name) - dropped] if dropped <= len(name) else b""
        end = data.find(b"\0", start)
        if end < 0 or end - start + len(kept) > _LONGEST:
            return
        name = kept + data[start:end]
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8  # noqa: PLR2004
        yield name


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends; past the end of the data it is 0."""
    value = 0
    for start in range(at, min(at + 9, len(data))):
        value = (value << 7) + (data[start] & 127)
        if data[start] < 128:  # noqa: PLR2004
            return value, start + 1
        value += 1
    return 0, len(data)
