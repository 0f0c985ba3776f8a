"""The environment that people mean when they name none, and why it is this one. On the plain path.

In this order: the active environment; the interpreter of ``python -m envdoctor``; the one of the project around the
current directory. What else there may be says :mod:`~envdoctor.targets.unnamed`. Only files are read.
"""

from __future__ import annotations

import os
import sys

from envdoctor.model import Record, UnknownFact
from envdoctor.probes import distributions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where a project keeps its environment. The tools that write lock files make the first.
_IN_PROJECT = (".venv", "venv", "env")
#: Files that say that a tool may keep the environment of a directory elsewhere.
_OF_PROJECT = ("pyproject.toml", "Pipfile", ".pdm-python")
#: What installers of commands leave in the environment that they make for one.
_RECEIPTS = ("uv-receipt.toml", "pipx_metadata.json")
#: So many processes lie at most between a notebook's kernel and a command in one of its cells.
_BETWEEN = 20


class Choice(Record):
    """An environment, by its directory or its interpreter, and why it was chosen.

    ``project`` is the directory whose lock file says what belongs in it; ``notes`` name what was passed over.
    """

    place: str
    chosen: str
    project: str | None = None
    notes: Sequence[UnknownFact] = ()


def is_environment(prefix: str) -> bool:
    """Whether a directory is that of an environment; its interpreter may be gone."""
    return is_marked(prefix) or any(
        os.path.lexists(os.path.join(prefix, place)) for place in ("bin/python", "Scripts/python.exe")
    )


def is_marked(prefix: str) -> bool:
    """Whether a directory is that of an environment by its files alone, as a system's prefix never is."""
    return os.path.exists(os.path.join(prefix, "pyvenv.cfg")) or os.path.exists(os.path.join(prefix, "conda-meta"))


def environment_of(executable: str) -> str:
    """The directory of the environment that an interpreter belongs to, else the interpreter itself."""
    folder = os.path.dirname(os.path.abspath(executable))
    return next(filter(is_marked, (os.path.dirname(folder), folder)), executable)


def project_of(prefix: str) -> str | None:
    """The directory whose lock file says what belongs in an environment: the one around a ``.venv``."""
    return os.path.dirname(prefix) if os.path.basename(prefix) == _IN_PROJECT[0] else None


def lock_of(directory: str) -> str | None:
    """The path of the lock file in a directory, ``None`` where there is none."""
    from envdoctor.tools import LOCKS

    paths = [os.path.join(directory, name) for name in LOCKS]
    return next(filter(os.path.isfile, paths), None)


def meant() -> Choice | None:
    """The environment that the user's shell, notebook, command or project names; ``None`` where none does."""
    notes: list[UnknownFact] = []
    named = _named_by_command()
    found = (None if named else _kernel()) or active(notes)
    if found is None and named and not has_receipt(sys.prefix):
        why = "the interpreter that runs envdoctor"
        found = Choice(place=sys.prefix, chosen=why, project=project_of(sys.prefix))
    found = found or of_project()
    return found.replace(notes=notes) if found and notes else found


# --- what names one ---------------------------------------------------------------------------------------------------


def _named_by_command() -> bool:
    """Whether a Python runs this by ``python -m envdoctor`` or from a program of the user's, not by our command."""
    main = sys.modules.get("__main__")
    if getattr(getattr(main, "__spec__", None), "name", "") == "envdoctor.__main__":
        return True
    return getattr(getattr(main, "main", None), "__module__", "") != "envdoctor.cli"


def active(notes: list[UnknownFact]) -> Choice | None:
    """The active environment; a variable that names none is noted. Conda's base is always active: it says nothing."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(variable)
        if not prefix or (variable == "CONDA_PREFIX" and os.environ.get("CONDA_DEFAULT_ENV") in {"base", "root"}):
            continue
        if is_environment(prefix):
            prefix = os.path.abspath(prefix)
            return Choice(place=prefix, chosen=f"the active environment ({variable})", project=project_of(prefix))
        notes.append(UnknownFact(rule=None, fact=variable, reason=f"it names {prefix}, where there is no environment"))
    return None


def _kernel() -> Choice | None:
    """The environment of the notebook in whose cell the command runs: the ancestor that the notebook server started."""
    server = os.environ.get("JPY_PARENT_PID")
    process = os.getpid()
    for _ in range(_BETWEEN if server else 0):
        status = distributions.read_text(f"/proc/{process}/stat") or ""
        parent = status.rpartition(")")[2].split()[1:2]
        if parent == [server]:
            line = distributions.read_bytes(f"/proc/{process}/cmdline", 1 << 12) or b""
            executable = os.fsdecode(line.partition(b"\0")[0])
            if os.path.isabs(executable) and os.path.exists(executable):
                place = environment_of(executable)
                return Choice(place=place, chosen="the kernel of this notebook", project=project_of(place))
        if not parent or parent[0] in {"0", "1"}:
            break
        process = int(parent[0])
    return None


def of_project() -> Choice | None:
    """The environment of the nearest directory, from the current one upwards, that has or names one."""
    stated = os.environ.get("UV_PROJECT_ENVIRONMENT", "")
    here, home = upwards(), os.path.expanduser("~")
    for directory in here:
        if os.path.isfile(os.path.join(directory, "pyvenv.cfg")) and is_trusted(directory, here[0]):
            return Choice(place=directory, chosen="the environment around the current directory")
        usual = _IN_PROJECT[:1] if directory == home else _IN_PROJECT
        found = _inside(directory, here[0], stated, usual) or _kept(directory, here[0])
        if found is not None:
            return found
    return None


def _inside(directory: str, here: str, stated: str, usual: Sequence[str]) -> Choice | None:
    """The environment in a directory: by the name that is stated, if one is, else by a usual one."""
    for name in (stated, *usual) if stated else usual:
        prefix = os.path.join(directory, name)
        if is_marked(prefix) and is_trusted(prefix, here):
            if name == stated:
                return Choice(place=prefix, chosen="UV_PROJECT_ENVIRONMENT of this project", project=directory)
            return Choice(place=prefix, chosen=f"{name} of this project", project=project_of(prefix))
    return None


def _kept(directory: str, here: str) -> Choice | None:
    """The environment that a tool keeps elsewhere for the project in a directory."""
    if not any(os.path.exists(os.path.join(directory, name)) for name in _OF_PROJECT):
        return None
    from envdoctor.targets.manager_environments import kept

    found = kept(directory, environment_of)
    if found is None or not is_trusted(found[0], here):
        return None
    return Choice(place=found[0], chosen=f"what {found[1]} keeps for this project", project=directory)


def upwards() -> list[str]:
    """The current directory and those above it; empty where it was removed."""
    try:
        found = [os.getcwd()]
    except OSError:
        return []
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def is_trusted(prefix: str, here: str) -> bool:
    """Whether an environment that was found belongs to this user, the system, or the owner of the directory ``here``.

    Its interpreter may have to run, and in a directory that everybody may write to, anybody can put one.
    """
    if os.name == "nt":
        return True
    return os.stat(prefix).st_uid in {os.geteuid(), 0, os.stat(here).st_uid}


def has_receipt(prefix: str) -> bool:
    """Whether an installer of commands says that it made an environment."""
    return any(os.path.exists(os.path.join(prefix, name)) for name in _RECEIPTS)
