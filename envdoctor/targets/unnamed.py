"""What is examined where nothing names an environment: a fallback that fits, else the lock file of the project.

``python`` on PATH comes first, then the interpreter that envdoctor was installed into as a library. An environment that
was made for envdoctor alone is no answer. A separate environment on PATH was put there for the program, as in an
image. The Python of the system was not: it counts where it holds what the project's lock file says, or where there is
no such file. On the plain path.
"""

from __future__ import annotations

import os
import sys

from envdoctor.collector import platform_facts
from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.versions import within
from envdoctor.errors import TargetError, UsageError
from envdoctor.probes.distributions import read_text, required_by, scan
from envdoctor.targets import at_hand
from envdoctor.targets.drift import pinned
from envdoctor.targets.environment import beside_lock, of_choice, own_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.model import Distribution, Snapshot, UnknownFact

#: The distribution of envdoctor, and what a new environment may hold by itself.
_OWN, _SEEDS = "pyenvdoctor", {"pip", "setuptools", "wheel"}
_NOTHING = (
    "there is no environment to examine: none is active, no directory from here upwards has a .venv or a lock file, "
    "and there is no other python on PATH than envdoctor's own. Name one with --python PATH, or give a lock file with "
    "-r FILE"
)


def examine(wanted: Callable[[], Mapping[str, Sequence[str]]]) -> Snapshot:
    """The snapshot of a fallback, or of the lock file. Raises :class:`TargetError` where there is neither."""
    lock = next(filter(None, map(at_hand.lock_of, at_hand.upwards())), None)
    seen: Snapshot | None = None
    failed: TargetError | None = None
    for choice in fallbacks():
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
    locked = _locked(lock, str(seen.python.get("version")) if seen else "")
    notes: list[UnknownFact] = []
    at_hand.active(notes)
    chosen: Snapshot = locked.replace(notes=[*notes, *locked.notes])
    return chosen


def _is_of_its_own(place: str) -> bool:
    """Whether somebody made this environment for a purpose: a virtual one, or one of conda that has a name."""
    if os.path.exists(os.path.join(place, "pyvenv.cfg")):
        return True
    return at_hand.is_marked(place) and os.path.basename(os.path.dirname(place)) == "envs"


def _holds(snapshot: Snapshot, lock: str) -> bool:
    """Whether at least half of what a lock file names is installed, in a version that it names."""
    stated, packages = pinned(lock), snapshot.packages
    same = [name for name in stated if name in packages and packages[name].version in stated[name]]
    return 2 * len(same) >= len(stated) > 0


def _locked(lock: str, python: str) -> Snapshot:
    """The lock file as it would be installed here: for the Python that the project states, or for ``python``."""
    from envdoctor.targets.requirements import snapshot_of

    here, name = os.path.split(lock)
    system, machine = platform_facts()["system"], platform_facts()["machine"]
    path = name if at_hand.upwards()[:1] == [here] else lock
    found = snapshot_of(path, None, system, machine)
    stated = (read_text(os.path.join(here, ".python-version"), 100) or "").strip()
    for version, source in ((stated, ".python-version"), (python, "python on PATH")):
        if _is_python(version) and within(version, str(found.target.get("requires_python") or "")) is not False:
            found = snapshot_of(path, version, system, machine)
            return _said(found, f"the lock file of this project, for the Python of {source}; nothing is installed")
    return _said(found, "the lock file of this project; nothing is installed")


def _is_python(version: str) -> bool:
    """Whether a text is a version of Python, with its minor version."""
    from envdoctor.targets.marker_environment import version as python_version

    try:
        return bool(version and python_version(version))
    except UsageError:
        return False


def _said(snapshot: Snapshot, chosen: str) -> Snapshot:
    said: Snapshot = snapshot.replace(target={**snapshot.target, "chosen": chosen})
    return said


# --- the fallbacks --------------------------------------------------------------------------------------------------


def fallbacks() -> Iterator[at_hand.Choice]:
    """What is left where nothing names an environment: ``python`` on PATH, the interpreter that runs envdoctor."""
    notes: list[UnknownFact] = []
    at_hand.active(notes)
    for path in _on_path():
        place = at_hand.environment_of(path)
        if not _runs_us(place):
            yield at_hand.Choice(place=place, chosen="python on PATH", notes=notes)
            break
        if not _is_our_own():
            yield at_hand.Choice(place=sys.prefix, chosen="python on PATH", notes=notes)
            break
    if _is_installed_here() and not _is_our_own():
        yield at_hand.Choice(place=sys.prefix, chosen="the interpreter that runs envdoctor", notes=notes)


def _on_path() -> Iterator[str]:
    """The commands ``python``, then ``python3``, that a shell would find; not the empty ones of Windows' store."""
    for name in ("python.exe", "python3.exe") if os.name == "nt" else ("python", "python3"):
        for place in os.environ.get("PATH", "").split(os.pathsep):
            path = os.path.abspath(os.path.join(place, name))
            if place and os.path.isfile(path) and os.access(path, os.X_OK) and os.path.getsize(path):
                yield path


def _runs_us(place: str) -> bool:
    """Whether envdoctor runs in this environment, or by this interpreter."""
    if os.path.isdir(place):
        return os.path.realpath(place) == os.path.realpath(sys.prefix)
    return sys.prefix == sys.base_prefix and os.path.realpath(place) == os.path.realpath(sys.executable)


def _is_our_own() -> bool:
    """Whether the environment that envdoctor runs in was made for it: by an installer of commands, or to hold it alone.

    Those that an installer makes for a single call lie in its cache.
    """
    if sys.prefix == sys.base_prefix:
        return False
    cache = os.path.dirname(os.path.dirname(sys.prefix))
    if at_hand.has_receipt(sys.prefix) or os.path.exists(os.path.join(cache, "CACHEDIR.TAG")):
        return True
    inside = os.path.join(sys.prefix, "")
    here = {name: one for name, one in _installed().items() if (one.location or "").startswith(inside)}
    return not here.keys() - _SEEDS - _closure(here)


def _is_installed_here() -> bool:
    return _OWN in _installed()


def _installed() -> dict[str, Distribution]:
    return scan(own_paths()).packages


def _closure(installed: dict[str, Distribution]) -> set[str]:
    """The names of envdoctor and everything that it requires, whatever the markers say."""
    found: set[str] = set()
    pending = [_OWN]
    while pending:
        name = pending.pop()
        if name in found or name not in installed:
            continue
        found.add(name)
        lines = map(parse, required_by(installed[name]))
        pending += [one[0] for one in lines if one]
    return found
