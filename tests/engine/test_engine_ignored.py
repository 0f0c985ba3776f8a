"""Findings that nobody wants to see, and for how long."""

import pytest

from envdoctor.engine.ignored import set_apart
from envdoctor.model import Evidence, Finding, Ignore

TODAY = "2027-03-01"


def finding(rule="r", *packages):
    evidence = [Evidence(fact="python", value="3", source="/s")]
    return Finding(
        rule=rule, severity="error", impact="crash", title="t", why="w", packages=packages or ["flask"], facts=[],
        evidence=evidence,
    )  # fmt: skip


def wish(rule="r", **more):
    return Ignore(rule=rule, source="pyproject.toml, line 7", **more)


@pytest.mark.parametrize("one", [
    wish(), wish(package="flask"), wish(package="Flask"), wish(until=TODAY), wish(until="2027-12-31"),
])  # fmt: skip
def test_a_finding_that_a_wish_fits_is_set_apart(one):
    kept, ignored = set_apart([finding(), finding("other")], [one], TODAY)

    assert [found.rule for found in kept] == ["other"]
    assert ignored == [(finding(), one)]


@pytest.mark.parametrize("one", [wish("other"), wish(package="django")])
def test_a_wish_that_fits_nothing_is_a_finding(one):
    kept, ignored = set_apart([finding()], [one], TODAY)

    assert ignored == []
    assert [(found.rule, found.severity) for found in kept] == [("r", "error"), ("ignore-useless", "info")]
    assert kept[1].evidence[0].source == "pyproject.toml, line 7"
    assert kept[1].title.endswith("is ignored, but there is no such finding")


@pytest.mark.parametrize("findings", [[finding()], []])
def test_after_its_last_day_a_wish_is_a_finding_and_hides_nothing(findings):
    kept, ignored = set_apart(findings, [wish(until="2027-02-28")], TODAY)

    assert ignored == []
    assert [found.rule for found in kept] == [*(found.rule for found in findings), "ignore-expired"]
    assert "2027-02-28" in kept[-1].title


def test_a_renewed_wish_beside_an_expired_one_holds():
    renewed = wish(until="2028-01-01")

    kept, ignored = set_apart([finding()], [wish(until="2026-01-01"), renewed], TODAY)

    assert ignored == [(finding(), renewed)]
    assert [found.rule for found in kept] == ["ignore-expired"]
