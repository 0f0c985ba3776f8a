"""Two environments and a command that works in one of them: what differs, what must move together, and one trial."""

from __future__ import annotations

import contextlib
import os
import re
import sys

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envdoctor.engine.versions import within
from envdoctor.errors import EnvdoctorError
from envdoctor.facts import METADATA
from envdoctor.model import Record, Unknown
from envdoctor.probes import answered, cache
from envdoctor.probes.error_text import read as read_error
from envdoctor.targets.asked import address
from envdoctor.workshop.narrowing import FAILS, PASSES, UNRESOLVED
from envdoctor.workshop.proof import build, bytecode_cache, processes, pythons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from envdoctor.facts import Questions
    from envdoctor.model import Distribution, Snapshot

#: How the interpreter is called among what differs.
PYTHON = "python"
_METADATA_IS_KNOWN = ("python", "root", "pid", "process", "snapshot")


class Sides(Record):
    """The environment where a command works and the one where it fails, by what differs between them.

    ``good`` and ``bad`` map what differs to its version, ``None`` where it is not there; ``needs`` says which of them
    have to be moved for another one to fit. ``exact`` says that the releases are all there is in an environment, which
    nothing is added to.
    """

    before: Snapshot
    after: Snapshot
    good: Mapping[str, str | None]
    bad: Mapping[str, str | None]
    needs: Mapping[str, Collection[str]]
    exact: bool

    def at(self, moved: Collection[str]) -> dict[str, Distribution]:
        """What is installed where some of what differs is as in the second environment."""
        names = {*self.before.packages, *self.after.packages}
        sides = {name: self.after if name in moved or name not in self.good else self.before for name in names}
        return {name: side.packages[name] for name, side in sorted(sides.items()) if name in side.packages}


def sides(before: Snapshot, after: Snapshot) -> Sides:
    """What differs between two snapshots, and what of it must be moved together, as far as their metadata is known."""
    before, after = (answered(one, _asked) for one in (before, after))
    good, bad = _versions(before), _versions(after)
    differing = [name for name in sorted({*good, *bad}) if good.get(name) != bad.get(name)]
    kinds = {str(one.target.get("kind")) for one in (before, after)}
    made = Sides(
        before=before,
        after=after,
        good={name: good.get(name) for name in differing},
        bad={name: bad.get(name) for name in differing},
        needs={},
        exact=before.complete and after.complete and kinds <= {*_METADATA_IS_KNOWN},
    )
    needs = {name: {*_refused(after, name, made.good)} for name in differing}
    for name in differing:
        for other in _refused(before, name, made.bad):
            needs[other].add(name)
    return made.replace(needs=needs)  # type: ignore[no-any-return]


def _asked(snapshot: Snapshot) -> Questions:
    return {METADATA: [(name, one.version) for name, one in snapshot.packages.items()]}


def _versions(snapshot: Snapshot) -> dict[str, str | None]:
    """The releases by name, and of the interpreter its series."""
    found = {name: one.version for name, one in snapshot.packages.items() if one.version}
    series = ".".join(str(snapshot.python.get("version") or "").split(".")[:2])
    return {**({PYTHON: series} if series else {}), **found}


def _refused(snapshot: Snapshot, name: str, others: Mapping[str, str | None]) -> Iterator[str]:
    """The names whose versions of ``others`` a release does not accept by its metadata."""
    if name not in snapshot.packages:
        return
    metadata = snapshot.facts.metadata(name, snapshot.packages[name].version)
    python = None if isinstance(metadata.requires_python, Unknown) else metadata.requires_python
    if python and others.get(PYTHON) and within(f"{others[PYTHON]}.99", python) is False:
        yield PYTHON
    for text in () if isinstance(metadata.requires, Unknown) else metadata.requires:
        with contextlib.suppress(ValueError):
            requirement = Requirement(text)
            other = canonicalize_name(requirement.name)
            is_due = other in others and other != name and _applies(requirement, snapshot)
            if is_due and not _accepts(requirement, others[other]):
                yield other


