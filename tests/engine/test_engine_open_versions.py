"""A lock file leaves open which of several versions is installed: what holds for all of them holds."""

import os

import pytest
from engine.rule_bases import base, diagnose, explained, rule, snapshot
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.engine.versions import covers
from envdoctor.model import Distribution
from envdoctor.probes.error_text import read
from envdoctor.renderers.redaction import Redactor
from envdoctor.renderers.snapshot_document import render
from envdoctor.targets import requirements, snapshot_file

LOCKS = os.path.join(os.path.dirname(__file__), os.pardir, "data", "locks")
#: Real locks in which markupsafe is 2.0.1 on Python 3.9 and 2.1.5 on later ones.
FORKED = ("uv/uv.lock", "poetry2/poetry.lock", "poetry1/poetry.lock", "pdm/pdm.lock", "pdm-plain/pdm.lock")


def undecided(**candidates):
    """A snapshot in which each name may have one of several versions; ``None`` is one that is not known."""
    made = snapshot(dict.fromkeys(candidates), target={"kind": "requirements"})
    packages = {
        name: Distribution(
            name=name,
            version=None,
            candidates=[Distribution(name=name, version=one, path=f"lock:{n}") for n, one in enumerate(versions, 1)],
        )
        for name, versions in candidates.items()
    }
    return made.replace(packages=packages)


def verdict(here, **condition):
    """``True``, ``False`` or ``None`` for a rule with one condition."""
    findings, unknown = diagnose(here, [base(rule(**condition))])
    assert not (findings and unknown)
    return True if findings else None if unknown else False


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"packages": {"left": ">=1"}}, True),
        ({"packages": {"left": "<3"}}, None),
        ({"packages": {"left": ">=9"}}, False),
        ({"not": {"packages": {"left": ">=9"}}, "packages": {"left": ">=1"}}, True),
        ({"any": [{"packages": {"left": "<3"}}, {"packages": {"left": ">=4"}}]}, True),
        ({"any": [{"packages": {"left": "<3"}}, {"packages": {"left": ">=9"}}]}, None),
        ({"packages": {"left": ">=1", "right": "<2"}}, None),
        ({"packages": {"left": ">=1", "right": "<=2"}}, True),
        ({"all": [{"packages": {"left": "<3"}}, {"packages": {"left": ">3"}}]}, False),
    ],
)
def test_a_rule_holds_where_it_holds_for_every_combination(when, expected):
    here = undecided(left=("2.1", "4.0"), right=("1.0", "2.0"))

    assert verdict(here, when=when) is expected


def test_a_version_that_is_not_known_is_one_of_them():
    assert verdict(undecided(left=("2.1", None)), when={"packages": {"left": ">=2"}}) is None
    assert verdict(undecided(left=("2.1", "strange")), when={"packages": {"left": ">=2"}}) is None


def test_the_evidence_names_every_candidate():
    (finding,), unknown = diagnose(undecided(left=("2.1", "4.0")), [base(rule())])

    assert [(one.fact, one.value, one.source) for one in finding.evidence] == [
        ("packages.left", "2.1", "lock:1"), ("packages.left", "4.0", "lock:2"),
    ]  # fmt: skip
    assert unknown == []


def test_each_consumer_is_decided_by_itself():
    consumers = {"right": {"bad": "<1.4", "works": "1.4"}, "third": {"bad": "<9", "works": "9.1"}}
    here = undecided(left=("2.1", "4.0"), right=("1.0", "1.1"), third=("8", "9"))

    findings, unknown = diagnose(here, [base(rule(consumers=consumers))])

    assert [one.consumer for one in findings] == ["right"]
    assert [one.fact for one in unknown] == ["packages.third"]
    assert {one.value for one in findings[0].evidence} == {"1.0", "1.1", "2.1", "4.0"}


def test_more_combinations_than_can_be_tried_are_unknown():
    many = [f"2.{number}" for number in range(65)]

    assert verdict(undecided(left=many[:64]), when={"packages": {"left": ">=2"}}) is True
    assert verdict(undecided(left=many), when={"packages": {"left": ">=2"}}) is None


def test_an_explanation_is_confirmed_by_all_candidates():
    symptoms = [{"raises": "ImportError", "message": "cannot import name"}]
    written = rule(symptoms=symptoms, when={"packages": {"left": ">=2"}})
    text = read("ImportError: cannot import name 'gone' from 'left'")

    def confirmed(*versions):
        (finding,) = explained(text, undecided(left=versions), [base(written)]).findings
        return finding.confirmed

    assert confirmed("2.1", "4.0") is True
    assert confirmed("1.1", "4.0") is None


