"""Rules prove themselves: real environments of real wheels, and every way in which a proof can be a lie."""

import functools
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from conftest import environment, run, run_envdoctor
from workshop.laboratory import PYTHON, laboratory, wheel

from envdoctor.errors import EnvdoctorError
from envdoctor.rulebase import record
from envdoctor.rulebase.syntax import load_vocabulary, read_rules
from envdoctor.workshop.proof import build, processes, runner, sandbox
from envdoctor.workshop.proof.judge import judge
from envdoctor.workshop.proof.trials import Trial, TrialEnvironment

pytestmark = pytest.mark.trials

#: ``lib`` 1.0 and 1.1 work, 2.0 misses a name, 2.1 has it again; ``user`` 1 needs the name.
LIB = {"1.0": "def name(): return 1", "1.1": "def name(): return 1", "2.0": "", "2.1": "def name(): return 1"}

RULE = """\
id: lib-name-removed
title: lib 2.0 lacks a name
severity: error
impact: crash
when: {{packages: {{lib: "{range}"}}}}
why: It was removed.
symptoms: [{{raises: {raises}, message: "module 'lib' has no attribute 'name'"}}]
remedies: [{{{remedy}}}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: |
    import lib
    lib.name()
  bad: [{{python: "{python}", packages: {{lib: "{bad}"}}}}]
  good:
    - {{python: "{python}", packages: {{lib: "{good}"}}}}
    - {{python: "{python}", packages: {{lib: "{after}"}}}}
"""
TRUE = {
    "range": ">=2.0,<2.1", "raises": "AttributeError", "remedy": "upgrade: lib>=2.1", "bad": "2.0", "good": "1.1",
    "after": "2.1", "python": PYTHON,
}  # fmt: skip


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    for version, text in LIB.items():
        wheel(folder, "lib", version, text)
    return folder


@pytest.fixture
def lab(tmp_path, links, shared):
    """A laboratory that remembers the trials of other tests: they are of the same wheels."""
    return laboratory(tmp_path, links, "lib-name-removed", shared("trials-of-lib", os.mkdir))


@pytest.fixture
def fresh(tmp_path, links):
    """A laboratory that remembers nothing."""
    return laboratory(tmp_path, links, "lib-name-removed")


def state(lab, **changes):
    lab.rule.write_text(RULE.format(**{**TRUE, **changes}))


def listed(lab):
    """What the list says of the rule: the severity of its findings, its status, and whether it is proven."""
    lines = lab("list", "--rules", "rules").stdout.splitlines()
    return next(line.split()[1:4] for line in lines if line.startswith("lib-name-removed "))


def trials(lab):
    return {trial["trial"]: trial for trial in json.loads(lab.proof.read_text())["trials"]}


def test_a_true_rule_is_proven_and_everything_that_was_seen_is_on_record(lab):
    state(lab)

    done = lab("verify")

    assert done.returncode == 0, done.stderr
    assert done.stdout == "proven    lib-name-removed  (5 of 5 trials agree)\n"
    found = trials(lab)
    assert list(found) == ["bad 1", "bad 1, then upgrade lib>=2.1", "good 1", "good 2", "bad 1, imported alone"]
    assert found["bad 1"]["symptom"] == "AttributeError: module 'lib' has no attribute 'name'"
    assert found["bad 1"]["installed"] == ["lib==2.0"]
    assert found["bad 1"]["python"].startswith(f"{PYTHON}.")
    assert found["bad 1, then upgrade lib>=2.1"]["installed"] == ["lib==2.1"]
    assert {"date", "platform", "envdoctor", "uv", "states"} <= json.loads(lab.proof.read_text()).keys()
    assert listed(lab) == ["error", "stable", "proven"]


