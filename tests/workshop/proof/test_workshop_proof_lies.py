"""Eight lies that a proof could tell: each is refuted by ``rules verify``, or refused by ``rules lint``."""

import http.server
import json
import os
import threading

import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.rulebase import record

pytestmark = pytest.mark.trials

WITH, WITHOUT = "def name(): return 1\n", ""
#: ``lib`` 2 misses a name, and 3 has it again; ``user`` needs it in 1.0 and 1.1, when it is imported.
LIB = {"1.0": WITH, "1.1": WITH, "2.0": WITHOUT, "2.1": WITHOUT, "3.0": WITH}
USER = {"0.9": "import lib\n", "1.0": "import lib\nlib.name()\n", "1.1": "import lib\nlib.name()\n", "1.2": ""}

RULE = """\
id: lib-name-removed
title: lib 2 lacks a name that {{consumer}} takes
severity: error
impact: crash
when: {{packages: {{lib: "{lib}"}}}}
consumers:
  user: {{bad: "{user}", works: "1.2"}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "{message}"}}]
remedies: [{{{remedy}}}]
references: ["{reference}"]
proof:
  each: consumer
  script: |
    {script}
  bad:
    - {{python: "{python}", packages: {{lib: "{cause}", user: "1.0"}}}}
  good:
    - {{python: "{python}", packages: {{lib: "2.0", user: "1.2"}}}}
    - {{python: "{python}", packages: {{lib: "1.0", user: "1.0"}}}}
    - {{python: "{python}", packages: {{lib: "3.0", user: "1.0"}}}}
    - {{python: "{python}", packages: {{lib: "2.0", user: "0.9"}}{good}}}
"""
TRUE = {
    "lib": ">=2,<3", "user": ">=1.0,<1.2", "message": "module 'lib' has no attribute 'name'", "script": "import {module}",
    "remedy": 'upgrade: "{consumer}>={works}"', "reference": "https://github.com/owner/lib/issues/1", "good": "",
    "cause": "2.0", "python": PYTHON,
}  # fmt: skip


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    for version, text in LIB.items():
        wheel(folder, "lib", version, text)
    for version, text in USER.items():
        wheel(folder, "user", version, text, "lib")
    return folder


@pytest.fixture
def cache(shared):
    return shared("trials-of-lies", os.mkdir)


@pytest.fixture
def lab(tmp_path, links, cache):
    return laboratory(tmp_path, links, "lib-name-removed", cache)


def verified(lab, **changes):
    lab.rule.write_text(RULE.format(**{**TRUE, **changes}))
    return lab("verify")


def complaints(lab):
    return lab("lint", "--offline").stdout


def test_a_true_rule_is_proven_with_its_edges_its_severity_and_what_every_trial_was_run_with(lab):
    done = verified(lab)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("proven ")
    found = json.loads(lab.proof.read_text())
    assert found["meaning"] == record.MEANING
    assert found["missing"] == []
    shown = {(one["axis"], one["side"], one["kind"]): one["shown"] for one in found["edges"] if one["axis"] != "python"}
    assert shown == {
        ("user", "lower", "bad"): "1.0", ("user", "upper", "bad"): "1.1",
        ("user", "lower", "good"): "0.9", ("user", "upper", "good"): "1.2",
        ("lib", "lower", "bad"): "2.0", ("lib", "upper", "bad"): "2.1",
        ("lib", "lower", "good"): "1.1", ("lib", "upper", "good"): "3.0",
    }  # fmt: skip
    assert [(one["trial"], one["breaks"]) for one in found["trials"] if one["kind"] == "severity"] == [
        ("bad 1, imported alone", "import")
    ]
    assert {one["trial"] for one in found["trials"] if one["kind"] == "remedy"} == {
        "bad 1, then upgrade user>=1.2",
        "bad 1, on user 1.1, then upgrade user>=1.2",
        "bad 1, on lib 2.1, then upgrade user>=1.2",
    }
    assert complaints(lab) == ""


