"""The exact command for a remedy, in the words of whatever installed the examined environment."""

from __future__ import annotations

import os
import sys
from itertools import islice
from typing import TYPE_CHECKING

from envdoctor.engine.requirements import canonical, normalise, parts
from envdoctor.engine.versions import intervals
from envdoctor.model import Action, Unknown
from envdoctor.remedies import shell
from envdoctor.remedies.words import TOOLS, Place, is_python, readable, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envdoctor.engine.requirements import Parts
    from envdoctor.model import Remedy, Snapshot

#: Lock and project files by the tool that writes them, for targets where nothing is installed yet.
_FORMATS = {
    "uv.lock": "uv-project",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "environment.yml": "conda",
    "conda-lock.yml": "conda",
}
#: From how many distributions the installer of an environment is guessed.
_ASKED = 50


def with_command(remedy: Remedy, snapshot: Snapshot) -> Remedy | None:
    """The remedy with the command that carries it out, where one line can.

    ``None`` where it names something that is no distribution, no requirement or no version: nobody is to type that.
    """
    action = remedy.action and readable(remedy.action)
    if action is None:
        return None if remedy.action else remedy
    requirement = " ".join(action.requirements) or remedy.requirement
    made: Remedy = _commanded(remedy.replace(action=action, requirement=requirement), action, snapshot)
    return made


def _commanded(remedy: Remedy, action: Action, snapshot: Snapshot) -> Remedy:
    system = system_of(snapshot)
    if action.verb == "setenv" and action.at == "run":
        line = shell.assignment(str(action.name), str(action.to), system)
    else:
        tool = installer(snapshot, action)
        calls = words(action, place_of(snapshot, tool, action.packages)) if tool else []
        if not calls:
            return remedy
        line = shell.line(calls, system)
    changed: Remedy = remedy.replace(command=line, text=remedy.text or shell.remark(line, system))
    return changed


def joined(remedies: Sequence[Remedy], snapshot: Snapshot) -> Remedy | None:
    """One remedy with one command that does what several do; ``None`` where no command can.

    They must do the same kind of thing, with the same tool, at the same time and as safely, and no two may ask for
    releases of a distribution that exclude each other.
    """
    actions = [one.action for one in remedies if one.action is not None]
    if not actions or len(actions) < len(remedies) or actions[0].verb not in {"install", "uninstall", "reinstall"}:
        return None
    alike = {(one.verb, one.at, installer(snapshot, one)) for one in actions}
    requirements = _united(text for one in actions for text in one.requirements)
    if len(alike) > 1 or len({one.safety for one in remedies}) > 1 or requirements is None:
        return None
    packages = tuple(dict.fromkeys(name for one in actions for name in one.packages))
    kinds = {one.kind for one in remedies}
    whole = remedies[0].replace(
        kind=kinds.pop() if len(kinds) == 1 else actions[0].verb,
        action=actions[0].replace(requirements=requirements, packages=packages),
        requirement=" ".join(requirements) or None,
        package=" ".join(packages) or None,
        effect="; ".join(dict.fromkeys(one.effect for one in remedies if one.effect)) or None,
        command=None,
    )
    made = with_command(whole, snapshot)
    return made if made and made.command else None


def _united(texts: Iterable[str]) -> tuple[str, ...] | None:
    """Requirements with one for each distribution; ``None`` where two exclude each other, or one is about Python."""
    united: dict[str, Parts] = {}
    for found in map(parts, texts):
        if found is None or is_python(found):
            return None
        name, extras, specifier, url = found
        known = united.setdefault(normalise(name), found)
        if url != known[3]:
            return None
        clauses = dict.fromkeys(clause for one in (known[2], specifier) for clause in one.split(",") if clause)
        whole = ",".join(clauses)
        if intervals(whole) == []:
            return None
        united[normalise(name)] = (known[0], tuple(sorted({*known[1], *extras})), whole, url)
    return tuple(map(canonical, united.values()))


def installer(snapshot: Snapshot, action: Action | None = None) -> str | None:
    """What to install with: the tool that wrote the lock file, or that installed the distribution in question."""
    if snapshot.target.get("kind") == "requirements":
        return _FORMATS.get(str(snapshot.target.get("format")))
    if snapshot.target.get("kind") in {"root", "snapshot", "text"} and not snapshot.python.get("executable"):
        return "pip"
    for name in (*_names(action), *islice(snapshot.packages, _ASKED)):
        if name not in snapshot.packages:
            continue
        stated = snapshot.lookup("installer", name)
        if not isinstance(stated, Unknown) and stated:
            tool: str = stated.split()[0].lower()
            if tool in TOOLS and not (tool == "pip" and "pip" not in snapshot.packages):
                return tool
    return "pip" if "pip" in snapshot.packages else "uv"


def _names(action: Action | None) -> list[str]:
    """The distributions that an action is about."""
    if action is None:
        return []
    return [*(normalise(found[0]) for found in map(parts, action.requirements) if found), *action.packages]


def place_of(snapshot: Snapshot, tool: str, packages: Sequence[str] = ()) -> Place:
    """Where a command about some installed packages is for. An environment that is active needs not be named."""
    prefix, executable = (_path(snapshot.python.get(key)) for key in ("prefix", "executable"))
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    here = not executable or (prefix and active and os.path.realpath(active) == os.path.realpath(prefix))
    installed, have = snapshot.target.get("kind") != "requirements", snapshot.packages
    return Place(
        tool=tool,
        python=None if here else executable,
        prefix=None if here else prefix,
        versions={name: have[name].version for name in (*packages, "pip") if name in have} if installed else None,
    )


def _path(stated: object) -> str | None:
    """A path that can be typed: absolute, and of characters that can be shown; a saved snapshot may hold another."""
    text = str(stated or "")
    return text if text.isprintable() and (text.startswith("/") or text[1:3] in {":\\", ":/"}) else None


def system_of(snapshot: Snapshot) -> str:
    """The platform whose shell a command is for: the target's, else the one here."""
    return snapshot.platform.get("system") or sys.platform
