"""A cell may state that a program is missing: its script then finds none, whatever this machine has."""

import json
import os

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.proof.trials import plan

pytestmark = [pytest.mark.trials, pytest.mark.skipif(os.name == "nt", reason="there is no sh")]

RULE = """\
id: lib-needs-tool
title: lib needs the program sh
severity: warning
impact: crash
when: {{packages: {{lib: present}}, program: {{sh: missing}}}}
why: It calls it.
symptoms: [{{raises: FileNotFoundError, message: "No such file or directory: 'sh'"}}]
remedies: [{{change: install it}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: |
    import lib
    lib.call()
  bad: [{{python: "{python}", packages: {{lib: "1.0"}}, programs: {{sh: missing}}}}]
  good:
    - {{python: "{python}", packages: {{lib: "1.0"}}, programs: {{sh: present}}}}
    - {{python: "{python}", packages: {{lib: "1.0"}}, programs: {{no-such-tool: present, sh: present}}}}
"""


def test_a_program_is_hidden_and_one_that_is_not_here_is_not_run(tmp_path):
    wheel(tmp_path, "lib", "1.0", "import subprocess\ndef call(): subprocess.run(['sh', '-c', ':'], check=True)\n")
    made = laboratory(tmp_path, tmp_path, "lib-needs-tool")
    made.rule.write_text(RULE.format(python=PYTHON))

    done = made("verify")

    trials = {one["trial"]: one for one in json.loads(made.proof.read_text())["trials"]}
    assert trials["bad 1"]["symptom"] == "FileNotFoundError: [Errno 2] No such file or directory: 'sh'", done.stdout
    assert trials["good 1"]["verdict"] == "agrees"
    assert trials["good 2"]["reason"] == "it states no-such-tool present, which the laboratory cannot set"


def test_a_trial_is_another_where_the_machine_has_what_it_lacked():
    cell = f'{{python: "{PYTHON}", packages: {{lib: "1.0"}}, libraries: {{libtool: missing}}}}'
    text = RULE.format(python=PYTHON).replace("program: {sh: missing}", "library: {libtool: missing}")
    proof = f"  bad: [{cell}]\n  good: [{cell.replace('missing', 'present')}]\n"
    rule, complaints = parse(text[: text.index("  bad:")] + proof, "rules/lib-needs-tool.yaml", {})
    assert complaints == []
    lacking, having = plan(rule, {}, [])
    assert lacking.place == having.place
    assert lacking.key() != having.key()
