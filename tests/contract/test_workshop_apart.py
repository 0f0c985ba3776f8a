"""The workshop is for authors: everything else works where it is not there, and its commands say what to install."""

import shutil
import sys
import zipfile

import pytest
from conftest import environment, run

RULE = """\
id: six-breaks
title: six breaks
severity: error
impact: crash
when: {packages: {six: "<9"}}
why: It does.
remedies: [{upgrade: six>=9}]
references: ["https://example.org/1"]
proof: {script: import six, bad: [{python: "3.10", packages: {six: "1.0"}}]}
"""


@pytest.fixture(scope="module")
def without_workshop(wheel, tmp_path_factory):
    """A function that runs envdoctor from a copy of the wheel that lacks the workshop."""
    folder = tmp_path_factory.mktemp("copy")
    zipfile.ZipFile(wheel).extractall(folder)
    shutil.rmtree(folder / "envdoctor" / "workshop")

    def command(*words, cwd):
        variables = environment(PYTHONPATH=str(folder), XDG_CACHE_HOME=str(cwd / "cache"))
        return run(sys.executable, "-m", "envdoctor", *words, cwd=cwd, env=variables)

    return command


def test_environments_are_examined_and_errors_explained_without_the_workshop(without_workshop, tmp_path):
    (tmp_path / "requirements.txt").write_text("six==1.17.0\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "six-breaks.yaml").write_text(RULE)
    (tmp_path / "error.log").write_text("ModuleNotFoundError: No module named 'distutils'\n")

    pinned = without_workshop("-r", "requirements.txt", "--python-version", "3.11", "--rules", "own", cwd=tmp_path)
    explained = without_workshop("explain", "error.log", "--no-target", cwd=tmp_path)
    shown = without_workshop("rules", "show", "six-breaks", "--rules", "own", cwd=tmp_path)

    assert (pinned.returncode, pinned.stderr) == (1, "")
    assert "six breaks" in pinned.stdout
    assert (explained.returncode, explained.stderr) == (1, "")
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("command", ["new", "draft", "lint", "verify", "import", "history", "bisect", "matrix"])
def test_a_command_of_the_workshop_says_what_to_install(without_workshop, command, tmp_path):
    done = without_workshop("rules", command, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'pyenvdoctor[workshop]'\n")
    assert f"rules {command}" in done.stderr


def test_bisect_says_what_to_install(without_workshop, tmp_path):
    done = without_workshop("bisect", "good", "bad", "--", "true", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'pyenvdoctor[workshop]'\n")
