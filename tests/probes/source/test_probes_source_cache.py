"""What is remembered is what would be read: after any change of a text, and whatever became of the cache."""

import json
import os
import random
import subprocess
import sys

import pytest

from envdoctor.probes.project import Project
from envdoctor.probes.source import cache as remembered
from envdoctor.probes.source import uses

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the cache directory is set through XDG_CACHE_HOME")
PADDING = "# " + "x" * remembered.WORTH_REMEMBERING + "\n"
SOURCE = PADDING + "import a\na.b(1)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "envdoctor" / "source"


def ask(cache, source=SOURCE):
    return [(use["name"], use["line"]) for use in cache.ask("facts", source)["value"]]


def test_another_process_reads_nothing_anew(folder):
    expected = ask(remembered.Cache())
    (path,) = folder.iterdir()
    path.write_text(path.read_text().replace('"a.b"', '"only.in.the.cache"'))
    assert ("only.in.the.cache", 3) in ask(remembered.Cache())
    path.unlink()
    assert ask(remembered.Cache()) == expected


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
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b"\xff\0", b'{"value":', b"[" * 100_000])
def test_a_damaged_entry_is_made_anew(folder, damage):
    expected = ask(remembered.Cache())
    (path,) = folder.iterdir()
    path.write_bytes(damage)
    assert ask(remembered.Cache()) == expected
    assert json.loads(path.read_text())["value"]


def test_a_gap_is_remembered_too(folder):
    answer = remembered.Cache().ask("facts", PADDING + "print 'a'\n")
    assert answer == remembered.Cache().ask("facts", PADDING + "print 'a'\n")
    assert answer["line"] == 2


def test_small_texts_leave_no_trace(folder):
    assert ask(remembered.Cache(), "import a\na.b()\n") == [("a", 1), ("a.b", 2)]
    assert not folder.exists()


def test_the_cache_cannot_be_written(folder):
    folder.parent.mkdir()
    folder.write_text("a file where the directory should be")
    cache = remembered.Cache()
    assert ask(cache)
    cache.tidy()


def test_the_oldest_entries_go_first(folder, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_ENTRIES", 3)
    cache = remembered.Cache()
    for number in range(6):
        ask(cache, f"{SOURCE}x = {number}\n")
        for age, path in enumerate(sorted(folder.iterdir(), key=os.path.getmtime), 1):
            os.utime(path, (age, age))
    cache.tidy()
    assert len(list(folder.iterdir())) == 3
    assert ask(cache, f"{SOURCE}x = 0\n")


def test_two_processes_at_once(folder, tmp_path):
    program = (
        "import sys\nfrom envdoctor.probes.source.cache import Cache\ncache = Cache()\n"
        "for n in range(40):\n  print(len(cache.ask('facts', sys.argv[1] + f'x = {n}\\n')['value']))\ncache.tidy()\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, SOURCE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=60) for process in both]
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
