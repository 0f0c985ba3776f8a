"""The environment at hand: the running interpreter, or another one that :mod:`~envdoctor.targets.at_hand` chooses.

On the plain path. A virtual environment is read by its files, since starting its interpreter costs more than the whole
examination; what files do not show, and every environment of another form, is asked of the interpreter.
"""

from __future__ import annotations

import os
import sys

from envdoctor import collector
from envdoctor.facts import ENV, INSTALLED, KINDS, LIBRARY, MARKER, MODULE, PROGRAM, SYSTEM
from envdoctor.model import Unknown
from envdoctor.probes.distributions import read_text
from envdoctor.targets import at_hand
from envdoctor.targets.assemble import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from envdoctor.facts import Answers, Kind, Questions
    from envdoctor.model import Snapshot
    from envdoctor.targets.assemble import Ask


#: ``sys.path`` as it was found, while envdoctor itself imports in another order.
_FOUND: list[str] = []
#: The most digits that a number in the version of a Python has.
_DIGITS = 3
#: Facts of the system that depend on how an interpreter was built.
_OF_THE_INTERPRETER = ("openssl", "libstdcxx")
#: What is asked of an interpreter where no rule asks for anything.
_NOTHING: dict[str, list[str]] = {"env": [], "module": [], "system": [], "library": []}


def shield() -> None:
    """From here on envdoctor imports from the standard library first, then from the directory that it is in.

    A directory of ``PYTHONPATH``, or the one that ``python -m`` was called in, may hold what shadows a module of
    either; that is to be found out, not to be fallen for. :func:`unshield` undoes it.
    """
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        standard = collector.stdlib_path()
    except collector.NotKnownError:  # it is not in a directory, so no other one comes before it
        return

    def rank(entry: str) -> int:
        kind = collector.kind_of_entry(entry, standard) if isinstance(entry, str) else "local"
        if kind == "standard-library":
            return 0
        return 1 if entry and os.path.abspath(entry) == own else 2 + (kind == "local")

    _FOUND[:] = sys.path
    sys.path.sort(key=rank)


def unshield() -> None:
    """Import again in the order in which :func:`shield` found the path."""
    if _FOUND:
        sys.path[:] = _FOUND
        _FOUND.clear()


def of_choice(choice: at_hand.Choice, wanted: Callable[[], Mapping[str, Sequence[str]]]) -> Snapshot:
    """The snapshot of an environment, which says why it was chosen."""
    found = _at(choice.place, wanted)
    target = {**found.target, "chosen": choice.chosen}
    chosen: Snapshot = found.replace(target=target, notes=[*choice.notes, *found.notes])
    return beside_lock(chosen, choice.project) if choice.project else chosen


def _at(place: str, wanted: Callable[[], Mapping[str, Sequence[str]]]) -> Snapshot:
    """The environment in a directory, or of an interpreter: this process, its files, or its own answer."""
    if os.path.realpath(place) == os.path.realpath(sys.prefix):
        return running()
    facts = facts_of_files(place)
    if facts is None:
        return examine_interpreter(place, wanted())
    return snapshot(facts, _target(facts["python"]), _asks(facts), place)


