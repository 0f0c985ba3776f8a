"""The rule author's commands, and "a rule in five minutes" followed to the letter."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, environment, run, run_envdoctor

from envdoctor.cli import main
from envdoctor.commands import rules_list


def said(capsys, *words):
    status = main([str(word) for word in words])
    return (status, *capsys.readouterr())


def test_every_rule_is_listed_on_a_line(capsys):
    status, out, err = said(capsys, "rules", "list")

    assert (status, err) == (0, "")
    ids = [line.split()[0] for line in out.splitlines()]
    assert ids == sorted(ids)
    assert {"requirement-missing", "cloudpickle-bytecode-py311"} <= {*ids}
    assert {path.stem for path in Path(CHECKOUT, "rules").rglob("*.yaml")} - {"vocabulary"} == {*ids}


def test_the_rules_about_a_distribution_are_listed_under_any_spelling(capsys):
    first = said(capsys, "rules", "list", "cloudpickle")
    assert first[0] == 0
    assert "cloudpickle-bytecode-py311" in first[1]
    assert said(capsys, "rules", "list", "CloudPickle") == first
    assert said(capsys, "rules", "list", "no-such-thing") == (1, "", "envdoctor: no rule is about no-such-thing\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of POSIX")
def test_the_list_on_a_terminal_keeps_to_its_columns_and_leaves_ids_whole(capsys):
    import fcntl
    import pty
    import struct
    import subprocess
    import termios

    ids = [line.split()[0] for line in said(capsys, "rules", "list", "flask")[1].splitlines()]
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
    words = [sys.executable, "-m", "envdoctor", "rules", "list", "flask"]
    process = subprocess.Popen(words, stdout=follower, env=environment(NO_COLOR="1"))
    os.close(follower)
    shown = b""
    while chunk := _read(leader):
        shown += chunk
    os.close(leader)

    assert process.wait() == 0
    rows = [row.rstrip() for row in shown.decode().splitlines()]
    assert max(map(len, rows)) <= 90
    assert [row.split()[-1] for row in rows if row.startswith(("error", "warning", "info"))] == ids


def _read(leader):
    try:
        return os.read(leader, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def test_the_list_and_one_rule_as_json(capsys):
    listed = json.loads(said(capsys, "rules", "list", "-f", "json")[1])
    shown = json.loads(said(capsys, "rules", "show", "cloudpickle-bytecode-py311", "-f", "json")[1])

    assert {"id", "severity", "impact", "title", "packages"} <= listed[0].keys()
    assert shown["id"] == "cloudpickle-bytecode-py311"
    assert shown["references"]


@pytest.mark.trials
def test_every_rule_can_be_shown(capsys, monkeypatch):
    every = rules_list.every([])
    monkeypatch.setattr(rules_list, "every", lambda _directories: every)  # read once
    for one in json.loads(said(capsys, "rules", "list", "-f", "json")[1]):
        status, out, _ = said(capsys, "rules", "show", one["id"])
        assert status == 0
        assert out.startswith(f"id: {one['id']}\n")


def test_a_new_rule_is_written_once_and_its_unfinished_parts_are_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    status, out, _ = said(capsys, "rules", "new", "my-cause")
    assert (status, out) == (0, "wrote my-cause.yaml; fill it in, then run: envdoctor rules lint my-cause.yaml\n")
    before = Path("my-cause.yaml").read_text(encoding="utf-8")
    status, _, err = said(capsys, "rules", "new", "my-cause")
    assert status == 2
    assert "my-cause.yaml exists already" in err
    assert Path("my-cause.yaml").read_text(encoding="utf-8") == before

    status, out, err = said(capsys, "rules", "lint", "--offline", "my-cause.yaml")
    assert status == 1
    assert all(re.match(r"my-cause\.yaml:\d+: .*; write", line) for line in out.splitlines())
    assert err == f"{len(out.splitlines())} complaints in 1 file\n"


def test_a_new_rule_goes_to_its_area(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert said(capsys, "rules", "new", "my-cause", "--area", "web")[0] == 0
    assert Path("rules/web/my-cause.yaml").exists()
    assert said(capsys, "rules", "new", "other-cause", "-o", "here.yaml")[0] == 0
    assert Path("here.yaml").exists()


@pytest.mark.parametrize("area", ["../outside", os.path.abspath("outside"), "web/../../outside"])
def test_an_area_does_not_lead_out_of_the_rules(area, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    status, _, err = said(capsys, "rules", "new", "my-cause", "--area", area)

    assert status == 2
    assert "--area" in err
    assert not list(tmp_path.parent.glob("outside*"))


def test_lint_names_all_mistakes_of_all_files_and_survives_what_is_no_rule(tmp_path, capsys):
    (tmp_path / "one.yaml").write_text("id: other\nwhen: [\n")
    (tmp_path / "two.yaml").write_bytes(bytes(range(256)))
    (tmp_path / "three.yaml").write_text("id: three\nsevrity: error\n")
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (tmp_path / "four.yaml").write_text("\n".join(bomb))

    status, out, err = said(capsys, "rules", "lint", "--offline", tmp_path)

    assert status == 1
    for name in ("one", "two", "three", "four"):
        assert f"{name}.yaml:" in out, name
    assert "Traceback" not in out + err
    assert len(out) < 20000


def test_a_file_of_rules_that_is_spoilt_is_said_and_left_out(tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text("id: bad\n")
    facts = tmp_path / "facts.json"
    facts.write_text('{"schema": 1, "python": {"version": "3.11.7"}, "packages": {"six": "1.17.0"}}')

    status, out, err = said(capsys, "check", "--snapshot", facts, "--rules", tmp_path)

    assert (status, err) == (0, "")
    assert "bad.yaml:1: the file lacks `title`" in " ".join(out.split())


# --- CONTRIBUTING.md ------------------------------------------------------------------------------------------------

FILLED = {
    '"TODO: what breaks with what"': "streamlit before 1.23 cannot draw charts with altair 5",
    '  python: ">=3.11"                      # leave it out if every Python is affected; versions always in quotes\n': "",
    '{todo-distribution: "<2.0"}': '{altair: ">=5.0.0rc1", streamlit: "<1.23"}',
    "TODO: what changed, in which release, and why that hurts. One or two sentences.": "altair 5 removed the module altair.vegalite.v4 that streamlit imports.",
    '{raises: TypeError, message: "TODO: the words that only this error has"}': "{raises: ModuleNotFoundError, message: \"No module named 'altair.vegalite.v4'\"}",
    "upgrade: todo-distribution>=2.0": "upgrade: streamlit>=1.23",
    "https://TODO.example/where-it-is-told": "https://github.com/streamlit/streamlit/issues/6627",
    "import todo_distribution": "import streamlit",
}


def test_a_rule_in_five_minutes(tmp_path):
    """Every command of the page, in its order, with the placeholders filled in as the page says."""
    text = Path(CHECKOUT, "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## A rule in five minutes")[2].partition("\n## ")[0]
    commands = re.findall(r"^ *\$ (.+)$", section, re.MULTILINE)
    assert [re.search(r"rules new|rules verify|rules lint|printf|-r ", command)[0] for command in commands] == [
        "rules new", "printf", "-r ", "rules verify", "rules lint",
    ]  # fmt: skip
    (tmp_path / "rules").mkdir()
    here = {"/tmp/bad.txt": "bad.txt", ".venv/bin/envdoctor": f"{shlex.quote(sys.executable)} -m envdoctor"}
    new, write, see, prove, lint = commands

    def shell(command):
        for said, meant in here.items():
            command = command.replace(said, meant)
        return run("sh", "-c", command, cwd=tmp_path, env=environment())

    assert shell(new).returncode == 0
    (path,) = tmp_path.glob("rules/*/*.yaml")
    assert str(path.relative_to(tmp_path)) in section
    text = path.read_text(encoding="utf-8")
    for placeholder, filled in FILLED.items():
        assert placeholder in text, placeholder
        text = text.replace(placeholder, filled)
    text = text.partition("  bad:")[0] + CELLS
    path.write_text(text, encoding="utf-8")
    assert shell(write).returncode == 0
    seen = shell(f"{see} --rules rules")
    assert seen.returncode == 1, seen.stderr
    assert path.stem in seen.stdout

    proved = shell(prove + " --python 2.7")  # none of its trials: they would install half the index
    assert proved.returncode == 0, proved.stderr
    linted = shell(lint + " --offline")
    assert linted.returncode == 0, linted.stdout + linted.stderr


CELLS = """\
  bad:
    - {python: "3.10", packages: {altair: "5.0.0rc1", streamlit: "1.22.0"}}
  good:
    - {python: "3.10", packages: {altair: "4.2.2", streamlit: "1.22.0"}}
    - {python: "3.10", packages: {altair: "5.0.0rc1", streamlit: "1.23.0"}}
"""


def test_no_braces_are_left_in_the_titles_of_a_list():
    done = run_envdoctor("rules", "list", env=environment())

    assert done.returncode == 0
    assert "{" not in done.stdout
    assert "method_whitelist of Retry, which spotipy (and 3 more) passes" in " ".join(done.stdout.split())
