"""Finds the Pythons of this machine at run time, for tests that examine real interpreters.

They come from the paths in ``ENVDOCTOR_TEST_PYTHONS`` (separated as in ``PATH``), from the versions of pyenv, and from
the commands ``pythonX.Y`` on ``PATH``. A test for a version that is not there is skipped, saying so.
"""

import functools
import glob
import os
import shutil
import subprocess
import sys

import pytest

#: Every version that envdoctor examines.
VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
VARIABLE = "ENVDOCTOR_TEST_PYTHONS"
_TELL = "import sys; print('%d.%d' % sys.version_info[:2])"


@functools.cache
def find(version):
    """The path of an interpreter of version ``X.Y``, or ``None``."""
    return next((path for path in _candidates(version) if _version_of(path) == version), None)


def need(version):
    """The path of an interpreter of version ``X.Y``; without one, the test is skipped."""
    path = find(version)
    if path is None:
        pytest.skip(_reason(version))
    return path


def each(versions=VERSIONS):
    """One parameter for each version, holding the interpreter's path."""
    return [
        pytest.param(path, id=version)
        if (path := find(version))
        else pytest.param(None, id=version, marks=pytest.mark.skip(reason=_reason(version)))
        for version in versions
    ]


def _reason(version):
    return f"no Python {version} found by {VARIABLE}, pyenv or PATH"


def _candidates(version):
    yield from filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    if "{}.{}".format(*sys.version_info[:2]) == version:
        yield sys.executable
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    name = "python.exe" if os.name == "nt" else os.path.join("bin", "python")
    yield from sorted(glob.glob(os.path.join(pyenv, "versions", version + ".*", name)))
    yield from filter(None, [shutil.which("python" + version)])


@functools.cache
def _version_of(path):
    try:
        done = subprocess.run([path, "-E", "-S", "-c", _TELL], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
