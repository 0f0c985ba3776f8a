"""How a target's processes would be started under another Python, or on another platform, than its own."""

from __future__ import annotations

from envdoctor import collector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Snapshot

_DIGITS = 4
#: From this Python on no platform forks by default.
_NO_FORK = (3, 14)
_CALLED = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}


def as_asked(snapshot: Snapshot, python_version: str | None, platform: str | None) -> Snapshot:
    """The snapshot with the default start method of the Python and platform that are asked for, if both are known.

    Where they are not its own, its target says as on which processes are ``started``.
    """
    numbers = _numbers(python_version or snapshot.python.get("version") or "")
    system: str | None = platform or snapshot.platform.get("system")
    asked = python_version or platform
    if not asked or len(numbers) < len(_NO_FORK) or not (system or numbers >= _NO_FORK):
        return snapshot
    default = collector.default_start_method(numbers, system or "linux")
    own = (_numbers(snapshot.python.get("version") or ""), snapshot.platform.get("system"))
    target = dict(snapshot.target)
    if (numbers, system) != own:
        target["started"] = _named(numbers, platform)
    changed: Snapshot = snapshot.replace(start_method={**snapshot.start_method, "default": default}, target=target)
    return changed


def _named(numbers: tuple[int, ...], platform: str | None) -> str:
    """A Python, and the platform that is asked for, in words."""
    python = f"Python {'.'.join(map(str, numbers))}"
    return f"{python} on {_CALLED.get(platform, platform)}" if platform else python


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")[: len(_NO_FORK)]
    return tuple(int(part) for part in parts if part.isdecimal() and len(part) < _DIGITS)
