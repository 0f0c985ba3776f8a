"""What is said to the person on stderr, whether or not anybody can read it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def say(message: str) -> None:
    """Print a line on stderr; that it is closed or full changes nothing else."""
    stream = sys.stderr
    if stream is None:  # it was closed before envdoctor started
        return
    try:
        print(f"envdoctor: {message}", file=stream, flush=True)
    except (OSError, ValueError):
        discard(stream)


def discard(stream: TextIO) -> None:
    """Keep the interpreter from complaining when it flushes what could not be written to a stream, at exit."""
    import contextlib
    import os

    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor holds nothing back
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
