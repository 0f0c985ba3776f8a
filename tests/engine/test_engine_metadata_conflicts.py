"""The duties of pip check, on snapshots of five lines."""

import pytest
from known_facts import facts_of

from envdoctor.engine.markers import VARIABLES
from envdoctor.engine.metadata_conflicts import Requirements, asked, defects, few
from envdoctor.engine.tags import mismatch
from envdoctor.facts import INSTALLED, MARKER, METADATA, NOT_RECORDED
from envdoctor.model import Distribution, Location, Snapshot, Unknown


def snapshot(packages, requires=None, python="3.11.4", **answers):
    facts = {("requirements", name): lines for name, lines in (requires or {}).items()}
    facts.update({(kind, key): value for kind, table in answers.items() for key, value in table.items()})
    facts.setdefault(("marker", "sys_platform"), "linux")
    installed = {
        name: Distribution(name=name, version=version, path=f"/s/{name}", location="/s")
        for name, version in packages.items()
    }
    return Snapshot(
        target={},
        source="here",
        python={"version": python, "implementation": "cpython", "free_threaded": False},
        platform={"system": "linux", "machine": "x86_64"},
        packages=installed,
        facts=facts_of(facts, installed),
    )


def whole(kind, here):
    """Each defect of a kind, with its evidence and the words of a rule's texts."""
    return [
        (owner, [(one.fact, one.value, str(one.source)) for one in evidence], words)
        for owner, evidence, words in defects(kind, here)
    ]


def names(kind, *args, **kwargs):
    return [(owner, words["requirement"]) for owner, _, words in defects(kind, snapshot(*args, **kwargs))]


def test_a_missing_requirement_comes_with_the_chain_that_asks_for_it():
    requires = {
        "app": ["lib>=1"],
        "lib": ["Deep_Thing[x] >=2 ; sys_platform == 'linux'", "win ; sys_platform == 'win32'"],
    }

    assert whole("missing", snapshot({"app": "1.0", "lib": "1.5"}, requires)) == [(
        "lib",
        [("requirements.lib", "app → lib 1.5 → Deep_Thing[x] >=2", "/s/lib"), ("packages.deep-thing", "not installed", "here")],
        {"distribution": "lib", "requirement": "Deep_Thing[x] >=2", "required": "deep-thing", "found": "not installed"},
    )]  # fmt: skip


def test_a_conflict_names_what_is_there_instead():
    assert whole("incompatible", snapshot({"app": "1.0", "lib": "1.5"}, {"app": ["Lib>=2"]})) == [(
        "app", [("requirements.app", "app 1.0 → Lib>=2", "/s/app"), ("packages.lib", "1.5", "/s/lib")],
        {"distribution": "app", "requirement": "Lib>=2", "required": "lib", "found": "1.5"},
    )]  # fmt: skip


def test_a_long_chain_is_cut_at_its_beginning_and_extras_ask_for_nobody():
    requires = {f"n{at}": [f"n{at + 1}"] for at in range(8)} | {"z": ["n8; extra == 'x'"]}
    packages = dict.fromkeys(["z", *(f"n{at}" for at in range(8))], "1")
    ((_, ((_, chain, _), _), _),) = whole("missing", snapshot(packages, requires))
    assert chain == "n1 → n2 → n3 → n4 → n5 → n6 → n7 1 → n8"


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

    assert whole("requires-python", snapshot({"silent": "1", "new": "1", "old": "1", "none": "1"}, **answers)) == [(
        "old", [("requires_python.old", "old 1 requires Python >=2.7,<3.11", "/s/old"), ("python", "3.11.4", "here")],
        {"distribution": "old", "requirement": ">=2.7,<3.11", "found": "3.11.4"},
    )]  # fmt: skip
    assert names("requires-python", {"old": "1"}, python=None, requires_python={"old": "<3"}) == []
    assert names("requires-python", {"typing": "1"}, requires_python={"typing": "<3"}) == []  # Python's own comes first


def test_a_wheel_for_another_machine():
    answers = {"tags": {"bad": ["cp311-cp311-win_amd64", "cp311-cp311-win32"], "good": ["py3-none-any"], "none": []}}
    assert whole("platform", snapshot({"none": "1", "good": "1", "bad": "2", "unknown": "1"}, **answers)) == [(
        "bad", [("tags.bad", "bad 2 was built for cp311-cp311-win_amd64", "/s/bad")],
        {"distribution": "bad", "requirement": "cp311-cp311-win_amd64", "found": "cp311-cp311-win_amd64"},
    )]  # fmt: skip


