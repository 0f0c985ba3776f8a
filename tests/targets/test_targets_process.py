"""Running and hung jobs are examined as they are: real processes, which say through a pipe that they are ready."""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys

import pytest
from interpreters import each, need
from known_facts import fact

from envdoctor import doctor, targets
from envdoctor.errors import TargetError, UsageError
from envdoctor.model import Unknown
from envdoctor.probes import answered, shared_objects
from envdoctor.renderers.redaction import Redactor
from envdoctor.renderers.snapshot_document import asked, render

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the jobs are started and looked at as on Linux")

#: Say that the job is ready, and wait until the test is over.
READY = "\nprint('ready', flush=True)\nsys.stdin.read()\n"
VERSION = "{}.{}".format(*sys.version_info[:2])
CHILDREN = """
import multiprocessing, sys

def work(pipe):
    pipe.send("started")
    pipe.recv()

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    mine, theirs = context.Pipe()
    for _ in range(2):
        context.Process(target=work, args=(theirs,), daemon=True).start()
        mine.recv()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def start():
    """Start a job and wait until it is ready: ``start(code, *words, python=...)`` gives its number."""
    with contextlib.ExitStack() as stack:

        def started(code, *words, python=sys.executable, options=(), **more):
            more.setdefault("env", variables())
            command = [python, *options, "-c", "import sys\n" + code + READY, *words]
            if os.path.isfile(code):
                command = [python, *options, code, *words]
            pipe = subprocess.PIPE
            job = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, **more)
            stack.callback(job.communicate, timeout=300)
            assert job.stdout.readline() == b"ready\n"
            return job.pid

        yield started


def variables(**changes):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "CONDA"))}
    return {**kept, **changes}


def examine(pid, **wanted):
    return targets.examine("pid", str(pid), wanted=wanted)


def facts(snapshot, *names):
    return [fact(snapshot, "process", name) for name in names]


def notes(snapshot):
    return {note.fact: note.reason for note in snapshot.notes}


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """A virtual environment with one distribution, ``only-here``."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=300)
    distribution(folder / "lib" / f"python{VERSION}" / "site-packages", "only-here")
    return str(folder)


def distribution(site, name):
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    return str(site)


# --- which interpreter, and what it would import --------------------------------------------------------------------


@pytest.mark.parametrize("called", ["{venv}/bin/python", "bin/python", "python", "{venv}/bin/../bin/python3"])
def test_a_job_of_a_virtual_environment(start, venv, called):
    path = os.pathsep.join([os.path.join(venv, "bin"), os.environ["PATH"]])
    name = called.format(venv=venv)
    executable = os.path.join(venv, "bin", os.path.basename(name))
    pid = start("", python=name, executable=executable, cwd=venv, env=variables(PATH=path))

    snapshot = examine(pid)

    assert snapshot.target == {
        "kind": "process", "pid": pid, "path": venv, "executable": snapshot.python["executable"], "directory": venv,
    }  # fmt: skip
    assert os.path.dirname(snapshot.python["executable"]) == os.path.join(venv, "bin")
    assert list(snapshot.packages) == ["only-here"]
    assert snapshot.notes == []


def test_a_job_of_the_installation_behind_an_active_environment(start, venv):
    base = os.path.realpath(sys.executable)

    snapshot = examine(start("", python=base, env=variables(VIRTUAL_ENV=venv)))

    assert "only-here" not in snapshot.packages
    assert os.path.realpath(snapshot.python["executable"]) == base


TITLE = """
import ctypes
with open("/proc/self/stat") as stream:
    fields = [int(field) for field in stream.read().rpartition(")")[2].split()[45:49]]
for begin, end in {places}:
    ctypes.memmove(begin, b"worker: idle".ljust(end - begin, b"\\0"), end - begin)
"""


def test_a_job_that_gave_itself_another_title(start, venv):
    code = TITLE.format(places="[fields[:2]]")

    snapshot = examine(start(code, python=os.path.join(venv, "bin", "python"), env=variables(VIRTUAL_ENV=venv)))

    assert list(snapshot.packages) == ["only-here"]
    assert snapshot.notes == []


