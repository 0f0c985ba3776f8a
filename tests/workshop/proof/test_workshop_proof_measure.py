"""What is run to measure a rule follows from the rule, the releases there are and the verdicts so far, and nothing else."""

import pytest

from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.every_release import Published
from envdoctor.workshop.proof.judge import OTHERWISE
from envdoctor.workshop.proof.measure import Survey

RULE = """\
id: lib-name-removed
title: lib 2 lacks a name that user takes
severity: error
impact: crash
when: {packages: {lib: ">=2"}}
consumers:
  user: {bad: "<1.5", works: "1.5"}
why: It was removed.
symptoms: [{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}]
remedies: [{upgrade: "{consumer}>={works}"}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  each: consumer
  script: import {module}
  bad: [{python: "3.10", packages: {lib: "2.0", user: "1.4"}}]
  good:
    - {python: "3.10", packages: {lib: "2.0", user: "1.5"}}
    - {python: "3.10", packages: {lib: "1.9", user: "1.4"}}
"""
USERS = {"1.0": "2020", "1.1": "2020", "1.2": "2020", "1.3": "2020", "1.4": "2021", "1.4.1": "2023", "1.5": "2022"}


def survey(users=USERS, libs=("1.9", "2.0"), text=RULE, pythons=("3.10",)):
    releases = {
        "user": [Published(version=one, uploaded=f"{year}-01-01", wheel=True) for one, year in users.items()],
        "lib": [Published(version=one, uploaded="2020-01-01", wheel=True) for one in libs],
    }
    rule, complaints = parse(text, "lib-name-removed.yaml", {})
    assert complaints == []
    return Survey(rule, {}, pythons, releases.get)


def told(measured, fails=(), passes=(), otherwise=()):
    """Plan and answer until nothing is left to be asked; gives what was asked, and where each end was shown."""
    answers = {**dict.fromkeys(fails, "bad"), **dict.fromkeys(passes, "good"), **dict.fromkeys(otherwise, None)}
    seen = {}
    while True:
        asked = [one for one in measured.plan(seen.get) if one.name not in seen]
        if not asked:
            edges = {(one["axis"], one["side"], one["kind"]): one.get("shown") for one in measured.edges(seen.get)}
            return set(seen), edges
        for one in asked:
            answer = answers.get(one.place.install[-1], one.kind)
            seen[one.name] = "unproven" if answer is None else "agrees" if answer == one.kind else "contradicts"


def test_the_neighbours_of_every_edge_and_the_oldest_of_what_is_open_are_run():
    asked, edges = told(survey())

    assert "bad 1, on user 1.0" in asked
    assert "bad 1, on user 1.4.1" in asked, "the last release of an older branch came after the first good one"
    assert edges["user", "lower", "bad"] == "1.0"
    assert edges["user", "upper", "bad"] == "1.4.1"
    assert edges["user", "upper", "good"] == "1.5"
    assert edges["lib", "lower", "good"] == "1.9"
    assert {"bad 1, imported alone", "bad 1, on user 1.0, then upgrade user>=1.5"} <= asked


def test_a_branch_that_ends_after_the_first_good_release_is_run_although_it_is_no_neighbour():
    users = {"1.0": "2020", "1.3": "2020", "1.3.9": "2023", "1.4": "2021", "1.5": "2022"}

    asked, _ = told(survey(users))

    assert "bad 1, on user 1.3.9" in asked
    assert "bad 1, on user 1.3" not in asked


@pytest.mark.parametrize(
    ("answers", "lowest"),
    [
        ({"otherwise": ["user==1.0", "user==1.1"]}, "1.2"),
        ({"passes": ["user==1.0", "user==1.1", "user==1.2"]}, "1.3"),
        ({"otherwise": ["user==1.0", "user==1.1", "user==1.2", "user==1.3"]}, "1.4"),
    ],
)
def test_where_the_oldest_shows_nothing_the_line_is_halved_to_the_oldest_that_does(answers, lowest):
    asked, edges = told(survey(), **answers)

    assert edges["user", "lower", "bad"] == lowest
    assert f"bad 1, on user {lowest}, then upgrade user>=1.5" in asked or lowest == "1.4"


