"""A run of trials as its user sees it: what is going on, how it is interrupted, how it goes on."""

import json
import os
import re
import signal
import socket
import subprocess
import sys

import interpreters
import pytest
from workshop.laboratory import PYTHON, laboratory, wheel

pytestmark = pytest.mark.trials

pty = pytest.importorskip("pty", reason="there are no terminals, signals and FIFOs as here")

RULE = f"""\
id: lib-name-removed
title: lib 2.0 lacks a name
severity: error
impact: crash
when: {{packages: {{lib: "==2.0"}}}}
why: It was removed.
symptoms: [{{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}}]
remedies: [upgrade: lib>=2.1]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: |
    import lib, os, signal
    lib.name()
    if os.path.exists("GATE"):
        held = os.open("GATE", os.O_WRONLY)
        os.fork() or os.setsid()
        os.write(held, b"x")
        while True: signal.pause()
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0"}}}}]
  good: [{{python: "{PYTHON}", packages: {{lib: "1.0"}}}}]
"""
WORDS = (sys.executable, "-m", "envdoctor", "rules", "verify", "--jobs", "1")


@pytest.fixture
def lab(tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    wheel(links, "lib", "1.0", "def name(): return 1")
    wheel(links, "lib", "2.0", "")
    wheel(links, "lib", "2.1", "def name(): return 1")
    made = laboratory(tmp_path, links, "lib-name-removed")
    made.gate = tmp_path / "gate"
    made.rule.write_text(RULE.replace("GATE", str(made.gate)))
    return made


def started(lab, **changes):
    return subprocess.Popen(
        WORDS,
        cwd=lab.directory,
        env={**lab.variables, **changes},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_and_the_next_run_goes_on_from_there(lab, number):
    os.mkfifo(lab.gate)
    run = started(lab)
    with open(lab.gate, "rb") as gate:  # opens when the script of the second trial does
        assert gate.read(1) == b"x"
        run.send_signal(number)
        assert gate.read() in {b"", b"x"}  # ends when the script and what it started are no more
    said = run.communicate(timeout=300)
    assert run.returncode == 128 + number, said
    assert said[1].splitlines()[-1] == (
        "envdoctor: interrupted; 1 of 3 trials were run and are remembered, and the same command goes on with the rest"
    )
    assert os.listdir(lab.cache / "lab") == []
    assert not lab.proof.exists()

    lab.gate.unlink()
    done = lab("verify")
    assert done.stderr.splitlines()[0] == "3 trials of 1 rules, 2 to run"
    assert done.stdout == "proven    lib-name-removed  (5 of 5 trials agree)\n"


def test_a_signal_ends_an_installer_that_waits(lab):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "http://{}:{}/".format(*silent.getsockname())
        run = started(lab, UV_OFFLINE="0", UV_FIND_LINKS="", UV_DEFAULT_INDEX=address, UV_HTTP_TIMEOUT="600")
        connection, _ = silent.accept()
        with connection:
            run.send_signal(signal.SIGTERM)
            while connection.recv(4096):
                pass  # what was asked, then the end
        run.communicate(timeout=300)
    assert run.returncode == 128 + signal.SIGTERM
    assert os.listdir(lab.cache / "lab") == []


def test_in_a_pipe_each_trial_that_is_done_is_a_line(lab):
    lines = lab("verify", "--jobs", "1").stderr.splitlines()
    assert lines[0] == "3 trials of 1 rules, 3 to run"
    assert re.fullmatch(r"1/3  done    lib-name-removed: bad 1  \([\d.]+ s, about \d+ s left\)", lines[1])
    assert re.fullmatch(r"3/3  done    lib-name-removed: good 1  \([\d.]+ s, nothing left\)", lines[3])
    assert re.match(r"4/5  done    lib-name-removed: bad 1, on lib 2\.1  ", lines[4])
    assert re.match(r"5/5  done    lib-name-removed: bad 1, imported alone  ", lines[5])
    lab.rule.write_text(lab.rule.read_text().replace('{lib: "1.0"}', '{lib: "2.0"}'))
    assert ": good 1  " not in lab("verify").stderr  # it is as good as bad 1, and remembered


def test_a_proof_records_on_which_pythons_a_remedy_can_be_installed(lab):
    links = lab.directory / "links"
    os.rename(links / "lib-2.1-py3-none-any.whl", links / "lib-2.1-py38-none-any.whl")

    lab("verify")

    assert json.loads(lab.proof.read_text())["installable"] == {"lib>=2.1": ">=3.8"}


@pytest.mark.parametrize(("below", "cures"), [(True, {"lib>=2.1": "<3.12"}), (False, None)])
def test_a_proof_records_on_which_pythons_a_remedy_was_seen_not_to_cure(lab, below, cures):
    """The first remedy fails on 3.12 and later for another reason; without another one that cures it stays."""
    wheel(lab.directory / "links", "lib", "2.1", "import sys\ndef name(): assert sys.version_info < (3, 12)")
    another = ", downgrade: lib<2" if below else ""
    text = (
        lab.rule.read_text().replace(f'"{PYTHON}"', '"3.9"').replace("upgrade: lib>=2.1", f"upgrade: lib>=2.1{another}")
    )
    lab.rule.write_text(text)
    found = [interpreters.need(one) for one in ("3.9", "3.11", "3.12", "3.13")]

    done = lab("verify", "--jobs", "1", ENVDOCTOR_PYTHONS=os.pathsep.join(found))

    proof = json.loads(lab.proof.read_text())
    assert done.stdout.startswith("proven ")
    assert proof.get("cures") == cures
    tried = [one["trial"] for one in proof["trials"] if one["kind"] == "remedy" and "on Python" in one["trial"]]
    where = dict.fromkeys(name.split(", ")[1] for name in tried if "lib>=2.1" in name)
    where.pop("on Python 3.14", None)  # where it is that which runs the tests
    assert list(where) == ["on Python 3.13", "on Python 3.12", "on Python 3.11"]


def test_on_a_terminal_a_bar_says_what_runs_and_what_failed(lab):
    lab.rule.write_text(lab.rule.read_text().replace("upgrade: lib>=2.1", "pin: lib==2.0"))
    control, terminal = pty.openpty()
    run = subprocess.Popen(WORDS, cwd=lab.directory, env=lab.variables, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    said = b""
    while True:
        try:
            said += os.read(control, 1 << 16)
        except OSError:  # the other side was closed
            break
    os.close(control)
    assert run.wait(timeout=300) == 1
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said.decode()))
    assert any("0/3 time left unknown  lib-name-removed: bad 1" in line for line in lines)
    assert any(re.search(r"2/3 1 failed, about \d+ s left  lib-name-removed: good 1", line) for line in lines)


def test_a_base_that_did_not_change_is_not_even_read_and_any_change_is_seen(lab):
    assert lab("verify").returncode == 0
    (ledger,) = lab.cache.glob("proofs-*.json")
    assert lab("verify").stderr.splitlines()[0] == "every proof is up to date"

    rule, proof = lab.rule.read_text(), lab.proof.read_text()
    lab.proof.write_text(proof.replace("lib==2.1", "lib==2.2"))
    assert lab("verify").stderr.splitlines()[0] == "5 trials of 1 rules, 0 to run"
    assert lab.proof.read_text() == proof
    lab.rule.write_text(rule.replace('lib: "==2.0"', 'lib: ">=2.0,<2.1"'))
    assert lab("verify").stderr.splitlines()[0] == "5 trials of 1 rules, 0 to run"
    lab.rule.write_text(rule.replace("lib.name()", "lib.other()"))
    assert lab("verify").stderr.splitlines()[0] == "3 trials of 1 rules, 3 to run"

    (lab.rule.parent / "vocabulary.yaml").write_text("families: {lib: [other]}\n")
    assert lab("verify").stderr.splitlines()[0] == "5 trials of 1 rules, 0 to run"
    ledger.write_text('"damaged')
    assert lab("verify").stderr.splitlines()[0] == "every proof is up to date"


def test_two_rules_of_one_name_are_refused_although_both_are_known(lab):
    assert lab("verify").returncode == 0
    other = lab.rule.parent / "other" / lab.rule.name
    other.parent.mkdir()
    other.write_text(lab.rule.read_text())
    assert "the id `lib-name-removed` is taken by" in lab("verify").stderr
