"""conda's two formats, and the bounds of YAML."""

from __future__ import annotations

import pytest
import yaml
from known_facts import fact
from targets.test_targets_locks import data, reasons, versions, write

from envdoctor import yaml_events
from envdoctor.errors import ProbeError
from envdoctor.targets import requirements
from envdoctor.targets.locks.conda import match_spec, python_of


def test_conda_environment():
    snapshot = requirements.snapshot_of(data("conda/environment.yml"))
    assert snapshot.python == {"version": "3.11"}
    assert versions(snapshot) == {"click": None, "markupsafe": "2.1.5", "pip": None, "idna": "3.7"}
    assert not snapshot.complete
    assert snapshot.packages["idna"].path.endswith("environment.yml:10")


def test_conda_export():
    snapshot = requirements.snapshot_of(data("conda/exported.yml"))
    assert snapshot.python == {"version": "3.10.14"}
    assert versions(snapshot) == {"click": "8.1.7", "pytz": "2024.10", "pip": "24.0", "idna": "3.7", "tomli": "2.0.1"}
    assert not snapshot.complete  # conda's other names may stand for distributions that seem to be absent


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("numpy", ("numpy", None, False)),
        ("numpy=1.26", ("numpy", None, False)),
        ("numpy=1.26.*", ("numpy", None, False)),
        ("numpy=1.26.4", ("numpy", "1.26.4", False)),
        ("numpy==1.26", ("numpy", "1.26", False)),
        ("numpy 1.26.4 py311h64a7726_0", ("numpy", "1.26.4", True)),
        ("numpy=1.26=py311_0", ("numpy", "1.26", True)),
        ("conda-forge::Foo_Bar=2.0.0=0", ("foo-bar", "2.0.0", True)),
        ("conda-forge/linux-64::foo==2", ("foo", "2", False)),
        ("numpy>=1.2,<2", ("numpy", None, False)),
        ("numpy[version='>=1.2']", ("numpy", None, False)),
        ("=1", None),
    ],
)
def test_conda_specifications(written, expected):
    assert match_spec(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("python=3.11", "3.11"),
        ("python==3.11.4", "3.11.4"),
        ("python 3.9.*", "3.9"),
        ("conda-forge::python=3.10=0", "3.10"),
        ("python>=3.8", None),
        ("python", None),
        ("python-dateutil=2.8", None),
        ("python=3", None),
    ],
)
def test_conda_python(written, expected):
    assert python_of(written) == expected


def test_conda_lock():
    snapshot = requirements.snapshot_of(data("conda/conda-lock.yml"), platform="linux", machine="x86_64")
    assert versions(snapshot) == {"click": "8.1.7", "markupsafe": "2.1.5", "pytz": "2024.10", "idna": "3.7"}
    assert snapshot.python == {"version": "3.11.10"}
    assert snapshot.target["platforms"] == ["linux-64", "osx-arm64"]
    assert not snapshot.complete
    mac = requirements.snapshot_of(data("conda/conda-lock.yml"), platform="darwin", machine="arm64")
    assert versions(mac) == {"click": "8.1.7", "markupsafe": "2.1.4", "idna": "3.7"}
    both = requirements.snapshot_of(data("conda/conda-lock.yml"))
    assert versions(both) == {"click": "8.1.7", "markupsafe": None, "pytz": "2024.10", "idna": "3.7"}
    assert set(reasons(both)) == {"packages.markupsafe", "packages.pytz"}


def test_conda_lock_for_one_platform_fixes_it(tmp_path):
    lock = """
        version: 1
        metadata: {platforms: [osx-arm64]}
        package:
        - {name: idna, version: '3.10', platform: osx-arm64, manager: pip}
        """
    snapshot = requirements.snapshot_of(write(tmp_path, "project.conda-lock.yml", lock))
    assert snapshot.platform == {"system": "darwin", "machine": "arm64"}
    assert versions(snapshot) == {"idna": "3.10"}
    assert snapshot.complete
    assert fact(snapshot, "marker", "sys_platform") == "darwin"
    assert versions(requirements.snapshot_of(str(tmp_path / "project.conda-lock.yml"), platform="linux")) == {}


def test_yaml_without_the_c_library(tmp_path, monkeypatch):
    monkeypatch.setattr(yaml_events, "_LOADER", yaml.SafeLoader)
    assert versions(requirements.snapshot_of(data("conda/exported.yml")))["tomli"] == "2.0.1"
    with pytest.raises(ProbeError, match="nested more than"):
        requirements.snapshot_of(write(tmp_path, "environment.yml", "[" * 300))


def test_a_python_in_a_lock_that_is_no_version(tmp_path):
    lock = "version: 1\npackage:\n- {name: python, version: 'nine', platform: linux-64}\n"
    assert requirements.snapshot_of(write(tmp_path, "conda-lock.yml", lock)).python == {}


def test_billion_laughs(tmp_path):
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path = write(tmp_path, "environment.yml", "\n".join([*lines, "dependencies: *a11", ""]))
    with pytest.raises(ProbeError, match="with its aliases, more than"):
        requirements.snapshot_of(path)


def test_aliases_and_numbers_are_taken_as_written(tmp_path):
    path = write(tmp_path, "environment.yml", "x: &p [idna==3.10]\ndependencies:\n - python=3.10\n - pip: *p\n")
    snapshot = requirements.snapshot_of(path)
    assert versions(snapshot) == {"idna": "3.10"}
    assert snapshot.python == {"version": "3.10"}


def test_what_is_no_dependency_is_left_out_and_said(tmp_path):
    text = "dependencies:\n  - six=1.17.0\n  - [a, list]\n  - pip:\n      - idna==3.7\n      - [b]\n    npm: [left]\n"
    snapshot = requirements.snapshot_of(write(tmp_path, "environment.yml", text))

    assert versions(snapshot)["idna"] == "3.7"
    said = "\n".join(one.reason for one in snapshot.notes)
    assert "a dependency that is neither a text nor 'pip:' was left out" in said
    assert "a requirement under 'pip:' is no text, and was left out" in said
    assert "the section 'npm' is not known, and was left out" in said
