"""What one rule finds together, and a pair that two rules are about."""

import pytest

from envdoctor.engine.groups import grouped, united
from envdoctor.model import Evidence, Finding, Remedy


def finding(rule, *facts, severity="error", **more):
    evidence = [Evidence(fact=fact, value="1", source="/s") for fact in facts]
    values = {"impact": "crash", "title": f"{rule} of {facts[0]}", "why": "because", "packages": [], "facts": []}
    return Finding(rule=rule, severity=severity, evidence=evidence, **{**values, **more})


def unmet(owner, name, severity="warning"):
    return finding("requirement-incompatible", f"requirements.{owner}", f"packages.{name}", severity=severity)


def each(remedies):
    return remedies


def whole(remedies):
    return [remedies[0].replace(requirement=" ".join(one.requirement for one in remedies))]


def test_a_broken_requirement_yields_to_the_rule_about_the_pair_which_gains_its_evidence():
    rule = finding("b2-removed", "packages.a", "packages.b")

    (one,) = united([rule, unmet("a", "b")])

    assert one.rule == "b2-removed"
    assert [item.fact for item in one.evidence] == ["packages.a", "packages.b", "requirements.a"]


def test_an_error_about_a_requirement_outweighs_a_warning_about_the_pair():
    rule = finding("b-needed", "packages.a", "packages.b", severity="warning")

    (one,) = united([unmet("a", "b", severity="error"), rule])

    assert one.rule == "requirement-incompatible"
    assert "packages.a" in [item.fact for item in one.evidence]


@pytest.mark.parametrize("other", [
    finding("about-one", "packages.a"), finding("about-others", "packages.a", "packages.c"),
    finding("only-slow", "packages.a", "packages.b", severity="info"), unmet("b", "a"),
])  # fmt: skip
def test_another_pair_keeps_both(other):
    assert [one.rule for one in united([other, unmet("a", "b")])] == [other.rule, "requirement-incompatible"]


def test_several_requirements_yield_to_one_rule_and_the_order_stays():
    findings = [
        finding("first", "packages.x"), finding("b2-removed", "packages.a", "packages.b"), unmet("a", "b"), unmet("c", "b")
    ]  # fmt: skip

    assert [one.rule for one in united(findings)] == ["first", "b2-removed", "requirement-incompatible"]


def test_findings_of_a_rule_have_one_title_and_one_remedy():
    several = {"several": "{count} things are broken"}
    findings = [
        finding("r", f"packages.a{n}", remedies=[Remedy(kind="install", requirement=f"b{n}")], **several)
        for n in range(3)
    ]

    group, other = grouped([*findings, finding("s", "packages.x")], whole)

    assert (group.title, group.findings, other.title) == ("3 things are broken", findings, "s of packages.x")
    assert [one.requirement for one in group.remedies] == ["b0 b1 b2"]


def test_equal_remedies_come_once_and_those_of_another_kind_apart():
    remedies = [
        [Remedy(kind="upgrade", requirement="a>=2"), Remedy(kind="pin", requirement="c<3", effect="slower")],
        [Remedy(kind="upgrade", requirement="b>=2"), Remedy(kind="pin", requirement="c<3", effect="slower")],
    ]
    findings = [finding("r", f"packages.a{n}", remedies=some) for n, some in enumerate(remedies)]

    assert [one.requirement for one in grouped(findings, each)[0].remedies] == ["a>=2", "b>=2", "c<3"]
    assert [one.requirement for one in grouped(findings, whole)[0].remedies] == ["a>=2 b>=2", "c<3"]


def test_without_a_title_for_several_the_first_is_said():
    assert grouped([finding("r", "packages.a"), finding("r", "packages.b")], each)[0].title == (
        "r of packages.a, and 1 more like it"
    )
