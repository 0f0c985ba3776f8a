"""What a proof does not show: that an installer refuses to put two releases together leaves nothing to be shown."""

import sys

import pytest

from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.proof import runner
from envdoctor.workshop.proof.gaps import missing
from envdoctor.workshop.proof.measure import Survey

RULE = """\
id: lib-name-removed
title: lib 2 lacks a name that user takes
severity: error
impact: crash
when: {packages: {lib: ">=2", user: ">=1.1"}}
why: It was removed.
symptoms: [{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}]
remedies: [downgrade: lib<2]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: import user
  bad: [{python: "3.11", packages: {lib: "2.0", user: "1.1"}}]
  good: [{python: "3.11", packages: {lib: "1.0", user: "1.1"}}]
"""
SAID = "error: No solution found when resolving dependencies cause: Because {}, we can conclude that ..."
THEN = "we can conclude that you require lib<2. And because you require lib==2.0"


@pytest.mark.parametrize(
    ("why", "kind", "needed"),
    [
        (SAID.format("user==1.0 depends on lib<2 and you require lib==2.0"), "refused", False),
        (SAID.format("user==1.0 depends on lib{python_version < '3.8'}<2 and you require lib==2.0"), "refused", False),
        (SAID.format("lib==2.0 depends on user>=1.1 and you require user==1.0"), "refused", False),
        (SAID.format(f"user==1.0 depends on lib<2 and you require user==1.0, {THEN}"), "refused", False),
        (SAID.format("user==1.0 depends on lib<2 and other==3 depends on lib>=2"), "edge", True),
        ("it fails in another way: ImportError: no six", "edge", True),
    ],
)
def test_what_releases_refuse_each_other_is_named_and_not_needed(why, kind, needed):
    rule, _ = parse(RULE, "lib-name-removed.yaml", {})
    survey = Survey(rule, {}, ["3.11"], lambda _: [])
    edges = [{"axis": "user", "side": "lower", "kind": "good", "at": "1.0"}]
    rows = [{"trial": "bad 1, on user 1.0", "verdict": "unproven", "reason": why}]
    trial = survey.bad[0].trial.replace(name="bad 1, on user 1.0", kind="good", measured=True)
    found = [one for one in missing(survey, edges, rows, [trial]) if one["kind"] != "index"]
    assert [(one["kind"], one["needed"]) for one in found] == [(kind, needed)]


def test_that_an_interpreter_is_missing_is_not_remembered():
    rule, _ = parse(RULE, "lib-name-removed.yaml", {})
    measured = Survey(rule, {}, ["3.11"], lambda _: []).bad[0].trial.replace(measured=True)
    for python in (f"{sys.version_info[0]}.{sys.version_info[1]}", "3.1"):
        trial = measured.replace(place=measured.place.replace(python=python))
        runner.remember(trial, {"outcome": "unbuilt", "reason": "no solution"})
        assert (runner.remembered(trial) is not None) is (python != "3.1")