def test_a_title_over_its_variables_leaves_them_unknown(start, venv):
    code = TITLE.format(places="[fields[:2], fields[2:]]")

    snapshot = examine(start(code, python=os.path.join(venv, "bin", "python"), env=variables(VIRTUAL_ENV=venv)))

    assert "has written a title over" in fact(snapshot, "env", "VIRTUAL_ENV").reason
    assert "it may belong to a virtual environment" in notes(snapshot)["interpreters"]


def test_a_job_without_any_variables_has_none(start):
    snapshot = examine(start("", env={}))

    assert fact(snapshot, "env", "PATH") is None


def test_what_it_has_loaded_tells_the_environment_too(start, venv, tmp_path):
    native = os.path.join(venv, "lib", f"python{VERSION}", "site-packages", "native.so")
    shutil.copy(sys.executable, native)
    server = shutil.copy(os.path.realpath(sys.executable), tmp_path / "server")
    (tmp_path / "libpython3.so.1.0").write_bytes(b"library")
    code = held(native, str(tmp_path / "libpython3.so.1.0"))
    env = variables(PYTHONHOME=sys.base_prefix)

    snapshot = examine(start(code, python=str(server), env=env))

    assert snapshot.python["prefix"] in (venv, sys.base_prefix)  # PYTHONHOME goes before the environment
    assert "has a Python inside" in notes(snapshot)["interpreters"]


def held(*paths):
    """Code that maps files into memory, for as long as the job runs."""
    return f"""
import mmap
held = []
for path in {paths!r}:
    with open(path, "rb") as stream:
        held.append(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
"""


def test_modules_from_elsewhere_and_packages_that_were_changed_are_noted(start, venv, tmp_path):
    own = os.path.join(venv, "lib", f"python{VERSION}", "site-packages", "changed.so")
    other = tmp_path / "other" / "lib" / "python3.99" / "site-packages" / "package"
    other.mkdir(parents=True)
    for path in (own, str(other / "native.so")):
        shutil.copy(sys.executable, path)
    code = held(own, str(other / "native.so")) + f"\nimport os\nos.remove({own!r})\n"

    snapshot = examine(start(code, python=os.path.join(venv, "bin", "python")))

    said = [note.reason for note in snapshot.notes if note.fact == "packages"]
    assert said == [
        f"it has loaded modules from {other.parent}, where its interpreter does not look by itself",
        f"packages were changed since it loaded them, so it may run other versions: {own}",
    ]


@pytest.mark.parametrize(
    ("options", "seen"), [([], True), (["-X", "utf8", "-Bu"], True), (["-I"], False), (["-W", "ignore", "-E"], False)]
)
def test_its_variables_count_as_far_as_its_options_let_them(start, monkeypatch, tmp_path, options, seen):
    distribution(tmp_path / "src", "from-path")
    monkeypatch.setenv("ENVDOCTOR_TEST_OURS", "ours")
    env = variables(PYTHONPATH="src", ENVDOCTOR_TEST_THEIRS="theirs")
    env.pop("ENVDOCTOR_TEST_OURS")

    snapshot = examine(start("", options=options, cwd=tmp_path, env=env))

    names = ["ENVDOCTOR_TEST_THEIRS", "ENVDOCTOR_TEST_OURS", "PYTHONPATH"]
    assert [fact(snapshot, "env", name) for name in names] == ["theirs", None, "src"]
    assert ("from-path" in snapshot.packages) is seen


# --- what only the process shows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("python", each(between=pytest.mark.trials))
def test_the_start_method_that_its_children_show(start, tmp_path, python, method):
    (tmp_path / "job.py").write_text(CHILDREN)

    snapshot = examine(start(str(tmp_path / "job.py"), method, python=python))

    assert snapshot.start_method["children"] == method
    assert snapshot.start_method["default"] in ("fork", "forkserver")
    assert facts(snapshot, "children", "threads", "forked-with-threads") == [2, 1, False]


def test_a_job_without_children_shows_none(start):
    snapshot = examine(start(""))

    assert "children" not in snapshot.start_method
    assert facts(snapshot, "children", "threads", "forked-with-threads") == [0, 1, False]


def test_a_child_that_was_started_again_with_the_same_words_is_no_copy(start, tmp_path):
    (tmp_path / "job.py").write_text(
        "import os, subprocess, sys\n"
        "if 'AGAIN' not in os.environ:\n"
        "    child = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, 'AGAIN': '1'}, stdout=-1)\n"
        "    child.stdout.readline()\n" + READY
    )

    snapshot = examine(start(str(tmp_path / "job.py")))

    assert "children" not in snapshot.start_method
    assert facts(snapshot, "children") == [1]


