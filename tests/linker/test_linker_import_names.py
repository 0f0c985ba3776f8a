"""Import names -> the distributions that they are of, by the shipped index and by how it is made."""

import gzip
import sqlite3

import pytest

from envdoctor.linker.import_names import distributions
from envdoctor.workshop import import_index


def test_the_first_part_of_a_dotted_name_is_looked_up_and_what_is_called_alike_is_left_out():
    found = distributions(["cv2.dnn", "xmpp", "requests.sessions", "no_such_module_at_all", ".cv2", "c.2"])

    assert found == {"cv2": ["opencv-python"], "xmpp": found["xmpp"]}
    assert found["xmpp"][0] == "xmpppy"
    assert distributions([]) == {}


def test_a_popular_distribution_that_is_called_like_a_module_inside_another_is_found_by_its_dotted_name():
    found = distributions(["langgraph.checkpoint.sqlite.aio", "os.path"])

    assert found["langgraph.checkpoint.sqlite"] == ["langgraph-checkpoint-sqlite"]
    assert "os.path" not in found


@pytest.mark.parametrize(
    ("module", "names", "expected"),
    [
        ("songs", {"python-songs"}, "python-songs"),
        ("songs", {"python-songs", "songs"}, "songs python-songs"),
        ("songs", {"songs", "popular-songs"}, "popular-songs"),
        ("songs", {"songs", "songs-api"}, "songs songs-api"),
        ("songs", {"songs", "songs-bootleg"}, None),
        ("ours", {"ours", "famous"}, "famous ours"),
        ("tapes", {"tapes-copy"}, "tapes tapes-copy"),
        ("songs", {"xyz", "songs-player"}, "songs-player xyz"),
        ("songs", {"songs-recorder", "songs-player"}, None),
        ("songs", {"a", "b", "c", "songs-player"}, None),
        ("tests", {f"d{number}" for number in range(70)} | {"popular-songs"}, None),
        ("songs", {f"d{number}" for number in range(70)} | {"songs.py".replace(".", "-")}, "songs-py"),
        ("cloud", {f"cloud-{number}" for number in range(5)}, None),
        ("songs", {"unlike", "a", "b", "c", "famous"}, "famous"),
    ],
)
def test_the_distribution_that_is_meant_is_the_popular_or_the_only_one(module, names, expected):
    ranks = {"famous": 10, "ours": 4000, "popular-songs": 9000, "unlike": 14000, "songs-py": 8000}
    ranks.update({f"cloud-{number}": 100 + number for number in range(5)})

    found = import_index.index({module: names}, ranks, {"tapes"})

    assert found == ({module: expected.split()} if expected else {})


def test_the_index_is_made_from_a_database_and_a_list_and_is_the_same_each_time(tmp_path, capsys):
    with sqlite3.connect(tmp_path / "db.sqlite3") as database:
        database.execute("CREATE TABLE distributions (id INTEGER, name VARCHAR, version VARCHAR)")
        database.execute("CREATE TABLE top_level_module_names (id INTEGER, distribution_id INTEGER, name VARCHAR)")
        database.execute("INSERT INTO distributions VALUES (1, 'Right.Pad', '1'), (2, 'left', '1'), (3, 'odd', '1')")
        database.execute(
            "INSERT INTO top_level_module_names VALUES (1, 1, 'rightmod'), (2, 2, 'left'), (3, 3, 'no-module')"
        )
    database.close()
    (tmp_path / "top.csv").write_text('download_count,project\n5,"left"\n4,"left-inner"\n', encoding="utf-8")
    written = tmp_path / "import-names.gz"
    line = [str(tmp_path / "db.sqlite3"), str(tmp_path / "top.csv"), "--write", str(written)]

    assert import_index.main(line) == 0
    first = written.read_bytes()
    assert import_index.main(line) == 0

    assert capsys.readouterr().out.splitlines() == [f"1 import names written to {written}"] * 2
    assert written.read_bytes() == first
    assert gzip.decompress(first) == b"rightmod right-pad\nleft-inner\n"
