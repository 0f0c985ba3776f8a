"""Files that nobody writes on purpose: each is said or passed over in a line, with an exit status of the table."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest
from conftest import environment, run
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.cli import main
from envdoctor.talk import harmless

pytestmark = pytest.mark.trials

HEADER = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
DIGITS = "1" * 5000


def outcome(*words):
    """The exit status and all that was printed; asserts that it was said decently."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in words])
    assert status in {0, 1, 2, 3}, err.getvalue()
    assert "Traceback" not in err.getvalue()
    assert status < 2 or err.getvalue().startswith("envdoctor: ")
    return status, out.getvalue(), err.getvalue()


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """An environment that is read by its files."""
    folder = tmp_path / "venv"
    site = folder / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    home = tmp_path / "usr" / "bin"
    home.mkdir(parents=True)
    for path in (folder / "bin" / "python", home / "python3.11"):
        path.write_text("")
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.4\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    return folder, site


def distribution(site, name, version="1.0", header=""):
    folder = os.path.join(os.fsencode(site), os.fsencode(f"{name}-{version}.dist-info"))
    os.mkdir(folder)
    with open(os.path.join(folder, b"METADATA"), "wb") as file:
        file.write((HEADER.format(name, version) + header).encode("utf-8", "surrogateescape"))


def everything():
    for words in ([], ["check", "-f", "json"], ["report"], ["snapshot"]):
        yield outcome(*words)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_distribution_whose_name_is_not_text_does_not_hide_the_others(venv):
    _, site = venv
    distribution(site, os.fsdecode(b"caf\xe9"))
    distribution(site, "one", header="Requires-Dist: no-such-thing\n")
    for status, out, _ in everything():
        assert status in {0, 1}
        assert "no-such-thing" in out


REQUIREMENTS = [
    f"numpy=={DIGITS}", f"numpy>={DIGITS},<2", f"numpy~=1.{DIGITS}", f"numpy=={DIGITS}.*", f"numpy=={DIGITS}!1", f"numpy==={DIGITS}",
    f"numpy=={'1.' * 3000}1", "numpy ; " + "(" * 5000 + "python_version>'3'" + ")" * 5000, "numpy " + "(" * 5000, "numpy[" * 5000,
    f"numpy ; python_version > '{DIGITS}'", f"numpy ; '{DIGITS}' <= python_version", "numpy ; python_version > '²'", "numpy==²", "numpy==\u0661\u0662",
    "num\0py", "num\udcffpy ; os_name=='\udcff'", "numpy " + ",".join([">=1"] * 20_000), "-" * 50_000, "numpy" + ";" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=range(len(REQUIREMENTS)))
def test_any_requirement_in_metadata_and_in_a_file(venv, tmp_path, requirement):
    _, site = venv
    distribution(site, "numpy", header=f"Requires-Python: {requirement[5:]}\n")
    distribution(site, "one", header=f"Requires-Dist: {requirement}\nRequires-Dist: no-such-thing\n")
    assert "no-such-thing" in outcome()[1]
    file = tmp_path / "requirements.txt"
    file.write_bytes(f"{requirement}\npandas==2.0.0\n".encode("utf-8", "surrogateescape"))
    outcome("-r", file, "--python-version", "3.11", "-f", "json")


@pytest.mark.parametrize(
    "settings_",
    ["home = /usr\0/bin\nversion = 3.11.4\n", "home = /usr/bin\nversion = 3.11.4\0\n", f"home = x\nversion = {DIGITS}.1\n",
     "home = x\nversion = ².²\n", "home = x\nversion = \u0661.\u0662\n", f"home = {'a' * 5000}\nversion = 3.11.4\n", "\0", "=" * 5000],
)  # fmt: skip
def test_any_settings_of_a_virtual_environment(venv, settings_):
    folder, site = venv
    distribution(site, "one")
    (folder / "pyvenv.cfg").write_text(settings_)
    outcome()
    outcome("--root", folder)


