"""Starts the programs of trials, waits for them, and ends them with all that they started; all at once when asked."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    _Process = subprocess.Popen[bytes]

#: Seconds that what ends a namespace may take to return.
_GRACE = 20
_lock = threading.RLock()
_live: dict[_Process, bool] = {}
_stopping = threading.Event()


class StoppedError(Exception):
    """All programs were ended, and no further one is started."""


def run(
    command: Sequence[str], log: str, *, seconds: float, directory: str, env: Mapping[str, str], contained: bool = False
) -> int | None:
    """Run a program to its end, in a directory, with what it prints in the file ``log``; gives its exit status.

    ``None`` where its time was over. ``contained`` says that its first child holds all it starts, in a namespace.
    Raises :class:`StoppedError` where :func:`stop` was called.
    """
    with open(log, "wb") as output, _lock:
        _go_on()
        process = subprocess.Popen(  # noqa: S603 - uv, an interpreter, or a trial in its sandbox
            command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        _live[process] = contained
    try:
        status = _wait(process, seconds)
    finally:
        _end(process, contained=contained)
        with _lock:
            del _live[process]
    _go_on()
    return status


def _go_on() -> None:
    if _stopping.is_set():
        raise StoppedError


def _wait(process: _Process, seconds: float) -> int | None:
    """Wait without looking again and again, where the system can say that a process has ended."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(process.pid)
            try:
                poll = select.poll()
                poll.register(descriptor, select.POLLIN)
                return process.wait() if poll.poll(int(seconds * 1000)) else None
            finally:
                os.close(descriptor)
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def _end(process: _Process, *, contained: bool) -> None:
    """End a program and whatever it started.

    Of a process namespace the first process is ended, which ends all others; then who waits for it returns.
    """
    if os.name == "nt":
        process.kill()
    elif contained and process.poll() is None:
        import psutil

        with contextlib.suppress(psutil.NoSuchProcess, subprocess.TimeoutExpired):
            for child in psutil.Process(process.pid).children():
                child.kill()
            process.wait(timeout=_GRACE)
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stop() -> None:
    """End every program that runs, and start no other."""
    _stopping.set()
    with _lock:
        live = dict(_live)
    for process, contained in live.items():
        _end(process, contained=contained)


def resume() -> None:
    """Let programs be started again."""
    _stopping.clear()


class Interruption:
    """Whether a signal asked to stop, and which: ``number`` is 0 while none did."""

    number = 0

    def __init__(self) -> None:
        self._before = {name: signal.getsignal(name) or signal.SIG_DFL for name in (signal.SIGINT, signal.SIGTERM)}

    def listen(self) -> None:
        """Take the first signal; a second one does what it did before."""
        for name in self._before:
            signal.signal(name, self._stop)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        self.restore()
        stop()

    def restore(self) -> None:
        """Leave signals to whom they were left before."""
        for name, before in self._before.items():
            signal.signal(name, before)


@contextlib.contextmanager
def stoppable() -> Iterator[Interruption]:
    """Let Ctrl-C and a request to terminate end what runs, at once; what is done goes on to be written."""
    interruption = Interruption()
    here = threading.current_thread() is threading.main_thread()
    if here:
        interruption.listen()
    try:
        yield interruption
    finally:
        if here and not interruption.number:
            interruption.restore()
        resume()
