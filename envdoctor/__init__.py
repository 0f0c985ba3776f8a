"""envdoctor: examine a Python environment, diagnose it, prescribe a fix.

``examine`` turns a target into a :class:`Snapshot`; ``diagnose`` turns a snapshot into a list of :class:`Finding`,
``check`` into a report, which a notebook shows as a page.
"""

from __future__ import annotations

__all__ = ["Finding", "Snapshot", "__version__", "check", "diagnose", "examine"]

_HOMES = {
    "__version__": "_version",
    "check": "doctor",
    "diagnose": "doctor",
    "examine": "doctor",
    "Finding": "model",
    "Snapshot": "model",
    "load_ipython_extension": "ipython",
    "unload_ipython_extension": "ipython",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor._version import __version__
    from envdoctor.doctor import check, diagnose, examine
    from envdoctor.model import Finding, Snapshot


def __getattr__(name: str) -> object:
    """Import the public names where they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("envdoctor." + _HOMES[name]), name)
