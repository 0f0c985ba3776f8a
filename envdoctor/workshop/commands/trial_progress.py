"""Says on stderr which trials run, what failed so far, how many are done, and how long the rest will take."""

from __future__ import annotations

import sys
import threading
import time

from envdoctor.talk import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from envdoctor.workshop.proof.trials import Trial

_HOUR, _MINUTE = 3600, 60


class Progress:
    """A bar on a terminal; in a pipe, a line for each trial that is done."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.failed = total, 0, 0
        self._start = time.monotonic()
        self._running: dict[str, str] = {}
        self._lock = threading.Lock()
        self._bar = _bar(total) if sys.stderr.isatty() else None

    def begin(self, trial: Trial) -> None:
        """Take note of a trial that begins; it may be called from any thread."""
        with self._lock:
            self._running[trial.key()] = _named(trial)
            self._draw()

    def more(self, number: int) -> None:
        """Take note of trials that have become needed."""
        self.total += number

    def end(self, trial: Trial, *, failed: bool = False, seconds: float | None = None) -> None:
        """Take note of a trial that is done."""
        with self._lock:
            self._running.pop(trial.key(), None)
            self.done += 1
            self.failed += failed
            if self._bar is None:
                took = "" if seconds is None else f"{seconds:.1f} s, "
                said = f"{self.done}/{self.total}  {'failed' if failed else 'done  '}  {_named(trial)}"
                print(f"{said}  ({took}{self._left()})", file=sys.stderr, flush=True)
            self._draw()

    def clear(self) -> None:
        """Make room for what is printed in the place of the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _left(self) -> str:
        if self.done >= self.total:
            return "nothing left"
        if not self.done:
            return "time left unknown"
        seconds = (time.monotonic() - self._start) / self.done * (self.total - self.done)
        return f"about {duration(seconds)} left"

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.start()
            failed = f"{self.failed} failed, " if self.failed else ""
            doing = f"{failed}{self._left()}  {', '.join(self._running.values())}"
            self._bar.update(self._bar.task_ids[0], completed=self.done, description=doing, refresh=True)


def _bar(total: int) -> Bar:
    """A bar with how many are done and what is said of them, gone when it is stopped."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    wide = len(f"{total}/{total}")
    bar = Bar(
        BarColumn(bar_width=20, table_column=Column(min_width=20)),
        TextColumn("{task.completed:.0f}/{task.total:.0f}", table_column=Column(min_width=wide, no_wrap=True)),
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=Console(stderr=True), expand=True, transient=True, redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip
    bar.add_task("", total=total)
    return bar


def _named(trial: Trial) -> str:
    return safe(f"{trial.rule}: {trial.name}")


def duration(seconds: float) -> str:
    """A time as people say it: ``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / _MINUTE), _MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