LIES = {
    "a good cell that fails": ({"range": ">=2.0", "good": "2.0"}, "good 1", "it should pass, and it fails"),
    "a bad cell that passes": ({"bad": "1.1"}, "bad 1", "it should fail, and it passes"),
    "another symptom": ({"raises": "KeyError"}, "bad 1", "which is none of the rule's symptoms"),
    "a remedy that does not cure": ({"remedy": "pin: lib==2.0"}, "bad 1, then pin lib==2.0", "does not cure it"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_caught(lab, lie):
    changes, trial, reason = LIES[lie]
    state(lab, **changes)

    done = lab("verify")

    assert done.returncode == 1
    assert done.stdout.startswith("refuted ")
    assert reason in trials(lab)[trial]["reason"]
    assert reason in done.stdout
    assert f"{trial} was run: " in lab("lint", "--offline").stdout


def test_a_failure_that_a_cell_states_must_be_that_failure(lab):
    state(lab)
    text = lab.rule.read_text()
    lab.rule.write_text(text.replace('lib: "2.0"}}]', 'lib: "2.0"}, raises: "AttributeError: module \'lib\' has no"}]'))
    assert lab("verify").returncode == 0
    lab.rule.write_text(text.replace('lib: "2.0"}}]', 'lib: "2.0"}, raises: "AttributeError: module \'other\' has"}]'))
    done = lab("verify")
    assert done.returncode == 1
    assert (
        "it should fail with `AttributeError: module 'other' has`, not with `AttributeError: module 'lib'"
        in done.stdout
    )


def test_a_proof_that_was_edited_or_is_older_than_its_rule_is_refused(lab):
    state(lab)
    assert lab("verify").returncode == 0
    good = lab.proof.read_text()
    assert "proof" not in lab("lint", "--offline").stdout

    lab.proof.write_text(good.replace("lib==2.1", "lib==2.2"))
    assert "the proof file was not written by the runner as it is" in lab("lint", "--offline").stdout
    assert listed(lab) == ["error", "reported", "stale"]  # a user's own keeps its severity

    lab.proof.write_text(good)
    state(lab, range=">=2.0,<2.2")
    assert "the rule has changed since its proof was run" in lab("lint", "--offline").stdout
    lab.proof.write_text("{")
    assert "the proof file was not written by the runner as it is" in lab("lint", "--offline").stdout


def test_a_new_title_leaves_the_proof_as_it_is(lab):
    state(lab)
    assert lab("verify").returncode == 0
    lab.rule.write_text(lab.rule.read_text().replace("lacks a name", "lost a name"))
    assert lab("verify").stderr.splitlines()[0] == "every proof is up to date"


def test_what_cannot_be_built_is_unproven_and_says_why(lab):
    state(lab, bad="2.0.5", python="3.5")
    done = lab("verify")
    assert done.returncode == 0
    assert "unproven, because no Python 3.5 was found; name one in ENVDOCTOR_PYTHONS" in done.stdout
    state(lab, bad="2.0.5")
    done = lab("verify")
    assert done.stdout.startswith("unproven  lib-name-removed")
    assert "no version of lib==2.0.5" in trials(lab)["bad 1"]["reason"]


def test_nothing_is_run_twice_unless_asked(fresh):
    state(fresh)
    assert fresh("verify").stderr.splitlines()[-1].startswith("5 trials run")
    assert "every proof is up to date" in fresh("verify").stderr
    fresh.proof.unlink()
    assert fresh("verify").stderr.splitlines()[-1].startswith("0 trials run; of 1 rules 1 proven")
    assert fresh("verify", "--again").stderr.splitlines()[-1].startswith("5 trials run")


def test_a_proof_of_long_ago_is_run_again(lab):
    state(lab)
    assert lab("verify").returncode == 0
    assert "every proof is up to date" in lab("verify", "--stale", "1").stderr

    written = json.loads(lab.proof.read_text())
    old = {**{key: value for key, value in written.items() if key != "sum"}, "date": "2020-02-29"}
    lab.proof.write_text(record.dump({**old, "sum": record._sum(old)}))
    assert "2020-02-29" in lab("list", "--rules", "rules", "lib").stdout
    assert "every proof is up to date" in lab("verify").stderr

    again = lab("verify", "--stale", "90")
    assert again.returncode == 0
    assert again.stderr.endswith("5 trials run; of 1 rules 1 proven, 0 refuted\n")  # nothing is remembered instead
    assert json.loads(lab.proof.read_text())["date"] == written["date"]
    assert "give 0 or more" in lab("verify", "--stale", "-1").stderr


def test_a_candidate_that_is_disproved_is_on_record_and_stays_silent(lab):
    state(lab, bad="1.1", range=">=1.1,<2.1")
    lab.rule.write_text(lab.rule.read_text() + "status: candidate\n")

    done = lab("verify")

    assert done.returncode == 0, done.stdout  # a lead that is false is an answer
    assert done.stdout.startswith("disproved lib-name-removed ")
    assert json.loads(lab.proof.read_text())["outcome"] == "disproved"
    assert listed(lab) == ["warning", "candidate", "disproved"]
    facts = lab.rule.parent / "facts.json"
    facts.write_text(json.dumps({"schema": 1, "python": {"version": PYTHON}, "packages": {"lib": "2.0"}}))
    words = ["check", "--snapshot", str(facts), "--rules", str(lab.rule.parent), "--candidates", "-f", "json"]
    result = run_envdoctor(*words, env=environment())
    assert [one["rule"] for one in json.loads(result.stdout)["findings"]] == []


def test_a_candidate_that_is_true_speaks_when_asked(lab):
    state(lab)
    lab.rule.write_text(lab.rule.read_text() + "status: candidate\n")
    assert lab("verify").stdout.startswith("proven    lib-name-removed ")
    assert listed(lab) == ["warning", "candidate", "proven"]


def test_trials_leave_nothing_behind_and_clear_up_after_a_killed_runner(fresh):
    state(fresh)
    left = fresh.cache / "lab" / "999999999-left"
    left.mkdir(parents=True)
    assert fresh("verify").returncode == 0
    assert os.listdir(fresh.cache / "lab") == []


def test_a_cache_that_cannot_be_written_to_is_told_and_what_was_proven_stays(fresh):
    state(fresh)
    assert fresh("verify").returncode == 0
    proof = fresh.proof.read_text()
    (fresh.cache / "lab").rmdir()
    (fresh.cache / "lab").write_text("no directory")
    refused = fresh("verify", "--again")
    assert refused.returncode == 4
    assert refused.stderr.splitlines()[-1] == (
        f"envdoctor: a trial could not be written to {fresh.cache / 'lab'}: File exists; free space there, or name "
        "another cache directory with XDG_CACHE_HOME. What is done is kept: the same command goes on with the rest"
    )
    assert fresh.proof.read_text() == proof
    assert fresh("verify", "--again", XDG_CACHE_HOME=str(fresh.cache.parent / "other")).returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here is always full")
def test_what_an_installer_cannot_write_to_a_full_disk_is_no_result(tmp_path):
    program = [sys.executable, "-c", "open('/dev/full', 'wb', 0).write(b'x')"]
    with pytest.raises(EnvdoctorError, match="free space there"), build.writing("a trial", "somewhere"):
        build._started(program, str(tmp_path / "place"), {})


def test_what_was_run_before_a_disk_refused_is_given(monkeypatch):
    monkeypatch.setenv("ENVDOCTOR_PYTHONS", sys.executable)
    fits = Trial(rule="any", name="good 1", kind="good", place=TrialEnvironment(python=PYTHON), script="pass")
    refused, later = fits.replace(files={"n" * 300: ""}), fits.replace(script="pass # later")
    given = []
    with processes.stoppable(), pytest.raises(EnvdoctorError, match="File name too long"):
        given.extend(runner.local_pool(1, offline=True)([fits, refused, later]))
    assert [(trial, result["outcome"]) for trial, result in given] == [(fits, "passed")]


def test_two_runners_on_one_cache_agree(fresh):
    state(fresh)
    words = [sys.executable, "-m", "envdoctor", "rules", "verify", "--again"]
    both = [subprocess.Popen(words, cwd=fresh.directory, env=fresh.variables, stdout=subprocess.PIPE) for _ in range(2)]
    assert [one.communicate(timeout=300)[0] for one in both] == [
        b"proven    lib-name-removed  (5 of 5 trials agree)\n"
    ] * 2
    (rule,), _ = read_rules(str(fresh.rule.parent))
    assert (
        record.status(rule, load_vocabulary(str(fresh.rule.parent / "vocabulary.yaml")), record.read(str(fresh.proof)))
        == "proven"
    )


def test_a_project_stands_where_the_script_runs_and_an_artefact_is_written_elsewhere(lab):
    state(lab)
    lab.rule.write_text(
        lab.rule.read_text().replace("    import lib\n    lib.name()\n", "    import pickle, sys, helper\n    "
        "assert open('made').read() == '1.0', 'not written'\n    helper.name()\n", 1)
        .replace("proof:\n", "proof:\n  write: |\n    from importlib.metadata import version\n    open('made', 'w').write(version('lib'))\n")
        .replace('lib: "2.0"}}', 'lib: "2.0"}, files: {helper.py: "from lib import *\\nimport lib\\nname = lib.name"}, writer: {packages: {lib: "1.0"}}}')
        .replace('lib: "1.1"}}', 'lib: "1.1"}, files: {helper.py: "from lib import name"}, writer: {packages: {lib: "1.0"}}}')
        .replace('    - {python: "' + PYTHON + '", packages: {lib: "2.1"}}\n', "")
    )  # fmt: skip
    done = lab("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("proven")


def test_rules_that_are_not_there_are_named(lab):
    state(lab)
    done = lab("verify", "no-such-rule")
    assert done.returncode == 2
    assert "there is no rule no-such-rule in rules" in done.stderr
    assert "give 1 or more" in lab("verify", "--jobs", "0").stderr


# --- measuring ------------------------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path, links):
    """The wheels as the index that pip is configured with."""
    folder = tmp_path / "simple" / "lib"
    folder.mkdir(parents=True)
    pages = "".join(f'<a href="{path.as_uri()}">{path.name}</a>' for path in sorted(links.glob("*.whl")))
    (folder / "index.html").write_text(pages)
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(tmp_path / "simple"))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        pass


def test_a_range_that_is_one_release_too_wide_is_measured(lab, index):
    state(lab, range=">=1.1,<2.1", good="1.0")
    done = lab("bisect", "lib-name-removed", "--every", PIP_INDEX_URL=index)
    assert done.returncode == 1, done.stderr
    below, above = done.stdout.strip().split("\n\n")
    assert "2.0  fails            AttributeError: module 'lib' has no attribute 'name'\n  1.1  passes" in below
    assert "measured: >=2.0\n  stated otherwise: 1.1 passes, but the rule says bad" in below
    assert above.endswith(
        "2.0  fails            AttributeError: module 'lib' has no attribute 'name'\n  2.1  passes\n  measured: <2.1"
    )


def test_true_edges_are_confirmed_by_halving(lab, index):
    state(lab)
    done = lab("bisect", "lib-name-removed", PIP_INDEX_URL=index)
    assert (done.returncode, "stated otherwise" in done.stdout) == (0, False), done.stderr


def test_the_grid_as_text_and_as_a_picture(lab, index, tmp_path):
    state(lab)
    done = lab("matrix", "lib-name-removed", "--releases", "all", "--python", PYTHON, PIP_INDEX_URL=index)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:6]]
    assert rows == [[PYTHON], ["1.0", "ok"], ["1.1", "ok"], ["2.0", "x"], ["2.1", "ok"]]
    assert (
        lab(
            "matrix", "lib-name-removed", "--releases", "all", "--python", PYTHON, "-o", "grid.svg", PIP_INDEX_URL=index
        ).returncode
        == 0
    )
    picture = ET.fromstring((tmp_path / "grid.svg").read_text())
    titles = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["passes", "passes", "AttributeError: module 'lib' has no attribute 'name'", "passes"]
    assert "is no kind of picture" in lab("matrix", "lib-name-removed", "-o", "grid.png").stderr