def _accepts(requirement: Requirement, version: str | None) -> bool:
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _applies(requirement: Requirement, snapshot: Snapshot) -> bool:
    if requirement.marker is None:
        return True
    version = str(snapshot.python.get("version") or "")
    around = {"python_version": ".".join(version.split(".")[:2]), "python_full_version": version}
    around = {name: value for name, value in around.items() if value}
    return requirement.marker.evaluate({**around, "extra": ""})


class TrialResult(Record):
    """What a trial showed: ``verdict``, how the command ended (``None`` for out of time), and what it printed last."""

    verdict: str
    status: int | None = None
    said: str = ""
    reason: str = ""

    def failure(self) -> tuple[int | None, str]:
        """What two runs that fail alike share: the exit status, and the exception or the last line."""
        failures = [one for one in read_error(self.said).failures if one.exception]
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        last = f"{failures[-1].exception}: {failures[-1].message}" if failures else (lines or [""])[-1]
        return self.status, re.sub(r"0x[0-9a-fA-F]+|\d+\.\d+ ?s\b", "_", last)


def run(made: Sides, moved: Collection[str], command: Sequence[str], seconds: float) -> TrialResult:
    """Build the environment in which some of what differs is moved, and run the command there.

    Nothing of it stays. Raises :class:`~processes.StoppedError`, and :class:`EnvdoctorError` where this machine has no
    room for it.
    """
    lab = os.path.join(cache.directory(), "lab")
    with build.writing("a trial", lab), bytecode_cache.directory(lab) as top:
        place = os.path.join(top, "place")
        try:
            python = _built(made, moved, place)
        except build.UnbuiltError as error:
            return TrialResult(verdict=UNRESOLVED, reason=str(error).replace(top, ""))
        log = os.path.join(top, "log")
        words = [_within(word, made, place) for word in command]
        try:
            status = processes.run(words, log, seconds=seconds, directory=os.getcwd(), env=_variables(place, python))
        except OSError as error:
            raise EnvdoctorError(f"{words[0]} could not be run: {error.strerror or error}") from error
        with open(log, encoding="utf-8", errors="replace") as file:
            said = file.read().replace(place, "ENVIRONMENT")
    return TrialResult(verdict=PASSES if status == 0 else FAILS, status=status, said=said)


def _built(made: Sides, moved: Collection[str], place: str) -> str:
    """The interpreter of a new environment."""
    side = made.after if PYTHON in moved or PYTHON not in made.good else made.before
    run_uv = build.run_uv
    run_uv(["venv", "--no-project", "--python", _interpreter(side), place], place, offline=False)
    python = os.path.join(place, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
    wanted = [word for one in made.at(moved).values() for word in _requirement(one)]
    if wanted:
        words = ["pip", "install", "--python", python, *(["--no-deps"] if made.exact else []), *wanted]
        run_uv(words, place, offline=False)
    return python


def _interpreter(side: Snapshot) -> str:
    """The interpreter of a snapshot on this machine, else one of its series."""
    path = side.python.get("executable")
    if path and os.path.exists(str(path)):
        return str(path)
    version = str(side.python.get("version") or ".".join(map(str, sys.version_info[:2])))
    known = pythons.find(version) or pythons.find(".".join(version.split(".")[:2]))
    if known is None:
        raise build.UnbuiltError(f"no Python {version} was found; name one in {pythons.VARIABLE}")
    return known[1]


def _requirement(one: Distribution) -> list[str]:
    """The words by which an installer takes this very release; what was not taken from an index has an address."""
    from_elsewhere = address(one.name, os.path.join(one.path or "", "direct_url.json"))
    return from_elsewhere or ([f"{one.name}=={one.version}"] if one.version else [])


def _within(word: str, made: Sides, place: str) -> str:
    """A word of the command, with the place of the trial where it names one of the two environments."""
    for side in (made.before, made.after):
        prefix = str(side.python.get("prefix") or "")
        if prefix and word.startswith(prefix + os.sep):
            return place + word[len(prefix) :]
    return word


def _variables(place: str, python: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"CONDA_PREFIX", "PYTHONHOME"}}
    path = os.path.dirname(python) + os.pathsep + kept.get("PATH", os.defpath)
    return {**kept, **bytecode_cache.variables(python), "VIRTUAL_ENV": place, "PATH": path}
