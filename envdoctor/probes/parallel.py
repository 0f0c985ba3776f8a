"""The same work on many things, on every core where that pays."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import tempfile
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO, Any

#: Weight, in characters of source, below which one process is faster than two.
WORTH_SHARING = 150_000
MOST_PROCESSES = 8
_LENGTH = 8


def each(weights: Sequence[int], work: Callable[[int], bytes]) -> dict[int, bytes]:
    """The result of ``work`` for each number below ``len(weights)``, the heaviest first.

    Processes are forked off where the platform forks safely and this process has a single thread; each takes the next
    number from a pipe. What a lost process leaves undone, or the pipe did not hold, is done here.
    """
    numbers = sorted(range(len(weights)), key=lambda one: -weights[one])
    processes = _processes(sum(weights))
    if processes == 1:
        return dict(_worked(numbers, work))
    queue = _queue(numbers)
    forked = [_fork(queue, work) for _ in range(processes - 1)]
    done: dict[int, bytes] = {}
    try:
        done.update(_worked(_taken(queue), work))
    finally:
        os.close(queue)
        done.update(_gathered(forked))
    done.update(_worked((number for number in numbers if number not in done), work))
    return done


def apart(works: Sequence[Callable[[], Any]], weight: int) -> list[Any]:
    """What each of some works returns, at the same time where this process can fork, in processes that end with it.

    ``weight`` is the source that they are about, in characters: they are done one after the other where it is small.

    Each begins with what this process has, which learns nothing but what they return. What a lost process leaves undone
    is done here.
    """
    forked = []
    for at in range(len(works)) if _processes(weight) > 1 else ():
        queue = _queue([at])
        forked.append(_fork(queue, lambda number: pickle.dumps(works[number]())))
        os.close(queue)
    done = _gathered(forked)
    return [pickle.loads(done[at]) if at in done else work() for at, work in enumerate(works)]  # noqa: S301 - of a fork


def _worked(numbers: Iterable[int], work: Callable[[int], bytes]) -> Iterator[tuple[int, bytes]]:
    """Each number with its result."""
    with uncollected():
        for number in numbers:
            yield number, work(number)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Do without the collector of garbage, where it finds none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # what there is counts as old now: nobody looks through all of it at once
            gc.unfreeze()
            gc.enable()


def _processes(weight: int) -> int:
    if sys.platform != "linux" or threading.active_count() > 1 or weight < WORTH_SHARING:
        return 1
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0)), max(1, 2 * weight // WORTH_SHARING))


def _queue(numbers: Sequence[int]) -> int:
    """A pipe that holds numbers, as many as it takes: how much that is depends on the system and on who else asks."""
    queue, feed = os.pipe()
    os.set_blocking(feed, False)
    with contextlib.suppress(BlockingIOError):
        os.write(feed, b"".join(number.to_bytes(_LENGTH, "big") for number in numbers))
    os.close(feed)
    return queue


def _taken(queue: int) -> Iterator[int]:
    """Numbers that no other process takes; the last may have been cut off."""
    while True:
        number = os.read(queue, _LENGTH)
        if len(number) < _LENGTH:
            return
        yield int.from_bytes(number, "big")


def _fork(queue: int, work: Callable[[int], bytes]) -> tuple[int, IO[bytes]] | None:
    """Another process that writes its results into a file without a name; none where the system cannot fork."""
    try:
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - read by this process, written by the other
    except OSError:
        return None
    try:
        child = os.fork()
    except OSError:
        file.close()
        return None
    if child:
        return child, file
    try:
        for number, made in _worked(_taken(queue), work):
            frame = number.to_bytes(_LENGTH, "big") + len(made).to_bytes(_LENGTH, "big") + made
            while frame:
                frame = frame[file.write(frame) :]
    finally:
        os._exit(0)


def _gathered(forked: Iterable[tuple[int, IO[bytes]] | None]) -> dict[int, bytes]:
    """What processes have written when they have ended."""
    done: dict[int, bytes] = {}
    for child in forked:
        if child is not None:
            os.waitpid(child[0], 0)
            with child[1] as file:
                done.update(_frames(file))
    return done


def _frames(file: IO[bytes]) -> dict[int, bytes]:
    """The pieces that another process wrote, whole ones only."""
    found = {}
    file.seek(0)
    data = file.read()
    at = 0
    while at + 2 * _LENGTH <= len(data):
        number = int.from_bytes(data[at : at + _LENGTH], "big")
        end = at + 2 * _LENGTH + int.from_bytes(data[at + _LENGTH : at + 2 * _LENGTH], "big")
        if end > len(data):
            break
        found[number] = data[at + 2 * _LENGTH : end]
        at = end
    return found
