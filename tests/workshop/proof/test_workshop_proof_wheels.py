"""Where a trial is built of wheels alone, what is a source archive and nothing else is built all the same."""

import io
import json
import os
import sys
import tarfile

import pytest
from conftest import environment
from wheel_index import serving
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.workshop.proof import build, runner, unwheeled
from envdoctor.workshop.proof.trials import Trial, TrialEnvironment

pytestmark = pytest.mark.trials

BACKEND = """\
import pathlib, zipfile

def build_wheel(directory, settings=None, metadata=None):
    info = "{name}-{version}.dist-info"
    with zipfile.ZipFile(pathlib.Path(directory, "{name}-{version}-py3-none-any.whl"), "w") as archive:
        archive.writestr("{name}.py", "")
        archive.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{needs}")
        archive.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "/RECORD", "")
    return "{name}-{version}-py3-none-any.whl"
"""


def source(folder, name, version, *requires):
    """A source distribution of an empty module, which brings its own way of building."""
    needs = "".join(f"Requires-Dist: {line}\\n" for line in requires)
    backend = BACKEND.replace("{name}", name).replace("{version}", version).replace("{needs}", needs)
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": backend,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    }
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


@pytest.fixture
def links(tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    source(folder, "deep", "1.0")
    source(folder, "plain", "1.0", "deep")
    source(folder, "compiled", "1.0")
    wheel(folder, "compiled", "1.0", "")
    os.rename(folder / "compiled-1.0-py3-none-any.whl", folder / "compiled-1.0-cp36-cp36m-win_amd64.whl")
    return folder


@pytest.fixture
def installed(links, tmp_path, monkeypatch):
    """What comes out of a trial of wheels alone, of some requirements."""
    own = {"UV_FIND_LINKS": str(links), "ENVDOCTOR_PYTHONS": sys.executable, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in environment(UV_OFFLINE="1", UV_CACHE_DIR=str(tmp_path / "uv"), **own).items():
        monkeypatch.setenv(name, value)

    def trial(*install, wheels=True):
        place = TrialEnvironment(python=PYTHON, install=install, brief=True, wheels=wheels)
        return Trial(rule="r", name="n", kind="bad", place=place, script="import user", measured=True)

    trial.run = lambda *install: build.run_trial(trial(*install), offline=True)
    trial.of = trial
    return trial


def test_a_dependency_that_is_a_source_archive_alone_is_built_and_what_it_needs_too(installed, links):
    wheel(links, "user", "1.0", "", "plain")

    told = installed.run("user==1.0")

    assert (told["outcome"], told["installed"]) == ("passed", ["deep==1.0", "plain==1.0", "user==1.0"]), told


@pytest.mark.parametrize("needs", [["compiled"], ["plain", "compiled"], ["compiled>=1,<2", "compiled!=1.1"]])
def test_a_dependency_that_has_wheels_for_other_machines_is_not_built(installed, links, needs):
    wheel(links, "user", "1.0", "", *needs)

    told = installed.run("user==1.0")

    assert told["outcome"] == "unbuilt"
    assert "compiled" in told["reason"]
    assert "no usable wheels" in told["reason"]


def test_a_release_that_has_no_wheel_is_built_although_others_of_its_name_have_some(installed, links):
    source(links, "compiled", "0.9")
    wheel(links, "user", "1.0", "", "compiled<1")

    told = installed.run("user==1.0")

    assert told["outcome"] == "passed", told
    assert "compiled==0.9" in told["installed"]


def test_what_cannot_be_built_is_said_with_the_reason_of_its_build(installed, links):
    source(links, "broken", "1.0")
    with tarfile.open(links / "broken-1.0.tar.gz", "w:gz") as archive:
        for path, text in {"pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "gone"\n'}.items():
            entry = tarfile.TarInfo(f"broken-1.0/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    wheel(links, "user", "1.0", "", "broken")

    told = installed.run("user==1.0")

    assert told["outcome"] == "unbuilt"
    assert "no usable wheels" not in told["reason"]
    assert "broken" in told["reason"]


def test_after_the_time_that_it_may_take_nothing_more_is_built(installed, links, monkeypatch):
    wheel(links, "user", "1.0", "", "plain")
    wanted = []
    monkeypatch.setattr(unwheeled, "named", lambda said, _: wanted.append(said) or {f"one-{len(wanted)}"})
    monkeypatch.setattr(build.installing, "BRIEF_SECONDS", 2)

    told = installed.run("user==1.0")

    assert told["outcome"] == "unbuilt"
    assert "plain" in told["reason"]
    assert wanted  # without an end to its time it would go on to want more


def test_what_an_index_does_not_tell_or_uv_says_otherwise_is_not_built(installed, links):
    wanted = "hint: Wheels are required for `plain` because building from source is disabled"
    both = "Because all of:\n    plain>=0.5,<=0.9\n    plain==1.0\n have no usable wheels"

    assert unwheeled.named(f"Because plain==1.0 has no usable wheels\n{wanted}") == {"plain"}
    assert unwheeled.named(f"{both}\n{wanted}") == {"plain"}
    assert unwheeled.named(f"Because plain[more] has no usable wheels\n{wanted}") == {"plain"}
    for said in ("plain==2.0 has no usable wheels", "plain|=1 has no usable wheels", "plain==1.0 is odd", ""):
        assert unwheeled.named(f"Because {said}\n{wanted}") == set()
    assert unwheeled.named("Because plain==1.0 has no usable wheels") == set()


def test_that_something_cannot_be_built_is_remembered_unless_it_was_tried_in_another_way(installed, monkeypatch):
    unbuilt, passed = {"outcome": "unbuilt", "reason": "no usable wheels"}, {"outcome": "passed", "output": ""}
    trial, other = installed.of("user==1.0"), installed.of("user==1.0", wheels=False)

    runner.remember(trial, unbuilt)
    assert runner.remembered(trial)["outcome"] == "unbuilt"

    with monkeypatch.context() as before:
        before.setattr(runner, "BUILDS", None)
        runner.remember(trial, unbuilt)
        runner.remember(other, unbuilt)
    assert runner.remembered(trial) is None
    assert runner.remembered(other)["outcome"] == "unbuilt"

    with monkeypatch.context() as before:
        before.setattr(runner, "BUILDS", None)
        runner.remember(trial, passed)
    assert runner.remembered(trial)["outcome"] == "passed"


TAKES = "import lib\nlib.name()\n"
RULE = f"""\
id: lib-name-removed
title: lib 2 lacks a name that user takes
severity: error
impact: crash
when: {{packages: {{lib: ">=2", user: "<1.2"}}}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [{{upgrade: user>=1.2}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: import user
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.1"}}}}]
  good:
    - {{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.2"}}}}
    - {{python: "{PYTHON}", packages: {{lib: "1.0", user: "1.1"}}}}
"""


def test_the_lower_edge_is_measured_in_releases_whose_dependency_is_a_source_archive(tmp_path, links):
    wheel(links, "lib", "1.0", "def name(): return 1\n")
    wheel(links, "lib", "2.0", "")
    for version, needs in {"0.9": ["plain"], "1.0": ["plain"], "1.1": [], "1.2": []}.items():
        wheel(links, "user", version, TAKES if version != "1.2" else "", "lib", *needs)
    lab = laboratory(tmp_path, links, "lib-name-removed", UV_CACHE_DIR=str(tmp_path / "uv"))
    lab.rule.write_text(RULE)

    done = lab("verify")

    assert done.stdout.startswith("proven "), done.stdout + done.stderr
    proof = json.loads(lab.proof.read_text())
    lower = [one for one in proof["edges"] if (one["axis"], one["side"], one["kind"]) == ("user", "lower", "bad")]
    assert [one["shown"] for one in lower] == ["0.9"], proof["edges"]


def test_what_had_no_wheel_at_a_time_is_built_as_of_that_time(tmp_path, monkeypatch):
    files = {"plain-1.0.tar.gz": b"x", "plain-2.0-py3-none-any.whl": b"x"}
    days = {"plain-1.0.tar.gz": "2014-01-01T00:00:00Z", "plain-2.0-py3-none-any.whl": "2020-01-01T00:00:00Z"}
    said = "all versions of plain have no usable wheels\nhint: Wheels are required for `plain` because"

    with serving(monkeypatch, tmp_path / "cache", files, days):
        assert unwheeled.named(said, "2015-01-01") == {"plain"}
        assert unwheeled.named(said, "2021-01-01") == set()
        assert unwheeled.named(said) == set()
