"""``envdoctor explain`` on whatever is pasted or piped into it."""

import json
import os
import random
import sys

import pytest
from conftest import environment, run_envdoctor

from envdoctor.cli import main
from envdoctor.commands import explain

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    cloudpickle.loads(cloudpickle.dumps(lambda: 1))
  File "/env/lib/python3.11/site-packages/cloudpickle/cloudpickle_fast.py", line 73, in dumps
    cp.dump(obj)
IndexError: tuple index out of range
"""


def envdoctor(*words, **options):
    return run_envdoctor("explain", *words, env=environment(), **options)


@pytest.fixture
def facts(tmp_path):
    def write(version):
        path = tmp_path / f"{version}.json"
        path.write_text(json.dumps({"python": {"version": "3.11.7"}, "packages": {"cloudpickle": version}}))
        return path

    return write


def test_a_traceback_is_explained_from_stdin_and_from_a_file(tmp_path):
    path = tmp_path / "error.log"
    path.write_text(TRACEBACK)

    piped = envdoctor("--no-target", input=TRACEBACK)
    given = envdoctor("--no-target", path)

    assert (piped.returncode, given.returncode) == (1, 1)
    assert piped.stdout == given.stdout
    assert "cloudpickle" in piped.stdout


def test_the_environment_confirms_or_rules_out(facts):
    def explained(version):
        done = envdoctor("-", "--snapshot", facts(version), "-f", "json", input=TRACEBACK)
        return json.loads(done.stdout)

    confirmed, ruled_out = explained("1.6.0"), explained("3.1.0")

    assert confirmed["findings"][0]["rule"] == "cloudpickle-bytecode-py311"
    assert confirmed["findings"][0]["confirmed"] is True
    assert "cloudpickle-bytecode-py311" in [one["rule"] for one in ruled_out["ruled_out"]]


def test_with_a_project_the_lines_of_its_own_frames_are_evidence(facts, tmp_path):
    (tmp_path / "train.py").write_text("import cloudpickle\n")

    def lines(*words):
        done = envdoctor("-", "--snapshot", facts("1.6.0"), "-f", "json", *words, input=TRACEBACK, cwd=tmp_path / "..")
        found = {one["rule"]: one["evidence"] for one in json.loads(done.stdout)["findings"]}
        evidence = found["cloudpickle-bytecode-py311"]
        return [(one["value"], one["source"]) for one in evidence if one["fact"] == "frames.own"]

    assert lines("--project", tmp_path) == [("cloudpickle.loads(cloudpickle.dumps(lambda: 1))", "train.py:3")]
    assert lines() == []


def test_the_snapshot_may_come_from_stdin_when_the_text_does_not(facts, tmp_path):
    path = tmp_path / "error.log"
    path.write_text(TRACEBACK)

    done = envdoctor(path, "--snapshot", "-", input=facts("1.6.0").read_text())

    assert done.returncode == 1
    assert "cloudpickle-bytecode-py311" in done.stdout


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_no_text_is_wrong_usage(text):
    done = envdoctor("--no-target", input=text)

    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no text to explain" in done.stderr


def test_a_text_that_no_rule_explains_says_what_was_understood():
    done = envdoctor("--no-target", input="Traceback (most recent call last):\nZeroDivisionError: division by zero\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert "ZeroDivisionError" in done.stdout


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "latin-1"])
def test_a_log_in_another_encoding_is_read(codec, tmp_path, capsys):
    path = tmp_path / "error.log"
    path.write_bytes(("\xe9t\xe9\n" + TRACEBACK.replace("\n", "\r\n")).encode(codec))

    assert main(["explain", str(path), "--no-target"]) == 1
    assert "cloudpickle" in capsys.readouterr().out


def garbage(size):
    return random.Random(7).randbytes(size)


HUGE = {
    "bytes": garbage(1 << 20),
    "zeros": bytes(1 << 20),
    "one line": b"x" * (1 << 20),
    "errors": b"ValueError: x\n" * ((1 << 20) // 14),
    "tracebacks": TRACEBACK.encode() * ((1 << 20) // len(TRACEBACK)),
    "carets": b"^" * 2048 * 100 + b"\n" + b'  File "' * (1 << 16),
    "spaces": b" " * (1 << 20),
    "openings": b"[" * (1 << 20),
}


@pytest.mark.trials
@pytest.mark.parametrize("kind", HUGE)
def test_a_megabyte_of_anything_takes_bounded_time(kind, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(HUGE[kind])

    done = envdoctor(path, "--no-target", timeout=300)

    assert done.returncode in {0, 1, 2}
    assert "Traceback" not in done.stderr
    assert len(done.stdout) < 100_000


@pytest.mark.trials
def test_of_a_longer_text_the_end_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(explain, "LIMIT", 1 << 20)
    path = tmp_path / "log"
    path.write_bytes((b"noise " * 100 + b"\n") * 5000 + TRACEBACK.encode())

    status = main(["explain", str(path), "--no-target"])
    out, err = capsys.readouterr()

    assert status == 1
    assert "cloudpickle" in out
    assert err == "envdoctor: the text is long; its last 1 MiB are read\n"


@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_at_a_terminal_it_says_how_to_paste():
    import pty
    import subprocess

    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "envdoctor", "explain", "--no-target"],
        stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    os.close(follower)
    try:
        assert child.stderr.readline() == "envdoctor: paste the traceback or log, then press Ctrl-D\n"
        os.write(leader, TRACEBACK.encode() + b"\x04")
        out, err = child.communicate(timeout=300)
    finally:
        os.close(leader)
        child.kill()

    assert child.returncode == 1
    assert err == ""
    assert "cloudpickle" in out
