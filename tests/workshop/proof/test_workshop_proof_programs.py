"""A cell may state that a program is missing: its script then finds none, whatever this machine has."""

import json
import os

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

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