# --- lock files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FORKED)
@pytest.mark.parametrize(
    ("specifier", "open_", "new", "old"),
    [("<3", True, True, True), ("<2.1", None, False, True), (">=3", False, False, False)],
)
def test_the_forks_of_a_lock_file(path, specifier, open_, new, old):
    path = os.path.join(LOCKS, path)
    when = {"packages": {"markupsafe": specifier}}

    assert verdict(requirements.snapshot_of(path, platform="linux"), when=when) is open_
    assert verdict(requirements.snapshot_of(path, "3.11", "linux"), when=when) is new
    assert verdict(requirements.snapshot_of(path, "3.9", "linux"), when=when) is old


@pytest.mark.parametrize("path", FORKED)
def test_a_saved_snapshot_has_the_forks_too(path, tmp_path):
    read_now = requirements.snapshot_of(os.path.join(LOCKS, path), platform="linux")
    (tmp_path / "facts.json").write_text(render(read_now, {}, Redactor()))
    saved = snapshot_file.snapshot_of(str(tmp_path / "facts.json"))

    assert saved.packages["markupsafe"].candidates == read_now.packages["markupsafe"].candidates != ()
    for specifier in ("<3", "<2.1", ">=3"):
        known = [diagnose(one, [base(rule(when={"packages": {"markupsafe": specifier}}))]) for one in (read_now, saved)]
        (found, unknown), (found_saved, unknown_saved) = known
        assert found_saved == found
        assert [(one.fact, one.reason) for one in unknown_saved] == [(one.fact, one.reason) for one in unknown]


def test_why_a_fork_is_unknown_is_said():
    _, (unknown,) = diagnose(
        requirements.snapshot_of(os.path.join(LOCKS, FORKED[0]), platform="linux"),
        [base(rule(when={"packages": {"markupsafe": "<2.1"}}))],
    )

    assert unknown.fact == "packages.markupsafe"
    assert "2.0.1" in unknown.reason
    assert "2.1.5" in unknown.reason
    assert "state --python-version" in unknown.reason


# --- the Pythons of a lock file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made_for", "specifier", "expected"),
    [
        (">=3.11", ">=3.9", True),
        (">=3.11", ">=3.12", None),
        (">=3.11", "<3.11", False),
        (">=3.11,<3.13", "<3.13", True),
        (">=3.9,!=3.9.1", ">=3.9", True),
        ("", ">=3.9", None),
        (None, ">=3.9", None),
        ("^3.9", ">=3.9", None),
        (">=" + "3" * 5000, ">=3.9", None),
        (311, ">=3.9", None),
    ],
)
def test_a_rule_about_python_holds_where_it_does_for_all_that_the_lock_is_for(made_for, specifier, expected):
    here = snapshot({"left": "2.1"}, python=None, target={"requires_python": made_for}, source="uv.lock")

    assert verdict(here, when={"python": specifier, "packages": {"left": ">=2"}}) is expected


def test_the_pythons_are_the_evidence():
    here = snapshot({"left": "2.1"}, python=None, target={"requires_python": ">=3.11"}, source="uv.lock")

    ((finding,), _) = diagnose(here, [base(rule(when={"python": ">=3.9", "packages": {"left": ">=2"}}))])

    assert ("python", ">=3.11", "uv.lock") in [(one.fact, one.value, one.source) for one in finding.evidence]


RELEASES = [f"3.{minor}.{micro}" for minor in range(8, 16) for micro in (0, 1, 5)]
clauses = st.builds(
    lambda operator, version: operator + version,
    st.sampled_from([">=", "<", "<=", ">", "==", "!="]),
    st.sampled_from([*RELEASES, "3.9", "3.11", "3.13"]),
)
specifiers = st.lists(clauses, min_size=1, max_size=3).map(",".join)


@given(specifiers, specifiers)
def test_covering_agrees_with_the_releases(inner, outer):
    stated = [SpecifierSet(outer).contains(one) for one in map(Version, RELEASES) if SpecifierSet(inner).contains(one)]
    answer = covers(inner, outer)

    if answer is True:
        assert all(stated)
    elif answer is False:
        assert not any(stated)