@pytest.mark.parametrize(("tags", "fits"), [
    (["py3-none-any"], True), (["py2-none-any", "py3-none-any"], True),
    (["cp311-cp311-manylinux_2_17_x86_64"], True), (["cp310-cp310-manylinux_2_17_x86_64"], False),
    (["cp38-abi3-manylinux_2_17_x86_64"], True), (["cp312-abi3-linux_x86_64"], False),
    (["cp311-cp311-win_amd64"], False), (["cp311-cp311-macosx_11_0_arm64"], False),
    (["cp311-cp311-linux_aarch64"], False), (["cp311-cp311t-linux_x86_64"], False),
    (["py3-none-manylinux2014_x86_64"], True), (["cp311-none-any"], True), (["cp310-none-any"], False), (["cp3-cp3-any"], False),
    (["cp27-abi3-any"], False), (["cp3-abi3-any"], True), (["cp-cp-any"], True), (["cp311-cp311-odd", "cp310-cp310-any"], True),
    (["py27-none-linux_i686"], False), (["cp311-cp311-manylinux1_i386"], False), (["py3-none-musllinux_1_2_x86_64"], True),
    (["py2-none-any"], True), (["cp311-cp310-linux_x86_64"], True), (["cp311-cp311-linux"], True), (["a-b-c-d"], True),
    (["cp311-cp311d-win_amd64"], False), (["py3-none-win32"], False), (["cp310-cp310-any", "py3-none-any"], True),
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

    nobody = same.replace(name="nobody")
    assert whole("duplicate", here.replace(duplicates=[behind, nobody, same])) == [(
        "x", [("packages.x", "2.0", "/s/x"), ("packages.x", "1.0", "here")],
        {"distribution": "x", "requirement": "1.0", "found": "2.0"},
    )]  # fmt: skip
    assert list(defects("duplicate", here.replace(duplicates=[behind]))) == []


def test_leftovers_and_what_could_not_be_read():
    unreadable = [("C:\\s\\Big_X-1.dist-info", "no"), ("/s/!-1", "no")]
    here = snapshot({}, installed={"leftover": [("/s/~umpy-1.0.dist-info", "left")], "unreadable": unreadable})
    path = "/s/~umpy-1.0.dist-info"
    words = {"distribution": "umpy", "requirement": path, "found": "left"}
    assert whole("leftover", here) == [("umpy", [("installed.leftover", "left", path)], words)]
    assert [owner for owner, _, _ in whole("unreadable", here)] == ["big-x", "!-1"]
    assert whole("leftover", snapshot({})) == []


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (["missing"], ["metadata", "marker"]), (["platform", "drift"], ["metadata", "marker", "installed"]),
        (["unreadable", "drift", "leftover"], ["installed"]), (["duplicate"], []),
    ],
)  # fmt: skip
def test_a_kind_of_defect_asks_for_what_it_needs(kinds, wanted):
    found = asked(kinds, snapshot({"b": "2", "a": "1"}))
    assert [kind.name for kind in found] == wanted
    assert list(found.get(METADATA, [("b", "2"), ("a", "1")])) == [("b", "2"), ("a", "1")]
    assert list(found.get(MARKER, VARIABLES)) == list(VARIABLES)
    assert list(found.get(INSTALLED, ())) == sorted({*kinds} & {"unreadable", "drift", "leftover"})


def test_what_differs_from_the_lock_file_is_one_defect():
    where = Location("/p/uv.lock", 3)
    here = snapshot(dict.fromkeys("abcde", "1"), installed={"drift": [(name, "2", where) for name in "abcde"]})
    ((owner, evidence, words),) = whole("drift", here)
    assert evidence[:2] == [("packages.a", "1", "/s/a"), ("lock.a", "2", "/p/uv.lock:3")]
    assert (owner, len(evidence)) == ("a", 10)
    assert words == {
        "distribution": "a", "requirement": "uv.lock", "found": "a, b, c and 2 more", "lock": "uv.lock", "sync": "uv sync",
    }  # fmt: skip


@pytest.mark.parametrize(("reason", "noted"), [("the lock is damaged", ["the lock is damaged"]), (NOT_RECORDED, [])])
def test_a_lock_file_that_cannot_be_read_is_noted(reason, noted):
    here = snapshot({}, installed={"drift": Unknown(reason=reason)})
    requirements = Requirements(here)
    assert list(defects("drift", here, requirements)) == []
    assert [(one.rule, one.fact, one.reason) for one in requirements.notes] == [
        (None, "installed.drift", said) for said in noted
    ]


@pytest.mark.parametrize(("number", "said"), [(2, "a, b"), (3, "a, b, c"), (4, "a, b, c and 1 more")])
def test_a_few_names(number, said):
    assert few("abcd"[:number]) == said


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
