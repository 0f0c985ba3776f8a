"""Facts about a target that are read from outside of its interpreter. On the plain path."""

from __future__ import annotations

import os

from envdoctor.facts import NOT_RECORDED, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from envdoctor.facts import Kind, Questions
    from envdoctor.model import Snapshot

    K = TypeVar("K")
    V = TypeVar("V")

_UNTOLD = Unknown(reason="this target cannot tell")


def answered(snapshot: Snapshot, questions: Callable[[Snapshot], Questions]) -> Snapshot:
    """The snapshot with the facts that ``questions`` asks of it, as far as its target can answer.

    What the answers lead to is asked in a further round; each question is put once. Where actions have been applied to
    the snapshot in memory, so they are to what its target answers.
    """
    while snapshot.probes is not None:
        wanted = snapshot.facts.open(questions(snapshot))
        if not wanted:
            break
        found = snapshot.probes.answers(wanted)
        tables = ((kind, keys, found.get(kind, {})) for kind, keys in wanted.items())
        answers = {kind: {key: table.get(key, _UNTOLD) for key in keys} for kind, keys, table in tables}
        for effect in snapshot.effects:
            answers = {
                kind: {key: effect.of(kind, key, one) for key, one in table.items()} for kind, table in answers.items()
            }
        snapshot = snapshot.replace(facts=snapshot.facts.having(answers))
    return snapshot


def ask(snapshot: Snapshot, kind: Kind[K, V], key: K) -> V | Unknown:
    """One fact of a target, for callers that may read: the engine is given what it needs."""
    return answered(snapshot, lambda _: {kind: [key]}).facts.ask(kind, key)


def unrecorded(questions: Questions) -> dict[Kind[Any, Any], dict[Any, Any]]:
    """The answers of a target that was not there to be asked."""
    return {kind: dict.fromkeys(keys, Unknown(reason=NOT_RECORDED)) for kind, keys in questions.items()}


def opened(path: str) -> Callable[[int, int], bytes]:
    """A function that reads a file from an offset, at most so many bytes. The file stays open.

    Raises ``OSError`` where there is none.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    size = os.fstat(descriptor).st_size
    if hasattr(os, "pread"):
        return lambda offset, length: os.pread(descriptor, min(length, size), offset)

    def read(offset: int, length: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, min(length, size))

    return read
