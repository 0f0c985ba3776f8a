"""Which threads of a process were started before it forked."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def started_before(pid: int, children: Iterable[int]) -> int:
    """How many threads of a process that still run were started before the last of some of its children, on Linux.

    Times are counted in ticks of the kernel. Within one of them the numbers tell, which the kernel gives out one after
    the other: a pool starts its threads right after its processes.
    """
    born = [_start(f"/proc/{child}", child) for child in children]
    last = max((one for one in born if one is not None), default=None)
    names = [int(name) for name in os.listdir(f"/proc/{pid}/task") if name != str(pid)]
    started = [_start(f"/proc/{pid}/task/{name}", name) for name in names]
    return sum(last is not None and one is not None and one < last for one in started)


def _start(place: str, number: int) -> tuple[int, int] | None:
    """When a process or thread was started, in ticks since the machine was (field 22 of ``stat``), and its number."""
    with contextlib.suppress(OSError), open(place + "/stat", "rb") as stream:
        return int(stream.read().rpartition(b")")[2].split()[19]), number
    return None
