"""The one door to the terminal: text goes to a stream without anything in it that a terminal would act on."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO


def say(message: str) -> None:
    """Print a line on stderr, with the name of the program; that it is closed or full changes nothing else."""
    tell(f"envdoctor: {message}\n")


def tell(text: str) -> None:
    """Write to stderr, without any colour, whether or not anybody can read it."""
    stream = sys.stderr
    try:
        put(_lines(text), stream)
    except (OSError, ValueError):
        discard(stream)


def put(text: str, stream: IO[str] | None) -> None:
    """Write to a stream in whatever letters it has; nothing where it was closed before envdoctor started.

    Raises :class:`OSError` or :class:`ValueError` where it cannot be written.
    """
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(harmless(text).encode(encoding, "replace").decode(encoding))
    stream.flush()


def harmless(text: str) -> str:
    """Text in which a terminal finds nothing to act on but line ends, tabs and the colours of envdoctor itself.

    Everything that is printed passes here, so that no file name, message or rule can move the cursor, turn the
    direction of reading or answer for the person at the keyboard.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    parts = text.split("\x1b[")
    shown = [_lines(parts[0])]
    for part in parts[1:]:
        numbers, mark, rest = part.partition("m")
        is_color = mark and all(one.isdigit() and one.isascii() for one in numbers.replace(";", ""))
        shown.append("\x1b[" + numbers + "m" + _lines(rest) if is_color else _lines("\x1b[" + part))
    return "".join(shown)


def _lines(text: str) -> str:
    return "\n".join("\t".join(safe(piece) for piece in line.split("\t")) for line in text.split("\n"))


def safe(text: str) -> str:
    """Text from outside, with whatever a terminal would act on (escapes, newlines, direction marks) spelled out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def discard(stream: IO[str] | None) -> None:
    """Keep the interpreter from complaining when it flushes what could not be written to a stream, at exit."""
    import contextlib
    import os

    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream without a descriptor holds nothing back
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]
