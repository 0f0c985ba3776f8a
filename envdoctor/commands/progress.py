"""Says on a terminal what is being done, once it takes long."""

from __future__ import annotations

import shutil
import sys
import time

_CLEAR = "\r\x1b[2K"
_PATIENCE = 1.0


class Talk:
    """Says on a terminal what is being done, once that has taken longer than :data:`_PATIENCE` seconds."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._start = time.monotonic()
        self._said = False

    def say(self, doing: str) -> None:
        """Replace the line."""
        if self._live and time.monotonic() - self._start > _PATIENCE:
            line = f"envdoctor: {doing}"
            print(_CLEAR + line[: shutil.get_terminal_size().columns - 1], end="", file=sys.stderr, flush=True)
            self._said = True

    def clear(self) -> None:
        """Remove the line."""
        if self._said:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
