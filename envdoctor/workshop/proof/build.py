"""Builds a trial's environment with uv, and runs the trial in it."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import shutil
import subprocess
import time
from typing import Any

from packaging.version import Version

from envdoctor.engine.installed_requirements import name_of
from envdoctor.errors import EnvdoctorError, RuleError
from envdoctor.model import Remedy
from envdoctor.probes import cache
from envdoctor.remedies.commands import with_command
from envdoctor.remedies.words import names
from envdoctor.targets import examine
from envdoctor.workshop.proof import (
    built_environment,
    bytecode_cache,
    installing,
    processes,
    pythons,
    sandbox,
    scripts,
    unwheeled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.model import Action
    from envdoctor.workshop.proof.trials import Trial, TrialEnvironment

_NO_UV = "uv was not found, and trials are built with it: pip install 'pyenvdoctor[workshop]', or put uv on PATH"
_REASON = 300
#: The reason why nothing is known of a trial whose installation was given up.
TOOK_LONGER = "installing took longer"
#: A day after everything that is published.
_FUTURE = "2999-12-31"
#: What builds an old release, and need not be as old.
_BUILDERS = ("setuptools", "wheel")


class UnbuiltError(Exception):
    """An environment that cannot be built, and why; ``said`` is all that the installer printed."""

    def __init__(self, reason: str, said: str = "") -> None:
        super().__init__(reason)
        self.said = said


@functools.cache
def uv() -> str:
    """The path of uv: that of its Python package, or the one on ``PATH``.

    Raises :class:`RuleError` where there is none.
    """
    with contextlib.suppress(ImportError, FileNotFoundError):
        from uv import find_uv_bin

        return str(find_uv_bin())
    path = shutil.which("uv")
    if path is None:
        raise RuleError(_NO_UV)
    return path


def uv_version() -> str:
    """The version of uv."""
    done = subprocess.run([uv(), "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return (done.stdout.split() or ["", "unknown"])[1]


def run_trial(trial: Trial, *, offline: bool = False) -> dict[str, Any]:
    """Build a trial's environment, run its script there, and tell what came out.

    The answer has ``outcome`` (``passed``, ``failed``, ``timeout`` or ``unbuilt``), ``output`` (its end), ``signal``,
    ``python`` (the whole version), ``installed`` (``name==version``), ``reason`` (of ``unbuilt``), ``seconds``,
    ``isolated`` and, where the environment was examined, the ``findings``. Nothing of the trial is left on disk.
    Raises :class:`~processes.StoppedError`, and :class:`EnvdoctorError` where this machine has no room for it.
    """
    start = time.monotonic()
    lab = os.path.join(cache.directory(), "lab")  # beside uv's hard links
    with writing("a trial", lab), bytecode_cache.directory(lab) as top:
        try:
            result = _run(trial, top, offline=offline)
        except UnbuiltError as error:
            result = {"outcome": "unbuilt", "reason": str(error)}
    result.update({name: _tidy(result[name], top) for name in ("output", "reason") if name in result})
    for finding in result.get("findings", ()):
        finding.update({name: _tidy(text, top) for name, text in finding.items()})
    return {**result, "seconds": round(time.monotonic() - start, 2)}


@contextlib.contextmanager
def writing(what: str, place: str) -> Iterator[None]:
    """Turn what the machine refuses meanwhile into an :class:`EnvdoctorError` that says what to do about it."""
    try:
        yield
    except OSError as error:
        raise EnvdoctorError(
            f"{what} could not be written to {place}: {error.strerror or error}; free space there, or name another "
            "cache directory with XDG_CACHE_HOME. What is done is kept: the same command goes on with the rest"
        ) from error


def _tidy(said: str, top: str) -> str:
    """What was printed, without the places of this machine and the address of its index: a proof is for everybody."""
    said = said.replace(os.path.join(top, "place") + os.sep, "").replace(os.path.join(top, "work") + os.sep, "")
    for path in sorted({*pythons.found().values(), uv()}, key=len, reverse=True):
        said = said.replace(path, os.path.basename(path)).replace(os.path.dirname(os.path.dirname(path)) + os.sep, "")
    said = re.sub(r"[~/][^\s'\"()]*?(lib/python3\.\d+/)", r"\1", said)
    said = re.sub(r"(?:https?|file)://[^\s'\"`)>]+", lambda found: _address(found[0]), said)
    return said.replace(os.path.expanduser("~"), "~") if os.path.expanduser("~") != "/" else said


def _address(url: str) -> str:
    """An address that a project states itself, or the name of the file at the end of an index's."""
    return url if "github.com" in url else url.rstrip("/").rpartition("/")[2]