def test_children_of_several_kinds_are_said_to_be_so(start):
    code = """
import os, subprocess
spawned = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()", "multiprocessing.spawn"], stdout=-1)
spawned.stdout.readline()
if not os.fork():
    os.read(0, 1)
    os._exit(0)
"""

    snapshot = examine(start(code))

    assert "children" not in snapshot.start_method
    assert notes(snapshot)["start_method.children"].endswith("in several ways: fork, spawn")


THREADS = """
import os, threading

def start_of(place):
    with open(place + "/stat") as stream:
        return int(stream.read().rpartition(")")[2].split()[19])

def fork():
    pid = os.fork()
    if not pid:
        os.read(0, 1)
        os._exit(0)
    return pid

def start():
    thread = threading.Thread(target=os.read, args=(0, 1), daemon=True)
    thread.start()
    return max(start_of("/proc/self/task/" + name) for name in os.listdir("/proc/self/task"))
"""


def test_a_fork_of_a_process_with_threads(start):
    code = "begun = start()\nwhile start_of('/proc/{}'.format(fork())) <= begun: pass\n"

    snapshot = examine(start(THREADS + code, options=["-W", "ignore"]))

    assert facts(snapshot, "threads", "forked-with-threads") == [2, True]
    assert snapshot.start_method["children"] == "fork"


@pytest.mark.parametrize("version", [None, "3.14"])
def test_a_fork_that_waits_for_a_lock_names_its_parent_and_the_thread_there(start, tmp_path, version):
    code = """
held = threading.Event()
lock = threading.Lock()

def work():
    with lock:
        held.set()
        os.read(0, 1)

thread = threading.Thread(target=work, daemon=True, name="saver")
thread.start()
held.wait()
child = os.fork()
if not child:
    lock.acquire()
with open(PLACE, "w") as stream:
    stream.write("{} {}".format(child, thread.native_id))
"""
    python = str(need(version)) if version else sys.executable
    pid = start(THREADS + f"PLACE = {str(tmp_path / 'child')!r}\n" + code, python=python, options=["-W", "ignore"])
    child, thread = map(int, (tmp_path / "child").read_text().split())

    try:
        snapshot, parents = examine(child), examine(pid)
    finally:
        os.kill(child, signal.SIGKILL)

    assert facts(snapshot, "threads", "forked-with-threads") == [1, True]
    assert facts(parents, "forked-with-threads") == [True]
    names_its_threads = version is not None or sys.version_info >= (3, 14)  # to the system, that is
    named = f"thread {thread}" + (" (saver)" if names_its_threads else "")
    assert snapshot.target["forked"].startswith(f"it is a fork of process {pid} (")
    assert snapshot.target["forked"].endswith(f"where {named} ran")
    assert parents.target["forked"] == f"it forked process {child} while {named} ran"
    for one in (snapshot, parents):
        (finding,) = (each for each in doctor.check(one).findings if each.rule == "forked-with-threads")
        assert finding.evidence[0].source.endswith(one.target["forked"])


def test_a_fork_of_a_process_without_threads_is_nothing_to_speak_of(start, tmp_path):
    code = f"open({str(tmp_path / 'child')!r}, 'w').write(str(fork()))\nstart()\n"
    start(THREADS + code, options=["-W", "ignore"])

    snapshot = examine(int((tmp_path / "child").read_text()))

    assert facts(snapshot, "forked-with-threads") == [False]
    assert "forked" not in snapshot.target


def test_threads_that_were_started_afterwards_do_no_harm(start):
    snapshot = examine(start(THREADS + "fork()\nstart()\n"))

    assert facts(snapshot, "threads", "forked-with-threads") == [2, False]


def test_runtimes_of_openmp_are_counted_by_file(start, tmp_path):
    for name in ("libgomp-a34b3233.so.1.0.0", "libiomp5.so", "libgomp-plugin-nvptx.so.1", "libompi.so", "libomp.txt"):
        (tmp_path / name).write_bytes(name.encode())
    os.link(tmp_path / "libiomp5.so", tmp_path / "libomp.so")
    paths = [str(path) for path in sorted(tmp_path.iterdir())]

    assert facts(examine(start(held(*paths))), "openmp-runtimes") == [2]
    assert facts(examine(start("")), "openmp-runtimes") == [0]


