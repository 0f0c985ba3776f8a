"""What was measured holds the rule to it: its severity, how far down it reaches, and what its remedies end in."""

import json

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.workshop.proof_page import page

pytestmark = pytest.mark.trials

WITH, WITHOUT = "def name(): return 1\n", ""
CALLS = "import lib\ndef go(): return lib.name()\n"

RULE = f"""\
id: lib-name-removed
title: lib 2 lacks a name that {{consumer}} takes
severity: error
impact: crash
when: {{packages: {{lib: ">=2"}}}}
consumers:
  user: {{bad: "<1.2", works: "1.2"}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [upgrade: "{{consumer}}>={{works}}"]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  each: consumer
  script: |
    import {{module}}
    {{module}}.go()
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.1"}}}}]
  good:
    - {{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.2"}}}}
    - {{python: "{PYTHON}", packages: {{lib: "1.0", user: "1.1"}}}}
"""
OTHER = f"""\
id: user-13-breaks
title: user 1.3 does not start
severity: warning
impact: crash
when: {{packages: {{user: ">=1.3"}}}}
why: It says so.
symptoms: [{{raises: KeyError, message: "thirteen"}}]
remedies: [{{downgrade: user<1.3}}]
references: ["https://github.com/owner/lib/issues/2"]
proof:
  script: import user
  bad: [{{python: "{PYTHON}", packages: {{user: "1.3"}}}}]
  good: [{{python: "{PYTHON}", packages: {{user: "1.2"}}}}]
"""


@pytest.fixture
def lab(tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "lib", "1.0", WITH)
    wheel(links, "lib", "2.0", WITHOUT)
    wheel(links, "user", "1.0", CALLS, "lib")
    wheel(links, "user", "1.1", CALLS, "lib")
    wheel(links, "user", "1.2", "def go(): pass")
    made = laboratory(tmp_path, links, "lib-name-removed")
    made.links = links
    made.rule.write_text(RULE)
    return made


def complaints(lab):
    return lab("lint", "--offline").stdout


def test_an_error_that_a_plain_import_does_not_show_is_refused(lab):
    assert lab("verify").returncode == 0
    assert "it is no error: with bad 1, imported alone nothing fails, at import or at a command" in complaints(lab)

    lab.rule.write_text(RULE.replace('works: "1.2"}', 'works: "1.2", severity: warning}'))
    assert complaints(lab) == "", "a line's severity is no part of what was proven"
    lab.rule.write_text(RULE.replace("severity: error", "severity: warning"))
    assert complaints(lab) == ""


def test_an_error_reaches_no_further_down_than_what_was_seen_to_fail(lab):
    wheel(lab.links, "user", "1.0", "raise RuntimeError('another thing')")
    wheel(lab.links, "user", "1.1", "import lib\nlib.name()\ndef go(): pass\n", "lib")

    assert lab("verify").returncode == 0
    assert 'user below 1.1 was not seen to fail like this; write `">=1.1,..."`' in complaints(lab)

    lab.rule.write_text(RULE.replace('bad: "<1.2"', 'bad: ">=1.1,<1.2"'))
    assert lab("verify").returncode == 0
    assert complaints(lab) == ""
    text = page(str(lab.rule.parent))
    assert "| stable under the second meaning | 1 |" in text
    assert "| a plain import fails | 1 |" in text
    assert text.endswith("Verified under the second meaning, and not stable:\n\n- none\n")
    entry = {"rule": "lib-name-removed", "meaning": 2, "holds": False, "deviation": "1.1 works"}
    sample = {
        "about": "Two.",
        "date": "2026-01-02",
        "seed": 7,
        "entries": [entry, {**entry, "rule": "x", "holds": True}],
    }
    text = page(str(lab.rule.parent), [sample])
    assert "| 2 | 2 | 1 | 50% |" in text
    assert text.endswith("|---|--:|---|\n| lib-name-removed | 2 | 1.1 works |\n")


def test_a_remedy_in_whose_outcome_something_new_is_found_is_refused(lab):
    wheel(lab.links, "user", "1.3", "def go(): pass")
    (lab.rule.parent / "user-13-breaks.yaml").write_text(OTHER)
    lab.rule.write_text(RULE.replace("severity: error", "severity: warning"))

    assert lab("verify", "lib-name-removed").returncode == 0

    assert "after `bad 1, then upgrade user>=1.2` envdoctor finds user-13-breaks" in complaints(lab)


def test_a_share_of_the_proofs_is_held_against_what_they_record(lab):
    assert lab("verify").returncode == 0
    number = len(json.loads(lab.proof.read_text())["trials"])

    done = lab("verify", "--sample", "5")

    assert done.stderr.splitlines()[-1] == f"{number} trials run; of 1 rules 1 proven, 0 refuted"
