"""Where a range begins is written into a rule as its proof measured it, and nothing else of its file is changed."""

import json
import os

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.lower_bounds import begun

RULE = f"""\
id: lib-name-removed
title: lib 2 lacks a name that others take
severity: error
impact: crash
when: {{packages: {{lib: ">=2", host: present}}}}       # of lib
consumers:
  # measured
  user: {{bad: "<1.2", works: "1.2"}}                 # user.go
  odd:
    works: null
    bad: '!=0.3,>0.2,!=1.1,<=2'
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [{{downgrade: lib<2}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  each: consumer
  script: import {{module}}
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.1", odd: "1.0", host: "1"}}}}]
  good: [{{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.2", host: "1"}}}}]
"""


@pytest.mark.parametrize(
    ("axis", "first", "before", "after"),
    [
        ("user", "1.0", 'user: {bad: "<1.2"', 'user: {bad: ">=1.0,<1.2"'),
        ("odd", "1.0", "bad: '!=0.3,>0.2,!=1.1,<=2'", 'bad: ">=1.0,!=1.1,<=2"'),
        ("lib", "2.1", 'lib: ">=2"', 'lib: ">=2.1"'),
        ("host", "0.5", "host: present", 'host: ">=0.5"'),
    ],
)
def test_a_range_begins_elsewhere_and_everything_else_stays(axis, first, before, after):
    rule, complaints = parse(RULE, "lib-name-removed.yaml", {})
    assert complaints == []

    assert RULE.count(before) == 1
    assert begun(RULE, rule, axis, first) == RULE.replace(before, after)


@pytest.mark.parametrize(("axis", "first"), [("other", "1.0"), ("user", "1.3")])
def test_what_the_rule_does_not_say_is_not_written(axis, first):
    rule, _ = parse(RULE, "lib-name-removed.yaml", {})

    assert begun(RULE, rule, axis, first) is None


def test_a_range_that_is_stated_twice_is_left_to_its_author():
    text = RULE.replace("{packages: {lib:", "{any: [{packages: {host: '<9'}}, {python: '<3'}], packages: {lib:")
    rule, complaints = parse(text, "lib-name-removed.yaml", {})
    assert complaints == []

    assert begun(text, rule, "host", "0.5") is None


WITH, WITHOUT = "def name(): return 1\n", ""
TAKES = "import lib\nlib.name()\n"
USER = {"0.8": "", "0.9": "import gone\n", "1.0": TAKES, "1.1": TAKES, "1.2": ""}
PLAIN = f"""\
id: lib-name-removed
title: lib 2 lacks a name that user takes
severity: error
impact: crash
when: {{packages: {{lib: ">=2", user: "<1.2"}}}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [{{upgrade: user>=1.2}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: import user
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.1"}}}}]
  good:
    - {{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.2"}}}}
    - {{python: "{PYTHON}", packages: {{lib: "1.0", user: "1.1"}}}}
"""


@pytest.fixture
def lab(tmp_path, shared):
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "lib", "1.0", WITH)
    wheel(links, "lib", "2.0", WITHOUT)
    for version, text in USER.items():
        wheel(links, "user", version, text, "lib")
    return laboratory(tmp_path, links, "lib-name-removed", shared("trials-of-beginnings", os.mkdir))


@pytest.mark.trials
@pytest.mark.parametrize("works", [True, False])
def test_a_range_that_reaches_below_what_fails_as_it_says_is_unproven_until_its_beginning_is_written(lab, works):
    if not works:
        (lab.directory / "links" / "user-0.8-py3-none-any.whl").unlink()
    lab.rule.write_text(PLAIN)

    done = lab("verify")

    assert done.stdout.startswith("refuted " if works else "unproven "), done.stdout + done.stderr
    told = "begin it at >=1.0, as on user 0.9: it fails in another way: ModuleNotFoundError: No module named 'gone'"
    assert told in done.stdout
    gaps = json.loads(lab.proof.read_text())["missing"]
    assert [(one["kind"], one["needed"]) for one in gaps] == [("begins", True)]

    assert lab("bisect", "--begin", "lib-name-removed").stdout == "lib-name-removed: user begins at 1.0\n"
    assert lab.rule.read_text() == PLAIN.replace('"<1.2"', '">=1.0,<1.2"')
    done = lab("verify")
    assert done.stdout.startswith("proven "), done.stdout + done.stderr
    below = [
        one for one in json.loads(lab.proof.read_text())["edges"] if (one["side"], one["kind"]) == ("lower", "good")
    ]
    assert ("user", "0.9") in {(one["axis"], one["shown"]) for one in below}
    assert lab("lint", "--offline").stdout == ""
    assert lab("bisect", "--begin", "lib-name-removed").stdout == ""
