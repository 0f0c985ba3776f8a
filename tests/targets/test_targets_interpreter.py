"""Another interpreter tells its facts whatever it prints, and what is no interpreter is named for what it is."""

import json
import os
import shlex
import signal
import subprocess
import sys
import sysconfig

import pytest
from interpreters import each, find, need

from envdoctor.errors import TargetError
from envdoctor.targets import interpreter, left_behind
from envdoctor.targets.interpreter import interpreter_facts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins for interpreters are shell scripts")

NOTHING = {}


@pytest.fixture(autouse=True)
def _plain_variables(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PYTHON"):
            monkeypatch.delenv(name)


@pytest.fixture
def starting(tmp_path):
    """The path of an interpreter that does something when it starts: ``starting(code)``."""

    def make(code):
        run = "import sys; del sys.path[0]; program = sys.argv[-1]; sys.argv = ['-c']; exec(program)"
        (tmp_path / "starts.py").write_text(f"{code}\n{run}\n")
        words = shlex.join([sys.executable, "-SB", str(tmp_path / "starts.py")])
        return script(tmp_path / "python", f'#!/bin/sh\nexec {words} "$@"\n')

    return make


@pytest.fixture(scope="module")
def make_venv(tmp_path_factory):
    """Virtual environments as ``venv`` makes them, each made once: ``make_venv(python, *options)``."""
    made = {}

    def make(python, *options):
        if (python, options) not in made:
            folder = tmp_path_factory.mktemp("venv")
            subprocess.run([python, "-m", "venv", "--without-pip", *options, folder], check=True, timeout=300)
            made[python, options] = str(folder)
        return made[python, options]

    return make


def script(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def refusal(executable, **options):
    with pytest.raises(TargetError) as caught:
        interpreter_facts(str(executable), NOTHING, **options)
    message = str(caught.value)
    assert str(executable) in message
    assert "\n" not in message
    return message


# --- real interpreters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("python", each())
def test_every_version_tells_what_it_would_import_from(python, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path))
    tell = "import json, sys, os; print(json.dumps([sys.path[1:], os.path.dirname(os.__file__), sys.prefix]))"
    done = subprocess.run([python, "-B", "-c", tell], capture_output=True, text=True, check=True, timeout=300)
    paths, stdlib, prefix = json.loads(done.stdout)

    facts = interpreter_facts(
        python, {"module": ["dataclasses", "sys", "nowhere"], "system": ["openssl"], "env": ["PYTHONUSERBASE"]}
    )

    version = tuple(map(int, facts["python"]["version"].split(".")[:2]))
    assert facts["collector"] == 1
    assert facts["marker"]["python_version"] == "{}.{}".format(*version)
    assert (facts["paths"], facts["stdlib"], facts["python"]["prefix"]) == (paths, stdlib, prefix)
    assert facts["platform"]["system"] == sys.platform
    assert facts["start_method"]["default"] in {"fork", "spawn", "forkserver"}
    in_environment = prefix != facts["python"]["base_prefix"]
    assert (facts["user_site"] or "").startswith("" if in_environment else str(tmp_path))
    assert facts["env"] == {"PYTHONUSERBASE": str(tmp_path)}
    kinds = {name: fact["kind"] for name, fact in facts["modules"].items()}
    backport = "missing" if version < (3, 7) else "standard-library"
    assert kinds == {"dataclasses": backport, "sys": "standard-library", "nowhere": "missing"}
    assert facts["unknown"] == []


def test_python_2_is_told_from_what_can_be_examined():
    python = find("2.7") or pytest.skip("no Python 2.7 found")

    assert "is Python 2.7." in refusal(python)
    assert "3.6 and later" in refusal(python)


def test_python_3_5_is_told_from_what_can_be_examined(starting):
    old = starting("import sys\nsys.version_info = (3, 5, 10, 'final', 0)")

    assert "is Python 3.5.10; envdoctor examines Python 3.6 and later" in refusal(old)


@pytest.mark.parametrize("version", ["3.6", "3.12"])
def test_a_virtual_environment_is_examined_by_its_directory(make_venv, version):
    folder = make_venv(need(version))

    facts = interpreter_facts(folder, NOTHING)

    assert facts["python"]["prefix"] == folder
    assert facts["python"]["prefix"] != facts["python"]["base_prefix"]
    assert facts["python"]["executable"].startswith(folder)
    assert [path for path in facts["paths"] if path.endswith("site-packages")] == [sites(folder, version)]
    assert facts["user_site"] is None


def sites(folder, version):
    return os.path.join(folder, "lib", "python" + version, "site-packages")


def test_system_site_packages_and_the_users_come_after_the_environments(make_venv, monkeypatch, tmp_path):
    version = "{}.{}".format(*sys.version_info[:2])
    user = sites(str(tmp_path), version)
    os.makedirs(user)
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path))
    folder = make_venv(sys.executable, "--system-site-packages")

    facts = interpreter_facts(folder, NOTHING)

    base = sysconfig.get_path("purelib", vars={"base": facts["python"]["base_prefix"]})
    order = [path for path in facts["paths"] if "site-packages" in path or "dist-packages" in path]
    assert order[:2] == [sites(folder, version), user]
    assert base in order[2:] or not os.path.isdir(base)
    assert facts["user_site"] == user

    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    assert user not in interpreter_facts(folder, NOTHING)["paths"]


