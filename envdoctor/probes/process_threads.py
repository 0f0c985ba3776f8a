"""Which threads of a process were started before it forked."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
#: How many threads or processes are named.
MOST_NAMED = 5


def started_before(pid: int, children: Iterable[int]) -> str:
    """The threads of a process that still run and were started before the last of some of its children, on Linux.

    Each by its number, and by its name where it has one: Python gives it that from 3.14 on. Times are
    counted in ticks of the kernel. Within one of them the numbers tell, which the kernel gives out one after the other:
    a pool starts its threads right after its processes.
    """
    born = [_start(f"/proc/{child}", child) for child in children]
    last = max((one for one in born if one is not None), default=None)
    names = [int(name) for name in os.listdir(f"/proc/{pid}/task") if name != str(pid)]
    started = [_start(f"/proc/{pid}/task/{name}", name) for name in names]
    before = sorted(one for one in started if last is not None and one is not None and one < last)
    named = [f"thread {number}{_named(pid, number)}" for _, number in before[:MOST_NAMED]]
    return ", ".join([*named, f"{len(before) - MOST_NAMED} more"][: len(named) + (len(before) > MOST_NAMED)])


def _named(pid: int, thread: int) -> str:
    names = []
    for place in (f"/proc/{pid}/comm", f"/proc/{pid}/task/{thread}/comm"):
        with contextlib.suppress(OSError), open(place, encoding="utf-8", errors="replace") as stream:
            names.append(stream.read().strip())
    return f" ({names[-1]})" if len(set(names)) > 1 else ""


def _start(place: str, number: int) -> tuple[int, int] | None:
    """When a process or thread was started, in ticks since the machine was (field 22 of ``stat``), and its number."""
    with contextlib.suppress(OSError), open(place + "/stat", "rb") as stream:
        return int(stream.read().rpartition(b")")[2].split()[19]), number
    return None
