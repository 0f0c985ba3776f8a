"""Every lock format: the same small project, locked by the tools themselves where they could be run."""

from __future__ import annotations

import json
import os
import textwrap

import pytest
from known_facts import fact

from envdoctor.errors import ProbeError
from envdoctor.model import Unknown
from envdoctor.targets import requirements
from envdoctor.targets.locks import poetry_constraints as constraints

DATA = os.path.join(os.path.dirname(__file__), os.pardir, "data", "locks")


def data(*parts):
    return os.path.normpath(os.path.join(DATA, *parts))


def versions(snapshot):
    return {name: found.version for name, found in snapshot.packages.items()}


def reasons(snapshot):
    return {one.fact: one.reason for one in snapshot.notes}


def write(folder, name, text):
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


NEW = {"idna": "3.7", "iniconfig": "2.0.0", "markupsafe": "2.1.5", "tomli": "2.0.1"}
OLD = {**NEW, "markupsafe": "2.0.1", "colorama": "0.4.6", "importlib-metadata": "7.2.1", "zipp": "3.23.1"}
FORMATS = {
    "uv/uv.lock": ("8.5.1", "8.1.8"),
    "poetry2/poetry.lock": ("8.5.1", "8.1.8"),
    "poetry1/poetry.lock": ("8.1.8", "8.1.8"),
    "pdm/pdm.lock": ("8.1.8", "8.1.8"),
    "pdm-plain/pdm.lock": ("8.1.8", "8.1.8"),
}
#: Poetry 1 does not write groups down, and pipenv has no extras of a project.
LEFT_OUT = {"poetry1/poetry.lock": {"iniconfig"}, "pipenv/Pipfile.lock": {"tomli"}}


@pytest.mark.parametrize("path", FORMATS)
def test_markers_choose_the_packages(path):
    new, old = FORMATS[path]
    snapshot = requirements.snapshot_of(data(path), "3.11", "linux", "x86_64")
    assert versions(snapshot) == {**NEW, "click": new}
    assert snapshot.complete
    assert not snapshot.notes
    assert snapshot.target["format"] == os.path.basename(path)
    assert snapshot.python == {"version": "3.11"}
    assert snapshot.platform == {"system": "linux", "machine": "x86_64"}
    assert versions(requirements.snapshot_of(data(path), "3.9.2", "win32")) == {**OLD, "click": old}


@pytest.mark.parametrize("path", FORMATS)
def test_what_markers_leave_open_is_said(path):
    snapshot = requirements.snapshot_of(data(path))
    found = versions(snapshot)
    assert found["markupsafe"] is None
    assert found["idna"] == "3.7"
    assert found["colorama"] == "0.4.6"
    notes = reasons(snapshot)
    assert "--python-version" in notes["packages.markupsafe"]
    assert "--platform" in notes["packages.colorama"]
    assert snapshot.python == {}
    assert snapshot.platform == {}


@pytest.mark.parametrize("path", [*FORMATS, "uv/pylock.toml", "pipenv/Pipfile.lock", "conda/conda-lock.yml"])
def test_evidence_names_the_line(path):
    snapshot = requirements.snapshot_of(data(path), "3.11", "linux", "x86_64")
    file, line = snapshot.packages["idna"].path.rsplit(":", 1)
    assert file == data(path)
    with open(file, encoding="utf-8") as lines:
        assert "idna" in "".join(lines.read().split("\n")[int(line) - 1 : int(line) + 1])


def test_pylock():
    snapshot = requirements.snapshot_of(data("uv/pylock.toml"), "3.9", "win32")
    assert versions(snapshot) == {
        **{name: version for name, version in OLD.items() if name != "tomli"},
        "click": "8.1.8",
    }
    assert snapshot.target["requires_python"] == ">=3.9, <3.14"
    assert snapshot.target["lock_version"] == "1.0"


def test_pylock_of_another_name_and_without_versions(tmp_path):
    path = write(
        tmp_path,
        "pylock.gpu.toml",
        """
        lock-version = "1.0"
        created-by = "hand"
        extras = ["gpu"]
        [[packages]]
        name = "A_b"
        wheels = [{url = "https://index.example.org/A_b-1.2%2Bcu1-py3-none-any.whl"}]
        [[packages]]
        name = "local"
        directory = {path = "."}
        [[packages]]
        name = "two"
        version = "1.0"
        marker = "'gpu' in extras"
        [[packages]]
        name = "two"
        version = "2.0"
        marker = "'gpu' not in extras"
        [[packages]]
        name = "dev"
        version = "3.0"
        marker = "'dev' in dependency_groups and python_version >= '3.8'"
        """,
    )
    snapshot = requirements.snapshot_of(path, "3.11")
    assert versions(snapshot) == {"a-b": "1.2+cu1", "local": None, "two": None, "dev": "3.0"}
    notes = reasons(snapshot)
    assert set(notes) == {"packages.local", "packages.two"}
    assert "directory" in notes["packages.local"]
    assert "extras or groups" in notes["packages.two"]


