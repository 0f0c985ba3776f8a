"""Artefacts among a project's files and those that the user names."""

import pickle
import zipfile

from envdoctor.probes import artifacts
from envdoctor.probes.project import Project

GOOD = pickle.dumps(zipfile.ZipFile)
FILES = {
    "models/one.pkl": GOOD,
    "models/cut.joblib": GOOD[:-4],
    "models/page.pkl": b"<html>404</html>",
    "docs.zip": b"PK\x05\x06" + bytes(18),
    "notes.p": b"(hello)",
    "weights.pt": b"weights",
    "main.py": b"import pickle",
    "one.pkl.txt": GOOD,
}


def assert_found(answer):
    assert answer.keys() == {"found", "gaps"}
    assert [(record["file"], record["names"]) for record in answer["found"]] == [
        ("models/one.pkl", ["zipfile.ZipFile"])
    ]
    assert answer["gaps"] == [
        "models/cut.joblib ends too early: it is cut short. Copy or save it again",
        "models/page.pkl is none of the kinds of file that envdoctor reads",
    ]


def test_a_project_in_memory():
    assert_found(artifacts.in_project(Project.of(FILES)))


def test_a_project_on_disk(tmp_path):
    for name, data in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    assert_found(artifacts.in_project(Project.at(str(tmp_path))))

    class Rooted:
        root = str(tmp_path)

        def files(self):
            return sorted(FILES)

    assert_found(artifacts.in_project(Rooted()))


def test_there_may_be_too_many():
    answer = artifacts.in_project(
        Project.of({f"{number:04}.pkl": GOOD for number in range(artifacts.PROJECT_FILES + 3)})
    )
    assert len(answer["found"]) == artifacts.PROJECT_FILES
    assert answer["gaps"] == ["0200.pkl and 2 more artefacts are not read: there are too many"]


def test_files_that_the_user_names_keep_their_paths(tmp_path):
    (tmp_path / "a.pkl").write_bytes(GOOD)
    answer = artifacts.of_files([str(tmp_path / "a.pkl"), str(tmp_path / "b.pkl")])
    assert [record["file"] for record in answer["found"]] == [str(tmp_path / "a.pkl")]
    assert answer["gaps"] == [f"{tmp_path / 'b.pkl'} cannot be opened: No such file or directory."]
