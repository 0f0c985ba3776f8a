"""Trials apply a remedy by the very line that users are shown, in a shell."""

import os
import sys

import pytest
from conftest import environment
from workshop.laboratory import PYTHON, wheel

from envdoctor.model import Action
from envdoctor.workshop.proof import build, processes
from envdoctor.workshop.proof.trials import Trial, TrialEnvironment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the line is one for a POSIX shell")


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """The lines that a shell is given, while it is given them."""
    for version in ("1.0", "2.0"):
        wheel(tmp_path, "left", version, f"version = {version!r}\n")
    for name, value in environment(UV_FIND_LINKS=str(tmp_path), ENVDOCTOR_PYTHONS=sys.executable).items():
        monkeypatch.setenv(name, value)
    lines, run = [], processes.run

    def listening(command, *words, **options):
        lines.extend(command[2:] if command[0] == "sh" else ())
        return run(command, *words, **options)

    monkeypatch.setattr(processes, "run", listening)
    return lines


def trial(action, script):
    place = TrialEnvironment(python=PYTHON, install=["left==1.0"])
    return build.run_trial(
        Trial(rule="r", name="n", kind="remedy", place=place, script=script, applies=action), offline=True
    )


def test_an_upgrade_is_typed(typed):
    told = trial(Action(verb="install", requirements=("left (>=2)",)), "import left; assert left.version == '2.0'")

    assert told["outcome"] == "passed", told
    (line,) = typed
    assert line.startswith("uv pip install --python ")
    assert line.endswith("/place/bin/python 'left>=2'")


def test_what_cannot_be_typed_or_fails_is_said(typed):
    told = trial(Action(verb="uninstall", packages=("-r x",)), "")
    assert (told["outcome"], typed) == ("unbuilt", [])
    assert "there is no command to uninstall" in told["reason"]

    told = trial(Action(verb="install", requirements=("left>=3",)), "")
    assert told["outcome"] == "unbuilt"
    assert "left>=3" in told["reason"]
    assert "Using Python" not in told["reason"]