def test_uv_members(tmp_path):
    lock = """
        version = 1
        requires-python = ">=3.12"
        [manifest]
        members = ["root", "member"]
        [[package]]
        name = "root"
        version = "0.1.0"
        source = { virtual = "." }
        dependencies = [{ name = "member" }, { name = "gone", marker = "python_full_version < '3.12'" }]
        [[package]]
        name = "member"
        source = { editable = "member" }
        dependencies = [{ name = "torchy", version = "1.0", source = { registry = "r" }, marker = "extra == 'extra-4-root-cpu'" },
                        { name = "torchy", version = "2.0", source = { registry = "r" }, marker = "extra == 'extra-4-root-gpu'" }]
        [[package]]
        name = "torchy"
        version = "1.0"
        [[package]]
        name = "torchy"
        version = "2.0"
        [[package]]
        name = "gone"
        version = "1.0"
        """
    snapshot = requirements.snapshot_of(write(tmp_path, "uv.lock", lock), "3.12")
    assert versions(snapshot) == {"member": None, "torchy": None}
    assert "built" in reasons(snapshot)["packages.member"]
    older = requirements.snapshot_of(write(tmp_path, "uv.lock", lock), "3.11")
    assert "not 3.11" in reasons(older)["packages"]


@pytest.mark.parametrize("path", [*FORMATS, "pipenv/Pipfile.lock"])
def test_what_only_an_extra_or_a_group_asks_for_is_told(path):
    found = {name for name, one in requirements.snapshot_of(data(path), "3.11").packages.items() if one.optional}
    assert found == {"iniconfig", "tomli"} - LEFT_OUT.get(path, set())


@pytest.mark.parametrize(
    ("member", "found"),
    [
        ('dependencies = [{ name = "lib" }]', set()),
        ('dependencies = [{ name = "root", extra = ["more"] }]', set()),
        ('[package.dev-dependencies]\ndev = [{ name = "lib" }]', {"lib", "below"}),
        ('[package.optional-dependencies]\nmore = [{ name = "lib" }]', {"lib", "below"}),
    ],
)
def test_what_another_member_asks_for_is_always_there(tmp_path, member, found):
    lock = f"""\
version = 1
[manifest]
members = ["root", "member"]
[[package]]
name = "root"
source = {{ editable = "." }}
[package.optional-dependencies]
more = [{{ name = "lib" }}]
[[package]]
name = "lib"
version = "1.0"
dependencies = [{{ name = "below" }}]
[[package]]
name = "below"
version = "1.0"
[[package]]
name = "member"
source = {{ editable = "member" }}
{member}
"""
    snapshot = requirements.snapshot_of(write(tmp_path, "uv.lock", lock), "3.12")
    assert {name for name, one in snapshot.packages.items() if one.optional} == found


def test_uv_lock_of_a_script(tmp_path):
    lock = """
        version = 1
        requires-python = ">=3.12"
        [manifest]
        requirements = [{ name = "idna", specifier = ">=3" }]
        [[package]]
        name = "idna"
        version = "3.7"
        """
    snapshot = requirements.snapshot_of(write(tmp_path, "tool.py.lock", lock))
    assert snapshot.target["format"] == "uv.lock"
    assert versions(snapshot) == {"idna": "3.7"}


def test_poetry_without_the_project_does_not_guess(tmp_path):
    with open(data("poetry1/poetry.lock"), encoding="utf-8") as file:
        path = write(tmp_path, "poetry.lock", file.read())
    snapshot = requirements.snapshot_of(path, "3.11", "linux")
    assert versions(snapshot)["colorama"] is None
    assert versions(snapshot)["markupsafe"] is None
    assert "pyproject.toml" in reasons(snapshot)["packages.colorama"]
    assert versions(snapshot)["idna"] == "3.7"


def test_poetry_takes_the_newest_that_all_requirements_allow(tmp_path):
    write(
        tmp_path,
        "pyproject.toml",
        """
        [tool.poetry.dependencies]
        python = "^3.8"
        numlib = [{version = ">=1.21", python = "<3.12"}, {version = ">=1.26", python = ">=3.12"}]
        other = "*"
        """,
    )
    package = '[[package]]\nname = "numlib"\nversion = "{}"\npython-versions = "{}"\n'
    locked = package.format("1.24", ">=3.8") + package.format("1.25", ">=3.9") + package.format("1.26", ">=3.9,<3.13")
    other = '[[package]]\nname = "other"\nversion = "1"\n[package.dependencies]\nnumlib = "<1.26"\n'
    end = '[metadata]\nlock-version = "2.0"\npython-versions = "^3.8"\n'
    assert versions(requirements.snapshot_of(write(tmp_path, "poetry.lock", locked + end), "3.10")) == {
        "numlib": "1.26"
    }
    path = write(tmp_path, "poetry.lock", locked + other + end)
    assert versions(requirements.snapshot_of(path, "3.10")) == {"numlib": "1.25", "other": "1"}
    assert versions(requirements.snapshot_of(path, "3.8")) == {"numlib": "1.24", "other": "1"}


