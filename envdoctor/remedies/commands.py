"""The exact command for a remedy, in the words of whatever installed the examined environment."""

from __future__ import annotations

import os
import sys
from itertools import islice

from envdoctor.engine.installed_requirements import canonical, normalise, parts
from envdoctor.engine.metadata_conflicts import few
from envdoctor.engine.versions import intervals
from envdoctor.facts import INSTALLER, MANAGER
from envdoctor.model import Action, Unknown
from envdoctor.remedies import shell
from envdoctor.remedies.words import INSTALLERS, OF_PROJECTS, VERBS, Place, is_python, names, readable, remark, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.installed_requirements import Parts
    from envdoctor.facts import Questions
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


def asked(remedies: Iterable[Remedy], snapshot: Snapshot) -> Questions:
    """What has to be known of a snapshot to write the commands of some remedies, or of any."""
    about = (name for one in remedies if one.action for name in names(one.action) if name in snapshot.packages)
    installers = dict.fromkeys([*islice(snapshot.packages, _ASKED), *about])
    return {INSTALLER: installers, MANAGER: [str(snapshot.python.get("prefix") or "")]}


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
    if action.at != "run" or action.verb not in {*VERBS, "setenv"}:
        return remedy
    system, said, more = system_of(snapshot), None, None
    if action.verb == "setenv":
        said = shell.assignment(str(action.name), str(action.to), system)
    else:
        tool = installer(snapshot, action)
        if tool is None:
            return remedy
        place = place_of(snapshot, tool, action)
        calls, more = words(action, place), remark(action, place)
        said = shell.line(calls, system) if calls else None
    remarks = [remedy.text, more, said and shell.remark(said, system)]
    changed: Remedy = remedy.replace(command=said, text="; ".join(filter(None, remarks)) or None)
    return changed


def joined(remedies: Sequence[Remedy], snapshot: Snapshot) -> Remedy | None:
    """One remedy with one command that does what several do; ``None`` where no command can.

    They must do the same kind of thing, with the same tool, at the same time and as safely. A distribution of which two
    ask for releases that exclude each other is left out, and said.
    """
    actions = _alike(remedies, snapshot)
    united = _united(text for one in actions for text in one.requirements) if actions else None
    if united is None:
        return None
    requirements = tuple(canonical(one) for one in united.values() if one)
    apart = [name for name, one in united.items() if one is None]
    if apart and not requirements:
        return None
    packages = tuple(dict.fromkeys(name for one in actions for name in one.packages))
    kinds = {one.kind for one in remedies}
    whole = remedies[0].replace(
        kind=kinds.pop() if len(kinds) == 1 else actions[0].verb,
        action=actions[0].replace(requirements=requirements, packages=packages),
        requirement=" ".join(requirements) or None,
        package=" ".join(packages) or None,
        effect="; ".join(dict.fromkeys(one.effect for one in remedies if one.effect)) or None,
        text=f"without {few(apart)}: no release meets all that is required of it" if apart else remedies[0].text,
        command=None,
    )
    made = with_command(whole, snapshot)
    return made if made and made.command else None


def _alike(remedies: Sequence[Remedy], snapshot: Snapshot) -> list[Action]:
    """What remedies do, where one command can do all of it; else nothing."""
    actions = [one.action for one in remedies if one.action is not None]
    ways = {(one.verb, one.at, installer(snapshot, one)) for one in actions}
    joinable = bool(actions) and actions[0].verb in {"install", "uninstall", "reinstall"}
    same = len(ways) == len({one.safety for one in remedies}) == 1 and len(actions) == len(remedies)
    return actions if joinable and same else []


def _united(texts: Iterable[str]) -> dict[str, Parts | None] | None:
    """What is required of each distribution as one requirement, ``None`` where parts of it exclude each other.

    ``None`` for all of them where one is no requirement, or is about Python.
    """
    asked: dict[str, list[Parts]] = {}
    for found in map(parts, texts):
        if found is None or is_python(found):
            return None
        asked.setdefault(normalise(found[0]), []).append(found)
    return {name: _one_of(found) for name, found in asked.items()}


