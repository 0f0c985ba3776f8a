"""What is examined where nothing names an environment: a fallback that fits, else the lock file of the project.

An environment of its own on PATH was put there for the program, as in an image. The Python of the system was not: it
counts where it holds what the project's lock file names, or where there is no such file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envdoctor.engine.versions import within
from envdoctor.errors import TargetError, UsageError
from envdoctor.probes.distributions import read_text
from envdoctor.targets import at_hand
from envdoctor.targets.drift import lock_of, pinned
from envdoctor.targets.environment import beside_lock, of_choice
from envdoctor.targets.markers import version as python_version
from envdoctor.targets.requirements import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.model import Snapshot

_NOTHING = (
    "there is no environment to examine: none is active, no directory from here upwards has a .venv or a lock file, "
    "and there is no other python on PATH than envdoctor's own. Name one with --python PATH, or give a lock file with "
    "-r FILE"
)


def examine(wanted: Callable[[], Mapping[str, Sequence[str]]]) -> Snapshot:
    """The snapshot of a fallback, or of the lock file. Raises :class:`TargetError` where there is neither."""
    lock = next(filter(None, map(lock_of, at_hand.upwards())), None)
    seen: Snapshot | None = None
    failed: TargetError | None = None
    for choice in at_hand.fallbacks():
        try:
            found = of_choice(choice, wanted)
        except TargetError as error:
            failed = failed or error
            continue
        if lock and _holds(found, lock):
            return beside_lock(found, os.path.dirname(lock))
        if lock is None or _is_of_its_own(choice.place):
            return found
        seen = seen or found
    if lock is None:
        raise failed or TargetError(_NOTHING)
    return _locked(lock, seen)


def _is_of_its_own(place: str) -> bool:
    """Whether somebody made this environment for a purpose: a virtual one, or one of conda that has a name."""
    if os.path.exists(os.path.join(place, "pyvenv.cfg")):
        return True
    return at_hand.is_marked(place) and os.path.basename(os.path.dirname(place)) == "envs"


def _holds(snapshot: Snapshot, lock: str) -> bool:
    """Whether at least half of what a lock file names is installed."""
    names = pinned(lock).keys()
    return 2 * len(names & snapshot.packages.keys()) >= len(names) > 0


def _locked(lock: str, seen: Snapshot | None) -> Snapshot:
    """The lock file as it would be installed here: for the Python that the project states, or the one at hand."""
    here, name = os.path.split(lock)
    platform = seen.platform if seen else {}
    told = (read_text(os.path.join(here, ".python-version"), 100) or "").strip()
    candidates = ((told, ".python-version"), (str(seen.python.get("version")) if seen else "", "python on PATH"))
    path = name if at_hand.upwards()[:1] == [here] else lock
    found = read(path, None, platform.get("system"), platform.get("machine"))
    allowed = found.target.get("requires_python")
    for version, source in candidates:
        if _is_python(version) and within(version, str(allowed or "")) is not False:
            found = read(path, version, platform.get("system"), platform.get("machine"))
            return _said(found, f"the lock file of this project, for the Python of {source}; nothing is installed")
    return _said(found, "the lock file of this project; nothing is installed")


def _is_python(version: str) -> bool:
    try:
        return bool(version and python_version(version))
    except UsageError:
        return False


def _said(snapshot: Snapshot, chosen: str) -> Snapshot:
    said: Snapshot = snapshot.replace(target={**snapshot.target, "chosen": chosen})
    return said