def test_poetry_markers_by_group(tmp_path):
    lock = """
        [[package]]
        name = "a"
        version = "1"
        groups = ["main", "dev"]
        markers = {main = "sys_platform == 'win32'", dev = "sys_platform == 'darwin'"}
        [[package]]
        name = "b"
        version = "1"
        groups = ["main", "dev"]
        markers = {main = "sys_platform == 'win32'"}
        [metadata]
        lock-version = "2.1"
        """
    path = write(tmp_path, "poetry.lock", lock)
    assert versions(requirements.snapshot_of(path, "3.11", "linux")) == {"b": "1"}
    assert versions(requirements.snapshot_of(path, "3.11", "darwin")) == {"a": "1", "b": "1"}


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("^1.2.3", (">=1.2.3,<2",)),
        ("^0.2.3", (">=0.2.3,<0.3",)),
        ("^0.0.3", (">=0.0.3,<0.0.4",)),
        ("^0.0", (">=0.0,<0.1",)),
        ("^0", (">=0,<1",)),
        ("^3", (">=3,<4",)),
        ("~1.2.3", (">=1.2.3,<1.3",)),
        ("~1.2", (">=1.2,<1.3",)),
        ("~1", (">=1,<2",)),
        ("1.2", ("==1.2",)),
        ("1.2.*", ("==1.2.*",)),
        (">=1,<2 || >=3", (">=1,<2", ">=3")),
        (">=1 <2", (">=1,<2",)),
        ("*", ()),
        ("nonsense constraint", ()),
    ],
)
def test_poetry_constraints(constraint, expected):
    assert constraints.specifiers(constraint) == expected


def test_pipfile():
    snapshot = requirements.snapshot_of(data("pipenv/Pipfile.lock"))
    assert snapshot.python == {"version": "3.11"}
    assert versions(snapshot) == {
        "click": "8.5.1",
        "colorama": None,
        "idna": "3.7",
        "iniconfig": "2.0.0",
        "markupsafe": "2.1.5",
    }
    assert "not pinned" in reasons(snapshot)["packages.colorama"]
    assert fact(snapshot, "marker", "python_version") == "3.11"
    assert isinstance(fact(snapshot, "marker", "sys_platform"), Unknown)
    assert "colorama" not in requirements.snapshot_of(data("pipenv/Pipfile.lock"), platform="linux").packages
    assert requirements.snapshot_of(data("pipenv/Pipfile.lock"), "3.9").python == {"version": "3.9"}


def test_pipfile_origins(tmp_path):
    locked = {
        "_meta": {"pipfile-spec": 7, "requires": {"python_full_version": "3.10.4"}},
        "default": {
            "gitty": {"git": "https://index.example.org/x.git", "ref": "abc"},
            "wheel": {"file": "https://index.example.org/wheel-1.5-py3-none-any.whl"},
            "own": {"path": ".", "editable": True},
        },
        "docs": {"extra-category": {"version": "==3"}},
    }
    path = tmp_path / "Pipfile.lock"
    path.write_text(json.dumps(locked))
    snapshot = requirements.snapshot_of(str(path))
    assert versions(snapshot) == {"gitty": None, "wheel": "1.5", "own": None, "extra-category": "3"}
    assert snapshot.python == {"version": "3.10.4"}
    assert "pipfile-spec" in reasons(snapshot)["packages"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("my.lock", "uv/uv.lock"),
        ("my.lock", "poetry2/poetry.lock"),
        ("my.lock", "pdm/pdm.lock"),
        ("my.toml", "uv/pylock.toml"),
        ("lock.json", "pipenv/Pipfile.lock"),
        ("lock.yaml", "conda/conda-lock.yml"),
        ("conda.yaml", "conda/environment.yml"),
        ("requirements-dev.lock", "uv/requirements.txt"),
    ],
)
def test_other_names_are_known_by_their_contents(tmp_path, name, source):
    with open(data(source), encoding="utf-8") as file:
        path = write(tmp_path, name, file.read())
    assert requirements.snapshot_of(path).target["format"] == requirements.snapshot_of(data(source)).target["format"]


