"""Shared by all tests: a cache of their own, so that nothing of the user's is read or written."""

import os
import subprocess
import sys

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# No test is wrong because the machine is busy: neither an example nor the making of examples is held to a time.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


def run(*words, **options):
    """Run a program to its end; its output as text."""
    options.setdefault("timeout", 300)
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def environment(**changes):
    """This process's environment variables without those that name an active environment or change colours."""
    gone = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "FORCE_COLOR", "NO_COLOR", "PYTHONDONTWRITEBYTECODE"}
    gone |= {"UV_PROJECT_ENVIRONMENT", "CONDA_DEFAULT_ENV", "JPY_PARENT_PID"}
    return {**{name: value for name, value in os.environ.items() if name not in gone}, **changes}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built as a user's pip builds it; one build for all test processes."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    folder = root / "wheel"
    with FileLock(str(root / "wheel.lock")):
        if not folder.exists():
            done = run("uv", "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", folder, CHECKOUT)
            assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The ``envdoctor`` command of the wheel, in an environment of its own."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", folder, wheel)
    assert done.returncode == 0, done.stderr
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
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
