"""Patterns over relative paths: ``*`` stays within one name, ``**`` is any number of directories.

A path is matched name by name, and no pattern takes longer than the product of its length and the path's.
"""

from __future__ import annotations

import fnmatch
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    #: Whether one name matches; ``None`` is ``**``.
    Segment = Callable[[str], Any] | None


class Glob:
    """A pattern for files at any depth; with a slash in it, from the top, such as ``./name``.

    ``**/name`` also matches at the top.
    """

    def __init__(self, pattern: str) -> None:
        names = pattern.removeprefix("./").split("/")
        self.segments = closed([_segment(name) for name in (names if "/" in pattern else ["**", pattern])])
        #: Whether the pattern names its file without a wildcard.
        self.exact = not set("*?[") & set(names[-1])
        self._last = self.segments[-1]

    def matches(self, name: str) -> bool:
        """Whether a relative path, with ``/`` between its names, is meant."""
        parts = name.split("/")
        return bool(self._last and self._last(parts[-1])) and match_all(self.segments, parts)


def _segment(name: str) -> Segment:
    return None if name == "**" else re.compile(fnmatch.translate(name)).match


def closed(segments: list[Segment]) -> list[Segment]:
    """A ``**`` at the end is at least one name."""
    return segments if segments[-1] is not None else [*segments, bool]


def match_all(segments: Sequence[Segment], parts: Sequence[str]) -> bool:
    """Whether names match segments, the last of which is not ``**``."""
    at = part = 0
    retry: tuple[int, int] | None = None
    while part < len(parts):
        segment = segments[at] if at < len(segments) else _never
        if segment is None:
            at += 1
            retry = at, part
        elif segment(parts[part]):
            at += 1
            part += 1
        elif retry:
            at, part = retry[0], retry[1] + 1
            retry = at, part
        else:
            return False
    return at == len(segments)


def _never(_name: str) -> bool:
    return False
