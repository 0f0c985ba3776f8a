"""Environments with a real PyTorch, for the tests marked ``heavy``.

A test module asks for the fixtures with ``pytest_plugins = ["torch_environment"]``::

    pytestmark = pytest.mark.heavy

    def test_something(make_torch_environment, in_environment):
        folder = make_torch_environment("stable-baselines3==2.6.0", "gymnasium==0.29.1")
        assert in_environment(folder, "train.py", cwd=project).returncode == 0

(Import nothing from here: pytest rewrites the assertions of plugins, and wants to load them itself.)
``make_torch_environment(*requirements, name="venv")`` is ``make_environment`` of ``conftest.py`` on Python 3.11, with
the CPU build of torch beside what was asked for. The requirements and what they require are installed from real
releases, except torch: it is installed once for all tests (about 200 MB to fetch, 800 MB on disk) and reached through
a ``.pth`` file. Without Python 3.11 or a CPU build of torch within reach of pip, the test is skipped, saying so.

One command builds everything that the heavy tests need, and runs them::

    python -m pytest -m heavy

On Linux only a CPU build will do (``torch==2.13.0+cpu``: the others are several gigabytes); pip finds it where its own
configuration says, for example the variables ``PIP_EXTRA_INDEX_URL`` or ``PIP_FIND_LINKS``.
"""

import os
import shutil
import sys

import interpreters
import pytest
from conftest import environment, run
from filelock import FileLock

PYTHON = "3.11"
TORCH = "2.13.0"


def requirement():
    """The release that the tests are written for; on Linux by its local version, which only CPU builds carry."""
    return f"torch=={TORCH}+cpu" if sys.platform == "linux" else f"torch=={TORCH}"


@pytest.fixture(scope="session")
def in_environment():
    """``in_environment(folder, *words)`` runs that environment's own Python to its end, on one thread each."""
    return _in_environment


def _in_environment(folder, *words, **options):
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    options.setdefault("env", environment(VIRTUAL_ENV=str(folder), OMP_NUM_THREADS="1", PYTHONFAULTHANDLER="1"))
    return run(python, *words, **options)


@pytest.fixture(scope="session")
def torch_site(tmp_path_factory):
    """A folder that holds the CPU build of torch and what it requires; one for all test processes, the last removes it."""
    python = interpreters.need(PYTHON)
    root = tmp_path_factory.getbasetemp()
    root = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    folder, reason = root / "torch-site", root / "no-torch.txt"
    with FileLock(str(root / "torch.lock")):
        if not folder.exists() and not reason.exists():
            _install(python, root / "torch-tools", folder, reason)
        _users(root, 1)
    if reason.exists():
        pytest.skip(reason.read_text(encoding="utf-8"))
    yield folder
    with FileLock(str(root / "torch.lock")):
        if _users(root, -1) == 0:
            shutil.rmtree(folder)


def _users(root, more):
    """Count the test processes that use the folder."""
    file = root / "torch-users.txt"
    number = more + (int(file.read_text(encoding="ascii")) if file.exists() else 0)
    file.write_text(str(number), encoding="ascii")
    return number


def _install(python, tools, folder, reason):
    assert run("uv", "venv", "--quiet", "--seed", "--python", python, tools).returncode == 0
    where = ["--target", folder, "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    done = _in_environment(tools, "-m", "pip", "install", *where, requirement(), timeout=1800)
    shutil.rmtree(tools)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        error = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), done.stderr[-200:])
        reason.write_text(f"pip finds no {requirement()} (see tests/torch_environment.py): {error}", encoding="utf-8")


@pytest.fixture
def make_torch_environment(torch_site, make_environment, tmp_path):
    """Build a virtual environment with torch and exactly these requirements: ``make(*requirements)``."""

    def make(*requirements, name="venv"):
        folder = make_environment(interpreters.need(PYTHON), name=name)
        override = tmp_path / "override.txt"
        override.write_text("torch; python_version < '3'\n", encoding="utf-8")  # required, and here already
        done = run("uv", "pip", "install", "--quiet", "--python", folder, "--override", override, *requirements)
        assert done.returncode == 0, done.stderr
        (packages,) = (path for path in folder.rglob("site-packages") if path.parent.name in ("Lib", f"python{PYTHON}"))
        (packages / "torch.pth").write_text(f"{torch_site}\n", encoding="utf-8")
        return folder

    return make
