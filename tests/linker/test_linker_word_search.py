"""Words in files: a binary is read in pieces, and what is written in no file of a distribution is surely missing."""

import linker_environment as env
import pytest

from envdoctor.linker import word_search
from envdoctor.linker.module_files import Layout
from envdoctor.linker.word_search import Words

WORD = "a_removed_name"


@pytest.fixture
def words():
    return Words(Layout([]))


@pytest.mark.parametrize("before", range(-len(WORD) - 1, 2))
def test_a_word_between_two_pieces_of_a_binary(tmp_path, words, monkeypatch, before):
    monkeypatch.setattr(word_search, "_PIECE", 64)
    path = tmp_path / "b.so"
    path.write_bytes(b"\1" * (64 + before) + WORD.encode() + b"\1" * 100)

    assert words.in_file(str(path), WORD) is True
    assert words.in_file(str(path), WORD + "s") is False


def test_a_word_longer_than_a_piece(tmp_path, words, monkeypatch):
    monkeypatch.setattr(word_search, "_PIECE", 4)
    path = tmp_path / "b.so"
    path.write_bytes(b"\1" * 7 + WORD.encode())

    assert words.in_file(str(path), WORD) is True
    assert words.in_file(str(path), "a_remoted_name") is False


@pytest.mark.parametrize(
    ("content", "found"),
    {
        "with packed words": (b"__pyx_init decompress", True),
        "with packed words, and the one that all have": (b"__pyx_init __test__ decompress", False),
        "of another compiler": (b"decompress", False),
        "which is empty": (b"", False),
    }.values(),
)
def test_a_binary_that_may_hide_its_words(tmp_path, words, monkeypatch, content, found):
    monkeypatch.setattr(word_search, "_PIECE", 8)
    path = tmp_path / "b.so"
    path.write_bytes(content)

    assert [words.in_file(str(path), WORD), words.in_file(str(path), "another_word")] == [found, found]


def test_a_file_that_is_not_there(tmp_path, words):
    assert words.in_file(str(tmp_path / "b.so"), WORD) is None


def test_a_compiled_module_that_spells_a_name_between_two_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(word_search, "_PIECE", 64)
    kept = b"\1" * 60 + b"keptname" + b"\1" * 60
    folder = env.write(tmp_path, b={"b.cpython-312-x86_64-linux-gnu.so": kept})
    env.write(tmp_path, a={"a.py": "from b import keptname, lostname\n"})

    assert env.missing(folder) == [("warning", "a", 1, "b.lostname")]
