"""The texts of rules with what is known in place of what they name: no brace reaches a reader."""

import pytest

from envdoctor.engine.wording import UNNAMED, fill, placeholders, said, unsaid, whole, worded

NAMES = {"file": "a.py", "line": "3"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("in {file}", "in a.py"),
        ("{file}, {file}", "a.py, a.py"),
        ("{other} in {file}", "{other} in a.py"),
        ("{file", "{file"),
        ("{} {file}}", "{} a.py}"),
    ],
)
def test_filling_replaces_what_is_known_and_leaves_other_braces(text, expected):
    assert fill(text, NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("look [in {file}, line {line},] first", "look in a.py, line 3, first"),
        ("look [in {file} of {writer}] first", "look  first"),
        ("[Python {found}|this Python] cannot", "this Python cannot"),
        ("[Line {line}|a line] of {file}", "Line 3 of a.py"),
        ("[In {found}, ]the call fails", "The call fails"),
        ("[in {found}, ]the call fails", "the call fails"),
        ("x[0] of {file}", "x[0] of a.py"),
        ("[a|b|c] {file}", "[a|b|c] a.py"),
        ("[{line}|b|c]", "[3|b|c]"),
        ("[in {file}", "[in a.py"),
        ("{consumer} and {call}", "a consumer and a call"),
    ],
)
def test_a_clause_is_said_where_all_that_it_names_is_known(text, expected):
    assert worded(text, NAMES) == expected


def test_without_a_release_that_works_nothing_is_said_of_one():
    assert said("upgrade {consumer} before {works}", {"consumer": "left", "works": ""}) == "upgrade left"
    assert said("{consumer} before {works}", {"consumer": "left", "works": "2.0"}) == "left before 2.0"
    assert said("{consumer} before {works}", {}) == "a consumer before a later release"


def test_the_whole_text_has_every_clause():
    assert whole("look [in {file}|somewhere] and [{call}]") == "look in {file} and {call}"


def test_what_has_no_other_words_is_found_outside_of_clauses_only():
    assert unsaid("{found} in {file} [of {line}]") == ["found"]
    assert unsaid("[{found}|this] is {consumer}") == []


def test_placeholders_are_names_in_braces_in_order():
    assert placeholders("{b} {a}} {B} {} {1} {a_b} {c") == ["b", "a", "a_b"]


@pytest.mark.parametrize("name", UNNAMED)
def test_no_brace_is_left_of_what_only_a_finding_names(name):
    assert "{" not in worded(f"x {{{name}}}", {}).replace("{...}", "")
