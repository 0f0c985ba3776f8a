"""Names and versions that are none: unreadable wherever they are, never said, never typed."""

import json
import os
import sys

import pytest
from conftest import run

from envdoctor import diagnose, examine
from envdoctor.errors import TargetError
from envdoctor.renderers import load

HOSTILE_NAMES = ["-r http://example.org/evil", "--index-url=http://example.org", "$(id)", "-left", "lêft", "a b"]
HOSTILE_VERSIONS = ['1.0"&calc', "$(id)", "-1", "1.0 --pre", "one", "1.0;id"]


def said(snapshot):
    """Everything that is shown of a snapshot's findings, in text and in JSON."""
    from envdoctor.doctor import check

    report = check(snapshot)
    return report, load("text")(report, width=100, color=False) + load("json")(report)


@pytest.fixture
def site(tmp_path):
    assert run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env").returncode == 0
    return next((tmp_path / "env").glob("Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages"))


def egg(site, folder, name, version, requires=""):
    (site / folder).mkdir()
    (site / folder / "PKG-INFO").write_text(
        f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n{requires}", encoding="utf-8"
    )


def test_an_installed_distribution_without_a_name_is_unreadable(site, tmp_path):
    for number, name in enumerate(HOSTILE_NAMES):
        egg(site, f"odd{number}.egg-info", name, "1.0")
    (site / "-r-1.0.dist-info").mkdir()
    egg(site, "right.egg-info", "right", "1.0")

    snapshot = examine("python", str(tmp_path / "env"))
    report, shown = said(snapshot)

    assert list(snapshot.packages) == ["right"]
    found = [one for one in report.findings if one.rule == "metadata-unreadable"]
    assert len(found) == len(HOSTILE_NAMES) + 1
    assert all("is not that of a distribution" in one.evidence[0].value for one in found)
    assert not [name for name in HOSTILE_NAMES if name in shown]
    assert not [one for one in found for remedy in one.remedies if " -r " in (remedy.command or "")]


def test_the_version_of_an_installed_distribution_is_unknown_where_it_is_none(site, tmp_path):
    for number, version in enumerate(HOSTILE_VERSIONS):
        egg(site, f"odd{number}.egg-info", f"odd{number}", version)
    (site / 'left-1.0"&calc.dist-info').mkdir()
    egg(site, "right.egg-info", "right", "1.0+local.1", "Requires-Dist: left (>=2)\n")

    snapshot = examine("python", str(tmp_path / "env"))

    versions = {name: one.version for name, one in snapshot.packages.items()}
    assert versions == {"right": "1.0+local.1", "left": None, **{f"odd{n}": None for n in range(len(HOSTILE_VERSIONS))}}
    assert {one.fact for one in snapshot.notes} == {f"packages.{name}" for name in versions if name != "right"}
    assert {one.reason for one in snapshot.notes} == {"its version is not a PEP 440 version"}
    shown = said(snapshot)[1]
    assert not [version for version in HOSTILE_VERSIONS if f" {version}" in shown.replace("\\", "")]


@pytest.mark.parametrize("line", ["-r http://example.org/evil", "--pre", "$(id) >=1", "lêft", "-left (>=1)"])
def test_a_requirement_that_is_none_makes_no_finding(line, site, tmp_path):
    egg(site, "right.egg-info", "right", "1.0", f"Requires-Dist: {line}\nRequires-Dist: missing (>=1.0)\n")

    found = diagnose(examine("python", str(tmp_path / "env")))

    commands = [remedy.command for one in found for remedy in one.remedies if one.rule == "requirement-missing"]
    assert "'missing>=1.0'" in str(commands[0]).split()
    assert len([one for one in found if one.rule == "requirement-missing"]) == 1


def test_a_snapshot_may_come_from_anybody(tmp_path):
    path = tmp_path / "facts.json"
    packages = {**dict.fromkeys(HOSTILE_NAMES, "1.0"), "left": '1.0"&calc', "right": "1.0\n", "fine": "1.0rc1"}
    duplicates = [{"name": "-r x", "version": "1"}, {"name": "left", "version": "$(id)"}]
    target = {"kind": "interpreter", "installer": "-r evil"}
    path.write_text(json.dumps({"packages": packages, "duplicates": duplicates, "target": target}), encoding="utf-8")

    snapshot = examine("snapshot", str(path))

    assert {name: one.version for name, one in snapshot.packages.items()} == {
        "left": None,
        "right": None,
        "fine": "1.0rc1",
    }
    assert [(one.name, one.version) for one in snapshot.duplicates] == [("left", None)]
    assert "installer" not in snapshot.target
    assert {one.fact: one.reason for one in snapshot.notes} == {
        "packages": "6 of the names are not those of distributions (PEP 508), and were left out",
        "packages.left": "its version is not a PEP 440 version",
        "packages.right": "its version is not a PEP 440 version",
    }


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("uv.lock", 'version = 1\n[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{registry = "x"}}\n'),
        ("poetry.lock", '[[package]]\nname = "{name}"\nversion = "{version}"\n[metadata]\ncontent-hash = "x"\n'),
        ("pdm.lock", '[metadata]\ncontent_hash = "x"\n[[package]]\nname = "{name}"\nversion = "{version}"\n'),
        ("pylock.toml", 'lock-version = "1.0"\n[[packages]]\nname = "{name}"\nversion = "{version}"\n'),
        ("Pipfile.lock", '{{"default": {{"{name}": {{"version": "=={version}"}}}}, "_meta": {{}}}}'),
        ("requirements.txt", "{name}=={version}\n"),
        ("environment.yml", "dependencies:\n- pip:\n  - {name}=={version}\n"),
    ],
)
def test_every_reader_of_locks_refuses_names_and_versions_that_are_none(file, text, tmp_path):
    def packages(name, version):
        (tmp_path / file).write_text(text.format(name=name, version=version), encoding="utf-8")
        try:
            found = examine("requirements", str(tmp_path / file), python_version="3.11")
        except TargetError:
            return {}
        return {one.name: one.version for one in found.packages.values()}

    assert packages("left", "1.0.post1") == {"left": "1.0.post1"}
    for name in HOSTILE_NAMES:
        assert set(packages(name, "1.0")) <= {"a"}, name
    for version in HOSTILE_VERSIONS[1:]:
        assert set(packages("left", version).values()) <= {None, "1.0"}, version