def named(executable: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """The environment of an interpreter that is named by its path, its environment's directory, or a command.

    A virtual environment is read by its files, so that neither its interpreter nor its ``.pth`` files run; any other
    interpreter is asked. Raises :class:`~envdoctor.errors.TargetError` where there is none, or none that answers.
    """
    from envdoctor.targets.interpreter import find_interpreter

    path = find_interpreter(executable)
    place = at_hand.environment_of(path)
    facts = None if place == path else facts_of_files(place)
    if facts is None:
        return examine_interpreter(path, wanted)
    found = snapshot(facts, _target(facts["python"]), _asks(facts), place)
    project = at_hand.project_of(place)
    return beside_lock(found, project) if project else found


def examine_interpreter(executable: str, wanted: Mapping[str, Sequence[str]] | None = None) -> Snapshot:
    """Another interpreter, asked by running the collector in it.

    ``wanted`` lists the keys that rules ask of it, by kind of fact; others are unknown afterwards.
    """
    from envdoctor.targets.assemble import recorded
    from envdoctor.targets.interpreter import interpreter_facts

    facts = interpreter_facts(executable, wanted or _NOTHING)
    python = facts["python"]
    asked = set((wanted or _NOTHING).get("env", ()))
    asks = {**of_machine(), **recorded(facts)}
    variables = facts.get("env", {})
    asks[ENV] = lambda name: variables.get(name) if name in asked else Unknown(reason="it was not asked for")
    found = snapshot(facts, _target(python), asks, python["prefix"])
    project = at_hand.project_of(python["prefix"])
    return beside_lock(found, project) if project else found


def beside_lock(found: Snapshot, directory: str) -> Snapshot:
    """The snapshot of an environment that a lock file in a directory, if there is one, says the contents of."""
    beside: Snapshot = found.replace(probes=_BesideLock(found, directory))
    return beside


class _BesideLock:
    """Answers what differs from a lock file, if there is one, and passes every other question on."""

    def __init__(self, found: Snapshot, directory: str) -> None:
        self._found = found
        self._directory = directory

    def answers(self, questions: Questions) -> Answers:
        """The values of facts."""
        answers = dict(self._found.probes.answers(questions)) if self._found.probes else {}
        lock = at_hand.lock_of(self._directory) if "drift" in questions.get(INSTALLED, ()) else None
        if lock is not None:
            from envdoctor.targets.drift import differences

            answers[INSTALLED] = {**answers[INSTALLED], "drift": differences(lock, self._found)}
        return answers


def own_paths() -> list[str]:
    """Where the interpreter that runs envdoctor imports from."""
    paths: list[str] = collector.import_paths(_FOUND or None)
    return paths


def running() -> Snapshot:
    """The interpreter that runs envdoctor."""
    paths = own_paths()
    facts: dict[str, Any] = {
        "python": collector.python_facts(),
        "platform": collector.platform_facts(),
        "start_method": {"default": collector.default_start_method()},
        "paths": paths,
    }
    asks: dict[Kind[Any, Any], Ask] = {
        **of_machine(),
        MARKER: _Markers(collector.marker_facts).ask,
        MODULE: lambda name: _guarded(collector.module_fact, name, paths),
    }
    return snapshot(facts, _target(facts["python"]), asks, sys.prefix)


def _target(python: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "interpreter", "path": python["prefix"], "executable": python["executable"]}


def of_machine() -> dict[Kind[Any, Any], Ask]:
    """Answers for the kinds of fact that are read on this machine, whichever environment is examined."""
    return {kind: _reading(kind) for kind in KINDS if kind.probe}


def _reading(kind: Kind[Any, Any]) -> Ask:
    return lambda key: _guarded(kind.function("probe"), key)


def _guarded(probe: Callable[..., Any], key: str, *more: Any) -> Any:
    """The answer of one probe, or :class:`Unknown` where it fails."""
    try:
        return probe(key, *more)
    except (collector.NotKnownError, OSError, ValueError, ImportError) as error:
        return Unknown(reason=f"{key} could not be read: {error}")


class _Markers:
    """The marker environment, computed when the first marker asks."""

    def __init__(self, compute: Any) -> None:
        self._compute = compute
        self._values: Mapping[str, str] | None = None

    def ask(self, name: str) -> Any:
        """The value of one variable, or :class:`Unknown`."""
        if self._values is None:
            self._values = self._compute()
        return self._values.get(name, Unknown(reason=f"{name} is no marker variable of this interpreter"))


def facts_of_files(prefix: str) -> dict[str, Any] | None:
    """Facts of a plain virtual environment from its files, or ``None`` where only its interpreter knows them."""
    settings = _settings(os.path.join(prefix, "pyvenv.cfg"))
    version = ".".join((settings.get("version_info") or settings.get("version") or "").split(".")[:3])
    if not _is_version(version) or settings.get("include-system-site-packages", "false").lower() != "false":
        return None
    if settings.get("implementation", "cpython").lower() != "cpython":
        return None
    layout = _layout(prefix, settings.get("home", ""), version)
    if layout is None or _outlived(prefix, settings.get("home", ""), layout[0], version):
        return None
    executable, standard_library, packages = layout
    python = {
        "version": version,
        "implementation": "cpython",
        "free_threaded": os.path.basename(standard_library).endswith("t"),
        "executable": executable,
        "prefix": prefix,
    }
    home = settings.get("home", "").rstrip("/")
    paths = [*_split(os.environ.get("PYTHONPATH", "")), standard_library, *_with_path_files(packages)]
    return {
        "python": python,
        "platform": collector.platform_facts(),
        "start_method": {"default": collector.default_start_method(version=_numbers(version))},
        "paths": paths,
        "base": home if os.name == "nt" else os.path.dirname(home),
    }


def _outlived(prefix: str, home: str, executable: str, version: str) -> bool:
    """Whether the Python behind an environment is gone, or was exchanged after ``pyvenv.cfg`` was written."""
    name = "python.exe" if os.name == "nt" else "python{}.{}".format(*_numbers(version))
    try:
        os.stat(executable)
        behind = os.stat(os.path.join(home, name))
        return behind.st_ctime > os.stat(os.path.join(prefix, "pyvenv.cfg")).st_ctime
    except OSError:
        return True


def _settings(path: str) -> dict[str, str]:
    """The lines ``name = value`` of a ``pyvenv.cfg``, empty where there is none."""
    lines = (read_text(path) or "").replace("\0", "").splitlines()
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def _is_version(text: str) -> bool:
    """Whether a text begins with the two numbers of a Python."""
    numbers = text.split(".")[:2]
    return len(numbers) > 1 and all(one.isascii() and one.isdecimal() and len(one) <= _DIGITS for one in numbers)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _layout(prefix: str, home: str, version: str) -> tuple[str, str, str] | None:
    """Interpreter, standard library and site-packages of a virtual environment on this platform."""
    if os.name == "nt":
        layout = (
            os.path.join(prefix, "Scripts", "python.exe"),
            os.path.join(home, "Lib"),
            os.path.join(prefix, "Lib", "site-packages"),
        )
        return layout if os.path.isdir(layout[2]) else None
    minor = "python{}.{}".format(*_numbers(version))
    for name in (minor, minor + "t"):
        packages = os.path.join(prefix, "lib", name, "site-packages")
        if os.path.isdir(packages):
            library = os.path.join(os.path.dirname(home.rstrip("/")), "lib", name)
            return os.path.join(prefix, "bin", "python"), library, packages
    return None


def _split(path: str) -> list[str]:
    return [entry for entry in path.split(os.pathsep) if entry]


def _with_path_files(packages: str) -> list[str]:
    """A site directory and the directories that its ``.pth`` files add, as ``site`` does, without running a line."""
    paths = [packages]
    for name in sorted([name for name in os.listdir(packages) if name[-4:] == ".pth" and name[0] != "."]):
        for line in (read_text(os.path.join(packages, name)) or "").splitlines():
            entry = line.strip()
            if entry and entry[0] != "#" and not entry.startswith(("import ", "import\t")):
                directory = os.path.join(packages, entry)
                if directory not in paths and os.path.isdir(directory):
                    paths.append(directory)
    return paths


def _asks(facts: Mapping[str, Any]) -> dict[Kind[Any, Any], Ask]:
    def markers() -> Mapping[str, str]:
        version = facts["python"]["version"]
        return {
            **collector.marker_facts(),
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "python_version": "{}.{}".format(*_numbers(version)),
            "python_full_version": version,
            "implementation_version": version,
        }

    def asked(kind: Kind[Any, Any], key: str) -> Any:
        """The facts that only the environment's own interpreter knows."""
        from envdoctor.errors import TargetError
        from envdoctor.targets.assemble import recorded
        from envdoctor.targets.interpreter import interpreter_facts

        try:
            answer = interpreter_facts(facts["python"]["executable"], {kind.name: [key]})
        except TargetError as error:
            return Unknown(reason=str(error))
        return recorded({kind.section: answer[kind.section], "unknown": answer["unknown"]})[kind](key)

    here = of_machine()
    return {
        **here,
        MARKER: _Markers(markers).ask,
        MODULE: lambda name: asked(MODULE, name),
        SYSTEM: lambda key: asked(SYSTEM, key) if key in _OF_THE_INTERPRETER else here[SYSTEM](key),
        LIBRARY: lambda name: _guarded(collector.library_fact, name, facts["base"]),
        PROGRAM: lambda name: _guarded(collector.program_fact, name, facts["python"]["executable"]),
    }
