"""What changes in a copy of an environment when a plan is carried out there: imports, and the user's command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.remedies import steps, words
from envdoctor.remedies.clone import variables
from envdoctor.tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from envdoctor.plans import Plan
    from envdoctor.remedies.guard import Installation

    Say = Callable[[str], None]

#: Seconds that one import may take.
_SECONDS = 120
_SHOWN = 1_000
#: Prints the top-level modules of an interpreter that are not Python's own: of directories that ``.pth`` files add,
#: which are a project's, packages alone.
_MODULES = """
import json, os, pkgutil, sys, sysconfig
own = {os.path.realpath(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib")}
site = {os.path.realpath(sysconfig.get_paths()[name]) for name in ("purelib", "platlib")}
found = set()
for path in map(os.path.realpath, sys.path[1:]):
    if path in own or path.endswith((".zip", "lib-dynload", "DLLs")):
        continue
    found.update(one.name for one in pkgutil.iter_modules([path]) if path in site or one.ispkg)
for finder in sys.meta_path:
    found.update(getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", ()))
print(json.dumps(sorted(name for name in found if name.isidentifier() and not name.startswith("__editable__"))))
"""


class Outcome(Record):
    """What a trial found: why each module cannot be imported, ``before`` and ``after``; ``None`` where it can.

    ``command`` is the exit status of the user's command before, and after, and ``output`` the end of what it printed
    then; ``None`` where there is no command.
    """

    before: Mapping[str, str | None]
    after: Mapping[str, str | None]
    command: tuple[int, int] | None = None
    output: str | None = None

    @property
    def broken(self) -> dict[str, str]:
        """What could be imported, and why it cannot any more."""
        return {name: why for name, why in self.after.items() if why and name in self.before and not self.before[name]}

    @property
    def mended(self) -> list[str]:
        """What could not be imported, and can now."""
        return [name for name, why in self.before.items() if why and name in self.after and not self.after[name]]

    @property
    def refused(self) -> str | None:
        """Why the plan is not to be carried out, ``None`` where nothing speaks against it."""
        if self.command and not self.command[0] and self.command[1]:
            said = f"the command passed before the plan, and ends with status {self.command[1]} after it"
            return f"{said}:\n{self.output}" if self.output else said
        lines = [
            f"{name} could be imported before the plan, and not after it: {why}" for name, why in self.broken.items()
        ]
        return "\n".join(lines) or None


def tried(
    copy: Installation, original: Installation, command: Sequence[str], plan: Plan, tool: str, say: Say
) -> Outcome:
    """What a plan changes in a copy of an environment, where a ``tool`` installs what it says.

    Raises :class:`TargetError` where it cannot be carried out there, or the command cannot be run.
    """
    called = [_in(copy, original, word) for word in command]
    before = imports(copy, say, "before")
    first = run(copy, called, say, "before") if called else None
    for call in _calls(plan, copy, tool):
        status, said = run(copy, call, say, "the plan")
        if status:
            raise TargetError(
                f"the plan cannot be carried out in a copy: {' '.join(call)} ended with {status}:\n{said}"
            )
    after = imports(copy, say, "after")
    second = run(copy, called, say, "after") if called else None
    if first is None or second is None:
        return Outcome(before=before, after=after)
    return Outcome(before=before, after=after, command=(first[0], second[0]), output=second[1])


def _calls(plan: Plan, copy: Installation, tool: str) -> list[list[str]]:
    """The calls that install what a plan says; a project's tool would change the project as well."""
    whole = steps.action(plan.moves)
    chosen = tool if tool in TOOLS and TOOLS[tool].signs and not TOOLS[tool].of_project else "uv"
    where = words.CommandContext(tool=chosen, python=copy.executable, prefix=copy.prefix)
    return words.words(whole, where) if whole else []


def _in(copy: Installation, original: Installation, word: str) -> str:
    """A word of a command, for the copy where it is a path of the environment."""
    relative = os.path.relpath(os.path.abspath(word), original.prefix)
    inside = os.sep in word and not relative.startswith(os.pardir)
    return os.path.join(copy.prefix, relative) if inside else word


def run(place: Installation, called: Sequence[str], say: Say, when: str) -> tuple[int, str]:
    """The exit status of a program in an environment, and the end of what it prints."""
    say(f"{when}: {' '.join(called)}")
    around = variables(place)
    program = shutil.which(called[0], path=around["PATH"]) or called[0]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own words
            [program, *called[1:]], env=around, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        raise TargetError(f"{called[0]} could not be run: {error.strerror}; give a command after --") from error
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()[-_SHOWN:]


def imports(place: Installation, say: Say, when: str) -> dict[str, str | None]:
    """Why each top-level module of an environment cannot be imported, by name; ``None`` where it can."""
    with tempfile.TemporaryDirectory() as elsewhere:
        done = _python(place, _MODULES, elsewhere)
        if isinstance(done, str):
            raise TargetError(f"{place.executable} does not say what can be imported: {done}")
        names: list[str] = json.loads(done)
        found: dict[str, str | None] = {}

        def import_alone(name: str) -> None:
            said = _python(place, f"import {name}", elsewhere)
            found[name] = said if isinstance(said, str) else None
            say(f"{when}: importing {len(found)} of {len(names)} modules")

        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            list(pool.map(import_alone, names))
        finally:
            pool.shutdown(cancel_futures=True)
    return {name: found[name] for name in names}


def _python(place: Installation, program: str, elsewhere: str) -> bytes | str:
    """What a program prints, or the last line of why it fails."""
    process = subprocess.Popen(  # noqa: S603
        [place.executable, "-c", program], env=variables(place), cwd=elsewhere,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return f"not within {_SECONDS} seconds"
    finally:
        _end(process)
    if not process.returncode:
        return out
    last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last[:_SHOWN] or f"status {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started."""
    if process.poll() is None:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
