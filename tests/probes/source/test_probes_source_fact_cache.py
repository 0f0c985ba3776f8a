"""What is remembered is what would be read: after any change of a text, and whatever became of the cache."""

import json
import os
import random
import subprocess
import sys

import pytest
from conftest import environment, run

from envdoctor.probes import cache as files
from envdoctor.probes.project import Project
from envdoctor.probes.source import fact_cache as remembered
from envdoctor.probes.source import uses

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the cache directory is set through XDG_CACHE_HOME")
PADDING = "# " + "x" * remembered.WORTH_REMEMBERING + "\n"
SOURCE = PADDING + "import a\na.b(1)\n"
ASKED = frozenset(["a", "a.*"]), frozenset()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "envdoctor" / "source"


def ask(cache, source=SOURCE):
    return [(use["name"], use["line"]) for uses in cache.ask(source, ASKED)["value"].values() for use in uses]


def test_another_process_reads_nothing_anew(folder):
    expected = ask(remembered.FileFacts())
    (path,) = folder.iterdir()
    files.keep(str(path), files.kept(str(path)).replace(b'"a.b"', b'"only.in.the.cache"'))
    assert ("only.in.the.cache", 3) in ask(remembered.FileFacts())
    path.unlink()
    assert ask(remembered.FileFacts()) == expected


def test_entries_are_by_content_not_by_time(folder, tmp_path):
    tmp_path = tmp_path / "project"
    tmp_path.mkdir()
    file = tmp_path / "one.py"
    file.write_text(SOURCE)
    assert len(uses(Project.at(str(tmp_path)), "a.b")["found"]) == 1
    before = sorted(folder.iterdir())
    os.utime(file, (1, 1))
    assert len(uses(Project.at(str(tmp_path)), "a.b")["found"]) == 1
    assert sorted(folder.iterdir()) == before
    file.write_text(SOURCE + "a.b(2)\n")
    os.utime(file, (1, 1))
    assert len(uses(Project.at(str(tmp_path)), "a.b")["found"]) == 2
    assert len(list(folder.glob("asked-*"))) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b"\xff\0", b'{"value":', b'{"uses":{}}', b"[" * 100_000])
def test_a_damaged_entry_is_made_anew(folder, damage):
    expected = ask(remembered.FileFacts())
    (path,) = folder.iterdir()
    files.keep(str(path), damage)
    assert ask(remembered.FileFacts()) == expected
    assert json.loads(files.kept(str(path)))["value"]


def test_a_gap_is_remembered_too(folder):
    answer = remembered.FileFacts().ask(PADDING + "print 'a'\n", ASKED)
    assert answer == remembered.FileFacts().ask(PADDING + "print 'a'\n", ASKED)
    assert answer["line"] == 2


def test_small_texts_leave_no_trace(folder):
    assert ask(remembered.FileFacts(), "import a\na.b()\n") == [("a", 1), ("a.b", 2)]
    assert not folder.exists()


def test_the_cache_cannot_be_written(folder):
    folder.parent.mkdir()
    folder.write_text("a file where the directory should be")
    cache = remembered.FileFacts()
    assert ask(cache)
    cache.tidy()


def test_the_oldest_entries_go_first(folder, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_ENTRIES", 3)
    cache = remembered.FileFacts()
    for number in range(6):
        ask(cache, f"{SOURCE}x = {number}\n")
        for age, path in enumerate(sorted(folder.iterdir(), key=os.path.getmtime), 1):
            os.utime(path, (age, age))
    cache.tidy()
    assert len(list(folder.iterdir())) == 3
    assert ask(cache, f"{SOURCE}x = 0\n")


def test_two_processes_at_once(folder, tmp_path):
    program = (
        "import sys\nfrom envdoctor.probes.source.fact_cache import FileFacts\ncache = FileFacts()\n"
        "asked = frozenset(['a', 'a.*']), frozenset()\n"
        "for n in range(40):\n  print(len(cache.ask(sys.argv[1] + f'x = {n}\\n', asked)['value']))\ncache.tidy()\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, SOURCE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=300) for process in both]
    assert answers == [("2\n" * 40, "")] * 2
    assert len(list(folder.iterdir())) == 40


def test_the_order_of_questions_does_not_matter():
    lines = "import a\nx = a.A()\nx = x.b()\nfor i in y:\n  x = x.c()\n  z = x.d()\n  x = z.e()\nx.f()\n"
    project = {"one.py": lines}
    patterns = [f"a.**.{letter}" for letter in "bcdef"]
    expected = {one: uses(Project.of(project), one) for one in patterns}
    shuffled = random.Random(1).sample(patterns, len(patterns))
    same = Project.of(project)
    assert {one: uses(same, one) for one in shuffled} == expected


def test_answers_about_an_unchanged_project_come_from_the_last_run(tmp_path):
    """What was kept of single files is gone in between: a run in which nothing changed does not ask for it."""
    project, kept = tmp_path / "project", tmp_path / "cache" / "envdoctor" / "source"
    project.mkdir()
    text = "import lib\nlib.call(1)\n" + "# filler\n" * 30_000
    (project / "a.py").write_text(text)
    program = (
        "import sys\n"
        "from envdoctor.facts import SOURCE\n"
        "from envdoctor.probes.project import Project\n"
        "answer = Project.at(sys.argv[1]).ask(SOURCE, 'lib.call')\n"
        "print([one['line'] for one in answer.found])\n"
    )

    def ask():
        done = run(sys.executable, "-c", program, project, env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), [path.name for path in kept.iterdir() if not path.name.startswith("answers-")]

    found, files = ask()
    assert found == "[2]"
    assert files
    for name in files:
        (kept / name).unlink()
    assert ask() == ("[2]", [])

    (project / "a.py").write_text("\n" + text)
    found, files = ask()
    assert found == "[3]"
    assert files