RANGES = {
    "a consumer's range that begins one release too early": (
        {"user": ">=0.9,<1.2", "good": ", absent: [lib]"},
        "user 0.9",
    ),
    "a consumer's range that ends one release too early": ({"user": ">=1.0,<1.1"}, "bad 1, on user 1.1|on user 1.1"),
    "a consumer's range that is open below": ({"user": "<1.2", "good": ", absent: [lib]"}, "user 0.9"),
    "a cause that begins one release too early": ({"lib": ">=1.1,<3"}, "on lib 1.1"),
    "a cause that begins one release too late": ({"lib": ">=2.1,<3", "cause": "2.1"}, "on lib 2.0"),
    "a cause that ends one release too early": ({"lib": ">=2,<2.1"}, "on lib 2.1"),
}


@pytest.mark.parametrize("lie", RANGES)
def test_a_range_one_release_too_wide_or_too_narrow_is_refuted(lab, lie):
    changes, where = RANGES[lie]

    done = verified(lab, **changes)

    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("refuted ")
    wrong = [one["trial"] for one in json.loads(lab.proof.read_text())["trials"] if one["verdict"] == "contradicts"]
    assert any(one.endswith(part) for one in wrong for part in where.split("|")), wrong


def test_a_good_cell_that_never_installs_is_no_proof(lab):
    more = f'}}\n    - {{python: "{PYTHON}", packages: {{lib: "2.0", user: "1.2", other: "9"}}'

    done = verified(lab, good=more)

    assert done.stdout.startswith("unproven "), done.stdout
    (gap,) = json.loads(lab.proof.read_text())["missing"]
    assert (gap["kind"], gap["what"], gap["needed"]) == ("cell", "good 5", True)


def test_what_a_good_cell_of_another_platform_would_show_is_measured_and_the_cell_named(lab):
    assert verified(lab, good=", platform: win32").returncode == 0

    found = json.loads(lab.proof.read_text())
    assert [(one["kind"], one["what"]) for one in found["missing"]] == [("elsewhere", "good 4")]
    assert "bad 1, on user 0.9" in {one["trial"] for one in found["trials"] if one["verdict"] == "agrees"}
    assert verified(lab, good=", platform: win32", user=">=0.9,<1.2").returncode == 1