def test_an_edge_past_which_nothing_works_shows_nothing():
    text = RULE.replace(', user: "1.5"}', ', user: "1.6"}')

    _, edges = told(survey({**USERS, "1.6": "2022"}, text=text), otherwise=["user==1.5"])

    assert edges["user", "upper", "good"] == "1.6"


def test_the_oldest_and_the_newest_python_are_run_with_a_bad_and_a_good_cell():
    asked, edges = told(survey(pythons=("3.8", "3.9", "3.10", "3.13")))

    assert {f"{one}, on Python {python}" for one in ("bad 1", "good 1") for python in ("3.8", "3.13")} <= asked
    assert not any("3.9" in one for one in asked)
    assert (edges["python", "lower", "bad"], edges["python", "upper", "good"]) == ("3.8", "3.13")


def test_what_lies_past_an_edge_ends_where_the_rule_calls_the_next_stretch_bad():
    text = RULE.replace('"<1.5"', '"<1.5,!=1.2"').replace(
        'user: "1.4"}}]', 'user: "1.4"}}, {python: "3.10", packages: {lib: "2.0", user: "1.1"}}]'
    )

    asked, _ = told(survey(text=text), otherwise=["user==1.2"])

    assert "bad 2, on user 1.2" in asked
    assert not {f"good 1, on user {version}" for version in ("1.2", "1.3", "1.4")} & asked


def test_an_index_that_does_not_answer_is_named():
    measured = survey()
    rule = measured.rule

    assert Survey(rule, {}, ["3.10"], lambda _: None).unknown == {"lib", "user"}


def test_withdrawn_and_early_releases_are_no_neighbours():
    releases = {
        "user": [Published(version="1.4"), Published(version="1.4.5", yanked=True), Published(version="1.5")],
        "lib": [Published(version="1.9"), Published(version="2.0rc1"), Published(version="2.0")],
    }
    measured = Survey(survey().rule, {}, ["3.10"], releases.get)

    assert {one.name for one in measured.plan({}.get)} == {"bad 1, imported alone"}


def test_past_an_edge_beyond_which_another_branch_calls_the_outermost_cell_bad_another_cell_is_run():
    either = "any: [{packages: {lib: '>=2,<3'}}, {packages: {lib: '>=3', user: '<1.3'}}]"
    text = RULE.replace('packages: {lib: ">=2"}', either)
    text = text.replace('user: "1.4"}}]', 'user: "1.4"}}, {python: "3.10", packages: {lib: "2.1", user: "1.2"}}]')

    asked, edges = told(survey(text=text, libs=("1.9", "2.0", "2.1", "3.0")), passes=["lib==3.0"])

    assert edges["lib", "upper", "bad"] == "2.1"
    assert edges["lib", "upper", "good"] == "3.0"
    assert "bad 1, on lib 3.0" in asked
    assert "bad 2, on lib 3.0" not in asked


CLOSED = RULE.replace('bad: "<1.5"', 'bad: ">=1.2,<1.5"')


def ends(measured, **answers):
    """What Pythons, or days until which others are published, answer; the ends of ``user`` as the proof tells them."""
    seen = {}
    while asked := [one for one in measured.plan(seen.get) if one.name not in seen]:
        for one in asked:
            told = answers.get(one.place.install[-1], {})
            seen[one.name] = told.get(one.place.until) or told.get(one.place.python, "agrees")
    return seen, {(one["side"], one["kind"]): one for one in measured.edges(seen.get) if one["axis"] == "user"}


def test_a_release_below_a_range_that_fails_in_another_way_shows_that_the_range_ends_there():
    _, found = ends(survey(text=CLOSED), **{"user==1.1": {"3.10": OTHERWISE}})

    assert found["lower", "good"]["shown"] == "1.1"
    assert "unlike" not in found["lower", "bad"]


def test_past_an_upper_edge_a_failure_in_another_way_shows_nothing():
    text = RULE.replace('\n    - {python: "3.10", packages: {lib: "2.0", user: "1.5"}}', "")

    _, found = ends(survey(text=text), **{"user==1.5": {"3.10": OTHERWISE}})

    assert "shown" not in found["upper", "good"]


