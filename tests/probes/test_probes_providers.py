"""Files of installed distributions -> whose an import name is, what a module offers, who asks for a name."""

import os

import pytest

from envdoctor.model import Distribution
from envdoctor.probes import providers


@pytest.fixture
def install(tmp_path):
    """Write a distribution as an installer does; ``lists`` names the file that lists its files."""

    def write(name, files, header="", lists="RECORD"):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        for file, text in files.items():
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{header}\n\n")
        (info / lists).write_text("".join(f"{file},,\n" for file in files) if lists == "RECORD" else "\n".join(files))
        return Distribution(name=name, version="1.0", path=str(info), location=str(tmp_path))

    return write


def test_import_names_are_told_by_the_lists_of_files(install):
    packages = {
        one.name: one
        for one in (
            install("right-pad", {"rightmod/__init__.py": "", "rightmod/core.py": ""}),
            install("ns-a", {"ns/a/__init__.py": ""}),
            install("ns-b", {"ns/b.py": ""}),
            install("single", {"alone.py": ""}),
            install("old", {"oldmod": ""}, lists="top_level.txt"),
        )
    }

    found = providers.provided(packages, ["rightmod.core.deep", "ns.b", "alone", "oldmod.x", "right", "nowhere", ".*"])

    assert found["rightmod"] == found["rightmod.core"] == ["right-pad"]
    assert (found["ns.b"], found["ns"]) == (["ns-b"], ["ns-a", "ns-b"])
    assert (found["alone"], found["oldmod"]) == (["single"], ["old"])
    assert {"right", "nowhere", "rightmod.core.deep"}.isdisjoint(found)


def test_of_two_that_bring_one_name_the_one_that_is_called_so_comes_first(install):
    packages = {
        one.name: one for one in (install("a-copy", {"left.py": ""}), install("left", {"left/__init__.py": ""}))
    }

    assert providers.provided(packages, ["left"]) == {"left": ["left", "a-copy"]}


@pytest.mark.parametrize(
    ("module", "name", "verdict"),
    [
        ("left", "pad", "there"),
        ("left", "gone", "gone"),
        ("left", "sub", "submodule"),
        ("left", "mentioned", None),  # in a comment: the file leaves it open
        ("left.sub", "anything", None),  # it answers for missing names
        ("left.stars", "anything", None),
        ("left.native", "pad", None),
        ("left.nowhere", "", "no-module"),
        ("left.sub", "", "there"),
        ("left/../x", "pad", None),
    ],
)
def test_what_the_file_of_a_module_tells_of_a_name(module, name, verdict, install):
    files = {
        "left/__init__.py": "from elsewhere import pad\n# mentioned\n",
        "left/sub.py": "def __getattr__(name): ...\n",
        "left/stars.py": "from elsewhere import *\n",
        "left/native.cpython-312-x86_64-linux-gnu.so": b"\0pod\0",
    }

    found = providers.offer([install("left", files)], module, name)

    assert (found and found[0]) == verdict
    if verdict in {"there", "gone"}:
        assert os.path.isfile(found[1])


def test_a_file_that_does_not_compile_is_no_obstacle(install):
    left = install("left", {"left.py": "print 'x'\npad = 1\n"})

    assert providers.offer([left], "left", "pad") is None
    assert providers.imports([left], "left") == {}


def test_imported_names_mean_the_modules_they_are_from(install):
    source = "import a.b\nimport c.d as e\nfrom f.g import h as i, j\nfrom . import k\nfrom ..l import m\n"
    right = install("right", {"right/sub/__init__.py": "", "right/sub/mod.py": source})

    assert providers.imports([right], "right.sub.mod") == {
        "a": "a", "e": "c.d", "i": "f.g", "j": "f.g", "k": "right.sub", "m": "right.l",
    }  # fmt: skip


def test_who_defines_a_class_and_who_writes_a_name(install):
    left = install("left", {"left/frame.py": "class Frame: ...\n", "left/use.py": "Frames = 1\n"})
    right = install("right", {"right.py": "import left\nleft.frame.pad()\n"})
    other = install("other", {"other.py": "import left\npad = 1\n"})

    assert providers.defining([right, left], "Frame") == "left"
    assert providers.defining([right, left], "Frames") is None
    assert providers.mentioning([right, other], "pad", "left.frame") == ["right"]


def test_no_file_outside_the_directory_of_the_distribution_is_read(install, tmp_path):
    outside = tmp_path.parent / "outside.py"
    outside.write_text("class Frame: ...\n")
    left = install("left", {"left.py": ""})
    record = os.path.join(left.path, "RECORD")
    with open(record, "a", encoding="utf-8") as file:
        file.write(f"../outside.py,,\n{outside},,\nleft/../../outside.py,,\n")

    assert providers.defining([left], "Frame") is None


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ("Project-URL: Source, https://github.com/o/left.git", "https://github.com/o/left/issues"),
        ("Project-URL: Docs, https://left.example.org\nHome-page: https://www.github.com/o/left", "https://github.com/o/left/issues"),
        ("Project-URL: Code, https://gitlab.com/o/left/", "https://gitlab.com/o/left/-/issues"),
        ("Project-URL: Bug Tracker, https://bugs.example.org/left", "https://bugs.example.org/left"),
        ("Home-page: https://left.example.org", None),
        ("Project-URL: Source, http://github.com.evil.example/o/left", None),
    ],
)  # fmt: skip
def test_the_tracker_is_the_forge_of_the_source_or_the_stated_one(header, address, install):
    assert providers.tracker(install("left", {"left.py": ""}, header)) == address
