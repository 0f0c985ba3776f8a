"""What a resolver is asked, and what it says where there is no solution."""

from __future__ import annotations

import re

from envdoctor.engine.installed_requirements import normalise
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


def named(text: str, task: Task) -> frozenset[str]:
    """The bounded distributions that a text names."""
    words = {normalise(word) for word in _WORD.findall(text)}
    return frozenset(name for name in task.bounds if name in words)
