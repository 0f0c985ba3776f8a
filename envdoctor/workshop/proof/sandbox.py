"""Runs a program where it can do no harm: without network, in time and memory, and with everything it started ended.

On Linux with user namespaces the program runs in its own network and process namespaces, so that nothing of it is
left when it ends. Elsewhere it has its own session, which is killed as a whole; that its network is not cut is said.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys

from envdoctor.model import Record
from envdoctor.workshop.proof import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

#: Bytes of address space, seconds of wall time and bytes of output that a trial may use.
MEMORY = 8 << 30
SECONDS = 120
OUTPUT = 1 << 18
_PROBE_SECONDS = 20
_TOLD = 8_000
#: The length of the command for a namespace of the network alone.
_BARE = 2
_SCRIPT = """\
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null
ulimit -v {memory} 2>/dev/null
ulimit -c 0 2>/dev/null
"$@"
exit $?
"""


class ProgramEnd(Record):
    """How a program ended: its exit status, or the signal that ended it, or neither where its time was over."""

    status: int | None
    signal: str | None = None
    output: str = ""
    isolated: bool = False


def result(came: ProgramEnd, length: int = _TOLD) -> dict[str, Any]:
    """An outcome as plain data: ``passed``, ``failed`` or ``timeout``, with the end of what was printed."""
    outcome = "timeout" if came.status is None else "passed" if came.status == 0 else "failed"
    return {"outcome": outcome, "output": came.output[-length:], "signal": came.signal, "isolated": came.isolated}


@functools.cache
def isolation() -> tuple[str, ...]:
    """The command that puts a program into separate namespaces; empty where there is none."""
    unshare = shutil.which("unshare") if sys.platform == "linux" else None
    if unshare is None:
        return ()
    for flags in (["-rnp", "--fork", "--kill-child", "--mount-proc"], ["-rnp", "--fork", "--kill-child"], ["-rn"]):
        command = (unshare, *flags)
        try:
            done = subprocess.run(  # noqa: S603 - nothing is run but `true`
                [*command, "true"], capture_output=True, timeout=_PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ()
        if done.returncode == 0:
            return command
    return ()


def run(
    command: Sequence[str], directory: str, env: Mapping[str, str], *, seconds: float = SECONDS, network: bool = False
) -> ProgramEnd:
    """Run a program in a directory, which is its HOME and TMPDIR too, and wait for its end.

    ``network`` leaves it the network, for what installs. Raises :class:`~processes.StoppedError`.
    """
    around = _around(network=network)
    limited = ["sh", "-c", _SCRIPT.format(memory=MEMORY >> 10), "trial"] if os.name != "nt" else []
    log = os.path.join(directory, ".trial-output")
    status = processes.run(
        [*around, *limited, *command], log, seconds=seconds, directory=directory, env=environment(directory, env),
        contained=len(around) > _BARE,
    )  # fmt: skip
    said = _end_of(log)
    os.unlink(log)
    return _outcome(status, said, isolated=bool(around) and not network)


def _around(*, network: bool) -> tuple[str, ...]:
    """The command for the namespaces of a program, with or without one for the network."""
    around = isolation()
    if not network:
        return around
    return (around[0], "-rp", *around[_BARE:]) if len(around) > _BARE else ()


def environment(directory: str, env: Mapping[str, str]) -> dict[str, str]:
    """The variables of a trial: few, and none of the user's own."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"HOME": directory, "TMPDIR": directory, "TEMP": directory, "TMP": directory, "LC_ALL": "C.UTF-8"}
    return {**kept, **own, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "COLUMNS": "200", **env}


_KEPT = ("PATH", "SYSTEMROOT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LD_LIBRARY_PATH", "TZ")


def _end_of(path: str) -> str:
    with open(path, "rb") as file:
        file.seek(max(os.path.getsize(path) - OUTPUT, 0))
        return file.read().decode("utf-8", "replace")


def _outcome(status: int | None, said: str, *, isolated: bool) -> ProgramEnd:
    """An exit status above 128 is a signal that a shell or a namespace passed on."""
    number = None if status is None else -status if status < 0 else status - 128 if status > 128 else 0  # noqa: PLR2004
    name = None
    with contextlib.suppress(ValueError):
        name = signal.Signals(number).name if number else None
    return ProgramEnd(status=status, signal=name, output=said, isolated=isolated)
