"""The user's cache directory, and how a file gets there. On the plain path."""

from __future__ import annotations

import os


def directory() -> str:
    """Where this user's caches live, after the conventions of each platform."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "envdoctor")


def keep(path: str, data: bytes) -> None:
    """Write a cache file in one step; one that cannot be written costs time, not the run."""
    import contextlib
    import tempfile

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
