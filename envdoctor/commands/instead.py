"""What somebody probably meant who typed what does not exist, in the words of this command line."""

from __future__ import annotations

import os
import re
import shlex
from fnmatch import fnmatchcase

from envdoctor.tools import FORMATS

#: Options that other tools have, and what there is here.
OPTIONS = {
    "--fix": "envdoctor fix plans what ends every error, and carries it out with --apply",
    "--quiet": "an environment in which nothing is wrong takes one line, and the exit status says the rest",
    "-q": "an environment in which nothing is wrong takes one line, and the exit status says the rest",
    "--json": "did you mean -f json?",
    "--requirement": "did you mean -r?",
}
#: Platforms as people call them, and as Python does.
PLATFORMS = {
    **dict.fromkeys(("macos", "macosx", "osx", "mac", "apple"), "darwin"),
    **dict.fromkeys(("windows", "win", "win64", "nt"), "win32"),
    **dict.fromkeys(("manylinux", "ubuntu", "debian"), "linux"),
}
_PINS = re.compile(r"pixi\.lock|.*(?:requirements|constraints).*\.(?:txt|in)|environment\.ya?ml", re.IGNORECASE)
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9.]+)+")


def word(given: str) -> str | None:
    """The command line for a file, directory, process or rule that is given where a command or nothing is expected."""
    return _word(given, shlex.quote(given)) if given.isprintable() else None


def _word(given: str, shown: str) -> str | None:
    name = os.path.basename(given)
    if _PINS.fullmatch(name) or is_lock(name):
        return f"envdoctor -r {shown}"
    if os.path.isdir(given):
        is_environment = any(os.path.exists(os.path.join(given, mark)) for mark in ("pyvenv.cfg", "conda-meta"))
        return f"envdoctor --python {shown}" if is_environment else f"envdoctor --project {shown}"
    if os.path.isfile(given):
        if name.startswith("python"):
            return f"envdoctor --python {shown}"
        return f"envdoctor --snapshot {shown}" if name.endswith(".json") else f"envdoctor explain {shown}"
    if given.isdecimal():
        return f"envdoctor --pid {shown}"
    return f"envdoctor rules show {given}" if is_rule(given) else None


def is_lock(name: str) -> bool:
    """Whether a file's name is that of a lock file."""
    return any(fnmatchcase(name.lower(), glob) for row in FORMATS.values() for glob in row.names)


def is_rule(given: str) -> bool:
    """Whether there is a rule of that id."""
    if not _ID.fullmatch(given):
        return False
    from envdoctor import doctor

    return any(index.texts(entry)["id"] == given for index in doctor.rule_bases() for entry in index.all())
