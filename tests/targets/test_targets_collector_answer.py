"""What answers in place of an interpreter is believed only as far as it is an answer, and what it starts is ended."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from conftest import environment, run_envdoctor
from interpreters import each

from envdoctor.errors import TargetError
from envdoctor.targets.interpreter import interpreter_facts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins for interpreters are scripts")

#: A program that takes the place of an interpreter and answers with the document in a file beside it.
STAND_IN = """
import os, re, sys
payload = sys.stdin.buffer.read().decode("utf-8", "replace")
token = re.search(r"answer\\('([0-9a-f]+)'", payload)[1]
with open(os.path.join(os.path.dirname(__file__), "answer.json")) as file:
    os.write(1, (token[::-1] + file.read() + token).encode())
"""


@pytest.fixture(scope="module")
def honest():
    return interpreter_facts(sys.executable, {"env": ["HOME"], "module": ["os"], "system": ["glibc"], "library": []})


@pytest.fixture
def stand_in(tmp_path):
    program = tmp_path / "python"
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    program.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-IS', str(tmp_path / 'stand_in.py')])}\n")
    program.chmod(0o755)

    def answering(document):
        text = document if isinstance(document, str) else json.dumps(document)
        (tmp_path / "answer.json").write_text(text)
        return str(program)

    return answering


def test_an_honest_answer_is_taken(stand_in, honest):
    assert interpreter_facts(stand_in(honest), {})["python"] == honest["python"]


WRONG = [
    ("python", None), ("python", []), ("python", {}), ("python", {"version": 3}), ("python", {"version": "x"}),
    ("paths", None), ("paths", "x"), ("paths", [1]), ("paths", ["a\0b"]), ("unknown", {}), ("unknown", [1]),
    ("unknown", [{"fact": 1, "reason": "x"}]), ("unknown", [{"fact": "x"}]), ("env", []), ("env", {"A": 1}),
    ("modules", {"os": 1}), ("modules", {"os": {"kind": 1, "origin": 2}}), ("system", []), ("system", {"glibc": [1]}),
    ("libraries", {"x": 1}), ("platform", []), ("platform", {"system": 1}), ("marker", {"os_name": 1}), ("marker", "x"),
    ("start_method", {"default": 1}), ("start_method", 1), ("stdlib", 1), ("user_site", 1),
]  # fmt: skip


@pytest.mark.parametrize(("section", "value"), WRONG)
def test_a_part_of_another_type_is_named(stand_in, honest, section, value):
    with pytest.raises(TargetError, match=rf"no Python gives .{section}"):
        interpreter_facts(stand_in({**honest, section: value}), {})


@pytest.mark.parametrize("name", ["version", "prefix", "executable", "implementation", "free_threaded", "debug"])
@pytest.mark.parametrize("value", [1, [], {}, "a\0b"])
def test_so_is_a_trait_of_the_interpreter(stand_in, honest, name, value):
    with pytest.raises(TargetError, match=r"no Python gives .python"):
        interpreter_facts(stand_in({**honest, "python": {**honest["python"], name: value}}), {})


@pytest.mark.parametrize(
    "document", ["[]", "1", "null", '"x"', "{}", "[" * 100_000, "{", "NaN", '{"python": ' * 30_000]
)
def test_what_is_no_answer_at_all_is_an_error(stand_in, document):
    with pytest.raises(TargetError, match="gave an answer that"):
        interpreter_facts(stand_in(document), {})


def test_the_command_line_says_so_in_a_line(stand_in, honest):
    program = stand_in({**honest, "paths": [1]})
    done = run_envdoctor("--python", program, env=environment(PYTHONSAFEPATH="1"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("envdoctor: ")
    assert done.stderr.count("\n") == 1


#: Starts programs that outlive it: plainly, in a new session, and as daemons without any variable.
DAEMONS = """#!/bin/sh
sleep 600 > /dev/null 2>&1 & echo $! >> {started}
setsid sh -c 'echo $$ >> {started}; exec sleep 600' > /dev/null 2>&1 < /dev/null &
setsid sh -c 'setsid env -i sh -c "echo \\$\\$ >> {started}; exec sleep 600" > /dev/null 2>&1 < /dev/null &'
while [ $(grep -c . {started}) -lt 3 ]; do :; done
{then}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a daemon without its variables is not found")
@pytest.mark.parametrize("then", [f'exec "{sys.executable}" "$@"', "exec sleep 600", "kill -9 $$", "exit 3"])
def test_what_an_interpreter_leaves_running_is_ended_whatever_its_session_and_variables(tmp_path, then):
    """Whether the interpreter answers, hangs, crashes or fails."""
    started = tmp_path / "started"
    started.touch()
    program = tmp_path / "python"
    program.write_text(DAEMONS.format(started=started, then=then))
    program.chmod(0o755)
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        if "$@" in then:
            hangs = not interpreter_facts(str(program), {}, time_limit=60)
        else:
            hangs = "sleep" in then
            with pytest.raises(TargetError, match="within" if hangs else "SIGKILL|status 3"):
                interpreter_facts(str(program), {}, time_limit=4 if hangs else 60)
        pids = [int(line) for line in started.read_text().split()]
        assert len(pids) == 3 or (hangs and pids)
        assert [pid for pid in pids if _is_alive(pid)] == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def _is_alive(pid):
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("python", each(["3.6", "3.9", "3.14"]))
def test_real_interpreters_give_answers_of_the_right_types(python):
    facts = interpreter_facts(
        python,
        {
            "env": ["HOME", "NO_SUCH"],
            "module": ["os", "json", "no_such"],
            "system": ["glibc", "gpu", "shm"],
            "library": ["libc.so.6"],
        },
    )
    assert facts["modules"]["no_such"] == {"kind": "missing", "origin": None}
