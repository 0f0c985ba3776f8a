"""Rules of a few lines against snapshots of a few lines: what is found, in which order, and what is prescribed."""

import pytest
from engine.rule_bases import base, diagnose, rule, snapshot

from envdoctor.engine.metadata_conflicts import Requirements, defects
from envdoctor.engine.wording import fill
from envdoctor.facts import NOT_RECORDED

CONSUMERS = {
    "right": {"bad": "<1.4", "works": "1.4"},
    "wrong-way": {"bad": ">=0.3", "works": None, "module": "wrong"},
    "third": {"bad": "<9", "works": "9.1"},
}


def found(here, *rules):
    return diagnose(here, [base(*rules)])[0]


def test_the_most_severe_come_first_then_by_rule_and_consumer():
    rules = [
        rule("b-info", severity="info"),
        rule("z-error"),
        rule("m-warning", severity="warning"),
        rule("a-error", consumers=CONSUMERS),
    ]

    findings = found(snapshot({"left": "2.1", "third": "1", "right": "1.0"}), *rules)

    assert [(one.rule, one.consumer) for one in findings] == [
        ("a-error", "right"), ("a-error", "third"), ("z-error", None), ("m-warning", None), ("b-info", None),
    ]  # fmt: skip


def test_a_consumer_may_be_less_severe_than_its_rule_and_not_more():
    lines = {**CONSUMERS, "third": {**CONSUMERS["third"], "severity": "warning"}}
    here = snapshot({"left": "2.1", "third": "1", "right": "1.0"})

    assert [(one.consumer, one.severity) for one in found(here, rule(consumers=lines))] == [
        ("right", "error"), ("third", "warning"),
    ]  # fmt: skip
    assert {one.severity for one in found(here, rule(severity="info", consumers=lines))} == {"info"}


def test_several_rule_bases_are_one():
    here = snapshot({"left": "2.1"})

    findings, _ = diagnose(here, [base(rule("b")), base(rule("a"))])

    assert [one.rule for one in findings] == ["a", "b"]


def test_a_consumer_is_named_with_its_evidence_and_its_remedy():
    written = rule(
        title="{consumer} before {works} imports {module}",
        why="{consumer} does {THIS}.",
        consumers=CONSUMERS,
        remedies=[{"upgrade": "{consumer}>={works}"}, {"uninstall": "{consumer}"}],
    )

    right, wrong = found(snapshot({"left": "2.1", "right": "1.0", "wrong-way": "0.4", "third": "9.0"}), written)

    assert right.title == "right before 1.4 imports right"
    assert wrong.title == "wrong-way imports wrong", "no release of it works"
    assert right.why == "right does {THIS}."
    assert list(right.packages) == ["right", "left"]
    assert [(one.fact, one.value) for one in right.evidence] == [("packages.right", "1.0"), ("packages.left", "2.1")]
    assert [(one.kind, one.requirement or one.package) for one in right.remedies] == [
        ("upgrade", "right>=1.4"), ("uninstall", "right"),
    ]  # fmt: skip
    assert [(one.kind, one.requirement or one.package) for one in wrong.remedies] == [("uninstall", "wrong-way")]


def test_a_member_of_a_family_stands_for_it():
    (finding,) = found(snapshot({"left-gpu": "2.1"}), rule())

    assert "left-gpu" in finding.packages
    assert finding.evidence[0].fact == "packages.left-gpu"


def test_what_must_be_absent_is_not_what_a_finding_is_about():
    (finding,) = found(snapshot({"left": "2.1"}), rule(when={"packages": {"left": ">=2", "right": "absent"}}))

    assert list(finding.packages) == ["left"]
    assert ("packages.right", "not installed") in [(one.fact, one.value) for one in finding.evidence]


@pytest.mark.parametrize(
    ("python", "offered"), [("3.8", ["install"]), ("3.7", ["downgrade"]), (None, ["downgrade", "install"])]
)
def test_a_remedy_is_offered_where_its_condition_may_hold(python, offered):
    written = rule(remedies=[
        {"downgrade": "left<2", "when": {"python": "<3.8"}}, {"install": "left-compat", "when": {"python": ">=3.8"}},
    ])  # fmt: skip

    (finding,) = found(snapshot({"left": "2.1"}, python=python), written)

    assert [one.kind for one in finding.remedies] == offered


def test_a_remedy_keeps_what_its_author_said_of_it():
    stated = {"setenv": {"LEFT": "1"}, "safety": "workaround", "effect": "it is slow"}

    (finding,) = found(snapshot({"left": "2"}), rule(remedies=[stated, {"pin": ["left<2", "right<2"], "at": "build"}]))

    setenv, pin = finding.remedies
    assert (setenv.name, setenv.to, setenv.safety, setenv.effect) == ("LEFT", "1", "workaround", "it is slow")
    assert (pin.requirement, pin.at) == ("left<2 right<2", "build")


