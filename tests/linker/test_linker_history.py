"""The history of names answers from its file: since when, until when, and in which release a name was gone."""

import zipfile

import pytest

from envdoctor.errors import TargetError
from envdoctor.linker.history import History, Life
from envdoctor.workshop.name_history import classes, intervals, store, stored

RELEASES = [
    ("1.0", {"a", "a.old", "a.Job", "a.Job.stop", "a.run", "a.run:first", "a.run:second", "a.here"}),
    ("1.1", {"a", "a.old", "a.Job", "a.Job.stop", "a.run", "a.run:first", "a.here", "a.new"}),
    ("2.0", {"a", "a.Job", "a.run", "a.run:*", "a.here", "a.new"}),
    ("3.0", {"a", "a.run", "a.run:first", "a.here", "a.new"}),
]


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "history.zip"
    store(str(path), {"dist": {"releases": [one for one, _ in RELEASES], "roots": ["a"], "names": intervals(RELEASES),
                              "classes": classes({"a.Worker.stop", "a.Job.stop", "a.run:first"})}})  # fmt: skip
    return History(zipfile.ZipFile(path))


@pytest.mark.parametrize(
    ("name", "since", "last", "gone"),
    [
        ("a.old", None, "1.1", "2.0"),
        ("a.new", "1.1", None, None),
        ("a.Job", None, "2.0", "3.0"),
        ("a.Job.stop", None, "1.1", "2.0"),
    ],
)
def test_a_name_has_a_first_and_a_last_release(history, name, since, last, gone):
    assert history.life(name) == [Life(distribution="dist", name=name, since=since, last=last, gone=gone)]


@pytest.mark.parametrize("name", ["a.here", "a.never", "b.old", "a.run:first"])
def test_nothing_is_said_of_a_name_that_was_always_there_or_never_or_may_have_been(history, name):
    assert history.life(name) == []


def test_a_parameter_counts_as_there_where_a_function_takes_any(history):
    gone = Life(distribution="dist", name="a.run:second", since=None, last="2.0", gone="3.0")
    assert history.life("a.run:second") == [gone]


def test_a_class_of_the_newest_release_tells_whose_it_is_where_it_lost_nothing(history):
    asked = ["Job.stop", "Worker.anything", "Other.anything", ".stop", ".start_late"]

    assert history.holders(asked) == dict(zip(asked, [["dist"], [], [], ["dist"], []]))
    assert history.with_class(asked[1:3]) == {"Worker.anything": ["dist"], "Other.anything": []}
    assert history.imports() == {"a": ["dist"]}


def test_a_file_is_the_same_for_the_same_histories_and_is_read_back(history, tmp_path):
    again = tmp_path / "again.zip"
    store(str(again), stored(str(tmp_path / "history.zip")))
    assert again.read_bytes() == (tmp_path / "history.zip").read_bytes()


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"no archive")
    with pytest.raises(TargetError, match="holds no history"):
        stored(str(tmp_path / "x.zip"))


def test_an_attribute_that_came_back_is_not_gone_between(tmp_path):
    releases = [
        ("1.0", {"a", "a.Job", "a.Job.stop", "a.Job.back"}),
        ("2.0", {"a", "a.Job"}),
        ("3.0", {"a", "a.Job", "a.Job.back"}),
    ]
    path = tmp_path / "history.zip"
    store(str(path), {"dist": {"releases": ["1.0", "2.0", "3.0"], "roots": ["a"], "names": intervals(releases)}})
    told = History(zipfile.ZipFile(path))
    assert [life.name for life in told.gone("dist", "2.0", "Job", "stop")] == ["a.Job.stop"]
    assert told.gone("dist", "2.0", "Job", "back") == []


@pytest.mark.parametrize(
    ("version", "expected"), [("1.1", []), ("2.0", ["stop"]), ("2.0.5", ["stop"]), ("3.0", ["stop"])]
)
def test_the_words_that_no_class_has_any_more(history, version, expected):
    assert list(history.lost_words("dist", version)) == expected
    assert history.lost_words("nobody", version) == {}
