"""Whose code the frames of a traceback are in."""

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.frames import failed_in, last_own_place, not_named, packages_in
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