def test_a_dependency_that_no_specifier_reads_is_passed_over(tmp_path):
    path = write(
        tmp_path,
        "pdm.lock",
        """
        [metadata]
        lock_version = "4.5"
        [[package]]
        name = "six"
        version = "1.17.0"
        dependencies = ["numpy===0,~=1", "idna"]
        """,
    )
    assert versions(requirements.snapshot_of(path, "3.11")) == {"six": "1.17.0"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("uv.lock", "version = 1\n[[package]]\nname = ", "uv.lock could not be read as TOML"),
        ("uv.lock", "a = " + "[" * 5000, "TOML"),
        ("uv.lock", "x = 1", "neither 'version'"),
        ("uv.lock", "version = 1\npackage = 3", "'package' is not a list"),
        ("poetry.lock", "x = 1", "neither 'metadata'"),
        ("pdm.lock", "x = 1", "neither 'metadata'"),
        ("pylock.toml", "x = 1", "neither 'lock-version'"),
        ("pylock.toml", 'lock-version = "1.0"\npackages = {}', "not a list"),
        ("Pipfile.lock", '{"_meta": ', "Pipfile.lock:1 could not be read as JSON"),
        ("Pipfile.lock", "[]", "not an object"),
        ("Pipfile.lock", '{"_meta": []}', "not an object"),
        ("Pipfile.lock", "{}", "neither '_meta'"),
        ("Pipfile.lock", '{"default": []}', "'default' is not a table"),
        ("Pipfile.lock", "[" * 100_000, "JSON"),
        ("environment.yml", "a: [b", "environment.yml:1 could not be read as YAML"),
        ("environment.yml", "[" * 300, "nested more than"),
        ("environment.yml", "[" * 100_000, "nest"),
        ("environment.yml", "- a", "no list of 'dependencies'"),
        ("environment.yml", "", "no list of 'dependencies'"),
        ("environment.yml", "dependencies: {a: b}", "no list of 'dependencies'"),
        ("environment.yml", "a: *b", "YAML"),
        ("environment.yml", "a: \x01", "YAML"),
        ("conda-lock.yml", "package: 1", "no list of 'package'"),
        ("pyproject.toml", "[project]", "uv.lock, poetry.lock or pdm.lock"),
        ("Pipfile", "[packages]", "Pipfile.lock"),
        ("pixi.lock", "version: 6", "environment.yml"),
    ],
)
def test_errors_say_what_to_do(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_bytes(text.encode())
    with pytest.raises(ProbeError) as raised:
        requirements.snapshot_of(str(path))
    message = str(raised.value)
    assert said in message
    assert str(path) in message
    assert ": " in message
    assert "\n" not in message
    assert len(message) < 600


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", 'version = 9\n[[package]]\nname = "idna"\nversion = "3.7"\n'),
        ("pylock.toml", 'lock-version = "9.0"\n[[packages]]\nname = "idna"\nversion = "3.7"\n'),
        ("poetry.lock", '[[package]]\nname = "idna"\nversion = "3.7"\n[metadata]\nlock-version = "9.0"\n'),
        ("pdm.lock", '[[package]]\nname = "idna"\nversion = "3.7"\n[metadata]\nlock_version = "9.0"\n'),
        ("conda-lock.yml", "version: 9\npackage:\n- {name: idna, version: '3.7', platform: linux-64}\n"),
    ],
)
def test_an_unknown_version_is_read_as_well_as_can_be(tmp_path, name, text):
    snapshot = requirements.snapshot_of(write(tmp_path, name, text), platform="linux", machine="x86_64")
    assert versions(snapshot) == {"idna": "3.7"}
    assert "9" in reasons(snapshot)["packages"]


def test_pylock_takes_a_version_from_any_file_and_says_where_one_without_comes_from(tmp_path):
    files = {
        "one": 'sdist = {name = "one-1.0.tar.gz"}', "two": 'archive = {url = "https://h.org/two-2.0-py3-none-any.whl"}',
        "three": 'wheels = [{path = "wheels/three-3.0-py3-none-any.whl"}]', "four": 'vcs = {type = "git"}',
        "five": 'directory = {path = "."}', "six": 'archive = {url = "https://h.org/main.zip"}', "seven": "",
    }  # fmt: skip
    packages = "".join(f'[[packages]]\nname = "{name}"\n{text}\n' for name, text in files.items())
    snapshot = requirements.snapshot_of(write(tmp_path, "pylock.toml", f'lock-version = "1.0"\n{packages}'))

    found = versions(snapshot)
    assert [found[name] for name in files] == ["1.0", "2.0", "3.0", None, None, None, None]
    said = {name: reasons(snapshot)[f"packages.{name}"] for name in ("four", "five", "six", "seven")}
    for name, origin in zip(said, ("a repository", "a directory", "an archive", "somewhere")):
        assert f"{name} comes from {origin}, which states no version" in said[name]