def test_the_machine_is_told_with_the_limits_of_the_process(start, tmp_path):
    (tmp_path / "libstdc++.so.6").write_bytes(b"\x7fELF\0GLIBCXX_3.4.88\0")
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))\n"

    snapshot = examine(
        start(limit + held(str(tmp_path / "libstdc++.so.6"))),
        system=["shm", "open-files", "libstdcxx", "memory"], library=["libnowhere.so.1"],
    )  # fmt: skip

    size = shutil.disk_usage("/dev/shm").total if os.path.isdir("/dev/shm") else 0
    told = [fact(snapshot, "system", key) for key in ("shm", "open-files", "libstdcxx")]
    assert told == [str(size >> 20) if size else None, "99", "3.4.88"]
    assert int(fact(snapshot, "system", "memory")) > 0
    assert fact(snapshot, "library", "libnowhere.so.1") == "missing"
    assert facts(snapshot, "shared-memory-full", "weather") == [
        False if size else None, Unknown(reason="there is no probe for it")
    ]  # fmt: skip


def test_a_job_that_was_stopped_answers_no_signal_and_is_read_all_the_same(start):
    pid = start("")
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    try:
        assert facts(examine(pid), "threads", "children") == [1, 0]
    finally:
        os.kill(pid, signal.SIGCONT)


def test_the_number_of_a_thread_stands_for_its_process(start):
    pid = start(THREADS + "fork()\nstart()\n")
    (thread,) = (name for name in os.listdir(f"/proc/{pid}/task") if name != str(pid))

    snapshot = examine(thread)

    assert snapshot.target["pid"] == pid
    assert facts(snapshot, "children") == [1]


def test_a_saved_snapshot_of_it_says_the_same(start, tmp_path):
    (tmp_path / "job.py").write_text(CHILDREN)
    snapshot = examine(start(str(tmp_path / "job.py"), "spawn"))
    wanted = {"library": ["libnowhere.so.1"], "env": [], "module": [], "system": []}
    snapshot = answered(snapshot, lambda now: asked(now, wanted))
    (tmp_path / "saved.json").write_text(render(snapshot, wanted, Redactor(known_env=[])))

    saved = targets.examine("snapshot", str(tmp_path / "saved.json"))

    assert saved.start_method == snapshot.start_method
    assert saved.start_method["children"] == "spawn"
    assert facts(saved, "children", "threads", "forked-with-threads", "openmp-runtimes") == [2, 1, False, 0]


# --- another root, another user -------------------------------------------------------------------------------------

needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may do that")
CONTAINER = """
set -e
mount -t tmpfs none {root}
mkdir -p {root}/usr/local {root}/lib {root}/lib64 {root}/usr/lib {root}/dev/shm {root}/old
mount --bind {base} {root}/usr/local
for place in /lib /lib64 /usr/lib; do if test -d $place; then mount --bind $place {root}$place; fi; done
mount -t tmpfs -o size=7m none {root}/dev/shm
{change}
"""


@needs_root
@pytest.mark.parametrize("change", ["exec chroot {root}", "cd {root}; pivot_root . old; exec"])
def test_a_container_is_read_as_files(tmp_path, change):
    base, root = os.path.realpath(sys.base_prefix), tmp_path / "root"
    root.mkdir()
    can = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", root], capture_output=True, check=False)
    if can.returncode or base.startswith("/usr"):
        pytest.skip("mounting is not allowed here, or the installation is that of the system")
    if shared_objects.read_facts(os.path.realpath(sys.executable))["rpath"]:
        pytest.skip("the libraries of this interpreter are not where a container has them")
    code = held("/dev/shm/full") + READY
    fill = "with open('/dev/shm/full', 'wb', 0) as s:\n  try:\n    while s.write(b'x' * 65536): pass\n  except OSError: pass"
    script = CONTAINER.format(root=root, base=base, change=change.format(root=root)).rstrip()
    script += ' /usr/local/bin/python%s -c "$1"' % VERSION  # noqa: UP031 -- braces are for the shell
    command = ["unshare", "-m", "sh", "-c", script, "sh", "import sys\n" + fill + "\n" + code]
    job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert job.stdout.readline() == b"ready\n"
        snapshot = examine(job.pid, system=["shm"])
        told = [fact(snapshot, "system", key) for key in ("shm", "container", "gpu", "libstdcxx")]
        library = fact(snapshot, "library", "libnowhere.so.1")
        full = facts(snapshot, "shared-memory-full")
    finally:
        job.communicate(timeout=300)

    assert snapshot.target["root"] == f"/proc/{job.pid}/root"
    assert (snapshot.python["executable"], snapshot.python["prefix"]) == (
        f"/usr/local/bin/python{VERSION}",
        "/usr/local",
    )
    assert (told[:2], library, full) == (["7", True], "missing", [True])
    assert "as in a container" in notes(snapshot)["process"]


