"""The duties of pip check, on snapshots of five lines."""

import pytest
from known_facts import facts_of

from envdoctor.engine.metadata_conflicts import Requirements, defects
from envdoctor.engine.tags import mismatch
from envdoctor.model import Distribution, Snapshot


def snapshot(packages, requires=None, python="3.11.4", **answers):
    facts = {("requirements", name): lines for name, lines in (requires or {}).items()}
    facts.update({(kind, key): value for kind, table in answers.items() for key, value in table.items()})
    facts.setdefault(("marker", "sys_platform"), "linux")
    installed = {name: Distribution(name=name, version=version, location="/s") for name, version in packages.items()}
    return Snapshot(
        target={},
        python={"version": python, "implementation": "cpython", "free_threaded": False},
        platform={"system": "linux", "machine": "x86_64"},
        packages=installed,
        facts=facts_of(facts, installed),
    )


def names(kind, *args, **kwargs):
    return [(owner, words["requirement"]) for owner, _, words in defects(kind, snapshot(*args, **kwargs))]


def test_a_missing_requirement_comes_with_the_chain_that_asks_for_it():
    requires = {
        "app": ["lib>=1"],
        "lib": ["Deep_Thing[x] >=2 ; sys_platform == 'linux'", "win ; sys_platform == 'win32'"],
    }

    ((owner, evidence, words),) = defects("missing", snapshot({"app": "1.0", "lib": "1.5"}, requires))

    assert owner == "lib"
    assert words["requirement"] == "Deep_Thing[x] >=2"
    assert words["required"] == "deep-thing"
    assert evidence[0].value == "app → lib 1.5 → Deep_Thing[x] >=2"


def test_a_ring_of_requirements_ends():
    requires = {"a": ["b"], "b": ["a", "gone"]}

    ((_, evidence, _),) = defects("missing", snapshot({"a": "1", "b": "1"}, requires))

    assert evidence[0].value.endswith("b 1 → gone")


@pytest.mark.parametrize(("line", "installed", "kind"), [
    ("x>=2", "1.9", "incompatible"), ("x>=2", "2.0", None), ("x (<2,>=1)", "2.0", "incompatible"),
    ("x", "0", None), ("x @ https://example.org/x.zip", "1", None), ("x==1.*", "1.4", None), ("x!=1.4", "1.4", "incompatible"),
    ("x>=2; extra == 'a'", "1", None), ("x>=2; python_version < '3'", "1", None), ("x~=1.4", "2.0", "incompatible"),
    ("x>=1", "2.0rc1", None), ("not a requirement at all", "1", None), ("x>=2", "2004d", None),
])  # fmt: skip
def test_an_incompatible_requirement(line, installed, kind):
    packages = {"app": "1", "x": installed}
    answers = {"marker": {"python_version": "3.11", "sys_platform": "linux"}}

    found = [k for k in ("missing", "incompatible") if names(k, packages, {"app": [line]}, **answers)]

    assert found == ([kind] if kind else [])


def test_a_marker_that_cannot_be_decided_accuses_nobody():
    assert names("missing", {"app": "1"}, {"app": ["gone; platform_release > '5'"]}) == []


def test_requires_python():
    answers = {"requires_python": {"old": ">=2.7,<3.11", "new": ">=3.8", "silent": None}}

    assert names("requires-python", {"old": "1", "new": "1", "silent": "1"}, **answers) == [("old", ">=2.7,<3.11")]


@pytest.mark.parametrize(("tags", "fits"), [
    (["py3-none-any"], True), (["py2-none-any", "py3-none-any"], True),
    (["cp311-cp311-manylinux_2_17_x86_64"], True), (["cp310-cp310-manylinux_2_17_x86_64"], False),
    (["cp38-abi3-manylinux_2_17_x86_64"], True), (["cp312-abi3-linux_x86_64"], False),
    (["cp311-cp311-win_amd64"], False), (["cp311-cp311-macosx_11_0_arm64"], False),
    (["cp311-cp311-linux_aarch64"], False), (["cp311-cp311t-linux_x86_64"], False),
    (["py3-none-manylinux2014_x86_64"], True), (["py3-none-win32"], False), (["cp310-cp310-any", "py3-none-any"], True),
    (["cp311-cp311-somethingelse"], True), (["odd"], True), (["cp3-none-any"], True), (["pp39-pypy39_pp73-linux_x86_64"], True),
])  # fmt: skip
def test_wheel_tags(tags, fits):
    assert (mismatch(tags, snapshot({})) is None) is fits


def test_no_tag_of_this_interpreter_is_called_a_mismatch():
    from packaging.tags import sys_tags

    from envdoctor import collector

    here = Snapshot(target={}, python=collector.python_facts(), platform=collector.platform_facts(), packages={})

    assert [str(tag) for tag in sys_tags() if mismatch([str(tag)], here)] == []


def test_two_of_a_name_count_only_in_one_directory():
    here = snapshot({"x": "2.0"})
    same = Distribution(name="x", version="1.0", location="/s")
    behind = Distribution(name="x", version="1.0", location="/other")

    assert [owner for owner, _, _ in defects("duplicate", here.replace(duplicates=[same, behind]))] == ["x"]
    assert list(defects("duplicate", here.replace(duplicates=[behind]))) == []


def test_leftovers_and_what_could_not_be_read():
    answers = {
        "installed": {"leftover": [("/s/~umpy-1.0.dist-info", "left")], "unreadable": [("/s/x-1.dist-info", "no")]}
    }

    assert names("leftover", {}, **answers) == [("umpy", "/s/~umpy-1.0.dist-info")]
    assert names("unreadable", {}, **answers) == [("x", "/s/x-1.dist-info")]


def test_a_line_counts_for_each_that_states_it_whatever_a_broken_marker_says():
    found = snapshot({"one": "1", "two": "1", "three": "1"}, {"one": ["other;b"], "two": ["b"], "three": ["b"]})
    assert [name for name, _, _ in defects("missing", found)] == ["two", "three"]


def test_lines_that_are_no_requirements_are_counted_in_one_note():
    lines = [
        "x (>=bad",
        "??? nonsense",
        "x ; python_version >> '3'",
        "gone nonsense",
        "x>=1",
        "win; sys_platform == 'win32'",
    ]
    found = snapshot({"app": "1", "x": "1", "lib": "1"}, {"app": lines, "lib": ["x>=?"]})
    requirements = Requirements(found)

    assert list(defects("missing", found, requirements)) == list(defects("incompatible", found, requirements)) == []
    (note,) = requirements.notes
    assert (note.rule, note.fact) == (None, "requirements")
    assert note.reason == "5 lines in the metadata of app, lib cannot be read as requirements (PEP 508)"


def test_what_is_only_undecided_is_no_unreadable_line():
    requirements = Requirements(snapshot({"app": "1"}, {"app": ["gone; platform_release > '5'"]}))

    assert requirements.unmet() == requirements.notes == []