def test_what_cannot_be_decided_is_unknown_with_the_rule_and_the_reason():
    written = rule(when={"packages": {"left": ">=2"}, "env": {"LEFT": {"is": "set"}}})

    findings, unknown = diagnose(snapshot({"left": "2.1"}), [base(written)])

    assert findings == []
    assert [(one.rule, one.fact, one.reason) for one in unknown] == [("left-breaks-right", "env.LEFT", NOT_RECORDED)]


def test_a_value_too_long_to_be_searched_is_unknown():
    written = rule(when={"env": {"X": {"matches": "a.*b"}}})
    values = {("env", "X"): "a" * 5000}

    findings, unknown = diagnose(snapshot(lookups=values), [base(written)])

    assert (findings, [one.reason for one in unknown]) == ([], ["its value is too long to be searched"])
    assert found(snapshot(lookups={("env", "X"): "a" * 3000 + "b"}), written)


def test_what_is_false_anyway_is_not_unknown():
    written = rule(when={"packages": {"left": "<2"}, "env": {"LEFT": {"is": "set"}}})

    assert diagnose(snapshot({"left": "2.1"}), [base(written)]) == ([], [])


def test_a_consumer_of_unknown_version_leaves_the_others_found():
    here = snapshot({"left": "2.1", "right": None, "third": "1"})

    findings, unknown = diagnose(here, [base(rule(consumers=CONSUMERS))])

    assert [one.consumer for one in findings] == ["third"]
    assert [one.fact for one in unknown] == ["packages.right"]


def test_braces_that_are_no_name_stay():
    assert fill("{a} {b} {{a}} {}", {"a": "1"}) == "1 {b} {1} {}"


# -- installed metadata ---


def requiring(requires):
    lookups = {("requirements", name): lines for name, lines in requires.items()}
    return snapshot(dict.fromkeys(requires, "1"), lookups=lookups)


def test_the_defects_of_metadata_are_found_with_what_asked_for_them():
    here = requiring({"left": ["gone"], "right": ["left>=2"]})
    rules = [
        rule("metadata-missing", when={"installed": "missing"}, title="{distribution} needs [{requirement}|more]"),
        rule(
            "metadata-incompatible", when={"installed": "incompatible"}, title="[{required} is {found}|it is another]"
        ),
    ]

    assert [(one.rule, one.title) for one in found(here, *rules)] == [
        ("metadata-incompatible", "left is 1"), ("metadata-missing", "left needs gone"),
    ]  # fmt: skip


def test_nothing_of_one_snapshot_is_told_of_another():
    first, second = requiring({"left": ["gone"]}), requiring({"left": []})

    assert [len(list(defects("missing", one))) for one in (first, second, first)] == [1, 0, 1]
    assert [len(list(defects("missing", one, Requirements(one)))) for one in (first, second)] == [1, 0]


INSTALLABLE = {"right>=2": ">=3.9", "left<2": "<3.13"}


@pytest.mark.parametrize(
    ("python", "offered"),
    [
        ("3.11", ["right>=2", "left<2"]),
        ("3.8", ["left<2"]),
        ("3.13", ["right>=2"]),
        (None, ["right>=2", "left<2"]),
    ],
)
def test_what_cannot_be_installed_on_this_python_is_left_out(python, offered):
    written = rule(remedies=[{"upgrade": "right>=2"}, {"downgrade": "left<2"}])

    (finding,) = found(snapshot({"left": "2.1"}, python=python), {**written, "installable": INSTALLABLE})

    assert [one.requirement for one in finding.remedies] == offered


def test_where_nothing_can_be_installed_another_python_comes_first():
    written = rule(remedies=[{"upgrade": ["right>=2", "third>=1"]}, {"replace": "left", "with": "right>=2"}])

    (finding,) = found(snapshot({"left": "2.1"}, python="3.8"), {**written, "installable": INSTALLABLE})

    upgrade, install = finding.remedies
    assert (upgrade.kind, upgrade.requirement) == ("upgrade", "python>=3.9 right>=2 third>=1")
    assert tuple(upgrade.action.requirements) == ("python>=3.9", "right>=2", "third>=1")
    assert (install.kind, install.package, install.action.verb) == ("install", None, "install")
    assert tuple(install.action.packages) == (), "the new environment is empty"


def test_a_release_that_a_consumer_needs_is_left_out_where_it_cannot_be_installed():
    written = rule(consumers=CONSUMERS, remedies=[{"upgrade": "{consumer}>={works}"}, {"downgrade": "left<2"}])

    findings = found(
        snapshot({"left": "2.1", "right": "1.0", "third": "1"}, python="3.8"),
        {**written, "installable": {"right>=1.4": ">=3.9"}},
    )

    assert [[one.requirement for one in finding.remedies] for finding in findings] == [
        ["left<2"], ["third>=9.1", "left<2"],
    ]  # fmt: skip