def test_a_script_that_counts_is_counted(lab, index, tmp_path):
    state(lab)
    (tmp_path / "kinds.py").write_text("import lib\nprint(1 + hasattr(lib, 'name'), 'of 2')\n")
    done = lab(
        "matrix",
        "lib-name-removed",
        "--releases",
        "all",
        "--script",
        "kinds.py",
        "--python",
        PYTHON,
        PIP_INDEX_URL=index,
    )
    assert [line.split()[1:] for line in done.stdout.splitlines()[2:6]] == [["ok"], ["ok"], ["1"], ["ok"]]


# --- the catalogue --------------------------------------------------------------------------------------------------


def test_the_catalogue_has_a_page_for_each_rule_and_knows_when_it_is_old(lab, tmp_path):
    state(lab)
    assert lab("verify").returncode == 0
    words = [sys.executable, "-m", "envdoctor.workshop.catalogue", "rules", "pages"]
    assert run(*words, cwd=tmp_path, env=environment()).returncode == 0
    page = (tmp_path / "pages" / "lib-name-removed.md").read_text()
    assert "| Range | `packages: {lib: '>=2.0,<2.1'}` |" in page
    assert f"| Proven by | proven: 5 of 5 trials agree on Python {PYTHON}, " in page
    assert (
        "## lib\n\n- [lib-name-removed](lib-name-removed.md): lib 2.0 lacks a name (error, proven)"
        in (tmp_path / "pages" / "README.md").read_text()
    )
    assert run(*words, "--diff", cwd=tmp_path, env=environment()).returncode == 0
    state(lab, range=">=2.0")
    old = run(*words, "--diff", cwd=tmp_path, env=environment())
    assert (old.returncode, "lib-name-removed.md is out of date" in old.stdout) == (1, True)


