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
from envdoctor.remedies.words import CommandContext, is_python, names, readable, remark, words
from envdoctor.remedy_kinds import KINDS
from envdoctor.tools import FORMATS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from envdoctor.engine.installed_requirements import Parts
    from envdoctor.facts import Questions
    from envdoctor.found import Manager
    from envdoctor.model import Remedy, Snapshot

#: From how many distributions the installer of an environment is guessed.
_ASKED = 50


def asked(remedies: Iterable[Remedy], snapshot: Snapshot) -> Questions:
    """The facts of a snapshot that the commands of some remedies, or of any, depend on."""
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
    kind = KINDS[action.verb]
    if action.at != "run" or not kind.typed:
        return remedy
    system, said, more = system_of(snapshot), None, None
    if kind.line:
        said = kind.function("line")(action, system)
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
    action = _union(actions, united.values())
    apart = [name for name, one in united.items() if one is None]
    if apart and not action.requirements:
        return None
    whole = _whole(remedies, action)
    if apart:
        whole = whole.replace(text=f"without {few(apart)}: no release meets all that is required of it")
    made = with_command(whole, snapshot)
    return made if made and made.command else None


def _union(actions: Sequence[Action], united: Iterable[Parts | None]) -> Action:
    """One action for all that can be met of what is required, and for all packages."""
    requirements = tuple(canonical(one) for one in united if one)
    packages = tuple(dict.fromkeys(name for one in actions for name in one.packages))
    made: Action = actions[0].replace(requirements=requirements, packages=packages)
    return made


def _whole(remedies: Sequence[Remedy], action: Action) -> Remedy:
    """One remedy, without a command, for the action that does what several do."""
    kinds = {one.kind for one in remedies}
    made: Remedy = remedies[0].replace(
        kind=kinds.pop() if len(kinds) == 1 else action.verb,
        action=action,
        requirement=" ".join(action.requirements) or None,
        package=" ".join(action.packages) or None,
        effect="; ".join(dict.fromkeys(one.effect for one in remedies if one.effect)) or None,
        command=None,
    )
    return made


def _alike(remedies: Sequence[Remedy], snapshot: Snapshot) -> list[Action]:
    """The actions of remedies, where one command can do all of them; else none."""
    actions = [one.action for one in remedies if one.action is not None]
    ways = {(one.verb, one.at, installer(snapshot, one)) for one in actions}
    joinable = bool(actions) and KINDS[actions[0].verb].joinable
    same = len(ways) == len({one.safety for one in remedies}) == 1 and len(actions) == len(remedies)
    return actions if joinable and same else []


def _united(texts: Iterable[str]) -> dict[str, Parts | None] | None:
    """One requirement for each distribution, ``None`` where some of its requirements exclude each other.

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
    """The installer to use: the tool of the project or lock file, or what installed the distribution in question."""
    about = names(action) if action else []
    lock = _lock_of(snapshot)
    if lock is not None:
        return _of_lock(lock, snapshot, about)
    if snapshot.target.get("kind") in {"root", "snapshot", "text"} and not snapshot.python.get("executable"):
        return "pip"
    tool = _callable(snapshot, _of_each(snapshot, about)) or _callable(snapshot, _of_environment(snapshot))
    tool = tool or ("pip" if "pip" in snapshot.packages else "uv")
    return manager(snapshot).get("tool") or tool if tool != "conda" else tool


def _of_lock(lock: str, snapshot: Snapshot, about: Iterable[str]) -> str | None:
    """The tool of a lock file's format; of a conda environment, pip for what pip installs there."""
    tool = FORMATS[lock].tool if lock in FORMATS else None
    first = [*about, *islice(snapshot.packages, 1)][:1]
    return "pip" if tool == "conda" and _callable(snapshot, _of_each(snapshot, first)) == "pip" else tool


def _lock_of(snapshot: Snapshot) -> str | None:
    """The format of the requirements or lock file that was read, now or when a snapshot was saved."""
    target = snapshot.target.get("recorded") or snapshot.target
    return str(target.get("format")) if target.get("kind") == "requirements" else None


def _callable(snapshot: Snapshot, stated: Iterable[Any]) -> str | None:
    """The first of some installers, where they are known, that can be called."""
    for one in stated:
        tool = "" if isinstance(one, Unknown) or not one else str(one).split()[0].lower()
        here = tool != "pip" or "pip" in snapshot.packages or _lock_of(snapshot) is not None
        if tool in TOOLS and TOOLS[tool].signs and here:
            return tool
    return None


def _of_each(snapshot: Snapshot, about: Iterable[str]) -> Iterator[Any]:
    return (snapshot.facts.ask(INSTALLER, name) for name in about if name in snapshot.packages)


def _of_environment(snapshot: Snapshot) -> Iterable[Any]:
    """The installer of an environment's first distributions."""
    return _of_each(snapshot, islice(snapshot.packages, _ASKED))


def manager(snapshot: Snapshot) -> Manager:
    """What besides an installer manages the environment: the tool of a project, or the operating system."""
    found = snapshot.facts.ask(MANAGER, str(snapshot.python.get("prefix") or ""))
    return {} if isinstance(found, Unknown) or not found else found


def place_of(snapshot: Snapshot, tool: str, action: Action) -> CommandContext:
    """Where a command is for. An environment that is active, and a project that is here, need not be named."""
    prefix, executable = (_path(snapshot.python.get(key)) for key in ("prefix", "executable"))
    here = not executable or _is_active(prefix)
    found = manager(snapshot) if TOOLS[tool].of_project or tool == "system" else {}
    directory, packages = found.get("directory"), snapshot.packages
    return CommandContext(
        tool=tool,
        python=None if here else executable,
        prefix=None if here else prefix,
        versions={name: packages[name].version for name in (*names(action), "pip") if name in packages},
        installed=_lock_of(snapshot) is None,
        directory=None if directory is None or _same(directory, os.curdir) else os.path.abspath(directory),
        direct=found.get("direct"),
        admitted=found.get("admitted", ()),
        apt=found.get("apt", False),
        old=_is_of_old_poetry(snapshot),
    )


def _is_of_old_poetry(snapshot: Snapshot) -> bool:
    """Whether a Poetry before 2 has installed things, or written the lock file that was read."""
    lock = _lock_of(snapshot) == "poetry.lock" and str(snapshot.target.get("lock_version"))
    return lock in {"1.0", "1.1", "2.0"} or any(str(one).startswith("Poetry 1.") for one in _of_environment(snapshot))


def _is_active(prefix: str | None) -> bool:
    active = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    return bool(prefix and active and _same(active, prefix))


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
