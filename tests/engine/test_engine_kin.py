"""What is installed is what is moved: members of families, and companions of the same minor release."""

import pytest

from envdoctor.engine.kin import fitted

KIN = {"families": {"left": ["left-cpu", "left-gpu"]}, "companions": {"left": ["left-extra"]}}


def test_the_installed_member_is_named():
    stated = {"requirements": ["Left[x] (>=2)", "other"], "packages": ["left", "other"]}

    found = fitted(stated, KIN, ["left-gpu", "other"])

    assert found == {"requirements": ["left-gpu[x]>=2", "other"], "packages": ["left-gpu", "other"]}
    assert fitted(stated, KIN, ["left", "left-gpu"])["packages"] == ["left", "other"]
    assert fitted(stated, KIN, [])["packages"] == ["left", "other"]
    assert fitted({**stated, "requirements": ["-r x"]}, KIN, [])["requirements"] == ["-r x"], "refused later"


@pytest.mark.parametrize(
    ("wanted", "companion"),
    [
        (">=2.16.1", ">=2.16"),
        (">2.15", ">=2.15"),
        ("<2.16", "<2.16"),
        ("<2.16.0", "<2.16"),
        ("<2.16.2", "<2.17"),
        ("<=2.15.1", "<2.16"),
        ("==2.15.1", "==2.15.*"),
        ("==2.15.*", "==2.15.*"),
        ("~=2.15.1", "==2.15.*"),
        ("~=2.15", "~=2.15"),
        (">=2.15,!=2.15.3,<3", ">=2.15,<3"),
        ("", ""),
    ],
)
def test_a_companion_gets_the_same_minor_release(wanted, companion):
    stated = {"requirements": ["left" + wanted], "packages": []}

    assert fitted(stated, KIN, ["left-cpu", "left-extra"])["requirements"] == [
        "left-cpu" + wanted,
        "left-extra" + companion,
    ]
    assert fitted(stated, KIN, ["left-cpu"])["requirements"] == ["left-cpu" + wanted]


def test_what_is_no_requirement_is_passed_on_with_all_that_follows():
    stated = {"requirements": ["-r x", "left>=2"], "packages": []}

    assert fitted(stated, KIN, ["left-gpu"])["requirements"] == ["-r x", "left-gpu>=2"]


def test_a_companion_that_the_rule_names_itself_is_left_as_it_is():
    stated = {"requirements": ["left>=2", "left-extra>=2.1"], "packages": []}

    assert fitted(stated, KIN, ["left", "left-extra"])["requirements"] == ["left>=2", "left-extra>=2.1"]


def test_each_requirement_brings_its_companion():
    kin = {"families": {}, "companions": {"left": ["left-extra"], "right": ["right-extra"]}}
    stated = {"requirements": ["left>=2.1", "right<3.0"], "packages": []}

    assert fitted(stated, kin, ["left", "left-extra", "right", "right-extra"])["requirements"] == [
        "left>=2.1",
        "right<3.0",
        "left-extra>=2.1",
        "right-extra<3.0",
    ]