def _one_of(asked: Sequence[Parts]) -> Parts | None:
    """One requirement for all that is asked of a distribution, ``None`` where parts of it exclude each other."""
    name, _, _, url = asked[0]
    clauses = dict.fromkeys(clause for one in asked for clause in one[2].split(",") if clause)
    readable = ",".join(clause for clause in clauses if intervals(clause) is not None)
    if any(one[3] != url for one in asked) or intervals(readable) == []:
        return None
    return name, tuple(sorted({extra for one in asked for extra in one[1]})), ",".join(clauses), url


def installer(snapshot: Snapshot, action: Action | None = None) -> str | None:
    """What to install with: the tool of the project or lock file, or what installed the distribution in question."""
    about = names(action) if action else []
    if (lock := _lock_of(snapshot)) is not None:
        tool = _FORMATS.get(lock)
        first = [*about, *islice(snapshot.packages, 1)][:1]
        return "pip" if tool == "conda" and _callable(snapshot, _of_each(snapshot, first)) == "pip" else tool
    if snapshot.target.get("kind") in {"root", "snapshot", "text"} and not snapshot.python.get("executable"):
        return "pip"
    tool = _callable(snapshot, _of_each(snapshot, about)) or _callable(snapshot, _of_environment(snapshot))
    tool = tool or ("pip" if "pip" in snapshot.packages else "uv")
    return _manager(snapshot).get("tool") or tool if tool != "conda" else tool


def _lock_of(snapshot: Snapshot) -> str | None:
    """The format of the requirements or lock file that was read, now or when a snapshot was saved."""
    target = snapshot.target.get("recorded") or snapshot.target
    return str(target.get("format")) if target.get("kind") == "requirements" else None


def _callable(snapshot: Snapshot, stated: Iterable[Any]) -> str | None:
    """The first of some installers, where they are known, that can be called."""
    for one in stated:
        tool = "" if isinstance(one, Unknown) or not one else str(one).split()[0].lower()
        here = tool != "pip" or "pip" in snapshot.packages or _lock_of(snapshot) is not None
        if tool in INSTALLERS and here:
            return tool
    return None


def _of_each(snapshot: Snapshot, about: Iterable[str]) -> Iterator[Any]:
    return (snapshot.facts.ask(INSTALLER, name) for name in about if name in snapshot.packages)


def _of_environment(snapshot: Snapshot) -> Iterable[Any]:
    """What installed the first distributions of an environment."""
    return _of_each(snapshot, islice(snapshot.packages, _ASKED))


def _manager(snapshot: Snapshot) -> Mapping[str, Any]:
    """What besides an installer has a say in the environment: the tool of a project, or the operating system."""
    found = snapshot.facts.ask(MANAGER, str(snapshot.python.get("prefix") or ""))
    return {} if isinstance(found, Unknown) or not found else found


def place_of(snapshot: Snapshot, tool: str, action: Action) -> Place:
    """Where a command is for. An environment that is active, and a project that is here, need not be named."""
    prefix, executable = (_path(snapshot.python.get(key)) for key in ("prefix", "executable"))
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    here = not executable or (prefix and active and _same(active, prefix))
    manager = _manager(snapshot) if tool in {*OF_PROJECTS, "system"} else {}
    directory, packages = manager.get("directory"), snapshot.packages
    return Place(
        tool=tool,
        python=None if here else executable,
        prefix=None if here else prefix,
        versions={name: packages[name].version for name in (*names(action), "pip") if name in packages},
        installed=_lock_of(snapshot) is None,
        directory=None if directory is None or _same(directory, os.curdir) else os.path.abspath(directory),
        direct=manager.get("direct"),
        apt=manager.get("apt", False),
    )


def _same(one: str, other: str) -> bool:
    try:
        return one == other or os.path.realpath(one) == os.path.realpath(other)
    except OSError:  # the current directory was removed
        return False


def _path(stated: object) -> str | None:
    """A path that can be typed: absolute, and of characters that can be shown; a saved snapshot may hold another."""
    text = str(stated or "")
    return text if text.isprintable() and (text.startswith("/") or text[1:3] in {":\\", ":/"}) else None


def system_of(snapshot: Snapshot) -> str:
    """The platform whose shell a command is for: the target's, else the one here."""
    return snapshot.platform.get("system") or sys.platform
