"""``envdoctor run``: the command notices nothing, and its failure is explained."""

import os
import pty
import signal
import struct
import subprocess
import sys
import warnings

import pytest
from conftest import environment, run

from envdoctor.commands import run_command

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

RUN = [sys.executable, "-m", "envdoctor", "run"]
#: A process that Ctrl-C does not end: it waits for its child, which waits for a lock that nobody will release.
HUNG = """\
import os, signal, threading
signal.signal(signal.SIGINT, signal.SIG_IGN)
lock, held = threading.Lock(), threading.Event()
def work():
    with lock:
        held.set()
        threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    lock.acquire()
os.write(1, b"forked\\n")
os.waitpid(child, 0)
"""
#: A process that waits for a signal; what it does then is to follow.
WAITS = """\
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.{signal}])
print("ready", flush=True)
signal.sigwait([signal.{signal}])
"""


def python(text):
    return [sys.executable, "-c", text]


def until(master, mark):
    """What a terminal shows, until it shows a mark or is closed."""
    seen = b""
    while mark not in seen:
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    return seen


@pytest.mark.parametrize(
    "text",
    [
        "print('a', end=''); print('b', file=sys.stderr)",
        "sys.exit(3)",
        "print(sys.stdin.read().upper())",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "sys.stderr.buffer.write(bytes(range(256)) * 100)",
        "print(os.environ.get('VIRTUAL_ENV'), os.getcwd(), sys.argv, sys.path, sys.stderr.isatty())",
    ],
)
def test_the_command_does_what_it_does_alone(text, tmp_path):
    command = python("import os, signal, sys\n" + text)
    options = {"capture_output": True, "input": b"given", "cwd": tmp_path, "env": environment()}
    alone, watched = (subprocess.run(before + command, check=False, **options) for before in ([], RUN))
    assert (watched.returncode, watched.stdout) == (alone.returncode, alone.stdout)
    assert watched.stderr.startswith(alone.stderr)


def test_a_failure_is_explained_below_the_traceback_with_the_environment_of_the_command(tmp_path):
    script = tmp_path / "tool"
    script.write_text(f"#!{sys.executable}\nimport pytest.nothing_of_it\n")
    script.chmod(0o755)
    done = run(*RUN, script, env=environment(VIRTUAL_ENV="/not/this"), cwd=tmp_path)
    traceback, _, explanation = done.stderr.partition("ended with exit status 1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ModuleNotFoundError" in traceback
    assert f"pytest {pytest.__version__} has no `pytest.nothing_of_it`" in explanation
    assert f"at {sys.prefix}" in explanation.splitlines()[1]


@pytest.mark.trials
def test_only_the_end_of_a_long_stderr_is_read(tmp_path):
    text = "import sys\nfor _ in range(3000): print('x' * 999, file=sys.stderr)\nimport pytest.nothing_of_it"
    done = run(*RUN, *python(text), cwd=tmp_path)
    assert len(done.stderr) > 3_000_000
    assert "has no `pytest.nothing_of_it`" in done.stderr


def test_a_signal_is_passed_on(tmp_path):
    text = WAITS.format(signal="SIGTERM") + "sys.exit(7)"
    with subprocess.Popen(RUN + python(text), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=100)
    assert child.returncode == 7


def test_a_command_that_still_runs_is_examined(tmp_path):
    command = [*RUN, "--after", "0.01", *python("import sys; sys.stdin.read()")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment()
    ) as child:
        assert child.stderr.readline() == "\n"
        assert child.stderr.readline() == "envdoctor: the command still runs after 0.01 seconds\n"
        assert f"distributions in {sys.prefix}" in child.stderr.readline()
        child.communicate("", timeout=100)
    assert child.returncode == 0


def test_at_a_terminal_it_has_a_terminal_of_the_same_size(tmp_path):
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 117, 0, 0))
    text = "import os; os.write(2, str(tuple(os.get_terminal_size(2))).encode() + b'\\n')"
    with subprocess.Popen(RUN + python(text), stdin=its, stdout=its, stderr=its, cwd=tmp_path) as child:
        os.close(its)
        shown = until(ours, b"\n")
        child.wait()
    os.close(ours)
    assert shown == b"(117, 31)\r\n"


def at_terminal(text, folder):
    """The process and the terminal of a command that runs there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # xdist's thread, which holds no lock of ours
        pid, master = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execve(sys.executable, RUN + python(text), environment(COLUMNS="200"))
    return pid, master


def test_what_goes_on_after_ctrl_c_is_examined(tmp_path):
    pid, master = at_terminal(HUNG, tmp_path)
    shown = until(master, b"forked")
    os.write(master, b"\x03")
    shown += until(master, b"named by --pid")
    os.write(master, b"\x1c")  # Ctrl-\\, which ends it
    until(master, b"no such text")
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert b"the command goes on after Ctrl-C" in shown
    assert os.waitstatus_to_exitcode(status) == -signal.SIGQUIT


def test_ctrl_c_ends_the_command_as_it_does_alone(tmp_path):
    text = WAITS.format(signal="SIGINT") + "signal.pthread_sigmask(signal.SIG_SETMASK, ()); signal.raise_signal(2)"
    pid, master = at_terminal(text, tmp_path)
    shown = until(master, b"ready")
    os.write(master, b"\x03")
    shown += until(master, b"no such text")
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT
    assert b"KeyboardInterrupt" in shown
    assert b"envdoctor: " not in shown


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "no command to run"),
        (["--after", "soon", "true"], 2, "no number of seconds"),
        (["./nothing-here"], 127, "could not be run"),
        (["."], 126, "could not be run"),
    ],
)
def test_what_cannot_be_run_is_said(words, status, said, tmp_path):
    done = run(*RUN, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


# --- in this process, with its own streams ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (["sh", "-c", "echo out; exit 3"], 3, "ended with exit status 3, and its stderr holds no error"),
        (["sh", "-c", "echo out; kill -INT $$"], -signal.SIGINT, None),
        (["sh", "-c", "echo out; kill -TERM $$"], -signal.SIGTERM, "was ended by SIGTERM"),
        ([sys.executable, "-c", "print('out'); import pytest.gone"], 1, "has no `pytest.gone`"),
        (
            ["sh", "-c", "echo out; echo 'ModuleNotFoundError: No module named \"gone_away\"' >&2; exit 1"],
            1,
            "gone_away",
        ),
    ],
)
def test_how_a_command_ends_and_what_is_said_of_it(command, status, said, capfd, monkeypatch):
    monkeypatch.setattr(run_command, "end_as", lambda ended: ended)  # this process goes on
    monkeypatch.setenv("COLUMNS", "200")
    before = signal.getsignal(signal.SIGTERM)
    assert run_command.run(command) == status
    out, err = capfd.readouterr()
    assert out == "out\n"
    assert (said in err) if said else (err == "")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_terminal_gets_all_that_the_command_says_there(monkeypatch):
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 90, 0, 0))
    kept = os.dup(2)
    os.dup2(its, 2)
    try:
        status = run_command.run(["sh", "-c", "stty size <&2 >&2; kill -WINCH $PPID; test -t 2"])
    finally:
        os.dup2(kept, 2)
        os.close(its)
    shown = until(ours, b"no such text")
    os.close(ours)
    assert status == 0
    assert shown == b"20 90\r\n"