@pytest.mark.parametrize("verdict", [OTHERWISE, "contradicts"])
@pytest.mark.parametrize(("text", "last"), [(RULE, "1.1"), (CLOSED, "1.2")])
def test_what_a_range_begins_with_that_works_or_fails_in_another_way_is_named(text, last, verdict):
    below = ["1.0", "1.1", "1.2"][: 2 if last == "1.1" else 3]

    _, found = ends(survey(text=text), **{f"user=={one}": {"3.10": verdict} for one in below})

    assert found["lower", "bad"]["unlike"][-1] == last
    assert found["lower", "bad"]["shown"] == {"1.1": "1.2", "1.2": "1.3"}[last]


def test_an_old_release_that_fails_in_another_way_is_run_on_the_oldest_python_too():
    old = {"user==1.0": {"3.10": OTHERWISE}, "user==1.1": {"3.10": OTHERWISE}}

    seen, found = ends(survey(pythons=("3.8", "3.10")), **old)

    assert found["lower", "bad"]["shown"] == "1.0"
    assert "bad 1, on user 1.0, on Python 3.8" in seen
    assert "bad 1, on user 1.0, on Python 3.8, then upgrade user>=1.5" in seen
    assert "bad 1, on user 1.0, then upgrade user>=1.5" not in seen


def test_an_old_release_that_the_oldest_python_does_not_take_still_fails_in_another_way():
    old = {"user==1.0": {"3.10": OTHERWISE, "3.8": "unproven"}}

    _, found = ends(survey(pythons=("3.8", "3.10")), **old)

    assert (found["lower", "bad"]["shown"], found["lower", "bad"]["unlike"]) == ("1.1", ["1.0"])


def test_an_old_release_that_fails_in_another_way_is_run_with_what_was_published_in_its_time():
    hidden = {"3.10": OTHERWISE, "2020-03-01": "unproven", "2021-03-02": "agrees"}

    seen, found = ends(survey({**USERS, "1.0": "2021"}), **{"user==1.0": hidden})

    assert found["lower", "bad"]["shown"] == "1.0"
    assert "unlike" not in found["lower", "bad"]
    assert "bad 1, on user 1.0, until 2021-03-02, then upgrade user>=1.5" in seen


def test_what_fails_by_the_rule_with_the_dependencies_of_its_time_is_not_outside_it():
    hidden = {"3.10": OTHERWISE, "2020-03-01": "contradicts"}

    _, found = ends(survey(text=CLOSED), **{"user==1.1": hidden})

    assert "1.1" in found["lower", "good"]["wrong"]
    assert found["lower", "good"]["shown"] == "1.0"


def test_what_fails_in_another_way_with_the_dependencies_of_any_time_shows_that_a_range_ends_there():
    hidden = {"3.10": OTHERWISE, "2020-03-01": OTHERWISE}

    seen, found = ends(survey(text=CLOSED), **{"user==1.1": hidden})

    assert found["lower", "good"]["shown"] == "1.1"
    assert [one for one in seen if "until" in one] == ["bad 1, on user 1.1, until 2020-03-01"]


def test_where_nothing_just_below_a_range_can_be_built_older_releases_are_tried():
    users = {**{f"0.{minor}": "2019" for minor in range(12)}, **USERS}
    unbuilt = {f"user=={one}": {"3.10": "unproven"} for one in users if one not in {"0.1", "1.2", "1.3", "1.4", "1.5"}}

    seen, found = ends(survey(users, text=CLOSED), **{**unbuilt, "user==0.0": {"3.10": OTHERWISE}})

    tried = {
        one.partition(" on user ")[2].partition(",")[0] for one in seen if " on user " in one and seen[one] != "agrees"
    }
    assert tried == {"1.1", "1.0", "0.11", "0.9", "0.5", "0.0", "1.4.1"}
    assert found["lower", "good"]["shown"] == "0.0"


def test_what_cannot_be_built_above_a_release_that_fails_in_another_way_stays_within_the_range():
    _, found = ends(survey(), **{"user==1.0": {"3.10": OTHERWISE}, "user==1.1": {"3.10": "unproven"}})

    assert (found["lower", "bad"]["shown"], found["lower", "bad"]["begins"]) == ("1.2", "1.1")
