"""Ends what an examined interpreter started and left running.

On Linux the interpreter is started below a process that inherits every orphan of its family, so that nothing gets away
by another parent, session or environment: ``PR_SET_CHILD_SUBREAPER`` of prctl(2). Elsewhere all is found that the
system says to be a child of the interpreter, or that has inherited a variable with a random value; on macOS what clears
its variables after its parent has ended is not.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any

    import psutil

    _Child = subprocess.Popen[bytes]

#: How many seconds a process may take to end by itself.
GRACE = 1.0
#: How often what is left is looked for, and the seconds between: what was found may have started more.
_ROUNDS, _MOMENT = 100, 0.01
#: ``PR_SET_DUMPABLE`` and ``PR_SET_CHILD_SUBREAPER`` of prctl(2).
_DUMPABLE, _SUBREAPER = 4, 36
_MARK = "ENVDOCTOR_EXAMINED"


def keeping(variables: MutableMapping[str, str]) -> dict[str, Any]:
    """Options of :class:`subprocess.Popen` by which :func:`end` finds all; where needed, ``variables`` get a mark."""
    if sys.platform != "linux":
        variables[_MARK] = secrets.token_hex(16)
        return {}
    variables.pop(_MARK, None)
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return {"preexec_fn": lambda: _keep(prctl)}


def _keep(prctl: Callable[..., int]) -> None:
    """Return in a child that is to become the interpreter; this process waits for its family, and ends as it did."""
    prctl(_SUBREAPER, 1, 0, 0, 0)
    interpreter = os.fork()
    if not interpreter:
        return
    try:
        os.closerange(0, 1 << 16)  # the pipes are the interpreter's
        status = 0
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, ended = os.wait()
                status = ended if pid == interpreter else status
        if os.WIFSIGNALED(status):
            prctl(_DUMPABLE, 0, 0, 0, 0)
            os.kill(os.getpid(), os.WTERMSIG(status))
    finally:
        os._exit(os.WEXITSTATUS(status))


def end(child: _Child, variables: MutableMapping[str, str]) -> None:
    """End the interpreter and everything it started, and wait for it."""
    mark = variables.get(_MARK)
    if child.returncode is not None and mark is None:
        return  # whoever keeps its family ends last
    import psutil

    for _ in range(_ROUNDS):
        found = [*(_family(child.pid) if child.poll() is None else ()), *_marked(mark)]
        for one in found:
            with contextlib.suppress(psutil.Error):
                one.kill()
        if not found:
            break
        psutil.wait_procs(found, _MOMENT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE if mark is None else 0)
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            child.kill() if sys.platform == "win32" else os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _family(pid: int) -> list[psutil.Process]:
    """All processes below one."""
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _marked(mark: str | None) -> list[psutil.Process]:
    """The processes with the mark among the variables that they were started with, where this user may read them."""
    import psutil

    found = []
    for one in psutil.process_iter() if mark else ():
        with contextlib.suppress(psutil.Error, OSError):
            if one.environ().get(_MARK) == mark:
                found.append(one)
    return found
