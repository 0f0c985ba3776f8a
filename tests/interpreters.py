"""Finds the Pythons of this machine at run time, for tests that examine real interpreters.

They are those that trials run on, found by ``envdoctor.workshop.proof.pythons``; of its own version the one that runs
the tests. A test for a version that is not there is skipped, saying so.
"""

import sys

import pytest

from envdoctor.workshop.proof import pythons

#: Every version that envdoctor examines.
VERSIONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def find(version):
    """The path of an interpreter of version ``X.Y``, or ``None``."""
    if "{}.{}".format(*sys.version_info[:2]) == version:
        return sys.executable
    known = pythons.find(version)
    return known and known[1]


def need(version):
    """The path of an interpreter of version ``X.Y``; without one, the test is skipped."""
    path = find(version)
    if path is None:
        pytest.skip(_reason(version))
    return path


def each(versions=VERSIONS, *, between=()):
    """One parameter for each version, holding the interpreter's path; ``between`` marks those between the ends."""
    return [
        pytest.param(path, id=version, marks=between if version in versions[1:-1] else ())
        if (path := find(version))
        else pytest.param(None, id=version, marks=pytest.mark.skip(reason=_reason(version)))
        for version in versions
    ]


def _reason(version):
    return f"no Python {version} found by {pythons.VARIABLE}, pyenv, uv or PATH"
