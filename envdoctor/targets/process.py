"""A running or hung process: its interpreter, its packages, its environment, and what only a process shows.

What the process itself shows comes from :mod:`envdoctor.probes.process_state`. Its interpreter is found and then asked,
as the same user and with the variables of the process; in a container, files are read instead and nothing is executed.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from envdoctor import collector
from envdoctor.errors import TargetError, UsageError
from envdoctor.facts import ENV, PROCESS, SYSTEM
from envdoctor.model import Unknown, UnknownFact
from envdoctor.probes import process_state
from envdoctor.probes.file_system import Root
from envdoctor.targets.assemble import recorded, snapshot
from envdoctor.targets.interpreter import IN_ENVIRONMENT, Caller, interpreter_facts
from envdoctor.targets.root import asks_of_root, facts_of_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.facts import Kind
    from envdoctor.model import Snapshot
    from envdoctor.probes.process_state import Running
    from envdoctor.targets.assemble import Ask

_PROGRAM = re.compile(r"(?:python|pypy)\d*(?:\.\d+)*[tdw]*(?:-\S+)?(?:\.exe)?", re.IGNORECASE)
_LIBRARY = re.compile(r"libpython3.*\.(?:so|dylib)[.\d]*|python3\d*t?\.dll|libpypy3.*\.so|Python", re.IGNORECASE)
_SITE = re.compile(
    r"(?P<site>(?P<prefix>.*?)[/\\]lib(?:64)?(?:[/\\]python[^/\\]+)?[/\\](?:site|dist)-packages)[/\\]", re.IGNORECASE
)
#: Options of Python whose value is the next word.
_WITH_VALUE = "WX"
#: How many files are named in a note.
_NAMED = 3


def examine(pid: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """The process of that number; ``wanted`` lists the keys that rules ask of an interpreter, by kind of fact.

    Variables are those that the process was started with: what a program sets for itself is not to be seen. Raises
    :class:`~envdoctor.errors.TargetError` or :class:`~envdoctor.errors.ProbeError` where it cannot be examined.
    """
    seen = process_state.read_process(_number(pid))
    executable, is_sure = _interpreter(seen)
    facts: dict[str, Any]
    if seen.root:
        facts = facts_of_root(seen.root, executable)
        asks: dict[Kind[Any, Any], Ask] = asks_of_root(facts, _variables(seen))
    else:
        facts = interpreter_facts(executable, wanted or {}, caller=_caller(seen))
        asks = recorded(facts)
    facts["start_method"] = _start_method(seen, facts)
    python = facts["python"]
    target = {
        "kind": "process",
        "pid": seen.pid,
        "path": python["prefix"],
        "executable": python["executable"],
        "directory": None if isinstance(seen.directory, Unknown) else seen.directory,
        **({"root": seen.root} if seen.root else {}),
        **({"forked": seen.forked} if seen.forked else {}),
    }
    made = snapshot(facts, target, {**asks, **_own(seen, asks)}, python["prefix"])
    noted: Snapshot = made.replace(notes=[*made.notes, *_doubts(seen, executable, is_sure), *_notes(seen, facts)])
    return noted


def _number(pid: str) -> int:
    try:
        number = int(pid)
    except ValueError:
        number = 0
    if number <= 0:
        raise UsageError(f"--pid {pid} is not the number of a process: give the one that ps or top shows")
    return number


def _variables(seen: Running) -> Mapping[str, str]:
    return {} if isinstance(seen.variables, Unknown) else seen.variables


# --- which interpreter ----------------------------------------------------------------------------------------------


def _interpreter(seen: Running) -> tuple[str, bool]:
    """The path of the interpreter as the process sees it, by the name that keeps it in its virtual environment.

    And whether anything shows that it was not called by another name. The kernel gives the program with all links
    resolved, which is the installation that an environment was made from.
    """
    real: Callable[[str], str | None] = Root(seen.root).real if seen.root else os.path.realpath
    if not _is_python(seen):
        embedding = next(_environments(seen, lambda _path: True), None) if _embeds(seen) else None
        if embedding is None:
            raise TargetError(_no_python(seen))
        return embedding, True
    program = real(seen.executable)
    is_same = _is_same if sys.platform in ("win32", "darwin") else lambda path: real(path) == program
    for candidate in (*_called(seen), *_environments(seen, is_same)):
        if is_same(candidate):
            return candidate, True
    return seen.executable, False


def _is_same(path: str) -> bool:
    """Whether a path is an interpreter, where environments have a launcher instead of a link."""
    return os.path.isfile(path) and _PROGRAM.fullmatch(os.path.basename(path)) is not None


def _is_python(seen: Running) -> bool:
    return _PROGRAM.fullmatch(re.split(r"[\\/]", seen.executable)[-1]) is not None


def _embeds(seen: Running) -> bool:
    """Whether the program is another one that has Python inside."""
    mapped = [] if isinstance(seen.mapped, Unknown) else seen.mapped
    return any(_LIBRARY.fullmatch(re.split(r"[\\/]", one.path)[-1]) for one in mapped)


def _called(seen: Running) -> Iterator[str]:
    """The paths that the first word of the command line may mean; programs may have put another title there."""
    variables = _variables(seen)
    launcher = variables.get("__PYVENV_LAUNCHER__")
    if launcher:
        yield launcher
    name = seen.command[0] if seen.command else ""
    if os.path.isabs(name):
        yield os.path.normpath(name)
    elif os.path.basename(name) != name and not isinstance(seen.directory, Unknown):
        yield os.path.normpath(os.path.join(seen.directory, name))
    elif name:
        for place in variables.get("PATH", "").split(os.pathsep):
            if os.path.isabs(place):
                yield os.path.join(place, name)


def _environments(seen: Running, is_same: Callable[[str], bool]) -> Iterator[str]:
    """The interpreters of the environments that it has loaded modules from, and of the one that was active."""
    prefixes = [match.group("prefix") for match in _sites(seen)]
    host = Root(seen.root).host if seen.root else str
    marked = [prefix for prefix in prefixes if os.path.isfile(host(os.path.join(prefix, "pyvenv.cfg")))]
    named = [_variables(seen).get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    for prefix in dict.fromkeys([*marked, *named, *prefixes]):
        for place in IN_ENVIRONMENT if prefix else ():
            path = os.path.join(prefix, *place.split("/"))
            if os.path.isfile(host(path)) and is_same(path):
                yield path


def _sites(seen: Running) -> list[re.Match[str]]:
    """The site directories in the paths of mapped files, with the prefix that each belongs to."""
    mapped = [] if isinstance(seen.mapped, Unknown) else seen.mapped
    found = {match.group("site"): match for match in (_SITE.match(one.path) for one in mapped) if match}
    return list(found.values())


def _no_python(seen: Running) -> str:
    """Why nothing can be said, and which of the processes below it is a Python."""
    import psutil

    what = f"Process {seen.pid} runs {seen.executable}"
    if _embeds(seen):
        return f"{what}, with a Python inside; nothing tells which environment it uses. Name it with --python PATH."
    try:
        children = psutil.Process(seen.pid).children(recursive=True)
        below = [str(child.pid) for child in children if _PROGRAM.fullmatch(child.name())]
    except psutil.Error:
        below = []
    if below:
        return f"{what}, which is no Python. It has started some: --pid {', --pid '.join(below[:_NAMED])}."
    return f"{what}, which is no Python. Give the number of a Python process; {process_state.LIST} lists all."


# --- what its interpreter is asked ----------------------------------------------------------------------------------


def _caller(seen: Running) -> Caller:
    """The interpreter is started as the process was: its variables count as far as its options let them."""
    directory = os.path.abspath(os.sep) if isinstance(seen.directory, Unknown) else seen.directory
    variables = dict(os.environ if isinstance(seen.variables, Unknown) else seen.variables)
    options = _options(seen.command)
    if options & set("EI"):
        variables = {name: value for name, value in variables.items() if not name.startswith("PYTHON")}
    if options & set("sI"):
        variables["PYTHONNOUSERSITE"] = "1"
    return Caller(variables=variables, directory=directory, user=seen.user)


def _options(command: Sequence[str]) -> set[str]:
    """The letters of the options that an interpreter was started with, up to its program."""
    letters: set[str] = set()
    words = iter(command[1:])
    for word in words:
        if len(word) < 2 or not word.startswith("-") or word.startswith("--"):  # noqa: PLR2004
            break
        for place, letter in enumerate(word[1:], 2):
            letters.add(letter)
            if letter in _WITH_VALUE:
                if place == len(word):
                    next(words, None)
                break
        if letters & set("cm"):
            break
    return letters


def _start_method(seen: Running, facts: Mapping[str, Any]) -> dict[str, Any]:
    shown = {} if seen.method is None or isinstance(seen.method, Unknown) else {"children": seen.method}
    return {**facts.get("start_method", {}), **shown}


# --- what the process itself shows ----------------------------------------------------------------------------------


def _own(seen: Running, asks: Mapping[Kind[Any, Any], Ask]) -> dict[Kind[Any, Any], Ask]:
    """Facts that the process shows better than its interpreter, which was started with the limits of envdoctor."""

    def system(key: str) -> Any:
        try:
            return _system(seen, key, asks[SYSTEM])
        except (collector.NotKnownError, OSError) as error:
            return Unknown(reason=f"{key} could not be read: {error}")

    def variable(name: str) -> Any:
        return seen.variables if isinstance(seen.variables, Unknown) else seen.variables.get(name)

    def fact(name: str) -> Any:
        return seen.facts.get(name, Unknown(reason="there is no probe for it"))

    return {ENV: variable, PROCESS: fact, SYSTEM: system}


def _system(seen: Running, key: str, otherwise: Ask) -> Any:
    pid = str(seen.pid)
    probes: dict[str, Callable[[], Any]] = {
        "open-files": lambda: collector.open_files(pid),
        "memory": lambda: collector.memory_limit(pid),
        "libstdcxx": lambda: process_state.libstdcxx(seen) or otherwise(key),
    }
    if seen.root:  # files do not show these, but the kernel is the same
        host = Root(seen.root).host
        probes["shm"] = lambda: collector.shared_memory(host)
        probes["container"] = lambda: os.stat(f"/proc/{pid}/ns/mnt").st_ino != os.stat("/proc/self/ns/mnt").st_ino
        probes.update({name: lambda: collector.system_fact(key) for name in ("nvidia-driver", "cuda", "gpu")})
    return probes[key]() if key in probes and sys.platform == "linux" else otherwise(key)


def _doubts(seen: Running, executable: str, is_sure: bool) -> Iterator[UnknownFact]:  # noqa: FBT001
    """Why another interpreter may be the right one."""
    reason = None
    if not _is_python(seen):
        reason = f"{seen.executable} has a Python inside, taken to be that of the environment it uses"
    elif not is_sure:
        reason = (
            f"nothing shows by which name {executable} was called, so it may belong to a virtual environment: if so, "
            "name that with --python PATH"
        )
    if reason:
        yield UnknownFact(rule=None, fact="interpreters", reason=reason)


def _notes(seen: Running, facts: Mapping[str, Any]) -> Iterator[UnknownFact]:
    """Notes about the whole examination."""

    def note(fact: str, reason: str) -> UnknownFact:
        return UnknownFact(rule=None, fact=fact, reason=reason)

    if seen.root:
        yield note("process", f"it has another root, as in a container: its files were read below {seen.root}")
    unread = {
        "packages": (seen.mapped, ": which modules it has loaded is not known"),
        "env": (seen.variables, ""),
        "start_method.children": (seen.method, ""),
    }
    for fact, (value, meaning) in unread.items():
        if isinstance(value, Unknown):
            yield note(fact, value.reason + meaning)
    foreign = ", ".join(_foreign(seen, facts["paths"])[:_NAMED])
    if foreign:
        yield note("packages", f"it has loaded modules from {foreign}, where its interpreter does not look by itself")
    replaced = ", ".join(_replaced(seen)[:_NAMED])
    if replaced:
        yield note("packages", f"packages were changed since it loaded them, so it may run other versions: {replaced}")


def _foreign(seen: Running, paths: Sequence[str]) -> list[str]:
    """The site directories of loaded modules that are none of some paths."""
    known = [os.path.realpath(path) for path in paths]
    host = Root(seen.root).host if seen.root else os.path.realpath
    return [match.group("site") for match in _sites(seen) if host(match.group("site")) not in known]


def _replaced(seen: Running) -> list[str]:
    """The files of packages that are mapped although they were removed."""
    if isinstance(seen.mapped, Unknown):
        return []
    return sorted({one.path for one in seen.mapped if one.deleted and _SITE.match(one.path)})