def _run(trial: Trial, top: str, *, offline: bool) -> dict[str, Any]:
    work = os.path.join(top, "work")
    os.mkdir(work)
    for name, text in trial.files.items():
        path = os.path.join(work, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)
    if trial.writer is not None:
        python, _ = _build(trial.writer, os.path.join(top, "writer"), offline=offline)
        _prepare(python, trial.write or "", work, "writing the artefact")
    python, version = _build(_before(trial), os.path.join(top, "place"), offline=offline, copied=bool(trial.prepare))
    if trial.prepare:
        _prepare(python, trial.prepare, work, "preparing the environment")
    seen: dict[str, Any] = (
        {} if trial.applies is None else _applied(trial, trial.applies, python, work, offline=offline)
    )
    if trial.examines:
        seen["findings"] = built_environment.findings(trial.examines, python, work)
    result: dict[str, Any] = {"outcome": "passed", "output": "", "signal": None}
    if trial.installs:
        result = installing.result(installing.install(trial, python, work, offline=offline))
    if trial.script and result["outcome"] == "passed":
        result = sandbox.result(_script(python, trial.script, work, trial.env, ".script.py"))
    return {**result, **seen, "python": version, "installed": built_environment.versions(python)}


def _applied(trial: Trial, action: Action, python: str, work: str, *, offline: bool) -> dict[str, Any]:
    """Carry an action out; the modules that the script imports and that are ``lost`` by it, if any."""
    there = _importable(trial, python, work) if action.packages else set()
    _type(action, trial.place, python, offline=offline)
    lost = sorted(there - _importable(trial, python, work)) if there else []
    return {"lost": lost} if lost else {}


def _importable(trial: Trial, python: str, work: str) -> set[str]:
    """The modules that a script imports and that are there to be found."""
    came = _script(python, _FIND.format(names=sorted(scripts.imported(trial.script))), work, {}, ".find.py")
    return set(came.output.split())


_FIND = """\
import importlib.util
print(*[name for name in {names!r} if importlib.util.find_spec(name)])
"""


