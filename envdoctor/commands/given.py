"""Targets that are given as words, without the option that says what each of them is."""

from __future__ import annotations

import os
import shutil

from envdoctor import doctor
from envdoctor.commands import instead
from envdoctor.errors import TargetError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from envdoctor.model import Snapshot

_MARKS = ("pyvenv.cfg", "conda-meta", os.path.join("bin", "python"), "python.exe")


def kind_of(word: str) -> str:
    """The kind of target that a path, or the name of an interpreter, is. Raises :class:`TargetError` for neither."""
    if os.path.isdir(word):
        image = os.path.isdir(os.path.join(word, "usr", "bin"))
        return "python" if not image and any(os.path.exists(os.path.join(word, one)) for one in _MARKS) else "root"
    if os.path.isfile(word):
        return _kind_of_file(word)
    if word == "-":
        return "snapshot"
    if shutil.which(word):
        return "python"
    raise TargetError(
        f"{word} is not there: give an interpreter, an environment's directory, a requirements or lock file, an "
        "image's root directory, or a snapshot"
    )


def _kind_of_file(path: str) -> str:
    if instead.is_lock(os.path.basename(path)) or path.endswith((".txt", ".in")):
        return "requirements"
    if path.endswith((".json", ".md")):
        return "snapshot"
    return "python" if os.access(path, os.X_OK) else "requirements"


def examined(word: str, options: argparse.Namespace) -> Snapshot:
    """The snapshot of what a word names; the options say what requirements and lock files are for."""
    kind = kind_of(word)
    named = {name: getattr(options, name) for name in ("python_version", "platform", "machine")}
    if kind != "requirements":
        return doctor.examine(kind, word, rules=options.rules)
    try:
        return doctor.examine(kind, word, rules=options.rules, resolve=False, **named)
    except UsageError as error:
        raise UsageError(f"{word}: {error}") from error


def add_described(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what requirements and lock files are for."""
    parser.add_argument("--python-version", metavar="X.Y", help="the Python that requirements and lock files are for")
    parser.add_argument("--platform", choices=["linux", "darwin", "win32"], help="the platform of the same")
    parser.add_argument("--machine", metavar="NAME", help="the processor of the same, such as x86_64 or arm64")
