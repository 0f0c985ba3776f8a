"""The environment that a traceback comes from: the one whose site directory holds the files of its frames."""

from __future__ import annotations

import os
import re

from envdoctor.model import UnknownFact
from envdoctor.targets.at_hand import Choice, environment_of, is_environment, is_trusted, project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Snapshot

_SITE = re.compile(
    r"(?i)(?P<prefix>.*)[\\/]lib(?:64)?[\\/](?:(?P<python>python[\d.]*t?)[\\/])?(?P<kind>site|dist)-packages[\\/]"
)


def traced(files: Sequence[str]) -> Choice | None:
    """The environment that most of some files lie in; ``None`` where none of them exists here.

    One of another user does not count: anybody may have written the traceback, and its interpreter may have to run. A
    virtual environment comes before the installation that it extends; of two with as many files, that of the last one.
    """
    found: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        place = _place(os.path.abspath(os.path.expanduser(file)))
        if place is not None and is_trusted(place, os.sep):
            found.setdefault(place, []).append(number)
    if not found:
        return None

    def weight(place: str) -> tuple[bool, int, int]:
        return os.path.exists(os.path.join(place, "pyvenv.cfg")), len(found[place]), found[place][-1]

    best = max(found, key=weight)
    return Choice(place=best, chosen="the environment of the traceback", project=project_of(best))


def among(found: Snapshot, files: Sequence[str]) -> Snapshot:
    """Of several environments of a file system the one that most of some files lie in; a note names it, and the others.

    Where they lie in none of them, it is the first.
    """
    every = [found, *found.siblings]
    prefixes = [str(one.target["environment"]).rstrip("/") + "/" for one in every]
    inside = [max((one for one in prefixes if file.startswith(one)), key=len, default=None) for file in files]
    best = max(every, key=lambda one: inside.count(prefixes[every.index(one)]))
    named, *others = [best, *(one for one in every if one is not best)]
    why = (
        "where the traceback's files lie" if any(inside) else "the first, as the traceback's files lie in none of them"
    )
    rest = ", ".join(str(one.target["environment"]) for one in others)
    reason = (
        f"of {len(every)} environments this is {named.target['environment']}, {why}; --python names another: {rest}"
    )
    note = UnknownFact(rule=None, fact="interpreters", reason=reason)
    chosen: Snapshot = best.replace(siblings=(), notes=[note, *best.notes])
    return chosen


def _place(path: str) -> str | None:
    """The environment, or the interpreter, that a file is installed for."""
    site = _SITE.match(path)
    if site is None or not os.path.exists(path):
        return None
    prefix, python = site["prefix"] or os.sep, site["python"] or "python3"
    if site["kind"].lower() == "site" and is_environment(prefix):
        return prefix
    folders = [os.path.join(prefix, "bin"), "/usr/bin"] if site["kind"].lower() == "dist" else [prefix + "/bin"]
    commands = [os.path.join(folder, name) for folder in folders for name in (python, "python3")]
    return next((environment_of(command) for command in commands if os.path.isfile(command)), None)
