"""A snapshot that is embedded in a page: what ``envdoctor report`` wrote, as a file or copied out of a bug report."""

from __future__ import annotations

import base64
import re
import zlib

from envdoctor.errors import TargetError

#: A folded block that says that it is one, in a fence of back quotes; what quotes it may precede it.
_BLOCK = re.compile(r"<summary>Snapshot: [^\n]*</summary>\s*?\n\s*?(`{3,})\w*\n(.*?)\n\1", re.DOTALL)
_PACKED = "zlib, base64:"


def out_of(text: str, limit: int, name: str) -> str:
    """The document in a text, which is the text itself where nothing is embedded.

    Raises :class:`TargetError` where what is embedded is damaged, or longer than so many bytes.
    """
    if text.lstrip().startswith(("{", "[")) or "<summary>Snapshot: " not in text:
        return text
    blocks = _BLOCK.findall(text.replace("\r\n", "\n"))
    document: str = blocks[-1][1] if blocks else ""
    if not document.startswith(_PACKED):
        return document
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(document[len(_PACKED) :], validate=False), limit)
        if unpacker.eof:
            return data.decode()
    except (ValueError, zlib.error) as error:
        raise TargetError(f"the snapshot in {name} is damaged: {error}; ask for the file itself") from error
    raise TargetError(f"the snapshot in {name} is cut off, or longer than {limit >> 20} MiB; ask for the file itself")