def test_path_order_decides_what_a_backport_shadows(make_venv, monkeypatch, tmp_path):
    folder = make_venv(sys.executable)
    site = sites(folder, "{}.{}".format(*sys.version_info[:2]))
    for place in (site, str(tmp_path)):
        with open(os.path.join(place, "dataclasses.py"), "w", encoding="utf-8") as stream:
            stream.write("raise SystemExit('imported')")

    wanted = {"module": ["dataclasses"]}
    assert interpreter_facts(folder, wanted)["modules"]["dataclasses"]["kind"] == "standard-library"
    monkeypatch.setenv("PYTHONPATH", site)
    assert interpreter_facts(folder, wanted)["modules"]["dataclasses"]["kind"] == "site-packages"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + site)
    assert interpreter_facts(folder, wanted)["modules"]["dataclasses"] == {
        "kind": "local", "origin": str(tmp_path / "dataclasses.py")
    }  # fmt: skip
    old = make_venv(need("3.6"))
    monkeypatch.setenv("PYTHONPATH", sites(old, "3.6"))
    (tmp_path / "dataclasses.py").rename(os.path.join(sites(old, "3.6"), "dataclasses.py"))
    assert interpreter_facts(old, wanted)["modules"]["dataclasses"]["kind"] == "site-packages"


def test_relative_entries_mean_the_directory_of_the_user(monkeypatch, tmp_path):
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["src", "", "/elsewhere"]))

    facts = interpreter_facts(sys.executable, {"env": ["PYTHONPATH"]})

    assert facts["paths"][:2] == [str(tmp_path / "src"), "/elsewhere"]
    assert str(tmp_path) not in facts["paths"]
    assert facts["env"] == {"PYTHONPATH": os.pathsep.join(["src", "", "/elsewhere"])}


def test_variables_that_would_disturb_are_kept_away_but_told(monkeypatch):
    monkeypatch.setenv("PYTHONINSPECT", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "error")

    assert interpreter_facts(sys.executable, {"env": ["PYTHONWARNINGS", "PYTHONINSPECT"]})["env"] == {
        "PYTHONWARNINGS": "error", "PYTHONINSPECT": "1"
    }  # fmt: skip


