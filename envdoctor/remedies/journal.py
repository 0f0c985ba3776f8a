"""What an environment and a project's files were before a plan changed them, kept until that is undone.

It is in ``.envdoctor`` of the environment itself: only there can links be made to its files (see ``linked``), and
who deletes the environment deletes it too. ``undo-<moment>`` holds one; it counts once it has its ``journal.json``,
which comes last and in one step, so that there is no moment at which a kill leaves something that cannot be undone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time

from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.remedies import linked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

FOLDER = ".envdoctor"
_FILE = "journal.json"
_METADATA = (".dist-info", ".egg-info", ".egg-link")


class Journal(Record):
    """What was kept: ``folder`` is where, ``roots`` are the directories that may change, from ``prefix`` on.

    ``installed`` names the metadata that was there, and ``direct`` where it came from, by the same names, where that is
    no index. ``edited`` are the files beside the environment; ``line`` is what was to be run. ``after`` is what was
    ``installed`` when all was done, ``None`` while it was not.
    """

    folder: str
    prefix: str
    began: int
    roots: Sequence[str]
    edited: Sequence[str]
    installed: Sequence[str]
    direct: dict[str, str]
    line: str | None
    after: Sequence[str] | None = None


@contextlib.contextmanager
def locked(prefix: str, say: Callable[[str], None]) -> Iterator[int]:
    """Hold an environment against other runs, and wait for them; the descriptor of the lock.

    Who inherits the descriptor holds the lock as well: an installer whose envdoctor was killed is waited for.
    Raises :class:`TargetError` where the environment cannot be written to.
    """
    folder = os.path.join(prefix, FOLDER)
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise TargetError(f"{prefix} cannot be changed: {folder}: {error.strerror}; nothing was begun") from error
    try:
        if not _lock(descriptor, wait=False):
            say(f"waiting for another envdoctor, or an installer that it started, in {prefix}")
            while not _lock(descriptor, wait=True):  # which Windows gives up after some seconds
                continue
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def begin(prefix: str, roots: Sequence[str], edited: Iterable[str], line: str | None) -> Journal:
    """Keep all below ``roots``, and the ``edited`` files as they are. Raises :class:`OSError`; nothing is changed."""
    began = time.time_ns()
    made = Journal(
        folder=os.path.join(prefix, FOLDER, f"undo-{began}"),
        prefix=prefix,
        began=began,
        roots=[os.path.relpath(root, prefix) for root in roots],
        edited=list(edited),
        installed=installed(roots),
        direct=_direct(roots),
        line=line,
    )
    os.makedirs(made.folder)
    for source, kept in _pairs(made):
        if os.path.lexists(source):
            os.makedirs(os.path.dirname(kept))
            (shutil.copy2 if source in made.edited else linked.place)(source, kept)
    _write(made)
    for name in os.listdir(os.path.dirname(made.folder)):
        if name.startswith(("undo-", "gone-")) and name != os.path.basename(made.folder):
            linked.remove(os.path.join(os.path.dirname(made.folder), name))
    return made


def _pairs(journal: Journal) -> Iterator[tuple[str, str]]:
    """Each place that may change, and where it is kept."""
    places = [*(os.path.normpath(os.path.join(journal.prefix, root)) for root in journal.roots), *journal.edited]
    for number, place in enumerate(places):
        yield place, os.path.join(journal.folder, str(number), os.path.basename(place))


def finish(journal: Journal) -> None:
    """Note that all is done; what is installed now is what :func:`restore` may take back without asking."""
    _write(journal.replace(after=installed(_roots(journal))))


def last(prefix: str) -> Journal | None:
    """What the last run kept, ``None`` where there is nothing.

    Raises :class:`TargetError` where that run was ended before it changed anything: the one before is not meant.
    """
    folders = _folders(prefix)
    if not folders:
        return None
    try:
        with open(os.path.join(folders[-1], _FILE), encoding="utf-8") as file:
            return Journal(**{**json.load(file), "folder": folders[-1], "prefix": prefix})
    except FileNotFoundError:
        _discard(folders[-1])
        more = "; the same command again undoes what was applied before that" if folders[1:] else ""
        raise TargetError(f"the last run in {prefix} ended before it changed anything{more}") from None


def restore(journal: Journal) -> list[str]:
    """Bring back all that was kept. It may be interrupted and repeated. What it returns could not be brought back.

    Raises :class:`OSError`.
    """
    lost = []
    for place, kept in _pairs(journal):
        if os.path.lexists(kept):
            lost += [os.path.join(place, name) for name in linked.written_since(kept, journal.began)]
            linked.restore(kept, place)
        else:
            linked.remove(place)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place + linked.PART)
    _discard(journal.folder)
    return lost


def since(journal: Journal) -> list[str]:
    """The metadata that came or went after the plan was carried out, which to undo it would take back as well."""
    return sorted(set(installed(_roots(journal))) ^ set(journal.after)) if journal.after is not None else []


def installed(roots: Iterable[str]) -> list[str]:
    """The names of the metadata directories and files below some directories, which have release numbers in them."""
    return sorted(os.path.basename(path) for path in _metadata(roots))


def _metadata(roots: Iterable[str]) -> Iterator[str]:
    for root in roots:
        for folder, folders, files in os.walk(root):
            yield from (os.path.join(folder, name) for name in (*folders, *files) if name.endswith(_METADATA))
            if os.path.basename(folder) in {"site-packages", "dist-packages"}:
                folders.clear()


def _direct(roots: Iterable[str]) -> dict[str, str]:
    found = {}
    for path in _metadata(roots):
        with contextlib.suppress(OSError), open(os.path.join(path, "direct_url.json"), encoding="utf-8") as file:
            found[os.path.basename(path)] = file.read()
    return found


def _roots(journal: Journal) -> list[str]:
    return [os.path.join(journal.prefix, root) for root in journal.roots]


def _folders(prefix: str) -> list[str]:
    """The folders of runs, the newest last."""
    here = os.path.join(prefix, FOLDER)
    names = os.listdir(here) if os.path.isdir(here) else []
    return [os.path.join(here, name) for name in sorted(names) if name.startswith("undo-")]


def _write(journal: Journal) -> None:
    values: dict[str, Any] = journal.as_dict()
    write(os.path.join(journal.folder, _FILE), json.dumps(values, indent=1).encode())


def write(path: str, data: bytes) -> None:
    """Write a file in one step, so that it has its old content or its new one even after a power failure."""
    path = os.path.realpath(path)
    part = path + linked.PART
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileNotFoundError):
        os.chmod(part, os.stat(path).st_mode & 0o7777)
    os.replace(part, path)
    if os.name != "nt":
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _discard(folder: str) -> None:
    """Remove a folder of a run, which counts no more from the first step on."""
    gone = os.path.join(os.path.dirname(folder), "gone-" + os.path.basename(folder))
    os.rename(folder, gone)
    linked.remove(gone)