SCRIPTS = {
    "import {module}, lib\n    assert lib.__version__": "looks at a version",
    "import {module}\n    from importlib.metadata import version": "looks at a version",
    "import {module}, sys\n    sys.version_info < (3,)": "looks at a version",
    "import {module}, pkg_resources\n    pkg_resources.get_distribution('lib')": "looks at a version",
    "import {module}, lib\n    getattr(lib, '__version__')": "looks at a version",
    "import lib, {module}\n    raise AttributeError('x')": "raises something itself",
    "print(\"AttributeError: module 'lib' has no attribute 'name'\"); import {module}": "has the symptom in it",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_that_knows_the_answer_is_refused(lab, script):
    lab.rule.write_text(RULE.format(**{**TRUE, "script": script}))

    assert f"the script {SCRIPTS[script]}" in complaints(lab)


def test_a_script_that_raises_the_symptom_itself_is_refuted(lab):
    script = "import importlib.util, lib, {module}\n    if not hasattr(lib, 'name'): raise AttributeError('odd')"

    done = verified(lab, script=script.replace(", {module}", "  # {consumer}"), message="odd")

    assert done.returncode == 1
    assert "the script raises it itself" in done.stdout


def test_a_remedy_that_removes_what_the_script_then_does_without_is_refuted(lab):
    script = "try: import {module}\n    except ImportError: pass"

    done = verified(lab, script=script, remedy='uninstall: "{consumer}"')

    assert done.returncode == 1
    assert "after the remedy nothing is left to import as user" in done.stdout


@pytest.mark.parametrize("message", ["has no attribute", "module '\\\\w+' has no attribute", "object is not callable"])
def test_a_symptom_that_half_of_all_tracebacks_have_is_refused(lab, message):
    lab.rule.write_text(RULE.format(**{**TRUE, "message": message}))

    assert "is what any traceback says" in complaints(lab)


def test_consumers_that_were_never_run_are_refused(lab):
    verified(lab, script="import lib\n    lib.name()")

    assert "the script never runs the consumer `user`" in complaints(lab)


def edited(lab, change):
    """Change what a proof records, with a checksum that fits."""
    found = {key: told for key, told in json.loads(lab.proof.read_text()).items() if key != "sum"}
    change(found)
    lab.proof.write_text(record.dump({**found, "sum": record._sum(found)}))


FORGERIES = {
    "a verdict": lambda found: [one.update(verdict="agrees") for one in found["trials"]],
    "a trial less": lambda found: found["trials"].pop(1),
    "another symptom": lambda found: found["trials"][0].update(verdict="agrees", symptom="KeyError: 1"),
    "other releases": lambda found: [one.update(verdict="agrees", installed=["lib==1.0"]) for one in found["trials"]],
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_proof_that_was_edited_with_its_checksum_is_refused(lab, forgery):
    assert verified(lab, message="module 'lib' has no attribute 'nam'").returncode == 1

    edited(lab, FORGERIES[forgery])

    assert "the proof file cannot be derived again" in complaints(lab)


def test_a_forgery_that_could_have_been_seen_is_refuted_by_running_it_again(lab):
    assert verified(lab, lib=">=2,<2.1").returncode == 1  # lib 2.1 fails as well

    def forge(found):
        found["trials"] = [one for one in found["trials"] if one["kind"] != "severity"]
        for one in found["trials"]:
            one["verdict"] = "agrees"
            one.pop("reason", None)
            if one["kind"] != "bad":
                one.pop("symptom", None)

    edited(lab, forge)
    assert lab("list", "--rules", "rules").stdout.split("lib-name-removed")[1].split()[1] == "stable"

    done = lab("verify", "--again", "lib-name-removed")

    assert done.returncode == 1
    assert "run again it contradicts" in done.stdout


def test_a_proof_is_run_again_in_the_releases_it_records(lab, links):
    assert verified(lab).returncode == 0
    before = json.loads(lab.proof.read_text())
    wheel(links, "user", "1.3", "import lib\nlib.name()\n")  # a release that breaks again came since
    try:
        again = lab("verify", "--again")
        assert again.returncode == 0, again.stdout
        found = json.loads(lab.proof.read_text())
        first = next(one for one in found["trials"] if one["trial"] == "bad 1, then upgrade user>=1.2")
        assert first["installed"] == ["lib==2.0", "user==1.2"]
        assert [one["trial"] for one in before["trials"]] == [one["trial"] for one in found["trials"]]
        assert lab("verify", "--stale", "0").returncode in {0, 1}
    finally:
        (links / "user-1.3-py3-none-any.whl").unlink()


class Nothing(http.server.BaseHTTPRequestHandler):
    """Has one page, and counts who asks."""

    def do_HEAD(self):
        self.server.asked.append(self.path)
        self.send_response(200 if self.path == "/there" else 404)
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


def test_a_reference_that_does_not_exist_is_refused_and_asked_for_once(lab):
    server = http.server.HTTPServer(("127.0.0.1", 0), Nothing)
    server.asked = []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        here = f"http://127.0.0.1:{server.server_port}"
        quiet = {"PIP_INDEX_URL": f"{here}/simple"}
        lab.rule.write_text(RULE.format(**{**TRUE, "reference": f"{here}/nowhere"}))
        assert f"nothing is at {here}/nowhere" in lab("lint", **quiet).stdout
        assert f"nothing is at {here}/nowhere" in lab("lint", **quiet).stdout
        lab.rule.write_text(RULE.format(**{**TRUE, "reference": f"{here}/there"}))
        assert "nothing is at" not in lab("lint", **quiet).stdout
        assert [path for path in server.asked if path in {"/nowhere", "/there"}] == ["/nowhere", "/there"]
    finally:
        server.shutdown()
        server.server_close()