# --- the sandbox ----------------------------------------------------------------------------------------------------


def program(text, tmp_path, **options):
    return sandbox.run([sys.executable, "-c", text], str(tmp_path), {}, **options)


def test_a_program_has_a_home_and_a_temporary_directory_of_its_own(tmp_path):
    result = program("import os, tempfile; print(os.path.expanduser('~'), tempfile.gettempdir())", tmp_path)
    assert (result.status, result.output.split()) == (0, [str(tmp_path), str(tmp_path)])


def test_a_program_without_end_is_ended_with_all_that_it_started(tmp_path):
    text = (
        "import subprocess, sys, os\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], start_new_session=True)\n"
        "print(child.pid, flush=True)\nchild.wait()\n"
    )
    result = program(text, tmp_path, seconds=3)
    assert result.status is None
    if sandbox.isolation()[1:2] == ("-rnp",):
        marks = {Path(entry, "cwd") for entry in Path("/proc").glob("[0-9]*")}
        assert str(tmp_path) not in {os.readlink(mark) for mark in marks if os.access(mark, os.R_OK)}


@pytest.mark.parametrize(
    ("impact", "raises", "kind", "verdict"),
    [
        ("crash", None, "bad", "unproven"),
        ("crash", "ValueError: no", "bad", "unproven"),
        ("crash", None, "good", "unproven"),
        ("crash", None, "remedy", "unproven"),
        ("crash", "hang", "bad", "agrees"),
        ("hang", None, "bad", "agrees"),
        ("hang", "ValueError: no", "bad", "contradicts"),
        ("hang", None, "good", "contradicts"),
        ("hang", None, "remedy", "contradicts"),
    ],
)
def test_a_program_without_end_says_something_of_a_hang_alone(tmp_path, impact, raises, kind, verdict):
    """Any other may have been slow."""
    result = sandbox.result(program("import signal; signal.pause()", tmp_path, seconds=0.2))
    trial = Trial(
        rule="one", name=f"{kind} 1", kind=kind, place=TrialEnvironment(python=PYTHON), script="", raises=raises
    )
    found = judge(trial, result, {"impact": impact, "symptoms": [], "packages": [], "consumers": {}})
    assert found["verdict"] == verdict
    if verdict == "unproven":
        assert found == {"verdict": "unproven", "symptom": None, "reason": "it had not ended after 120 seconds"}
    else:
        assert found["symptom"] == "hang"


@pytest.mark.skipif(not sandbox.isolation(), reason="this system has no namespaces for users")
def test_a_program_reaches_itself_and_nobody_else(tmp_path):
    text = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 5).close()\n"
        "try: socket.create_connection(('192.0.2.1', 80), 2)\nexcept OSError as error: print(error.errno)\n"
    )
    result = program(text, tmp_path)
    assert (result.status, result.output.strip()) == (0, "101")  # ENETUNREACH


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_a_signal_is_told_by_its_name(tmp_path):
    assert program("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", tmp_path).signal == "SIGSEGV"


@pytest.mark.skipif(sys.platform != "linux", reason="address space is not limited here")
def test_memory_is_limited(tmp_path):
    result = program(f"bytearray({sandbox.MEMORY})", tmp_path)
    assert result.status == 1
    assert "MemoryError" in result.output
