"""How installed versions differ from the lock file of a project. On the plain path.

Names and versions are picked out of the file's lines, which is enough while they agree. Only where one differs is the
file read in full, for the environment's own Python and platform: markers, forks and extras may say why.
"""

from __future__ import annotations

import os

from envdoctor.engine.installed_requirements import normalise
from envdoctor.engine.versions import within
from envdoctor.model import Location, Unknown
from envdoctor.probes.distributions import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Distribution, Snapshot

#: A longer file is not read. In bytes.
_LARGEST = 50 << 20


def differences(lock: str, snapshot: Snapshot) -> list[tuple[str, str, Location]] | Unknown:
    """``(name, locked version, where)`` of what is installed in another version than a lock file says.

    What is installed from a directory or an address has the version that it has there, and is left out.
    """
    stated = pinned(lock)
    suspects = [one for name, one in snapshot.packages.items() if _differs(one, stated.get(name))]
    if stated and not suspects:
        return []
    locked = _read(lock, snapshot)  # which also says why its lines state nothing
    if isinstance(locked, Unknown):
        return locked
    found = []
    for one in suspects:
        entry = locked.packages.get(one.name)
        if entry and entry.version and one.version and within(one.version, "==" + entry.version) is False:
            found.append((one.name, entry.version, entry.path if isinstance(entry.path, Location) else Location(lock)))
    return found


def _differs(installed: Distribution, stated: set[str] | None) -> bool:
    """Whether a version from an index is none of those that are stated."""
    if stated is None or installed.version in stated:
        return False
    return not os.path.exists(os.path.join(installed.path or "", "direct_url.json"))


def pinned(path: str) -> dict[str, set[str]]:
    """The versions that the lines of a lock file state, by normalised name; none where it cannot be read."""
    text = (read_bytes(path, _LARGEST) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
    pairs = _of_json(text) if text.lstrip()[:1] == "{" else _of_toml(text)
    found: dict[str, set[str]] = {}
    for name, version in pairs:
        found.setdefault(normalise(name), set()).add(version)
    return found


def _of_toml(text: str) -> list[tuple[str, str]]:
    """The values of each line ``name = "..."`` with a line ``version = "..."`` right below."""
    pairs = []
    for piece in text.split('\nname = "')[1:]:
        name, below, rest = piece.partition('"\nversion = "')
        if below and "\n" not in name:
            pairs.append((name, rest.partition('"')[0]))
    return pairs


def _of_json(text: str) -> list[tuple[str, str]]:
    from envdoctor.plainjson import decode

    try:
        sections = [section for name, section in decode(text.strip().encode()).items() if name != "_meta"]
        entries = [entry for section in sections for entry in section.items()]
        return [(name, said["version"].lstrip("=")) for name, said in entries if said.get("version")]
    except (ValueError, StopIteration, AttributeError, TypeError, RecursionError):
        return []


def _read(lock: str, snapshot: Snapshot) -> Snapshot | Unknown:
    """The lock file as it is meant for an environment."""
    from envdoctor.errors import EnvdoctorError
    from envdoctor.targets.requirements import snapshot_of

    version, platform = snapshot.python.get("version"), snapshot.platform
    try:
        return snapshot_of(lock, version, platform.get("system"), platform.get("machine"))
    except EnvdoctorError as error:
        return Unknown(reason=str(error))
