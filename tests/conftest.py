"""Shared by all tests: a separate cache, so that nothing of the user's is read or written."""

import atexit
import contextlib
import functools
import gc
import glob
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# No test is wrong because the machine is busy: neither an example nor the making of examples is held to a time.
# A folder of a test may hold what an earlier example left there: each example writes what it reads. How many of a few
# examples are assumed away is chance.
NO_HARM = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]
UNHURRIED = {"deadline": None, "suppress_health_check": NO_HARM}
settings.register_profile("unhurried", max_examples=25, **UNHURRIED)
settings.register_profile("thorough", max_examples=1000, **UNHURRIED)  # pytest --hypothesis-profile=thorough
settings.load_profile("unhurried")
# Collecting garbage looks at all that pytest has collected too: not for each few hundred new objects.
gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def _own_world(tmp_path_factory, shared):
    def compiled(folder):
        code = "from envdoctor.rulebase import shipped; shipped.shipped()"
        done = run(sys.executable, "-c", code, env={**os.environ, "XDG_CACHE_HOME": str(folder)})
        assert done.returncode == 0, done.stderr

    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(shared("compiled", compiled)))
    patch.setenv("XDG_CACHE_HOME", new_cache(tmp_path_factory.mktemp("cache")))
    for name in os.environ.keys() - environment().keys():
        patch.delenv(name)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """Each test reads versions and requirements itself: a mutant is tried on the tests that call what it is in.

    A run that ended in this process has frozen what it made, which nobody would ever free.
    """
    gc.unfreeze()
    for name, remembered in (
        ("versions", ("_keys", "_intervals", "_tests")),
        ("installed_requirements", ("_names", "_parts")),
    ):
        module = sys.modules.get(f"envdoctor.engine.{name}")
        for table in remembered if module else ():
            getattr(module, table).clear()


def new_cache(folder):
    """A cache directory for ``XDG_CACHE_HOME`` with nothing in it but the shipped rules, which take long to compile."""
    from envdoctor.probes import cache

    kept = os.path.join(folder, "envdoctor")
    os.makedirs(kept, exist_ok=True)
    for path in glob.glob(os.path.join(cache.directory(), "rules-*.idx")):
        if not os.path.exists(os.path.join(kept, os.path.basename(path))):
            shutil.copy(path, kept)
    return str(folder)


def run(*words, **options):
    """Run a program to its end; its output as text."""
    options.setdefault("timeout", 300)
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def run_here(*words, cwd=None):
    """Run the command in this process, where its branches are measured; it may not change the variables."""
    from envdoctor.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before = os.getcwd()
    os.chdir(cwd or before)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(word) for word in words])
    finally:
        os.chdir(before)
    return subprocess.CompletedProcess(words, status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def run_envdoctor(*words, **options):
    """Run the command to its end as :func:`run` does, in a fork of this process: what it has imported is there already.

    For what a start of Python proves no more: what the command imports, its signals and its terminal need a program.
    """
    program = [sys.executable, "-m", "envdoctor", *words]
    if not hasattr(os, "fork"):
        return run(*program, **options)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(options.get("input", "").encode())
        given.seek(0)
        _caches(len(sys.modules))  # here, where it is remembered: each page that a fork looks at is copied
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # xdist's thread, which holds no lock of ours
            child = os.fork()
        if not child:
            _become([str(word) for word in words], (given, out, err), options)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        told = [file.read().decode().replace("\r\n", "\n") for file in (out, err)]
    return subprocess.CompletedProcess(program, os.waitstatus_to_exitcode(status), *told)


@functools.lru_cache(maxsize=1)
def _caches(modules):
    """The functions of envdoctor that remember what they read, as long as there are so many modules.

    Those of the engine read nothing.
    """
    names = [name for name in sys.modules if name.startswith("envdoctor.") and not name.startswith("envdoctor.engine.")]
    ours = [sys.modules[name] for name in names]
    return [one for module in ours for one in vars(module).values() if hasattr(one, "cache_clear")]


def _become(words, files, options):
    """Make this process, a fork, the command: its files, directory and variables; nothing remembered. Does not return."""
    from envdoctor.cli import main

    status = 70
    try:
        sys.settrace(None)  # coverage, of which nothing would come back
        threading.settrace(None)
        signal.alarm(options.get("timeout", 300))
        atexit._clear()
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        os.chdir(options.get("cwd") or ".")
        variables = dict(options.get("env") or os.environ)
        os.environ.clear()
        os.environ.update(variables)
        encoding = variables.get("PYTHONIOENCODING", "utf-8")
        sys.stdin, sys.stdout = open(0, encoding=encoding), open(1, "w", encoding=encoding)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace")  # noqa: SIM115
        for one in _caches(len(sys.modules)):
            one.cache_clear()
        sys.argv = ["envdoctor", *words]
        status = main()
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - nothing may go back into the tests from here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def python_of(folder):
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@contextlib.contextmanager
def untraced():
    """Measure no branches meanwhile: for what runs hundreds of examples through branches that other tests measure."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def environment(**changes):
    """This process's environment variables without those that name an active environment or change colours."""
    gone = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "FORCE_COLOR", "NO_COLOR", "PYTHONDONTWRITEBYTECODE"}
    gone |= {"UV_PROJECT_ENVIRONMENT", "CONDA_DEFAULT_ENV", "JPY_PARENT_PID"}
    return {**{name: value for name, value in os.environ.items() if name not in gone}, **changes}


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One folder for all test processes, by its name: the first that asks for it makes it, ``shared(name, make)``."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root

    def folder(name, make):
        with FileLock(str(root / f"{name}.lock")):
            if not (root / name).exists():
                make(root / name)
        return root / name

    return folder


@pytest.fixture(scope="session")
def wheel(shared):
    """The wheel of this checkout, built as a user's pip builds it."""

    def build(folder):
        done = run("uv", "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", folder, CHECKOUT)
        assert done.returncode == 0, done.stderr

    (path,) = shared("wheel", build).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel, shared):
    """The ``envdoctor`` command of the wheel, in a separate environment."""

    def build(folder):
        assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
        done = run("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", folder, wheel)
        assert done.returncode == 0, done.stderr

    scripts = shared("installed", build) / ("Scripts" if os.name == "nt" else "bin")
    return scripts / ("envdoctor.exe" if os.name == "nt" else "envdoctor")


@pytest.fixture
def make_environment(tmp_path):
    """Build a virtual environment of an interpreter with exactly these requirements: ``make(python, *requirements)``."""

    def make(python, *requirements, name="venv"):
        folder = tmp_path / name
        done = run("uv", "venv", "--quiet", "--python", python, folder)
        assert done.returncode == 0, done.stderr
        if requirements:
            done = run("uv", "pip", "install", "--quiet", "--python", folder, *requirements)
            assert done.returncode == 0, done.stderr
        return folder

    return make
