"""A command run as it would be without envdoctor, while the end of what it prints on stderr is kept.

Its stdin and stdout are those of envdoctor. Where stderr is a terminal, the command gets one too, of the same size, so
that colours and progress bars stay; signals reach it, and how it ends is returned.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

#: How much of stderr is kept, in bytes.
KEPT = 1 << 20
#: How long stderr is read after the end of the command, in seconds: a process that it left behind may hold it open.
_PATIENCE = 1.0
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


class Child:
    """A command, which runs from :meth:`start` on."""

    process: subprocess.Popen[bytes]

    def __init__(self, command: Sequence[str]) -> None:
        self.said = bytearray()
        self._command = command
        self._mirror = sys.platform != "win32" and os.isatty(2)
        self._early: list[int] | None = []  # signals from before it runs

    def start(self) -> None:
        """Start the command. Raises :class:`OSError` where it cannot be."""
        self._ours, its = _terminal_like(2) if self._mirror else os.pipe()
        try:
            self.process = subprocess.Popen(self._command, stderr=its)  # noqa: S603 - what the user asks to run
        except OSError:
            os.close(self._ours)
            raise
        finally:
            os.close(its)
        early, self._early = self._early or [], None
        for number in early:
            self.process.send_signal(number)
        self._reader = threading.Thread(target=self._copy, daemon=True)
        self._reader.start()

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit status, negative for a signal; ``None`` where it still runs after so many seconds."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(_PATIENCE)
        return status

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Pass on what envdoctor is sent; Ctrl-C, which the command gets too, raises :class:`KeyboardInterrupt`."""

        def forward(number: int, _frame: object) -> None:
            if self._early is None:
                self.process.send_signal(number)
            else:
                self._early.append(number)

        def interrupt(number: int, frame: FrameType | None) -> None:
            if _of_terminal():
                signal.default_int_handler(number, frame)
            forward(number, frame)

        handlers: dict[str, Callable[[int, Any], None]] = dict.fromkeys(_FORWARDED, forward)
        handlers.update(SIGINT=interrupt, SIGQUIT=lambda *_: None, SIGWINCH=self._resize)
        before = {
            number: signal.signal(number, handler)
            for name, handler in handlers.items()
            if (number := getattr(signal, name, None)) is not None
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _resize(self, *_: object) -> None:
        if self._mirror and self._early is None:
            _same_size(2, self._ours)

    def _copy(self) -> None:
        """Read until nobody can write any more; a terminal ends with an error."""
        with contextlib.suppress(OSError):
            while chunk := os.read(self._ours, 1 << 16):
                self.said += chunk
                if len(self.said) > 2 * KEPT:
                    del self.said[:-KEPT]
                with contextlib.suppress(OSError):  # nobody reads envdoctor's stderr: the command shall not notice
                    _write(chunk)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(2, data) :]


def _of_terminal() -> bool:
    """Whether Ctrl-C at a terminal reaches the command by itself, as it is in the group in the foreground."""
    for stream in range(3):
        with contextlib.suppress(OSError, AttributeError):
            if os.tcgetpgrp(stream) == os.getpgrp():
                return True
    return False


def _terminal_like(stream: int) -> tuple[int, int]:
    """Both ends of a new terminal with the settings of another, which passes on what is written as it is."""
    import pty
    import termios

    ours, its = pty.openpty()
    settings = termios.tcgetattr(stream)
    settings[1] &= ~termios.OPOST  # the real terminal does that
    termios.tcsetattr(its, termios.TCSANOW, settings)
    _same_size(stream, its)
    return ours, its


def _same_size(stream: int, other: int) -> None:
    import fcntl
    import termios

    with contextlib.suppress(OSError):
        fcntl.ioctl(other, termios.TIOCSWINSZ, fcntl.ioctl(stream, termios.TIOCGWINSZ, bytes(8)))


def end_as(status: int) -> int:
    """End this process by the signal that ended the command; otherwise return its exit status."""
    if status >= 0:
        return status
    with contextlib.suppress(OSError, ValueError, ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status
