"""``envdoctor run``."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import sys
import textwrap

from envdoctor import doctor, explaining
from envdoctor.commands.child import KEPT, Child, end_as
from envdoctor.commands.configuration import parse
from envdoctor.commands.explain import frames_of
from envdoctor.commands.options import parser_for
from envdoctor.commands.output import rendered, say
from envdoctor.errors import EnvdoctorError, UsageError
from envdoctor.probes.error_text import read as read_error
from envdoctor.talk import put
from envdoctor.targets import project as beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.model import Report
    from envdoctor.probes.error_text import ErrorText

_PYTHON = re.compile(r"(?:python|pypy)\d*(?:\.\d+)*t?(?:\.exe)?", re.IGNORECASE)
#: What the first lines of an installed command call: an interpreter, by way of a shell where its path is long.
_CALLED = re.compile(
    rb"""\A#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S*(?:python|pypy)\S*)|'''exec'\s+"?([^"\n]+?)"?\s+"\$0\""""
)
#: How many characters of a command are shown.
_WIDTH = 80
NOT_FOUND, NOT_RUN = 127, 126
#: The signals of somebody who wants the command to end.
_WANTED = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGPIPE")
#: How long a command may take to end at Ctrl-C, in seconds.
_GRACE = 2.0


def run(words: Sequence[str]) -> int:
    """``envdoctor run``: the exit status is that of the command."""
    parser = parser_for(
        "run",
        "Run a command as it is, and explain its failure by its stderr and the environment that it ran in.\n"
        "One that hangs is examined as --pid does, after some seconds or where Ctrl-C does not end it.",
        "examples:\n"
        "  envdoctor run python train.py --epochs 3\n"
        "  envdoctor run --after 60 -- torchrun --nproc-per-node 2 train.py\n",
    )
    parser.add_argument("--after", type=_seconds, metavar="SECONDS", help="examine the command if it still runs then")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command and its arguments")
    options = parse(parser, words)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("there is no command to run: envdoctor run python train.py (envdoctor run --help says more)")
    child = Child(command)
    with child.signals():
        try:
            child.start()
        except OSError as error:
            say(
                f"envdoctor: {command[0]!r} could not be run: {error.strerror}; give a command as a shell would find it"
            )
            return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
        status = _watched(child, options.after, options.rules)
    if status and -status not in {getattr(signal, name, None) for name in _WANTED}:
        _explain(child, command, status, options.rules)
    return end_as(status)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds: give one such as 60")
    return number


def _watched(child: Child, after: float | None, rules: Sequence[str]) -> int:
    """Wait for the end; examine the command once it runs for so many seconds, or goes on after Ctrl-C."""
    seconds, what = after, f"still runs after {after or 0:g} seconds"
    while True:
        try:
            status = child.wait(seconds)
        except KeyboardInterrupt:
            seconds, what = _GRACE, "goes on after Ctrl-C"
            continue
        if status is not None:
            return status
        seconds = None
        try:
            pid = str(child.process.pid)
            report = doctor.check(doctor.examine("pid", pid, rules=rules, surroundings=beside.default()), rules)
        except EnvdoctorError as error:
            say(f"envdoctor: the command {what}; {error}")
        else:
            _print(f"the command {what}", report)


def _explain(child: Child, command: Sequence[str], status: int, rules: Sequence[str]) -> None:
    """Print what explains the failure; a failure to explain is one line, as the command's is what counts."""
    said = bytes(child.said[-KEPT:]).decode("utf-8", "replace").replace("\r\n", "\n")
    error_text = read_error(said)
    how = f"ended with exit status {status}" if status > 0 else f"was ended by {_name(-status)}"
    what = f"{textwrap.shorten(shlex.join(command), _WIDTH, placeholder=' ...')} {how}"
    try:
        report = _report(error_text, command, rules)
    except EnvdoctorError as error:
        say(f"envdoctor: {what}; {error}")
        return
    if report.findings or error_text.failures:
        _print(what, report)
    else:
        say(f"envdoctor: {what}, and its stderr holds no error that envdoctor can read")


def _report(error_text: ErrorText, command: Sequence[str], rules: Sequence[str]) -> Report:
    """The explanation, with the environment of the command: its interpreter's, else that of the traceback's files."""
    interpreter = _interpreter(command[0])
    around = beside.default()
    if interpreter is None:
        snapshot = doctor.examine(rules=rules, surroundings=around, frames=frames_of(error_text))
    else:
        snapshot = doctor.examine("python", interpreter, rules=rules, surroundings=around)
    return explaining.explain(error_text, snapshot, rules)


def _interpreter(program: str) -> str | None:
    """The Python that a command is, or that its first lines call; ``None`` where it is something else."""
    path = shutil.which(program)
    if path is None or _PYTHON.fullmatch(os.path.basename(path)):
        return path
    try:
        with open(path, "rb") as file:
            found = _CALLED.search(file.read(1024))
    except OSError:
        return None
    return shutil.which(os.fsdecode(found[1] or found[2])) if found else None


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _print(what: str, report: Report) -> None:
    """Print a report on stderr, below a line that says what it is about."""
    say(f"\nenvdoctor: {what}")
    put(rendered(report, "text", plain=not sys.stderr.isatty()), sys.stderr)
