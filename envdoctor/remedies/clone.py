"""A second environment with the same files, in which anything may be done: nothing outside of it is touched."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile

import psutil

from envdoctor.errors import TargetError
from envdoctor.remedies import guard, linked
from envdoctor.remedies.journal import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envdoctor.remedies.guard import Installation

_NAME = "try-"
#: What would make another environment, or another library, of the one that is meant.
_MISLEADING = ("CONDA_PREFIX", "PIP_PYTHON", "PYTHONHOME", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON")


@contextlib.contextmanager
def clone(place: Installation) -> Iterator[Installation]:
    """The place of a copy, by hard links as far as the file system has them, which is removed in the end.

    What names the environment by its path is written anew: commands, ``.pth`` files, ``pyvenv.cfg``.
    Raises :class:`TargetError` where it cannot be made.
    """
    top = _folder(place)
    try:
        try:
            made = _made(place, os.path.join(top, os.path.basename(place.prefix)))
        except (OSError, subprocess.SubprocessError) as error:
            raise TargetError(f"{place.prefix} could not be copied to {top}: {error}") from error
        yield made
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _folder(place: Installation) -> str:
    """A new directory, on the same file system where that can be written to; what killed runs left there is removed."""
    here = os.path.join(place.prefix, FOLDER)
    with contextlib.suppress(OSError):
        os.makedirs(here, exist_ok=True)
        for name in os.listdir(here):
            pid = name[len(_NAME) :].partition("-")[0]
            if name.startswith(_NAME) and pid.isdigit() and not psutil.pid_exists(int(pid)):
                shutil.rmtree(os.path.join(here, name), ignore_errors=True)
        return tempfile.mkdtemp(prefix=f"{_NAME}{os.getpid()}-", dir=here)
    return tempfile.mkdtemp(prefix="envdoctor-")


def _made(place: Installation, folder: str) -> Installation:
    if not place.own:
        words = [place.executable, "-I", "-m", "venv", "--without-pip", folder]
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
        made = guard.place(folder, os.path.join(folder, *_PYTHON))
        for source, target in zip(place.packages, made.packages):
            linked.restore(source, target)
        return made
    os.mkdir(folder)
    for name in os.listdir(place.prefix):
        if name != FOLDER:
            linked.place(os.path.join(place.prefix, name), os.path.join(folder, name))
    real = os.path.join(os.path.realpath(os.path.dirname(place.executable)), os.path.basename(place.executable))
    made = guard.place(folder, os.path.join(folder, os.path.relpath(real, place.prefix)))
    _rewrite(made, {os.path.dirname(os.path.dirname(place.executable)), place.prefix})
    return made


_PYTHON = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")


def _rewrite(made: Installation, prefixes: set[str]) -> None:
    """Replace the paths of an environment by that of its copy, in the files that are copies."""
    for path in _copied(made):
        with open(path, "r+b") as file:
            data = changed = file.read()
            for prefix in prefixes:
                changed = changed.replace(os.fsencode(prefix), os.fsencode(made.prefix))
            if changed != data:
                file.seek(0)
                file.truncate()
                file.write(changed)


def _copied(made: Installation) -> Iterator[str]:
    for above in {made.prefix, made.scripts, *made.packages}:
        for path in (os.path.join(above, name) for name in os.listdir(above)):
            plain = os.path.isfile(path) and not os.path.islink(path)
            if plain and os.stat(path).st_nlink == 1 and linked.is_written_into(path):
                yield path


def variables(place: Installation) -> Mapping[str, str]:
    """The environment variables with which a program runs in an environment."""
    kept = {name: value for name, value in os.environ.items() if name not in {*_MISLEADING, "VIRTUAL_ENV"}}
    path = os.pathsep.join(filter(None, (place.scripts, kept.get("PATH"))))
    named = "CONDA_PREFIX" if os.path.isdir(os.path.join(place.prefix, "conda-meta")) else "VIRTUAL_ENV"
    return {**kept, named: place.prefix, "PATH": path}
