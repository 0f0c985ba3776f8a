"""Says on a terminal what is being done, once it takes long."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.status import Status

_PATIENCE = 1.0


@contextmanager
def talk() -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done; it removes that at the end."""
    start = time.monotonic()
    shown: list[Status] = []

    def say(doing: str) -> None:
        if not shown and live and time.monotonic() - start > _PATIENCE:
            from rich.console import Console

            shown.append(Console(stderr=True).status(""))
            shown[0].start()
        for status in shown:
            from rich.text import Text

            status.update(Text(f"envdoctor: {doing}", no_wrap=True, overflow="ellipsis"))

    live = sys.stderr is not None and sys.stderr.isatty()
    try:
        yield say
    finally:
        for status in shown:
            status.stop()
