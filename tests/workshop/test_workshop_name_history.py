"""The history of names is read from wheels on an index: here one on this machine that answers range requests."""

import zipfile

import pytest
from wheel_index import serving, wheel

from envdoctor.cli import main
from envdoctor.linker.history import History
from envdoctor.linker.index_files import File
from envdoctor.probes.wheel_files import BLOCK, members
from envdoctor.workshop import name_history as module
from envdoctor.workshop.name_history import chosen, history

SOURCES = {
    "1.0": {
        "left/__init__.py": "def run(first, second): ...",
        "left/old.py": "",
        "left/tests/test_x.py": "def x(): ...",
    },
    "1.1": {"left/__init__.py": "def run(first): ...", "left/old.py": "", "left/core.py": "LIMIT = 1"},
    "2.0": {
        "left/__init__.py": "def run(first): ...",
        "left/core.py": "def broken(:",
        "left/fast.cp311-win_amd64.pyd": "",
    },
}


@pytest.fixture
def index(monkeypatch, tmp_path):
    wheels = {
        f"left-{version}-cp311-cp311-manylinux_2_17_x86_64.whl": wheel(
            sources, version=version, ballast="left/ballast.bin"
        )
        for version, sources in SOURCES.items()
    }
    with serving(monkeypatch, tmp_path / "cache", wheels) as server:
        yield server


@pytest.mark.usefixtures("index")
def test_names_that_some_releases_lack_are_told_with_the_releases_that_have_them():
    found = history("left", lambda _: None)
    assert found["releases"] == ["1.0", "1.1", "2.0"]
    assert found["roots"] == ["left"]
    assert found["names"] == {"0-0": ["left.run:second"], "0-1": ["left.old"], "1-": ["left.core"], "2-": ["left.fast"]}


def test_of_a_large_wheel_only_the_parts_that_hold_python_files_are_fetched(index):
    history("left", lambda _: None)
    for name, content in index.wheels.items():
        fetched = sum(size for asked, size in index.asked if asked == name)
        assert 0 < fetched <= 3 * BLOCK < len(content)


def test_what_was_read_once_is_kept(index):
    history("left", lambda _: None)
    index.wheels = dict.fromkeys(index.wheels, b"")
    assert history("left", lambda _: None)["names"]["0-1"] == ["left.old"]


def test_a_release_that_cannot_be_read_is_left_out_and_said(index):
    broken = next(iter(index.wheels))
    index.wheels[broken] = b"no archive" * BLOCK
    said = []
    assert history("left", said.append)["releases"] == ["1.1", "2.0"]
    assert any("1.0 left out" in line for line in said)


def test_members_that_are_not_wanted_have_no_content(index):
    name, content = next(iter(index.wheels.items()))
    address = f"http://127.0.0.1:{index.server_port}/{name}"
    found = dict(members(address, len(content), lambda path: path.endswith("old.py")))
    assert found["left/old.py"] == b""
    assert found["left/ballast.bin"] is None


def test_with_many_releases_fewer_of_each_version_are_read():
    every = [File(version=f"{a}.{b}.{c}", address="", size=0) for a in range(3) for b in range(5) for c in range(4)]
    assert [one.version for one in chosen(every, 30)][:4] == ["0.0.0", "0.0.3", "0.1.0", "0.1.3"]
    assert [one.version for one in chosen(every, 15)][:3] == ["0.0.3", "0.1.3", "0.2.3"]
    assert [one.version for one in chosen(every, 6)] == ["0.0.0", "0.4.3", "1.0.0", "1.4.3", "2.0.0", "2.4.3"]


@pytest.mark.usefixtures("index")
def test_the_command_writes_a_file_that_answers_and_says_what_it_could_not_read(tmp_path, capsys):
    path = tmp_path / "history.zip"
    assert main(["rules", "history", "Left", "-o", str(path)]) == 0
    assert "left: 3 releases, 1.0 to 2.0; 4 names" in capsys.readouterr().out
    assert History(zipfile.ZipFile(path)).life("left.old")[0].gone == "2.0"
    before = path.read_bytes()
    assert main(["rules", "history", "right", "-o", str(path)]) == 1
    assert "right" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_the_names_of_tests_and_private_modules_are_left_out():
    assert module._module("left/tests/test_x.py") == ("", False)
    assert module._module("left/__init__.py") == ("left", True)
    assert module._module("left-1.0.dist-info/RECORD") == ("", False)
    assert module._module("left-1.0.data/purelib/left/a.py") == ("", False)
