"""What a resolver is asked, how it is called, and what it says where there is no solution."""

from __future__ import annotations

import re
import subprocess

from envdoctor.engine.installed_requirements import normalise
from envdoctor.errors import ProbeError
from envdoctor.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WORD = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*", re.IGNORECASE)


class Task(Record):
    """What is to be resolved.

    ``python`` are the words that name it for uv. ``names`` are the distributions that have to be there, ``lines`` what
    is required besides, and ``apart`` those that uv is not to look at. ``preferred`` are the versions to keep where
    they can be kept, ``bounds`` a specifier for each distribution that has to move, or must not.
    """

    python: Sequence[str]
    names: Sequence[str]
    preferred: Mapping[str, str]
    bounds: Mapping[str, str] = {}
    lines: Sequence[str] = ()
    apart: Sequence[str] = ()


class Refusal(Record):
    """That there is no solution: the bounded distributions that the reason names, and what uv misses."""

    names: frozenset[str]
    unknown: str | None = None


def called(
    words: Sequence[str], seconds: int, late: str, variables: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """The exit status of a resolver, and what it says on both streams: of one that takes longer what is ``late``.

    Raises :class:`ProbeError` where it cannot be run.
    """
    try:
        done = subprocess.run(  # noqa: S603 - uv or pip itself
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False, env=variables
        )
    except OSError as error:
        raise ProbeError(f"{words[0]} could not be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        return 1, "", f"{late} within {seconds} seconds"
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def named(text: str, task: Task) -> frozenset[str]:
    """The bounded distributions that a text names."""
    words = {normalise(word) for word in _WORD.findall(text)}
    return frozenset(name for name in task.bounds if name in words)
