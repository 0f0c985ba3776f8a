"""How to call uv, and what it says when it fails."""

from __future__ import annotations

import re
import shutil
import sys

from envdoctor.errors import ProbeError

_SHOWN = 400
#: What begins a line of an error: the frame that uv draws, and words that say that it is one.
_ORNAMENT = re.compile(r"^[\s\u00d7\u2500-\u257f\u25b6]*(?:(?:error|cause|Caused by):)?")


def program(why: str, instead: str = "") -> list[str]:
    """The words that call uv: the one on ``PATH``, or the Python package.

    Raises :class:`ProbeError` where there is none, saying ``why`` it is needed and what may be done ``instead``.
    """
    path = shutil.which("uv")
    if path:
        return [path]
    import importlib.util

    if importlib.util.find_spec("uv") is None:
        raise ProbeError(f"{why}, which is not installed here: install it (https://docs.astral.sh/uv){instead}")
    return [sys.executable, "-m", "uv"]


def shortened(said: str) -> str:
    """An error of uv's on one line, without its ornaments and without the password that an address may carry."""
    lines = [_ORNAMENT.sub("", line).strip() for line in re.sub(r"//[^/\s@]*@", "//", said).splitlines()]
    first, *rest = [line for line in lines if line] or [""]
    text = f"{first}: {' '.join(rest)}" if rest else first
    return text if len(text) <= _SHOWN else text[:_SHOWN].rpartition(" ")[0] + " ..."
