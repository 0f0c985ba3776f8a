"""``explain --online`` and ``rules draft``: real programs, wheels on an index of this machine, and a real terminal."""

import json
import os
import subprocess
import sys

import pytest
from conftest import environment, new_cache
from linker.test_linker_edges import ASKS, LEFT, wheels
from wheel_index import serving

from envdoctor.cli import main

TEXT = """Traceback (most recent call last):
  File "/x/lib/python3.11/site-packages/right_pad/__init__.py", line 1, in <module>
    from left.core import gone
ImportError: cannot import name 'gone' from 'left.core' (/x/lib/python3.11/site-packages/left/core.py)
"""


@pytest.fixture
def error(tmp_path, monkeypatch):
    """A text and its environment, as options; the index has wheels of both sides."""
    (tmp_path / "error.log").write_text(TEXT)
    here = {"schema": 1, "python": {"version": "3.11.4"}, "packages": {"left": "3.1", "right-pad": "1.1"}}
    (tmp_path / "facts.json").write_text(json.dumps(here))
    files = wheels(LEFT, {"1.1": [ASKS], "1.2": [ASKS], "1.3": [""]})
    with serving(monkeypatch, tmp_path / "cache", files) as server:
        yield [str(tmp_path / "error.log"), "--snapshot", str(tmp_path / "facts.json")], server


def test_both_edges_become_evidence_and_cures(error, capsys):
    words, _ = error
    assert main(["explain", *words, "--no-rules", "--online", "-f", "json"]) == 1

    (finding,) = json.loads(capsys.readouterr().out)["findings"]

    assert [one["requirement"] for one in finding["remedies"]] == ["right-pad>=1.3", "left<3.0"]
    assert "left.core.gone is in left, last in 2.1, and gone in 3.0" in finding["why"]
    assert "right-pad asks until 1.2, from 1.3 on no longer" in finding["why"]
    assert {"history.left", "history.right-pad"} <= {one["fact"] for one in finding["evidence"]}


@pytest.mark.parametrize("words", [[], ["--no-online"]])
def test_nothing_is_asked_of_the_index_without_leave(error, words, capsys):
    given, server = error
    main(["explain", *given, "--no-rules", *words])
    assert server.asked == []


@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_a_person_is_asked_once_and_the_answer_is_remembered(error, tmp_path):
    import pty

    def at_terminal(answer, *further):
        parent, child = pty.openpty()
        os.write(parent, answer)
        done = subprocess.run(
            [sys.executable, "-m", "envdoctor", "explain", *error[0], "--no-rules", "-f", "json", *further],
            stdin=child, stdout=subprocess.PIPE, stderr=child, check=False,
            env=environment(XDG_CACHE_HOME=str(tmp_path / "cache"), PIP_INDEX_URL="http://127.0.0.1:9/simple"),
        )  # fmt: skip
        os.close(child)
        said = b""
        try:
            while part := os.read(parent, 4096):
                said += part
        except OSError:  # the other end is closed
            pass
        os.close(parent)
        assert done.returncode == 1
        return "[y/N]" in said.decode(), "no index answers" in said.decode()

    assert at_terminal(b"n\n") == (True, False)
    assert at_terminal(b"") == (False, False)
    assert at_terminal(b"", "--online") == (False, True)
    assert at_terminal(b"") == (False, True)


def test_a_rule_is_drafted_whose_only_gap_is_its_reference(error, tmp_path, capsys):
    assert main(["rules", "draft", *error[0], "-o", str(tmp_path / "rules") + os.sep]) == 0

    (path,) = (tmp_path / "rules").glob("*.yaml")
    assert path.stem == "left3-gone-right-pad"
    capsys.readouterr()
    assert main(["rules", "lint", "--offline", str(path)]) == 1
    (complaint,) = capsys.readouterr().out.splitlines()
    assert "`references` is unfinished" in complaint
    text = path.read_text()
    assert 'when: {packages: {left: ">=3.0"}}' in text
    assert 'right-pad: {bad: "<1.3", works: "1.3"}' in text
    for cell in ('right-pad: "1.2", left: "3.0"', 'right-pad: "1.2", left: "2.1"', 'right-pad: "1.3", left: "3.0"'):
        assert cell in text


def test_what_releases_do_not_tell_is_not_drafted(tmp_path, capsys):
    (tmp_path / "error.log").write_text("ValueError: no idea\n")
    assert main(["rules", "draft", str(tmp_path / "error.log"), "--no-target"]) == 2
    assert "no rule could be drafted" in capsys.readouterr().err


@pytest.mark.heavy
def test_from_a_traceback_to_a_proven_rule(tmp_path, capsys, monkeypatch):
    """Real packages, from the index: in one command."""
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(tmp_path / "cache"))
    text = (
        'Traceback (most recent call last):\n  File "/x/lib/python3.10/site-packages/sanic_jinja2/__init__.py", line 3, in <module>\n'
        "    from collections import Mapping\nImportError: cannot import name 'Mapping' from 'collections' (/x/lib/python3.10/collections/__init__.py)\n"
    )
    (tmp_path / "error.log").write_text(text)
    assert (
        main(["rules", "draft", str(tmp_path / "error.log"), "--no-target", "--verify", "-o", str(tmp_path) + os.sep])
        == 0
    )
    assert "proven    python310-mapping-sanic-jinja2" in capsys.readouterr().out