def write(path: str, text: str) -> None:
    """Write a text file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _before(trial: Trial) -> TrialEnvironment:
    """The place without what the trial itself installs."""
    if not trial.installs:
        return trial.place
    kept = [text for text in trial.place.install if name_of(text) not in trial.installs]
    needs = [] if any(name_of(text) == "pip" for text in kept) else ["pip"]
    place: TrialEnvironment = trial.place.replace(install=kept, needs=[*trial.place.needs, *needs])
    return place


def left_by(place: TrialEnvironment, program: str, words: Sequence[str], files: Mapping[str, str]) -> dict[str, str]:
    """Build an environment and run a program there beside some files; the files as the program leaves them.

    Raises :class:`UnbuiltError` where the environment cannot be built or the program fails.
    """
    lab = os.path.join(cache.directory(), "lab")
    with writing("an environment", lab), bytecode_cache.directory(lab) as top:
        work = os.path.join(top, "work")
        os.mkdir(work)
        python, _ = _build(place, os.path.join(top, "place"), offline=False)
        for name, text in files.items():
            write(os.path.join(work, name), text)
        came = _script(python, program, work, {}, ".program.py", words)
        if came.status != 0:
            raise UnbuiltError(f"the program failed: {_last(came.output)}")
        return {name: _text(os.path.join(work, name)) for name in os.listdir(work) if name.endswith(".json")}


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _prepare(python: str, text: str, work: str, doing: str) -> None:
    came = _script(python, text, work, {}, ".prepare.py")
    if came.status != 0:
        raise UnbuiltError(f"{doing} failed: {_last(came.output)}")


def _script(python: str, text: str, work: str, env: Any, name: str, words: Sequence[str] = ()) -> sandbox.ProgramEnd:
    path = os.path.join(work, name)
    write(path, text)
    own = {**bytecode_cache.variables(python), **env, "VIRTUAL_ENV": os.path.dirname(os.path.dirname(python))}
    return sandbox.run([python, path, *words], work, own)


def sweep() -> None:
    """Remove what runners that no longer live have left."""
    import psutil

    base = os.path.join(cache.directory(), "lab")
    for name in os.listdir(base) if os.path.isdir(base) else ():
        owner = name.partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(os.path.join(base, name), ignore_errors=True)


def _build(place: TrialEnvironment, directory: str, *, offline: bool, copied: bool = False) -> tuple[str, str]:
    """Build an environment; gives its interpreter and the whole version of it.

    ``copied`` is for one whose files will be changed: others share them with the installer's cache.
    """
    known = pythons.find(place.python)
    if known is None:
        raise UnbuiltError(f"no Python {place.python} was found; name one in {pythons.VARIABLE}")
    version, interpreter = known
    run_uv(["venv", "--no-project", "--python", interpreter, directory], directory, offline=offline)
    python = os.path.join(directory, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
    wanted = [*place.install, *place.needs]
    link = ["--link-mode", "copy"] if copied else []
    try:
        _pip(place, python, ["install", *link, *wanted], offline=offline) if wanted else None
    except UnbuiltError:
        if not place.loose:
            raise
        _pip(place, python, ["install", *link, *(text for text in wanted if text not in place.loose)], offline=offline)
    if place.absent:
        _pip(place, python, ["uninstall", *place.absent], offline=offline)
    return python, version


def _type(action: Action, place: TrialEnvironment, python: str, *, offline: bool) -> None:
    """Run the line that users of an environment are shown for an action, in a shell, unchanged."""
    shown = with_command(Remedy(kind=action.verb, action=action), examine("python", python))
    if shown is None or shown.command is None:
        raise UnbuiltError(f"there is no command to {action.verb} {' '.join([*action.packages, *action.requirements])}")
    top = os.path.dirname(os.path.dirname(python))
    command = [shutil.which("powershell") or "pwsh", "-NoProfile", "-Command"] if os.name == "nt" else ["sh", "-c"]
    own = {"PATH": os.path.dirname(uv()) + os.pathsep + os.environ.get("PATH", ""), "UV_NO_CONFIG": "1"}
    if offline:
        own["UV_OFFLINE"] = "1"
    if place.together:
        own["UV_OVERRIDE"] = os.path.basename(_held(place, top, names(action)))  # of which a list is parted at spaces
    _started([*command, shown.command], top, own)


def _held(place: TrialEnvironment, top: str, moved: Sequence[str]) -> str:
    """A file of what is stated to be together, whatever its metadata says of each other, without what is moved."""
    write(top + ".held", "\n".join(text for text in place.install if name_of(text) not in moved))
    return top + ".held"


def _pip(place: TrialEnvironment, python: str, step: Sequence[str], *, offline: bool) -> None:
    """Install or uninstall. What is stated to be together stays so, whatever its metadata says of each other."""
    verb, *words = step
    top = os.path.dirname(os.path.dirname(python))
    if place.together and verb == "install":
        words = ["--override", _held(place, top, ()), *words]
    if verb == "install":
        words = [*(["--no-deps"] if place.locked else []), *_of_its_time(place), *words]
    limit = installing.BRIEF_SECONDS if place.brief else installing.SECONDS
    command = ["pip", verb, "--python", python]
    if not (place.wheels and verb == "install"):
        run_uv([*command, *words], top, offline=offline, seconds=limit)
        return
    run = functools.partial(run_uv, directory=top, offline=offline)
    _of_wheels(lambda only, seconds: run([*command, *only, *words], seconds=seconds), limit, place.until)


def _of_its_time(place: TrialEnvironment) -> list[str]:
    """The options by which uv takes what was there at a time, and what is named whenever it was published."""
    if not place.until:
        return []
    days = dict.fromkeys(_BUILDERS, max(place.until, _builders_until(place.python)))
    days.update({name_of(text): _FUTURE for text in place.install})
    return [f"--exclude-newer={place.until}", *(f"--exclude-newer-package={name}={day}" for name, day in days.items())]


def _builders_until(python: str) -> str:
    """The day until which a builder for an old release may be published.

    uv asks for setuptools 40.8; from 58 on nothing is converted from Python 2, and none before 66 runs on 3.12.
    """
    return "2021-08-01" if Version(python) < Version("3.12") else "2024-06-01"


def _of_wheels(install: Callable[[Sequence[str], float], object], limit: float, until: str) -> None:
    """Install without building any but what is no wheel anywhere, as its installer comes to need it.

    All of it together may take ``limit`` seconds; ``until`` is the last day whose releases are taken.
    """
    end, left = time.monotonic() + limit, limit
    built: list[str] = []
    while True:
        try:
            install(["--only-binary", ":all:", *(word for name in built for word in ("--no-binary", name))], left)
        except UnbuiltError as error:
            more = sorted(unwheeled.named(error.said, until) - {*built})
            left = round(end - time.monotonic())
            if not more or left < 1:
                raise
            built += more
        else:
            return


def run_uv(words: Sequence[str], directory: str, *, offline: bool, seconds: float = installing.SECONDS) -> None:
    """Run uv beside a directory. Raises :class:`UnbuiltError` with what it says where it fails."""
    command = [uv(), "--quiet", "--no-config", *(["--offline"] if offline else []), *words]
    _started(command, directory, {}, seconds=seconds)


def _started(
    command: Sequence[str], directory: str, own: Mapping[str, str], seconds: float = installing.SECONDS
) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "CONDA_PREFIX"}}
    log = directory + ".log"
    env = {**kept, "NO_COLOR": "1", **own}
    status = processes.run(command, log, seconds=seconds, directory=os.path.dirname(directory), env=env)
    if status is None:
        raise UnbuiltError(f"{TOOK_LONGER} than {seconds} seconds")
    if status:
        with open(log, encoding="utf-8", errors="replace") as file:
            said = file.read()
        full = os.strerror(errno.ENOSPC)
        raise OSError(errno.ENOSPC, full, directory) if full in said else UnbuiltError(_because(said), said)


def _because(said: str) -> str:
    """The reason in what uv prints, in one line."""
    lines = [re.sub(r"^\s*[^\w\s'\"(]+\s+", "", line).strip() for line in said.splitlines()]
    text = " ".join(line for line in lines if line and not line.startswith("Using Python "))
    return text if len(text) <= _REASON else text[:_REASON] + " ..."


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return (lines or ["it said nothing"])[-1][:_REASON]
