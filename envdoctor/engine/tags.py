"""Whether an installed wheel was built for this interpreter and machine, by its compatibility tags.

Only a clear contradiction counts: another CPython than the one here (unless the stable ABI covers it), another
operating system, another processor. A tag of an unknown form contradicts nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from envdoctor.model import Snapshot

_SYSTEMS = {"linux": ("linux", "manylinux", "musllinux"), "darwin": ("macosx",), "win32": ("win",)}
#: How wheels spell processors, by what interpreters call them; ``universal2`` wheels hold two.
_MACHINES = {
    "x86_64": ("x86_64", "amd64", "universal2", "intel", "universal"),
    "amd64": ("x86_64", "amd64"),
    "arm64": ("arm64", "aarch64", "universal2"),
    "aarch64": ("arm64", "aarch64"),
    "i686": ("i686", "i386", "win32"),
    "x86": ("win32", "i686"),
}
#: All spellings of processors, longer ones before their endings.
_SPELLINGS = sorted({name for names in _MACHINES.values() for name in names}, key=len, reverse=True)


def mismatch(tags: Iterable[str], snapshot: Snapshot) -> str | None:
    """The first tag, where every one of the tags contradicts the snapshot's interpreter or machine, else ``None``."""
    first = None
    for tag in tags:
        if tag[-9:] == "-none-any" and tag[:2] == "py":
            return None
        pieces = tag.split("-")
        if len(pieces) != 3 or (_python_fits(pieces[0], pieces[1], snapshot) and _platform_fits(pieces[2], snapshot)):  # noqa: PLR2004 - python, abi, platform
            return None
        first = first or tag
    return first


def _python_fits(interpreter: str, abi: str, snapshot: Snapshot) -> bool:
    digits = interpreter[2:]
    major, minor = [*str(snapshot.python.get("version") or "").split("."), "", ""][:2]
    is_cpython = interpreter[:2] == "cp" and snapshot.python.get("implementation") in {None, "cpython"}
    if not is_cpython or not digits.isdigit() or not minor.isdigit():
        return True
    if abi == "abi3":
        return digits[0] == major and int(digits[1:] or 0) <= int(minor)
    return _threads_fit(abi, snapshot) and (digits == major + minor or (abi == "none" and digits == major))


def _threads_fit(abi: str, snapshot: Snapshot) -> bool:
    threaded = snapshot.python.get("free_threaded")
    return abi[:2] != "cp" or threaded is None or abi.endswith("t") is threaded


def _platform_fits(platform: str, snapshot: Snapshot) -> bool:
    system = _SYSTEMS.get(snapshot.platform.get("system") or "")
    if platform == "any":
        return True
    if system and not platform.startswith(system) and platform.startswith(sum(_SYSTEMS.values(), ())):
        return False
    machines = _MACHINES.get((snapshot.platform.get("machine") or "").lower())
    stated = next((name for name in _SPELLINGS if platform.endswith(name)), None)
    return machines is None or stated is None or stated in machines
