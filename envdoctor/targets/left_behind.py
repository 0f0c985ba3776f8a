"""Ends what an examined interpreter started and left running: all that has inherited a variable with a random value."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

#: The variable by which it is known again.
MARK = "ENVDOCTOR_EXAMINED"
#: How often it is looked for: what was found may have started more, and takes a moment to end.
_ROUNDS, _MOMENT = 20, 0.01


def end(mark: bytes) -> None:
    """End what the interpreter has left running, in whatever session: all that has inherited its mark."""
    for _ in range(_ROUNDS):
        found = [pid for pid in _others() if mark in _variables(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        threading.Event().wait(_MOMENT)  # one that is killed keeps its variables for a moment


def _others() -> list[int]:
    """The numbers of all processes but this one."""
    if sys.platform == "linux":
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    else:
        import psutil

        pids = psutil.pids()
    return [pid for pid in pids if pid != os.getpid()]


def _variables(pid: int) -> bytes:
    """The environment variables that a process was started with, where this user may read them."""
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            with open(f"/proc/{pid}/environ", "rb") as stream:
                return stream.read()
        import psutil

        with contextlib.suppress(psutil.Error):
            return "\0".join(f"{name}={value}" for name, value in psutil.Process(pid).environ().items()).encode(
                "utf-8", "replace"
            )
    return b""
