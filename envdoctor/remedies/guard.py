"""What an installer may change in an environment, and why it should not: asked before anything is changed."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess

import psutil

from envdoctor.engine.installed_requirements import normalise
from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.remedies import journal
from envdoctor.remedies.commands import manager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from envdoctor.model import Distribution, Snapshot
    from envdoctor.plans import Plan

#: What a virtual environment has at its top, or an installer adds: one that has more is a project's directory as well.
_CONTENTS = frozenset(
    {"bin", "Scripts", "lib", "lib64", "Lib", "include", "Include", "share", "etc", "man", "doc", "Library", "ssl"}
)
#: What conda has there that is no part of the environment.
_APART = frozenset({"envs", "pkgs"})
_PATHS = "import json, sysconfig; print(json.dumps(sysconfig.get_paths()))"
_SECONDS = 60


class Installation(Record):
    """An environment as an installer sees it.

    ``roots`` are the directories that it may change, or make; ``scripts`` has the commands, ``packages`` are those of
    distributions. It is somebody's ``own`` where it was made to be changed: a virtual environment, or one of conda.
    """

    prefix: str
    executable: str
    roots: Sequence[str]
    scripts: str
    packages: Sequence[str]
    own: bool


def place_of(snapshot: Snapshot) -> Installation:
    """The place that a snapshot was taken of. Raises :class:`TargetError` where it is none on this machine."""
    executable, prefix = (str(snapshot.python.get(key) or "") for key in ("executable", "prefix"))
    if snapshot.target.get("kind") != "interpreter" or not os.path.exists(executable):
        raise TargetError("only an environment on this machine can be changed: name one with --python PATH")
    return place(prefix, executable)


def place(prefix: str, executable: str) -> Installation:
    """The place of an interpreter and its environment. Raises :class:`TargetError` where it does not answer."""
    prefix, paths = os.path.realpath(prefix), _paths(executable)
    roots = list(map(os.path.realpath, (paths["purelib"], paths["platlib"], paths["scripts"])))
    there = {name for name in os.listdir(prefix) if name[0] != "." and os.path.isdir(os.path.join(prefix, name))}
    conda = "conda-meta" in there
    own = conda or os.path.exists(os.path.join(prefix, "pyvenv.cfg"))
    packages = tuple(dict.fromkeys(roots[:2]))
    if conda or (own and there <= _CONTENTS):
        tops = [os.path.join(prefix, name) for name in sorted((there | _CONTENTS) - _APART)]
        roots = [top for top in tops if not os.path.islink(top)]
    return Installation(
        prefix=prefix, executable=executable, own=own, scripts=os.path.realpath(paths["scripts"]),
        roots=list(dict.fromkeys(roots)), packages=packages,
    )  # fmt: skip


def _paths(executable: str) -> dict[str, str]:
    words = [executable, "-I", "-B", "-c", _PATHS]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise TargetError(f"{executable} does not say where it has its packages: {error}") from error
    return found


def refuse(place: Installation, plan: Plan, snapshot: Snapshot, *, consent: bool) -> None:
    """Raise :class:`TargetError` where a plan must not be carried out, or not without consent."""
    reason = next(_impossible(place, plan, snapshot), None)
    if reason:
        raise TargetError(f"nothing was changed: {reason}")
    reason = None if consent else next(_unwise(place), None)
    if reason:
        raise TargetError(f"nothing was changed: {reason}; --yes-really does it nevertheless")


def _impossible(place: Installation, plan: Plan, snapshot: Snapshot) -> Iterator[str]:
    if manager(snapshot).get("tool") == "system":
        yield f"the operating system manages {place.executable}: make an environment of your own"
    if plan.python:
        yield f"only a new environment helps, with Python {plan.python}: make it by the line of the plan"
    if plan.moves and not plan.line:
        yield "no installer of this environment is known that could carry the plan out"
    for folder in _written(place, plan, snapshot):
        if os.path.exists(folder) and not os.access(folder, os.W_OK | os.X_OK):
            yield f"{folder} cannot be written to: it is for its owner to do"
    yield from _lost(place, plan, snapshot)


def _written(place: Installation, plan: Plan, snapshot: Snapshot) -> Iterable[str]:
    """The directories in which an installer writes: those of the environment, and of each distribution that moves."""
    moved = (snapshot.packages.get(one.package) for one in plan.moves)
    theirs = (folder for one in moved if one and one.path for folder in _folders(one.path))
    return dict.fromkeys((place.prefix, *place.roots, place.scripts, *place.packages, *theirs))


def _lost(place: Installation, plan: Plan, snapshot: Snapshot) -> Iterator[str]:
    """What undo could not bring back, or would bring back as something else."""
    there = {normalise(name.partition("-")[0]) for name in journal.installed(place.packages)}
    for move in plan.moves:
        one = snapshot.packages.get(move.package)
        if _differs(one, move.package in there):
            yield f"{move.package} is not what it was when the plan was made: make it anew"
        for outside in _outside(place, one.path) if one and one.path else ():
            yield f"{move.package} has installed {outside}, which undo could not bring back: carry the plan out by hand"
    for edit in plan.edits:
        if _text(edit.path) != edit.before:
            yield f"{edit.path} is not what it was when the plan was made: make it anew"


def _differs(one: Distribution | None, there: bool) -> bool:  # noqa: FBT001 - of one name, what was and what is
    """Whether what was examined is gone, or what was not there is."""
    return there if one is None else bool(one.path) and not os.path.exists(str(one.path))


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _outside(place: Installation, metadata: str) -> Iterator[str]:
    """The files of a distribution that are where nothing is kept of them; none of one that is there as a whole.

    An installer leaves alone what is installed outside of a virtual environment.
    """
    if not _below(metadata, place.roots):
        if not place.own:
            yield metadata
        return
    home = os.path.dirname(metadata)
    for path in _listed(metadata):
        if (path.startswith("..") or os.path.isabs(path)) and not _below(os.path.join(home, path), place.roots):
            yield os.path.normpath(os.path.join(home, path))


def _folders(metadata: str) -> list[str]:
    """The directories of a distribution's files."""
    home = os.path.dirname(metadata)
    return list(
        dict.fromkeys(os.path.normpath(os.path.join(home, os.path.dirname(path))) for path in _listed(metadata))
    )


