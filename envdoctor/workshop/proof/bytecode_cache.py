"""Compiled modules that trials share: to compile the same releases again is most of what a trial costs.

Bytecode is kept by the path of its source, so environments are built where others were before. Python takes a file of
the same size from the same second for the same file; so where another release is installed, its bytecode is removed.
"""

from __future__ import annotations

import atexit
import contextlib
import glob
import itertools
import os
import re
import shutil
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_taken: set[str] = set()
#: What was there when modules were last compiled: the directory of its metadata, by ``site-packages`` and name.
_seen: dict[tuple[str, str], str] = {}
_removed_at_exit: set[str] = set()


@contextlib.contextmanager
def directory(base: str) -> Iterator[str]:
    """An empty directory for one trial, removed at the end; a later trial has one of the same path."""
    with _lock:
        tops = (os.path.join(base, f"{os.getpid()}-{number}") for number in itertools.count())
        top = next(one for one in tops if one not in _taken)
        _taken.add(top)
    try:
        os.makedirs(base, exist_ok=True)
        os.mkdir(top)
        yield top
    finally:
        shutil.rmtree(top, ignore_errors=True)
        shutil.rmtree(_kept(top) + os.path.join(top, "work"), ignore_errors=True)  # the scripts are never the same
        with _lock:
            _taken.remove(top)


def variables(python: str) -> dict[str, str]:
    """The variables with which the interpreter of a trial's environment uses bytecode, and keeps what it compiles."""
    place = os.path.dirname(os.path.dirname(python))
    if os.name == "nt":
        return {}
    kept = _kept(os.path.dirname(place))
    for info in glob.glob(os.path.join(glob.escape(place), "lib", "python3*", "site-packages", "*.dist-info")):
        site, name = os.path.split(info)
        key = (site, name.partition("-")[0].lower())
        if _seen.setdefault(key, name) != name:
            _remove(kept + site, info)
            _seen[key] = name
    return {"PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}


def _remove(compiled: str, info: str) -> None:
    """Remove the bytecode of all that a distribution installs, by its record."""
    with open(os.path.join(info, "RECORD"), encoding="utf-8") as record:
        tops = {re.split(r"[/,]", line, maxsplit=1)[0] for line in record} - {".."}
    for top in tops:
        path = os.path.join(glob.escape(compiled), glob.escape(top.removesuffix(".py")))
        for found in glob.glob(path) + glob.glob(path + ".*.pyc"):
            shutil.rmtree(found) if os.path.isdir(found) else os.unlink(found)


def _kept(top: str) -> str:
    """Where bytecode is kept as long as this process lives."""
    kept = os.path.join(os.path.dirname(top), f"{os.getpid()}-bytecode")
    if kept not in _removed_at_exit:  # a fork has what its parent has seen, but needs its own directory
        _removed_at_exit.add(kept)
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
    return kept