def test_a_command_is_looked_up_on_the_path(monkeypatch, tmp_path):
    (tmp_path / "some-python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert interpreter.find_interpreter("some-python") == str(tmp_path / "some-python")
    assert "neither as a command on PATH" in refusal("another-python")


def test_a_name_in_this_directory_is_understood_too(monkeypatch, make_venv):
    folder = make_venv(sys.executable)
    monkeypatch.chdir(os.path.dirname(folder))

    assert interpreter.find_interpreter(os.path.basename(folder)) == os.path.join(folder, "bin", "python")


@pytest.mark.parametrize("place", ["bin/python", "bin/python3", "Scripts/python.exe", "python.exe"])
def test_every_kind_of_environment_has_its_interpreter_found(tmp_path, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    path = script(tmp_path / place, "#!/bin/sh\n")

    assert interpreter.find_interpreter(str(tmp_path)) == path


# --- a polite guest -------------------------------------------------------------------------------------------------


SHADOWS = (
    "json", "multiprocessing", "ssl", "_ssl", "platform", "zipimport", "ctypes", "pickle", "random", "os", "site",
    "sysconfig", "encodings", "sitecustomize", "usercustomize",
)  # fmt: skip


@pytest.mark.parametrize("python", each())
def test_nothing_is_written_and_nothing_that_shadows_the_library_is_run(python, monkeypatch, tmp_path):
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()"
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(trap)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    before = sorted(os.listdir(tmp_path))

    facts = interpreter_facts(python, {"module": ["json", "nowhere"], "system": ["glibc", "openssl", "container"]})

    assert sorted(os.listdir(tmp_path)) == before
    assert facts["modules"]["json"]["kind"] == "local"
    assert facts["unknown"] == []


PLANT = "import pathlib; pathlib.Path({!r}).touch()"


@pytest.mark.parametrize("version", ["3.6", "3.11", "3.14"])
def test_what_python_runs_when_it_starts_is_read_and_not_run(version, make_venv, monkeypatch, tmp_path):
    """And the facts are those of the same interpreter without it, the directories of ``.pth`` files included."""
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path))
    folder, wanted = (
        make_venv(need(version), "--system-site-packages"),
        {"module": ["os", "nowhere"], "system": ["openssl"]},
    )
    site, user = sites(folder, version), sites(str(tmp_path), version)
    for name in ("listed", "user_listed"):
        (tmp_path / name).mkdir()
    os.makedirs(user)
    for place, name in ((site, "listed"), (user, "user_listed")):
        with open(os.path.join(place, "a.pth"), "w", encoding="utf-8") as stream:
            stream.write(f"# a comment\n{tmp_path / name}\n/nowhere\n")
    plain = interpreter_facts(folder, wanted)
    sprung = tmp_path / "sprung"
    for place, name in ((site, "sitecustomize"), (user, "usercustomize")):
        with open(os.path.join(place, name + ".py"), "w", encoding="utf-8") as stream:
            stream.write(PLANT.format(str(sprung)))
        with open(os.path.join(place, "b.pth"), "w", encoding="utf-8") as stream:
            stream.write(PLANT.format(str(sprung)) + "\n")
    try:
        subprocess.run([os.path.join(folder, "bin", "python"), "-c", "pass"], check=True, timeout=300)
        assert sprung.exists()
        sprung.unlink()

        assert interpreter_facts(folder, wanted) == plain
        assert not sprung.exists()
        assert [path for path in plain["paths"] if "listed" in path] == [
            str(tmp_path / "listed"),
            str(tmp_path / "user_listed"),
        ]
        assert plain["user_site"] == user
    finally:
        for name in ("a.pth", "b.pth", "sitecustomize.py"):
            os.unlink(os.path.join(site, name))


