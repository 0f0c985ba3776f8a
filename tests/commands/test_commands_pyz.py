"""``envdoctor.pyz``, built by the documented command: one file, on the oldest and the newest Python, leaving no trace."""

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import interpreters
import pytest
from conftest import CHECKOUT, environment, run

pytestmark = pytest.mark.trials

PYTHONS = interpreters.each(("3.9", "3.14"))


@pytest.fixture(scope="session")
def archive(shared):
    def build(folder):
        path = folder / "envdoctor.pyz"
        folder.mkdir()
        done = run(sys.executable, "-m", "envdoctor.workshop.pyz", "-o", path, cwd=CHECKOUT, env=environment())
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"wrote {path} (")

    return shared("pyz", build) / "envdoctor.pyz"


@pytest.fixture(scope="module")
def examined(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examined") / "env"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = run("uv", "pip", "install", "--quiet", "--python", python, "jinja2", "cloudpickle<3")
    assert done.returncode == 0, done.stderr
    return folder


def listing(folder):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*"))


def test_it_holds_no_compiled_module_and_no_script(archive):
    names = zipfile.ZipFile(archive).namelist()

    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc")) or name.startswith("bin/")]
    assert "envdoctor/rules.idx" in names


@pytest.mark.parametrize("python", PYTHONS)
def test_it_examines_and_writes_nothing_there(archive, examined, python, tmp_path):
    before = listing(examined)
    variables = environment(VIRTUAL_ENV=str(examined), XDG_CACHE_HOME=str(tmp_path / "cache"))

    def envdoctor(*words, cwd=tmp_path, path=archive):
        done = run(python, path, *words, cwd=cwd, env=variables)
        assert done.stderr == ""
        assert done.returncode in {0, 1}
        return done.stdout

    assert "envdoctor " in envdoctor("--version")
    assert envdoctor().count("\n") >= 1
    found = json.loads(envdoctor("check", "-f", "json"))
    assert found["target"]["path"] == str(examined)
    assert found["target"]["distributions"] == 3
    assert found["rules"] > 10
    assert json.loads(envdoctor("-f", "json", cwd=archive.parent, path=archive.name)) == found
    assert envdoctor("report").startswith("### envdoctor report")
    facts = tmp_path / "facts.json"
    facts.write_text(envdoctor("snapshot"))
    again = json.loads(envdoctor("--snapshot", facts, "-f", "json"))["findings"]
    assert [one["rule"] for one in again] == [one["rule"] for one in found["findings"]]
    assert "requirement-missing" in envdoctor("rules", "list")
    asked = json.loads(envdoctor("--python", examined, "-f", "json"))
    assert asked["target"]["distributions"] == 3
    locks = Path(CHECKOUT, "tests", "data", "locks")
    for lock in ("uv/uv.lock", "conda/conda-lock.yml", "poetry2/poetry.lock"):
        envdoctor("-r", locks / lock, "--python-version", "3.11")
    assert listing(examined) == before


@pytest.mark.parametrize("python", interpreters.each(("3.6", "3.7", "3.8")))
def test_an_older_python_is_told_what_it_needs_in_one_line(archive, python, tmp_path):
    for words in ([], ["--version"], ["check", "-f", "json"]):
        done = run(python, archive, *words, cwd=tmp_path, env=environment())

        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("envdoctor: this needs Python 3.9 or later to run, and ")
        assert f"--python {python} to examine this one" in done.stderr


@pytest.mark.parametrize("python", PYTHONS)
def test_rules_are_written_and_linted_with_it(archive, python, tmp_path):
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    shutil.copy(next(Path(CHECKOUT, "rules").glob("pickling/cloudpickle-bytecode-*.yaml")), tmp_path)

    good = run(python, archive, "rules", "lint", "--offline", *tmp_path.glob("*.yaml"), cwd=tmp_path, env=variables)
    assert good.returncode == 0, good.stdout + good.stderr
    made = run(python, archive, "rules", "new", "my-cause", cwd=tmp_path, env=variables)
    assert made.returncode == 0, made.stderr
    bad = run(python, archive, "rules", "lint", "--offline", "my-cause.yaml", cwd=tmp_path, env=variables)
    assert bad.returncode == 1, bad.stderr
    assert "`title` is unfinished" in bad.stdout
    (tmp_path / "my-cause.yaml").unlink()
    more = run(python, archive, "--rules", tmp_path, "-f", "json", cwd=tmp_path, env=variables)
    assert more.returncode in {0, 1}, more.stderr


def test_a_copy_without_a_checkout_says_what_it_needs(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "copy")

    done = run(
        sys.executable,
        "-m",
        "envdoctor.workshop.pyz",
        cwd=tmp_path / "copy",
        env=environment(PYTHONPATH=str(tmp_path / "copy")),
    )

    assert done.returncode == 1
    assert "is no checkout of envdoctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_remembers_what_it_read_of_a_project(archive, tmp_path):
    """What is remembered is named after the code that read it, which here is in an archive."""
    (tmp_path / "main.py").write_text("import pickle\n\npickle.dumps(n for n in range(3))\n" + "print()\n" * 400)
    cache = tmp_path / "cache"
    for _ in range(2):
        done = run(
            *[sys.executable, archive, "--project", ".", "--python", sys.executable, "-f", "json"],
            cwd=tmp_path,
            env=environment(XDG_CACHE_HOME=str(cache)),
        )
        assert done.stderr == ""
        assert "live-object-given-to-pickle" in {one["rule"] for one in json.loads(done.stdout)["findings"]}
    assert len(list((cache / "envdoctor" / "source").glob("asked-*"))) == 1
