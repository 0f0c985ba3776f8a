"""Globs of dotted names: ``*`` stays within one segment, ``**`` is any number of segments, also none."""

from __future__ import annotations

import functools
import re


@functools.lru_cache(maxsize=4096)
def expression(glob: str) -> re.Pattern[str]:
    """What a whole name that the glob means matches."""
    *above, last = glob.split(".")
    beginning = "".join(r"(?:[^.]+\.)*" if one == "**" else _segment(one) + r"\." for one in above)
    if last != "**":
        return re.compile(beginning + _segment(last))
    return re.compile(beginning.removesuffix(r"\.") + r"(?:\.[^.]+)*" if above else r"[^.]+(?:\.[^.]+)*")


def _segment(glob: str) -> str:
    return re.escape(glob).replace(r"\*", "[^.]*").replace(r"\?", "[^.]")