def _listed(metadata: str) -> list[str]:
    """The files of a distribution, as its metadata names them; none where it does not."""
    try:
        with open(os.path.join(metadata, "RECORD"), encoding="utf-8", newline="") as file:
            return [row[0] for row in csv.reader(file) if row]
    except OSError:
        return []


def _below(path: str, roots: Sequence[str]) -> bool:
    real = os.path.join(os.path.realpath(os.path.dirname(path)), "")
    return any(real.startswith(os.path.join(root, "")) for root in roots)


def _unwise(place: Installation) -> Iterator[str]:
    if not place.own:
        yield f"{place.prefix} is a Python that others are made from, not an environment: make one with uv venv"
    running = list(_running(place))
    if running:
        yield f"{', '.join(running)} runs in {place.prefix}: end it first"


def _running(place: Installation) -> Iterator[str]:
    """The programs of an environment that run, but this one and those that started it."""
    us = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter():
        try:
            if process.pid not in us and _is_of(process, place):
                yield f"{process.name()} ({process.pid})"
        except (psutil.Error, OSError):
            continue  # somebody else's, or gone


def _is_of(process: psutil.Process, place: Installation) -> bool:
    """Whether a process was started by the interpreter of an environment, which may be a link to another one."""
    first = next(iter(process.cmdline()), "")
    if not os.path.dirname(first):
        first = shutil.which(first, path=process.environ().get("PATH", "")) or ""
    path = os.path.join(process.cwd(), first) if first else process.exe()
    return _below(path, [os.path.realpath(place.scripts)]) or _below(process.exe(), [place.prefix])
