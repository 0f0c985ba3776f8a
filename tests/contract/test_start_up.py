"""What the plain path may import: the whole cost of a run is its imports, so they are a contract."""

import os
import sys

from conftest import environment, run

#: What a bare interpreter of this version has loaded anyway is not counted.
FORBIDDEN = {
    "argparse", "ast", "asyncio", "collections", "contextlib", "dataclasses", "email", "enum", "functools", "hashlib",
    "importlib.metadata", "inspect", "json", "logging", "packaging", "pathlib", "platform", "psutil", "re", "rich",
    "shutil", "subprocess", "tempfile", "typing", "urllib", "yaml", "zipfile", "envdoctor.linker",
}  # fmt: skip

PROGRAM = """
import sys
before = set(sys.modules)
from envdoctor.cli import main
status = main(sys.argv[1:])
print("status", status)
print("loaded", *sorted(set(sys.modules) - before))
"""


def loaded(installed, *words, cwd=None, status="0", **variables):
    python = installed.parent / ("python.exe" if os.name == "nt" else "python")
    around = environment(**variables)
    around.pop("COLUMNS", None)  # what says how wide a terminal is asks the standard library for it
    done = run(python, "-c", PROGRAM, *words, env=around, cwd=cwd or installed.parent)
    assert done.stderr == ""
    lines = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    assert lines["status"] == status, done.stdout
    return set(lines["loaded"].split())


def test_nothing_to_report_in_its_own_environment_needs_no_import(installed):
    assert not loaded(installed) & FORBIDDEN


def test_nothing_to_report_in_an_active_environment_needs_no_import(installed, make_environment):
    folder = make_environment(sys.executable, "requests", "jinja2", "python-dateutil")

    assert not loaded(installed, VIRTUAL_ENV=str(folder)) & FORBIDDEN


def test_nothing_to_report_where_none_is_active_needs_no_import(installed, make_environment, tmp_path):
    """An environment on PATH, and then that of a project whose lock file agrees with it."""
    folder = make_environment(sys.executable, "six==1.17.0", name=".venv")
    (tmp_path / "below").mkdir()
    (tmp_path / "pylock.toml").write_text('lock-version = "1.0"\n[[packages]]\nname = "six"\nversion = "1.17.0"\n')
    scripts = str(folder / ("Scripts" if os.name == "nt" else "bin"))

    assert not loaded(installed, cwd=os.path.abspath(os.sep), PATH=scripts) & FORBIDDEN
    assert not loaded(installed, cwd=tmp_path / "below", PATH="") & FORBIDDEN


def test_findings_are_said_and_their_commands_written_without_an_import(installed, make_environment):
    folder = make_environment(sys.executable, "six==1.17.0", "packaging")
    (packages,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    for number in range(3):
        sick = packages / f"sick_{number}-1.0.dist-info"
        sick.mkdir()
        (sick / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: sick-{number}\nVersion: 1.0\nRequires-Dist: six>=9.{number}\n"
            f"Requires-Dist: absent-{number}[extra] (>=1.0)\n\n"
        )

    assert not loaded(installed, status="1", VIRTUAL_ENV=str(folder)) & FORBIDDEN


def test_the_command_ends_with_what_was_to_be_done_at_its_end(installed, make_environment, tmp_path):
    folder = make_environment(sys.executable, "six==1.17.0")
    (tmp_path / "sitecustomize.py").write_text("import atexit, os; atexit.register(os.mkdir, 'done')\n")

    done = run(installed, cwd=tmp_path, env=environment(VIRTUAL_ENV=str(folder), PYTHONPATH=str(tmp_path)))

    assert done.returncode == 0
    assert done.stdout.endswith(" rules)\n")
    assert (tmp_path / "done").exists()


def test_the_wheel_carries_the_rules_compiled_and_no_yaml_of_them(wheel):
    import zipfile

    names = zipfile.ZipFile(wheel).namelist()

    assert "envdoctor/rules.idx" in names
    assert not [name for name in names if name.endswith(".yaml") and name != "envdoctor/vocabulary.yaml"]
    assert not [name for name in names if name.startswith(("tests/", "rules/", "benchmarks/"))]


def test_an_error_is_explained_without_reading_yaml(installed, tmp_path):
    (tmp_path / "error.log").write_text(
        "ImportError: cannot import name 'gone' from 'left' (/x/site-packages/left/__init__.py)"
    )

    modules = loaded(installed, "explain", str(tmp_path / "error.log"), "--no-target", status="1", PATH="")

    assert not [name for name in modules if name.partition(".")[0] == "yaml"]


def test_the_public_names_are_lazy():
    done = run(
        sys.executable, "-c", "import sys, envdoctor; print('envdoctor.doctor' in sys.modules); envdoctor.diagnose"
    )

    assert done.stdout.split() == ["False"]