def test_what_was_not_run_and_may_matter_is_said(make_venv):
    folder = make_venv(sys.executable)
    site = sites(folder, "{}.{}".format(*sys.version_info[:2]))
    texts = {
        "hook.pth": "import finder_of_it; finder_of_it.install()\n",
        "finder_of_it.py": "MAPPING = {'edited': '/elsewhere'}\n",
        "eggs.pth": "import sys; sys.path.insert(0, '/elsewhere')\n",
    }
    for name, text in texts.items():
        with open(os.path.join(site, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    try:
        facts = interpreter_facts(folder, {"module": ["edited", "nowhere"]})
    finally:
        for name in texts:
            os.unlink(os.path.join(site, name))

    reasons = {note["fact"]: note["reason"] for note in facts["unknown"]}
    assert facts["modules"] == {"nowhere": {"kind": "missing", "origin": None}}
    assert reasons["paths"].endswith("was read, not run: " + os.path.join(site, "eggs.pth"))
    assert os.path.join(site, "finder_of_it.py") in reasons["module.edited"]
    assert len(reasons) == 2


def test_the_working_directory_is_not_imported_from(monkeypatch, tmp_path):
    for name in ("json", "os", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)

    assert interpreter_facts(sys.executable, {"module": ["json"]})["modules"]["json"]["kind"] == "standard-library"


@pytest.mark.parametrize(
    "noise",
    [
        "print('hello')",
        "import sys; sys.stdout.write('no newline')",
        "import os; os.write(1, bytes(range(256)) * 5000)",
        "import sys; sys.stdout.write('{\"collector\": 1}')",
        "import os, atexit; atexit.register(os.write, 1, b'goodbye' * 100000)",
        "import sys, io; sys.stdout = io.StringIO(); sys.stderr = None",
        "import sys; sys.stdout.close(); sys.stdin = None",
        "import sys; sys.stderr.write('x' * 1000000)",
        "import warnings; warnings.simplefilter('error')",
    ],
)
def test_noise_is_survived(starting, noise):
    assert interpreter_facts(starting(noise), NOTHING)["python"]["version"].startswith("3.")


def test_an_answer_is_enough_even_if_the_interpreter_does_not_end(starting, monkeypatch):
    monkeypatch.setattr(left_behind, "GRACE", 0.1)
    endless = starting("import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()")

    assert interpreter_facts(endless, NOTHING)["collector"] == 1


# --- what goes wrong ------------------------------------------------------------------------------------------------


def test_an_interpreter_that_hangs_is_ended_with_all_it_started(starting, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    lock, survived = tmp_path / "lock", tmp_path / "survived"
    program = (
        f"import fcntl, time; lock = open({str(lock)!r}, 'w'); fcntl.flock(lock, fcntl.LOCK_EX); print(flush=True); "
        f"time.sleep(20); open({str(survived)!r}, 'w')"
    )
    slow = starting(
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-I', '-S', '-c', {program!r}], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\ntime.sleep(600)\n"
    )

    message = refusal(slow, time_limit=2.0)

    assert "did not answer within 2 seconds" in message
    assert "-I -S -c pass" in message
    with open(lock, "w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # granted when the child of the interpreter is gone
    assert not survived.exists()


def test_an_interpreter_that_prints_for_ever_is_ended(starting):
    assert "printed more than 8 MiB" in refusal(starting("import os\nwhile True: os.write(1, b'x' * 65536)"))


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL"])
def test_a_crash_names_its_signal(starting, name):
    crashing = starting(f"import os; os.kill(os.getpid(), {int(getattr(signal, name))})")

    assert f"crashed ({name})" in refusal(crashing)


def test_start_up_code_that_ends_the_interpreter_is_quoted(starting):
    failing = starting(
        "import sys; sys.stderr.write('Traceback (most recent call last):\\n'); sys.exit('no licence\\x1b[31m')"
    )

    message = refusal(failing)

    assert "failed with status 1 before it answered; it said: no licence[31m." in message


def test_start_up_code_that_eats_the_question_is_named(starting):
    assert "something consumed the standard input" in refusal(starting("import sys; sys.stdin.read()"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\necho I am a shell\n", "I am a shell"),
        ("#!/bin/sh\ncat\n", "answer("),
        ('#!/bin/sh\necho "$@"; exec cat\n', "answer("),
        ("#!/bin/sh\nexit 7\n", "status 7"),
        ("#!/bin/sh\necho trouble >&2; exit 3\n", "trouble"),
    ],
)
def test_a_program_that_is_no_python_is_named_so(tmp_path, text, said):
    message = refusal(script(tmp_path / "python", text))

    assert "does not behave like a Python interpreter" in message
    assert said in message


def test_an_answer_that_is_not_readable_is_named_so(starting):
    # The token is not to be guessed, so the framing itself is used from within.
    strange = starting(
        "import os\nwrite = os.write\nos.write = lambda file, data: write(file, data.replace(b'\"', b\"'\")) and len(data)"
    )

    assert "gave an answer that is not readable" in refusal(strange)


def test_a_program_for_another_machine_is_named_so(tmp_path):
    path = tmp_path / "python"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xff\xfe\x01\x00\x00\x00" + bytes(200))
    path.chmod(0o755)

    assert "built for another kind of machine" in refusal(path)


def test_a_text_that_may_be_executed_is_no_program(tmp_path):
    assert "it is not a program" in refusal(script(tmp_path / "python", "print('hello')\n"))


def test_a_script_without_its_interpreter_is_named_so(tmp_path):
    path = script(tmp_path / "python", "#!/nowhere/to/be/found\n")

    assert "names does not exist" in refusal(path)


def test_what_is_not_there_or_may_not_be_run_is_named_so(tmp_path):
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    plain = script(tmp_path / "plain", "", 0o644)

    assert "nothing has that name" in refusal(tmp_path / "missing")
    assert "is a directory without an interpreter" in refusal(tmp_path / "empty")
    assert "is not a file" in refusal(tmp_path / "pipe")
    assert "may not be executed" in refusal(plain)


def test_an_environment_whose_python_is_gone_is_named_so(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/gone/bin/python3.9")

    message = refusal(tmp_path)

    assert "leads to /gone/bin/python3.9, which does not exist" in message
    assert "Make the environment anew" in message


def test_a_time_limit_of_its_own_does_not_leave_threads_behind(starting):
    import threading

    before = threading.active_count()
    refusal(starting("import time; time.sleep(600)"), time_limit=0.5)

    assert threading.active_count() == before
