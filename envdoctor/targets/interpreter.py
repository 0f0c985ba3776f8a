"""Ask another interpreter for its facts by running the collector inside it.

The collector's source goes in through standard input and its answer comes back through standard output, framed by
a random token, so that whatever else it prints is survived. It runs without ``site``, whose ``.pth`` files and
``sitecustomize`` are code of others: the collector reads them instead. It runs in a neutral directory, writes no byte
code, and has a time limit; what it started is ended with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
from importlib import resources

from envdoctor.errors import TargetError
from envdoctor.model import Record
from envdoctor.targets import collector_answer, left_behind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO, Any

    _Child = subprocess.Popen[bytes]

#: Where an environment's directory has its interpreter: POSIX, Windows, and conda on Windows.
IN_ENVIRONMENT = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
#: How much an interpreter may print; beyond it, it is taken to print without end.
OUTPUT_LIMIT = 8 << 20
#: How much of what it says on standard error is remembered.
TALK_LIMIT = 4 << 10
#: A message has at most so many characters of it.
QUOTE_LIMIT = 200
#: From here on, an exit status on Windows says how a program crashed.
WINDOWS_CRASH = 0xC0000000
#: What only an interpreter says that fails before it runs the collector.
PYTHON_TALK = (b"Traceback (", b"Fatal Python error", b"Python path configuration", b"standard input\n")

# Valid in every Python since 2.6, and a single line without characters that a command file on Windows would expand:
# standard input has one part for a Python that is too old, and one for the others.
_BOOTSTRAP = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; import os; "
    "s = b''.join(iter(lambda: os.read(0, 65536), b'')); "
    "s or sys.exit('something consumed the standard input before it'); "
    "exec(compile(s.split(b'\\f')[sys.version_info >= (3, 6)], 'envdoctor', 'exec'), {'__name__': 'envdoctor'})"
)
_TOO_OLD = """\
import os, sys
token = {token!r}
version = ".".join(map(str, sys.version_info[:3]))
os.write(1, (token[::-1] + '{{"too_old": "' + version + '"}}' + token).encode("ascii"))
"""


class Caller(Record):
    """How an interpreter is started: with these variables, as if in this directory, as this user.

    ``user`` has what :class:`subprocess.Popen` takes for that.
    """

    variables: Mapping[str, str]
    directory: str
    user: Mapping[str, Any] = {}


def interpreter_facts(
    executable: str, wanted: Mapping[str, Sequence[str]], time_limit: float = 20.0, caller: Caller | None = None
) -> dict[str, Any]:
    """Return the facts of an interpreter, in the shape of :func:`envdoctor.collector.collect`.

    ``executable`` is a path, the directory of an environment, the name of a command, or a version; ``caller`` is by
    default this process. Raises :class:`~envdoctor.errors.TargetError` where no interpreter answers, saying why.
    """
    path = find_interpreter(executable)
    caller = caller or Caller(variables=os.environ, directory=_working_directory())
    environment, changed = _environment(caller)
    search = changed.get("PYTHONPATH", "").split(os.pathsep)
    found = [os.path.join(caller.directory, entry) for entry in search if entry]
    token = secrets.token_hex(16)
    frame = _Frame(token)
    keeping = left_behind.keeping(environment)
    child = _start(path, environment, {**caller.user, **keeping})
    payload = _payload(token, wanted, found)
    answered_in_time, talk = _converse(child, payload, frame, time_limit, lambda: left_behind.end(child, environment))
    framed = frame.answer()
    if framed is None:
        if not answered_in_time:
            raise TargetError(_hangs(path, time_limit))
        raise TargetError(_ended(path, child.returncode, frame, bytes(talk)))
    facts = collector_answer.decoded(path, framed)
    for name in changed.keys() & set(wanted.get("env", ())):
        facts["env"][name] = changed[name]
    return facts


# --- which interpreter ----------------------------------------------------------------------------------------------


def find_interpreter(executable: str) -> str:
    """The absolute path of an interpreter named by path, by the directory of its environment, or by command name.

    A directory here with a virtual environment in it comes before a command of its name, such as ``env``.
    """
    named = os.path.expanduser(executable)
    if os.path.basename(named) == named and not os.path.isfile(os.path.join(named, "pyvenv.cfg")):
        named = shutil.which(named) or (_is_version(named) and shutil.which("python" + named)) or named
    path = os.path.abspath(named)
    if os.path.isdir(path):
        return _in_directory(path)
    if not os.path.exists(path):
        raise TargetError(_missing(executable, path))
    if not os.path.isfile(path):
        raise TargetError(f"{path} is not a file, so it cannot be run. Give the path of a Python interpreter.")
    if not os.access(path, os.X_OK):
        raise TargetError(
            f"{path} may not be executed by this user. Give the path of a Python interpreter, or make it executable."
        )
    return path


def _is_version(name: str) -> bool:
    """Whether a name is a version such as ``3.12``, which means the command ``python3.12``."""
    return name.replace(".", "").replace("t", "").isdecimal()


def _in_directory(path: str) -> str:
    for place in IN_ENVIRONMENT:
        candidate = os.path.join(path, *place.split("/"))
        if os.path.isfile(candidate):
            return find_interpreter(candidate)
        if os.path.islink(candidate):
            raise TargetError(_missing(candidate, candidate))
    raise TargetError(
        f"{path} is a directory without an interpreter (looked for {', '.join(IN_ENVIRONMENT)}). Give the directory of "
        "an environment or the path of an interpreter; for a container's file system, use --root."
    )


def _missing(executable: str, path: str) -> str:
    if os.path.islink(path):
        return (
            f"{path} leads to {os.path.join(os.path.dirname(path), os.readlink(path))}, which does not exist: "
            "the Python that this environment was made with is gone. Make the environment anew, or give another one."
        )
    place = f"There is no interpreter {executable}"
    if os.path.basename(executable) == executable:
        return f"{place}, neither as a command on PATH nor as a file in this directory. Give its full path."
    return f"{place}: nothing has that name. Give the path of a Python interpreter or of its environment's directory."


# --- running it -----------------------------------------------------------------------------------------------------


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed under us
        return os.path.abspath(os.sep)


def _environment(caller: Caller) -> tuple[dict[str, str], dict[str, str]]:
    """The environment variables to run with, and the original values of those that had to be changed.

    ``PYTHONPATH`` is taken away, since it may hold what Python imports before anything can be refused.
    """
    environment = dict(caller.variables)
    changed: dict[str, str] = {}
    environment.setdefault("PYENV_DIR", caller.directory)  # where its shims look for the version that a project states
    for name in (
        "PYTHONPATH", "PYTHON_PRESITE", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONPROFILEIMPORTTIME", "PYTHONVERBOSE",
        "__PYVENV_LAUNCHER__",
    ):  # fmt: skip
        if name in environment:
            changed[name] = environment.pop(name)
    return environment, changed


def _payload(token: str, wanted: Mapping[str, Sequence[str]], search: list[str]) -> bytes:
    source = resources.files("envdoctor").joinpath("collector.py").read_text(encoding="utf-8")
    question = {kind: list(names) for kind, names in wanted.items()}
    call = f"\nanswer({token!r}, {question!r}, {search!r})\n"
    return (_TOO_OLD.format(token=token) + "\f" + source + call).encode("utf-8", "backslashreplace")


def _start(path: str, environment: dict[str, str], user: Mapping[str, Any]) -> _Child:
    """Start the interpreter at the root of the file system, in a new process group."""
    options: dict[str, Any] = {"start_new_session": True, **user}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    command = [path, "-B", "-S", "-c", _BOOTSTRAP]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(  # noqa: S603 -- running it is what the user asked for
            command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=os.path.abspath(os.sep), env=environment, **options
        )
    except OSError as error:
        raise TargetError(_not_started(path, error)) from error


def _not_started(path: str, error: OSError) -> str:
    tried = f"{path} cannot be started"
    if error.errno == errno.ENOENT:
        return f"{tried}: the loader or the script interpreter that it names does not exist. Give another interpreter."
    if error.errno == errno.ENOEXEC or getattr(error, "winerror", None) in (193, 216):
        with open(path, "rb") as stream:
            is_binary = b"\0" in stream.read(64)
        if is_binary:
            return (
                f"{tried}: it is built for another kind of machine or system. Run envdoctor there, or examine its "
                "file system with --root."
            )
        return f"{tried}: it is not a program. Give the path of a Python interpreter."
    return f"{tried}: {error.strerror or error}. Give the path of a Python interpreter that this user may run."


class _Frame:
    """Finds the answer between the reversed token and the token, keeping little of the noise around it."""

    def __init__(self, token: str) -> None:
        self.begin, self.end = token[::-1].encode(), token.encode()
        self.kept = bytearray()
        self.seen = 0
        self.done = threading.Event()

    def feed(self, chunk: bytes) -> bool:
        """Take in some output; whether more is wanted."""
        self.seen += len(chunk)
        self.kept += chunk
        if self.begin not in self.kept:
            del self.kept[:-TALK_LIMIT]
            return not self.is_endless()
        return self.answer() is None and not self.is_endless()

    def is_endless(self) -> bool:
        """Whether more was printed than any interpreter has to say."""
        return self.seen > OUTPUT_LIMIT

    def answer(self) -> bytes | None:
        """The framed bytes, once they are complete."""
        _, begin, rest = bytes(self.kept).partition(self.begin)
        framed, end, _ = rest.partition(self.end)
        return framed if begin and end else None


def _converse(
    child: _Child, payload: bytes, frame: _Frame, time_limit: float, end: Callable[[], None]
) -> tuple[bool, bytearray]:
    """Send the payload and read until the frame is complete or the output ends; whether that was within the limit.

    What does not end by itself afterwards is ended. Also returns what it said on standard error.
    """
    talk = bytearray()
    roles = ((_send, (child.stdin, payload)), (_listen, (child.stdout, frame)), (_overhear, (child.stderr, talk)))
    threads = [threading.Thread(target=role, args=given, daemon=True) for role, given in roles]
    in_time = False
    try:
        for thread in threads:
            thread.start()
        in_time = frame.done.wait(time_limit)
        if in_time and not frame.is_endless():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(left_behind.GRACE)
    finally:
        end()
    for thread in threads:
        thread.join(left_behind.GRACE)
    return in_time, talk


def _send(stream: IO[bytes], payload: bytes) -> None:
    with contextlib.suppress(OSError), stream:
        stream.write(payload)


def _listen(stream: IO[bytes], frame: _Frame) -> None:
    with stream:
        while chunk := os.read(stream.fileno(), 1 << 16):
            if not frame.feed(chunk):
                break
        frame.done.set()


def _overhear(stream: IO[bytes], talk: bytearray) -> None:
    with stream:
        while chunk := os.read(stream.fileno(), 1 << 16):
            talk += chunk
            del talk[:-TALK_LIMIT]


# --- what came back -------------------------------------------------------------------------------------------------


def _hangs(path: str, time_limit: float) -> str:
    return (
        f"{path} did not answer within {time_limit:g} seconds, so it was ended. See whether "
        f"`{path} -I -S -c pass` ends at once."
    )


def _ended(path: str, status: int, frame: _Frame, talk: bytes) -> str:
    """Why an interpreter that is gone did not answer."""
    if frame.is_endless():
        return (
            f"{path} printed more than {OUTPUT_LIMIT >> 20} MiB instead of an answer, so it was ended. Give the path "
            "of a Python interpreter; if this is one, see what `-I -S -c pass` prints."
        )
    said = _last_line(talk) or _last_line(bytes(frame.kept))
    quoted = f"; it said: {said}" if said else ""
    see = f"it answered{quoted}. See whether `{path} -I -S -c pass` works."
    if status < 0 or status >= WINDOWS_CRASH:
        return f"{path} crashed ({_cause(status)}) before {see}"
    if any(mark in talk for mark in PYTHON_TALK):
        return f"{path} failed with status {status} before {see}"
    return (
        f"{path} does not behave like a Python interpreter: it ended with status {status} without an answer{quoted}. "
        "Give the path of a Python interpreter or of its environment's directory."
    )


def _cause(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status:#x}" if status > 0 else f"signal {-status}"


def _last_line(output: bytes) -> str:
    """The last line of some output that has anything to read in it, fit for one line of a message."""
    for line in reversed(output.decode("utf-8", "replace").splitlines()):
        text = "".join(letter for letter in line if letter.isprintable()).strip()
        if text:
            return text if len(text) <= QUOTE_LIMIT else text[:QUOTE_LIMIT] + "..."
    return ""
