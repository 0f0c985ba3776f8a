"""A word that classes of an older release had tells something where nothing else has it."""

import zipfile

import linker_environment as env
import pytest

from envdoctor.linker import history, lost_words
from envdoctor.workshop.name_history import intervals, store

OLD, NEW = {"b", "b.Job", "b.Job.vanishing", "b.Job.other"}, {"b", "b.Job", "b.Job.other"}
B = {"b.py": "version = 2\nclass Job:\n    def other(self): pass\n"}


@pytest.fixture(autouse=True)
def shipped(tmp_path, monkeypatch):
    """A history in which ``b`` has lost ``vanishing``, in place of the one that is shipped."""
    path = str(tmp_path / "history.zip")
    releases = [("1.0", OLD), ("2.0", NEW)]
    told = {"releases": ["1.0", "2.0"], "roots": ["b"], "names": intervals(releases), "classes": []}
    store(path, {"b": told})
    monkeypatch.setattr(lost_words, "shipped", lambda: history.History(zipfile.ZipFile(path)))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import b\ndef f(job):\n    return job.vanishing()", [3]),
        ("import b\ndef f(job):\n    return job.other()", []),
        ("def f(job):\n    return job.vanishing()", []),  # b is not what it works with
        ("import b\nclass Own:\n    def vanishing(self): pass\ndef f(job):\n    return job.vanishing()", []),
        ("import b\ndef f(job):\n    return job.vanishing() if hasattr(job, 'vanishing') else None", []),
        (
            "import b\ndef f(job):\n    try:\n        return job.vanishing()\n    except AttributeError:\n        return 1",
            [],
        ),
        ("import b\ndef f(job):\n    if b.version < 2:\n        return job.vanishing()", []),
        ("import b\ndef f(job):\n    job.vanishing = 1\n    return job.vanishing", []),
    ],
)
def test_a_lost_word(tmp_path, source, lines):
    env.write(tmp_path, a={"a.py": source})
    env.write(tmp_path, version="2.0", b=B)
    assert env.missing(tmp_path) == [("warning", "a", line, "b.Job.vanishing") for line in lines]


def test_a_release_that_has_the_word_has_not_lost_it(tmp_path):
    env.write(tmp_path, a={"a.py": "import b\ndef f(job):\n    return job.vanishing()"})
    env.write(tmp_path, version="1.0", b={"b.py": "class Job:\n    def vanishing(self): pass\n"})
    assert env.missing(tmp_path) == []
