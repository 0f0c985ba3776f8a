"""Whose code the frames of a traceback are in."""

from types import SimpleNamespace

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.frames import failed_in, last_own_place, not_named, own_frames, packages_in
from envdoctor.probes.error_text import read

LINE = '  File "{}", line {}, in f\n    x()\n'
SITE = "/e/lib/python3.11/site-packages"


def text(*frames, error="ValueError: x"):
    return read("Traceback (most recent call last):\n" + "".join(LINE.format(*frame) for frame in frames) + error)


@pytest.mark.parametrize(
    ("frames", "place"),
    [
        (
            [("/home/me/a.py", 3), ("/home/me/b.py", 4), (SITE + "/left/x.py", 5)],
            {"file": "/home/me/b.py", "line": "4"},
        ),
        ([("<string>", 1), (SITE + "/left/x.py", 5), ("/usr/lib/python3.11/ast.py", 9)], {}),
    ],
)
def test_the_last_place_in_own_code(frames, place):
    assert last_own_place(text(*frames)) == place


def test_packages_are_those_of_installed_frames():
    said = text(("/home/me/a.py", 3), (SITE + "/left/x.py", 5), (SITE + "/rightmod/y.py", 5))

    assert packages_in(said) == {"left", "rightmod"}
    assert not_named(said, snapshot({"Left": "1"})) == {"left", "rightmod"}
    assert not_named(said, snapshot({"left": "1", "right": "1"})) == {"rightmod"}


SOURCE = ["source", "", ["left.gone"], {}]


@pytest.mark.parametrize(
    ("when", "last", "package"),
    [
        (SOURCE, "/rightmod/y.py", "rightmod"),
        (SOURCE, "/left/y.py", None),  # the project may have called it
        (["all", ["python"], SOURCE], "/rightmod/y.py", "rightmod"),
        (["any", ["python"], SOURCE], "/rightmod/y.py", None),  # it may hold without any source
        (["any", ["source", "", ["a.b"], {}], SOURCE], "/rightmod/y.py", "rightmod"),
        (["python"], "/rightmod/y.py", None),
    ],
)
def test_code_of_a_package_that_did_what_a_rule_says_of_the_project(when, last, package):
    said = text(("/home/me/a.py", 3), (SITE + last, 5))

    assert failed_in(said, {"when": when}) == package
    assert failed_in(text((SITE + last, 5), ("/home/me/a.py", 3)), {"when": when}) is None


@pytest.mark.parametrize(
    ("frames", "own"),
    [
        ([("/home/me/a.py", 3), ("/home/me/b.py", 4)], ["/home/me/b.py", "/home/me/a.py"]),
        ([("<stdin>", 3), ("/home/me/b.py", 4), ("<string>", 1)], ["/home/me/b.py"]), ([], []),
        ([(SITE + "/left/x.py", 5), ("/home/me/a.py", 3)], ["/home/me/a.py"]), ([("/usr/lib/python3.11/ast.py", 9)], []),
    ],
)  # fmt: skip
def test_the_frames_of_own_code_the_last_first(frames, own):
    assert [one.file for one in own_frames(text(*frames))] == own


def test_own_frames_of_several_failures_are_those_of_the_last_first():
    first = "Traceback (most recent call last):\n" + LINE.format("/home/me/a.py", 1) + "KeyError: 1"
    last = "Traceback (most recent call last):\n" + LINE.format("/home/me/b.py", 2) + "ValueError: x"
    said = read(f"{first}\n\nDuring handling of the above exception, another exception occurred:\n\n{last}")
    assert [(one.file, one.line) for one in own_frames(said)] == [("/home/me/b.py", 2), ("/home/me/a.py", 1)]
    assert last_own_place(said) == {"file": "/home/me/b.py", "line": "2"}


def test_a_frame_without_a_line_or_a_file_is_no_place():
    here = SimpleNamespace(file="/home/me/a.py", line=None, installed=False, standard_library=False)
    bare = SimpleNamespace(line=4, installed=False, standard_library=False)
    empty = SimpleNamespace(file="", line=4, installed=False, standard_library=False)
    said = SimpleNamespace(failures=[SimpleNamespace(frames=[here, bare, empty])])
    assert list(own_frames(said)) == []
    assert last_own_place(said) == {}
    assert packages_in(SimpleNamespace(failures=[SimpleNamespace(frames=[bare])])) == set()


@pytest.mark.parametrize(
    ("when", "package"),
    [
        (["all", ["any", SOURCE, ["python"]]], None), (["all", ["python"], ["env"]], None), (["any"], None),
        (["all", ["source", "", ["left.gone", "rightmod.x"], {}]], None), (["not", SOURCE], None),
        (["any", SOURCE, ["all", ["python"], SOURCE]], "rightmod"), (["all", SOURCE, ["source", "", ["rightmod.a"], {}]], None),
    ],
)  # fmt: skip
def test_what_a_condition_needs_in_source(when, package):
    assert failed_in(text((SITE + "/rightmod/y.py", 5)), {"when": when}) == package


def test_what_depends_on_the_distribution_of_a_rule_fails_for_itself():
    """A rule about ``left-pad`` may ask for names of what is built on it; where that fails, the project did nothing."""
    uses = ["source", "name", ["left_pad.a", "right.b"], {}]
    about = {"when": ["all", ["packages", ["left-pad"], None, []], uses]}
    assert failed_in(text((SITE + "/right/y.py", 5)), about) == "right"
    assert failed_in(text((SITE + "/left_pad/y.py", 5)), about) is None
    assert failed_in(text((SITE + "/right/y.py", 5)), {"when": uses}) is None


def test_a_text_without_frames_failed_nowhere():
    assert failed_in(read("ValueError: x"), {"when": SOURCE}) is None
