"""What requirements lead to, asked of the real uv, from a directory of tiny wheels and without a network."""

import json
import os
import sys
import zipfile

import pytest
from conftest import run
from interpreters import need
from known_facts import fact

from envdoctor import targets
from envdoctor.cli import main
from envdoctor.errors import ProbeError, UsageError
from envdoctor.targets import requirements, unpinned

#: Each release, and what it requires.
WHEELS = {
    "consumer-1.0": ["library>=1", "old-only>=1 ; python_version < '3.10'", "windows-only ; sys_platform == 'win32'"],
    "library-1.0": [], "library-2.0": [], "old_only-1.0": [], "windows_only-1.0": [], "newest_python-1.0": [],
    "machine-1.0": ["arm-only ; platform_machine == 'arm64'"], "arm_only-1.0": [],
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A directory to write files in; uv looks for wheels in another one, and nowhere else."""
    links = tmp_path / "links"
    links.mkdir()
    for stem, requires in WHEELS.items():
        name, _, version = stem.partition("-")
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {one}" for one in requires]
        lines += ["Requires-Python: >=3.12"] if name == "newest_python" else []
        with zipfile.ZipFile(links / f"{stem}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{stem}.dist-info/METADATA", "\n".join([*lines, "", ""]))
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{stem}.dist-info/RECORD", "")
    config = tmp_path / "uv.toml"
    config.write_text(f"no-index = true\noffline = true\nfind-links = [{json.dumps(str(links))}]\n")
    monkeypatch.setenv("UV_CONFIG_FILE", str(config))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def write(folder, text, name="requirements.txt"):
    (folder / name).write_text(text)
    return str(folder / name)


def versions(snapshot):
    return {name: found.version for name, found in snapshot.packages.items()}


@pytest.mark.parametrize(
    ("options", "also"),
    [
        (("3.11", "linux", "x86_64"), set()),
        (("3.9.7", "linux", None), {"old-only"}),
        (("3.11", "win32", "x86_64"), {"windows-only"}),
        (("3.11", "darwin", "arm64"), {"arm-only"}),
        (("3.11", "darwin", "x86_64"), set()),
    ],
)
def test_what_would_be_installed_depends_on_python_and_platform(folder, options, also):
    path = write(folder, "consumer\nlibrary<2\nmachine\n")

    snapshot = requirements.snapshot_of(path, *options, resolve=True)

    assert versions(snapshot) == {"consumer": "1.0", "library": "1.0", "machine": "1.0", **dict.fromkeys(also, "1.0")}
    assert snapshot.complete
    assert not snapshot.notes
    assert snapshot.python == {"version": options[0]}
    assert snapshot.platform["system"] == options[1]
    assert snapshot.target["resolved"] == "uv"
    assert snapshot.packages["library"].path == f"{path}, resolved by uv"
    assert (folder / "requirements.txt").read_text() == "consumer\nlibrary<2\nmachine\n"
    assert [one.name for one in folder.iterdir()] == ["requirements.txt"]


def test_without_a_platform_it_is_this_machine(folder):
    snapshot = requirements.snapshot_of(write(folder, "library"), "3.12", resolve=True)

    assert snapshot.platform["system"] == ("win32" if sys.platform == "win32" else sys.platform)
    assert snapshot.platform["machine"]
    assert fact(snapshot, "marker", "sys_platform") == sys.platform


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.in", "-r more.in\n-c limits.txt\n"),
        ("pyproject.toml", '[project]\nname = "mine"\nversion = "1"\ndependencies = ["consumer", "library<2"]\n'),
        ("setup.cfg", "[metadata]\nname = mine\n[options]\ninstall_requires = consumer\n"),
    ],
)
def test_files_that_state_requirements(folder, name, text):
    write(folder, "consumer\n", "more.in")
    write(folder, "library<2\n", "limits.txt")
    path = write(folder, text, name)
    if name == "setup.cfg":  # it takes a build, which takes setuptools
        with pytest.raises(ProbeError, match="could not be resolved by uv"):
            requirements.snapshot_of(path, "3.11", "linux", resolve=True)
    else:
        assert versions(requirements.snapshot_of(path, "3.11", "linux", resolve=True)) == {
            "consumer": "1.0",
            "library": "1.0",
        }


def test_a_resolved_file_is_judged_like_a_lock(folder, capsys):
    path = write(folder, "consumer\n")
    words = ["-r", path, "--python-version", "3.11", "--platform", "linux"]

    assert main(words) == 0
    assert "✓" not in capsys.readouterr().out
    assert main([*words, "--resolve"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("✓ Python 3.11, 2 distributions in ")
    assert out.count("\n") == 1
    assert err in ("", f"envdoctor: resolving {path} for Python 3.11 on linux x86_64 ...\n")


def test_why_there_is_no_solution_is_said_on_one_line(folder, capsys):
    path = write(folder, "consumer\nlibrary>=3\n")

    assert main(["-r", path, "--python-version", "3.11", "--resolve"]) == 3
    out, err = capsys.readouterr()
    (line,) = [line for line in err.splitlines() if not line.startswith("envdoctor: resolving")]
    assert out == ""
    assert line.startswith(f"envdoctor: {path} could not be resolved by uv: No solution found")
    assert "library>=3" in line
    assert len(line) < 700


def test_a_release_for_another_python_is_no_solution(folder):
    path = write(folder, "newest-python\n")

    with pytest.raises(ProbeError, match=r"3\.12"):
        requirements.snapshot_of(path, "3.11", "linux", resolve=True)
    assert versions(requirements.snapshot_of(path, "3.12", "linux", resolve=True)) == {"newest-python": "1.0"}


def test_a_password_in_an_address_is_not_repeated(folder):
    path = write(folder, "thing @ https://ada:hunter2@127.0.0.1:9/thing-1.0-py3-none-any.whl\n")

    with pytest.raises(ProbeError) as error:
        requirements.snapshot_of(path, "3.11", "linux", resolve=True)
    assert "hunter2" not in str(error.value)


def test_work_that_takes_long_is_said(folder, capsys, monkeypatch):
    monkeypatch.setattr(unpinned, "_QUIET_SECONDS", 0)
    path = write(folder, "library")

    assert main(["-r", path, "--python-version", "3.12", "--platform", "win32", "--resolve", "-f", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["target"]["distributions"] == 1
    assert err == f"envdoctor: resolving {path} for Python 3.12 on win32 AMD64 ...\n"


def test_without_uv_it_says_what_to_do(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    path = write(folder, "library")
    assert versions(requirements.snapshot_of(path, "3.12", "linux", resolve=True)) == {"library": "2.0"}  # python -m uv

    monkeypatch.setitem(sys.modules, "uv", None)
    with pytest.raises(ProbeError, match="asks uv, which is not installed here: install it"):
        requirements.snapshot_of(path, "3.12", "linux", resolve=True)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("requirements.txt", ("3", "linux", None), "name it, as in --python-version"),
        ("requirements.txt", ("3.11", "linux", "sparc"), "'sparc': give --machine x86_64 or aarch64"),
        ("uv.lock", ("3.11", "linux", None), "of the format uv.lock: omit --resolve"),
        ("environment.yml", ("3.11", "linux", None), "of the format environment.yml: omit --resolve"),
    ],
)
def test_what_cannot_be_asked_of_uv_is_wrong_usage(folder, name, options, said):
    with pytest.raises(UsageError, match=said):
        requirements.snapshot_of(write(folder, "library", name), *options, resolve=True)


def test_it_is_resolved_for_the_python_at_hand_where_none_is_named(folder, capsys, monkeypatch):
    done = run("uv", "venv", "--quiet", "--python", need("3.10"), folder / ".venv")
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("VIRTUAL_ENV", str(folder / ".venv"))

    found = targets.examine(
        "requirements", write(folder, "consumer\nnewest-python ; python_version >= '3.12'\n"), resolve=True
    )

    assert found.python["version"].startswith("3.10.")
    assert versions(found) == {"consumer": "1.0", "library": "2.0"}
    assert f"which {folder}/.venv has: --python-version names another" in capsys.readouterr().err.replace(os.sep, "/")


# --- what is not resolved -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a==1\nb>=2\nc\n", "1 of 3 requirements are pinned, no version is stated of b, c, and what they require"),
        ("a==1\n", "1 of 1 requirement is pinned, and what they require in turn is not in the file"),
        ("a==1\nb==1 ; python_version < '3'\ngit+https://example.org/x.git\n", "1 of 2 requirements are pinned"),
        ("a\n-c limits.txt\n", "1 of 1 requirement is pinned"),
    ],
)
def test_a_part_is_never_called_healthy(folder, text, said, capsys):
    write(folder, "a==1\nz==9\n", "limits.txt")
    path = write(folder, text)

    assert main(["-r", path, "--python-version", "3.11"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("? Python 3.11")
    assert "nothing known to be wrong with what is pinned" in first
    assert any(said in line and "--resolve" in line for line in rest)

    main(["-r", path, "--python-version", "3.11", "-f", "markdown"])
    markdown = capsys.readouterr().out
    assert "#### Nothing known to be wrong with what is pinned" in markdown
    assert said in markdown
    main(["-r", path, "--python-version", "3.11", "-f", "json"])
    target = json.loads(capsys.readouterr().out)["target"]
    assert f"{target['pinned']} of {target['requirements']} " in said


def test_the_part_that_is_known_is_judged(folder, capsys):
    path = write(folder, "cloudpickle==1.6.0\nlibrary\n")

    assert main(["-r", path, "--python-version", "3.11"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "cloudpickle-bytecode-py311" in text
    assert "1 of 2 requirements are pinned, no version is stated of library" in text


def test_an_environment_file_says_how_many_are_pinned_too(folder, capsys):
    path = write(folder, "dependencies:\n- python=3.11\n- a=1.2.3\n- b\n- pip:\n  - c==1\n  - d>2\n", "environment.yml")

    main(["-r", path])
    out = capsys.readouterr().out
    assert "2 of 4 requirements are pinned, no version is stated of b, d, and what they" in out
    assert "--resolve" not in out