@needs_root
def test_the_interpreter_of_another_user_is_asked_as_that_user(start, tmp_path_factory):
    nobody = 65534
    python = next(iter(glob.glob("/usr/bin/python3.*[0-9]") + glob.glob("/usr/local/bin/python3.*[0-9]")), None)
    if python is None:
        pytest.skip("there is no Python that everybody may run")
    folder = tmp_path_factory.mktemp("startup")
    for place in (folder, folder.parent, folder.parent.parent):
        os.chmod(place, 0o755)  # temporary directories are their owner's alone
    (folder / "sitecustomize.py").write_text("import os\nif os.geteuid() != 65534: os._exit(9)\n")

    pid = start("", python=python, env=variables(PYTHONPATH=str(folder)), user=nobody, group=nobody, extra_groups=[])

    assert examine(pid).python["version"].startswith("3.")


@needs_root
def test_a_process_of_another_user_may_not_be_read(start):
    pid = start("")
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        os.setgid(65534)
        os.setuid(65534)
        try:
            targets.examine("pid", str(pid), wanted={})
        except TargetError as error:
            os.write(write_end, str(error).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    with open(read_end, encoding="utf-8") as stream:
        message = stream.read()
    os.waitpid(child, 0)

    assert message.startswith(f"Process {pid} may not be read by this user (it belongs to ")
    assert "Run envdoctor as that user, or as root" in message


# --- what cannot be examined ----------------------------------------------------------------------------------------


def refusal(pid):
    with pytest.raises(TargetError) as caught:
        examine(pid)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("pid", ["", "0", "-1", "python", "1.5", "²"])
def test_what_is_no_number_of_a_process(pid):
    with pytest.raises(UsageError, match="is not the number of a process"):
        examine(pid)


def test_a_process_that_is_gone():
    job = subprocess.Popen([sys.executable, "-c", ""])
    job.wait(60)

    assert f"There is no process {job.pid}" in refusal(job.pid)
    assert "There is no process 99999999999999999999" in refusal(99999999999999999999)


def test_a_zombie(start):
    job = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    job.stdout.read()  # until it ends
    os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)

    message = refusal(job.pid)
    job.communicate()

    assert f"Process {job.pid} has ended; only its parent, process {os.getpid()}" in message


def test_a_program_that_is_no_python():
    job = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    job.stdin.write(b"ready\n")
    job.stdin.flush()
    job.stdout.readline()

    message = refusal(job.pid)
    job.communicate()

    assert "which is no Python. Give the number of a Python process" in message


def test_a_program_that_has_started_a_python_names_it():
    code = "print('ready', flush=True); input()"
    job = subprocess.Popen(
        ["sh", "-c", '"$0" -c "$1"; true', os.path.realpath(sys.executable), code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    job.stdout.readline()

    message = refusal(job.pid)
    job.communicate(b"\n")

    assert "which is no Python. It has started some: --pid " in message


def test_a_part_of_the_kernel():
    if os.geteuid() != 0 or not os.path.isdir("/proc/2"):
        pytest.skip("no part of the kernel is to be seen here")
    with open("/proc/2/stat", encoding="ascii") as stream:
        if "kthreadd" not in stream.read():
            pytest.skip("no part of the kernel is to be seen here")

    assert "Process 2 is a part of the kernel" in refusal(2)


def test_an_interpreter_that_was_removed_is_named_so(start, tmp_path):
    python = shutil.copy(os.path.realpath(sys.executable), tmp_path / "python3")
    pid = start("", python=str(python), env=variables(PYTHONHOME=sys.base_prefix))
    os.remove(python)

    assert f"There is no interpreter {python}" in refusal(pid)
