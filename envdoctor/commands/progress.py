"""Says on stderr which trials run, what failed so far, how many are done, and how long the rest will take."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING

from envdoctor.talk import safe

if TYPE_CHECKING:
    from envdoctor.workshop.proof.trials import Trial

_CLEAR = "\r\x1b[2K"
_HOUR, _MINUTE = 3600, 60
_PATIENCE = 1.0


class Progress:
    """One line that is written anew on a terminal; in a pipe, a line for each trial that is done."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.failed = total, 0, 0
        self.live = sys.stderr.isatty()
        self._start = time.monotonic()
        self._running: dict[str, str] = {}
        self._lock = threading.Lock()

    def begin(self, trial: Trial) -> None:
        """Take note of a trial that begins; it may be called from any thread."""
        with self._lock:
            self._running[trial.key()] = _named(trial)
            self._draw()

    def end(self, trial: Trial, *, failed: bool = False, seconds: float | None = None) -> None:
        """Take note of a trial that is done."""
        with self._lock:
            self._running.pop(trial.key(), None)
            self.done += 1
            self.failed += failed
            if not self.live:
                took = "" if seconds is None else f"{seconds:.1f} s, "
                said = f"{self.done}/{self.total}  {'failed' if failed else 'done  '}  {_named(trial)}"
                print(f"{said}  ({took}{self._left()})", file=sys.stderr, flush=True)
            self._draw()

    def clear(self) -> None:
        """Make room for what is printed in the place of the line."""
        if self.live:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    def _left(self) -> str:
        if self.done >= self.total:
            return "nothing left"
        if not self.done:
            return "time left unknown"
        seconds = (time.monotonic() - self._start) / self.done * (self.total - self.done)
        return f"about {duration(seconds)} left"

    def _draw(self) -> None:
        if self.live:
            failed = f"{self.failed} failed, " if self.failed else ""
            line = f"{self.done}/{self.total}  {failed}{self._left()}  {', '.join(self._running.values())}"
            print(_CLEAR + line[: shutil.get_terminal_size().columns - 1], end="", file=sys.stderr, flush=True)


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


def _named(trial: Trial) -> str:
    return safe(f"{trial.rule}: {trial.name}")


def duration(seconds: float) -> str:
    """A time as people say it: ``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / _MINUTE), _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