LONE = [
    {"packages": {"num\ud800py": "1.0\ud800"}}, {"packages": {"a": DIGITS}}, {"packages": {"a": "1"}, "requirements": {"a": [f"b>={DIGITS}"]}},
    {"packages": {"a": "\ud800"}, "python": {"version": "3.11.4", "executable": "\ud800", "prefix": "\ud800", "implementation": "\ud800"}},
    {"packages": {"a": "1"}, "requirements": {"a": ["\ud800 ; \ud800", "b ; " + "(" * 3000]}}, {"packages": {"a": "1"}, "env": {"\ud800": "\ud800"}},
    {"packages": {"a": "1"}, "target": {"path": ["x"], "kind": 1, "pid": {}}, "notes": [{"fact": "\ud800", "reason": "\x1b[2J"}]},
]  # fmt: skip


@pytest.mark.parametrize("document", LONE, ids=range(len(LONE)))
@pytest.mark.parametrize("command", ["check", "report", "snapshot"])
def test_any_snapshot(tmp_path, document, command):
    (tmp_path / "facts.json").write_text(json.dumps({"python": {"version": "3.11.4"}, **document}))
    status, out, _ = outcome(command, "--snapshot", tmp_path / "facts.json")
    assert status < 2
    out.encode()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the current directory cannot be removed")
@pytest.mark.parametrize(
    "words",
    [["--project", "PROJECT"], ["--project", "."], [], ["report"], ["explain", "--no-target", "x"], ["rules", "lint"]],
)
def test_a_current_directory_that_was_removed(tmp_path, words):
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text("import numpy\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = ["sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh", sys.executable, "-m", "envdoctor"]
    done = run(
        *shell, *[str(project) if word == "PROJECT" else word for word in words], env=environment(PYTHONSAFEPATH="1")
    )
    assert done.returncode in {0, 1, 2, 3}, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a device that never ends")
def test_a_device_or_a_stream_without_end_is_refused():
    status, _, err = outcome("explain", "/dev/zero", "--no-target")
    assert (status, "it is a device" in err) == (2, True)
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run(
            [sys.executable, "-m", "envdoctor", "explain", "--no-target"], stdin=zero, capture_output=True, check=False,
            text=True, env=environment(PYTHONSAFEPATH="1"), timeout=300,
        )  # fmt: skip
    assert (done.returncode, "GiB" in done.stderr) == (2, True)


HOSTILE = "\x1b[8m\x1b]0;title\x07\x1b[2J\x1b[1;1H\u202egnp.exe\x9b31m\r\x08"


@pytest.mark.parametrize("words", [
    ["check", "--python", f"/x{HOSTILE}"], ["check", "-r", f"/x{HOSTILE}"], ["check", "--project", HOSTILE], [HOSTILE], [f"--{HOSTILE}"],
    ["rules", "show", HOSTILE], ["rules", "list", HOSTILE], ["rules", "lint", f"/x{HOSTILE}"], ["rules", HOSTILE], ["explain", f"/x{HOSTILE}"],
    ["check", "--snapshot", f"/x{HOSTILE}"], ["check", "--rules", f"/x{HOSTILE}"], ["check", "-f", HOSTILE],
])  # fmt: skip
def test_an_argument_cannot_move_the_cursor(words):
    _, out, err = outcome(*words)
    assert not {*"\x1b\x07\u202e\x9b\r\x08"} & {*out, *err}


def test_neither_can_a_rule(tmp_path):
    rule = 'id: bad-rule\ntitle: "\\e[2J\\u202Ex"\nseverity: error\n"\\e[2J\\u202E": 1\nimpact: crash\nwhen: {packages: {a: \'\\u202E\'}}\n'
    (tmp_path / "bad-rule.yaml").write_text(rule.replace("'\\u202E'", '"\\u202E"'))
    for words in (
        ["rules", "lint", "--offline", tmp_path],
        ["check", "--rules", tmp_path],
        ["rules", "list", "--rules", tmp_path],
    ):
        _, out, err = outcome(*words)
        assert "bad-rule" in out + err
        assert not {*"\x1b\u202e"} & {*out, *err}


@given(st.text(alphabet=st.sampled_from("a;0mé\n\t\r\x1b[\x9b\u202e\u2066\x07\x00\ud800")))
def test_only_line_ends_tabs_and_colours_reach_a_terminal(text):
    import re

    shown = harmless(text)
    assert harmless(shown) == shown
    rest = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert all(char.isprintable() or char in "\n\t" for char in rest)
    colored = "\x1b[1;31merror\x1b[0m  a\n"
    assert harmless(colored) == colored
