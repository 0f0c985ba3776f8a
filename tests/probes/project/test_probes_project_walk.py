"""What of a directory is looked at: hostile files, limits, and what is left out."""

import os
import socket
import sys

import pytest

from envdoctor.facts import ARTIFACT, CONFIG, SHADOWS, SOURCE, SYSTEM, Answer
from envdoctor.probes.project import Project
from envdoctor.probes.project.walk import Limits

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX file system")


def write(root, **files):
    """Files by name, where ``__`` means a slash."""
    for name, text in files.items():
        put(root, name.replace("__", "/") + ".py", text)


def put(root, name, text=""):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def config(project, pattern="**/*.yaml", key="a"):
    return project.ask(CONFIG, (pattern, key))


def test_lists_files_sorted_and_reads_them(tmp_path):
    write(tmp_path, main="import b\n", pkg__b="")
    put(tmp_path, "conf/x.yaml", "a: 1\n")
    project = Project.at(str(tmp_path))
    assert project.files() == ["conf/x.yaml", "main.py", "pkg/b.py"]
    assert project.read("main.py") == b"import b\n"
    assert project.gaps == []


@posix
def test_a_program_without_a_suffix_is_source_where_it_says_so(tmp_path):
    for name, first in (
        ("bin/run", "#!/usr/bin/env python3"),
        ("shell", "#!/bin/sh"),
        ("text", ""),
        ("kept", "#!/usr/bin/python"),
    ):
        put(tmp_path, name, f"{first}\nimport json\njson.loads('1')\n").chmod(0o644 if name == "kept" else 0o755)
    project = Project.at(str(tmp_path))
    assert project.sources() == ["bin/run"]
    assert [(one["file"], one["line"]) for one in project.ask(SOURCE, "json.loads").found] == [("bin/run", 3)]


def test_reads_nothing_before_the_first_question(tmp_path):
    project = Project.at(str(tmp_path / "not-there-yet"))
    put(tmp_path, "not-there-yet/main.py")
    assert project.files() == ["main.py"]


def test_imports_no_reader_before_a_file_needs_it(tmp_path):
    import subprocess

    write(tmp_path, main="")
    script = (
        "import sys; from envdoctor.facts import CONFIG; from envdoctor.probes.project import Project;"
        "p = Project.at(sys.argv[1]); p.files();"
        "p.ask(CONFIG, ('*.yaml', 'a')); p.mentioning(b'x');"
        "print({'yaml', 'configparser', 'json', 'tomllib', 'tomli', 'ast'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    assert done.stdout.strip() == "set()"


def test_environments_and_caches_are_left_out(tmp_path):
    for name in ("env/pyvenv.cfg", "conda/conda-meta/history"):
        put(tmp_path, name)
    for name in ("env/lib/a.py", "conda/a.py", ".git/a.py", "node_modules/x/a.py", "__pycache__/a.py", ".tox/a.py"):
        put(tmp_path, name)
    put(tmp_path, "lib/site-packages/a.py")
    write(tmp_path, kept="")
    assert Project.at(str(tmp_path)).files() == ["kept.py"]


def test_an_environment_that_is_asked_for_is_looked_at(tmp_path):
    put(tmp_path, "pyvenv.cfg")
    write(tmp_path, main="")
    assert Project.at(str(tmp_path)).files() == ["main.py", "pyvenv.cfg"]


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"files": 2}, "more than 2 files of source and configuration"),
        ({"names": 2}, "more than 2 files"),
        ({"directories": 1}, "more than 1 directories"),
        ({"levels": 0}, "deeper than 0 directories"),
        ({"seconds": 0}, "took longer than 0 s"),
    ],
)
def test_a_limit_is_a_gap_that_says_where(tmp_path, limit, said):
    write(tmp_path, a="", b="", sub__c="", sub__deep__d="")
    project = Project.at(str(tmp_path), Limits(**limit))
    assert len(project.files()) < 4
    (gap,) = project.gaps
    assert said in gap
    assert "was not looked at" in gap
    assert gap in config(project).gaps


def test_files_of_no_interest_do_not_use_up_the_limit(tmp_path):
    for number in range(9):
        put(tmp_path, f"data/{number}.png")
    write(tmp_path, a="", z__b="")
    project = Project.at(str(tmp_path), Limits(files=2))
    assert project.gaps == []
    assert "z/b.py" in project.files()


def test_a_directory_that_does_not_exist_is_a_gap(tmp_path):
    project = Project.at(str(tmp_path / "nowhere"))
    assert project.files() == []
    assert "cannot be listed: No such file" in project.gaps[0]


@posix
def test_pipes_and_sockets_are_never_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.yaml")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.yaml")
        put(tmp_path, "good.yaml", "a: 1\n")
        answer = config(Project.at(str(tmp_path)))
    assert [one["file"] for one in answer.found] == ["good.yaml"]
    assert answer.gaps == ["pipe.yaml is not read: it is a pipe", "socket.yaml is not read: it is a socket"]


@posix
def test_links_to_devices_loops_and_nowhere_are_not_read(tmp_path):
    os.symlink("/dev/zero", tmp_path / "device.yaml")
    os.symlink("loop.yaml", tmp_path / "loop.yaml")
    os.symlink("gone", tmp_path / "nowhere.yaml")
    gaps = config(Project.at(str(tmp_path))).gaps
    assert gaps[0] == "device.yaml is not read: it is a device"
    assert "loop.yaml is not read" in gaps[1]
    assert gaps[2] == "nowhere.yaml is not read: No such file or directory"


@posix
def test_a_linked_file_is_read_and_a_linked_directory_is_not_followed(tmp_path):
    put(tmp_path, "real.yaml", "a: 1\n")
    os.symlink("real.yaml", tmp_path / "link.yaml")
    os.symlink(".", tmp_path / "again")
    os.symlink(str(tmp_path), tmp_path / "whole")
    project = Project.at(str(tmp_path))
    assert project.files() == ["link.yaml", "real.yaml"]
    assert project.gaps == []


@posix
def test_a_pipe_that_takes_the_place_of_a_file_does_not_block(tmp_path):
    path = put(tmp_path, "x.yaml", "a: 1\n")
    project = Project.at(str(tmp_path))
    assert project.files() == ["x.yaml"]
    path.unlink()
    os.mkfifo(path)
    assert config(project).gaps == ["x.yaml is not read: it is a pipe"]


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root can read everything")
def test_what_may_not_be_read_is_a_line_and_the_rest_goes_on(tmp_path):
    put(tmp_path, "secret.yaml", "a: 1\n").chmod(0)
    put(tmp_path, "closed/x.yaml", "a: 1\n").parent.chmod(0)
    put(tmp_path, "good.yaml", "a: 2\n")
    answer = config(Project.at(str(tmp_path)))
    (tmp_path / "closed").chmod(0o700)
    assert [one["value"] for one in answer.found] == [2]
    assert answer.gaps == [
        "secret.yaml is not read: Permission denied",
        "closed cannot be listed: Permission denied",
    ]


def test_a_file_that_vanishes_is_a_line(tmp_path):
    path = put(tmp_path, "x.yaml", "a: 1\n")
    project = Project.at(str(tmp_path))
    assert project.files() == ["x.yaml"]
    path.unlink()
    assert config(project) == Answer(found=[], gaps=["x.yaml is not read: No such file or directory"])


def test_a_directory_that_vanishes_ends_nothing(tmp_path):
    write(tmp_path, a="", b__c="")
    project = Project.at(str(tmp_path))
    project.files()
    (tmp_path / "a.py").unlink()
    assert project.mentioning(b"x") == []
    assert project.unread(lambda _: True) == ["a.py is not read: No such file or directory"]


def test_many_gaps_are_cut_to_twenty_lines(tmp_path):
    for number in range(30):
        put(tmp_path, f"{number:02}.yaml", "a: [")
    gaps = config(Project.at(str(tmp_path))).gaps
    assert len(gaps) == 20
    assert gaps[-1] == "and 11 more files or directories were not read"


@posix
def test_a_sparse_file_of_ten_gigabytes_is_not_read(tmp_path):
    for name in ("big.yaml", "big.py"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(10 << 30)
    project = Project.at(str(tmp_path))
    assert config(project).gaps == ["big.yaml is not read: it has 10 GiB, and more than 2 MiB are not read"]
    assert config(project, "big.yaml").gaps == [
        "big.yaml is not read: it has 10 GiB, and more than 32 MiB are not read"
    ]
    assert project.mentioning(b"\0") == []
    assert "big.py is not read" in project.unread(lambda name: name == "big.py")[0]


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="the file system wants UTF-8")
def test_names_that_are_no_text_are_shown_and_read(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9\n.yaml", "wb") as file:
        file.write(b"a: 1\n")
    project = Project.at(str(tmp_path))
    (name,) = project.files()
    assert name == "caf\\udce9\\n.yaml"
    (found,) = config(project).found
    assert (found["file"], found["line"], found["value"]) == (name, 1, 1)


def test_nul_bytes_and_huge_lines_are_no_trouble(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\0" * 1000 + b"torch")
    (tmp_path / "b.py").write_bytes(b"x" * (1 << 20) + b"torch")
    assert Project.at(str(tmp_path)).mentioning(b"torch") == ["a.py", "b.py"]


def test_mentioning_finds_words_within_a_file_and_not_across_two(tmp_path):
    write(tmp_path, a="import torch", b="torchrl", c="tor", d="ch")
    project = Project.at(str(tmp_path))
    assert project.mentioning(b"torch") == ["a.py", "b.py"]
    assert project.mentioning(b"torchrl") == ["b.py"]
    assert project.mentioning(b"nothing") == []
    assert project.read("c.py") == b"tor"


def test_source_beyond_what_is_kept_is_read_again(tmp_path, monkeypatch):
    from envdoctor.probes.project import tree

    monkeypatch.setattr(tree, "MOST_KEPT", 3)
    write(tmp_path, a="torch", b="torch", c="none", d="torch")
    project = Project.at(str(tmp_path))
    assert project.mentioning(b"torch") == ["a.py", "b.py", "d.py"]
    assert project.read("d.py") == b"torch"


def test_a_project_in_memory_answers_alike(tmp_path):
    files = {"main.py": "import torch", "conf/x.yaml": b"a: 1\n", "logging.py": ""}
    for name, text in files.items():
        put(tmp_path, name, text if isinstance(text, str) else text.decode())
    for project in (Project.at(str(tmp_path)), Project.of(files)):
        assert project.files() == sorted(files)
        assert project.read("main.py") == b"import torch"
        assert project.mentioning(b"torch") == ["main.py"]
        assert config(project).found[0]["value"] == 1
        assert project.ask(SHADOWS, "standard-library").found == [{"module": "logging", "file": "logging.py"}]
        assert project.read("none.py") == b""
        assert project.unread(lambda name: name == "none.py") == [
            "none.py is not read: it is not one of the project's files"
        ]


def test_a_kind_that_files_do_not_tell_is_unknown():
    assert "do not tell `system`" in Project.of({}).ask(SYSTEM, "glibc").reason


@posix
def test_rules_of_git_are_read_from_regular_files_only(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    os.symlink("/dev/zero", tmp_path / ".git")
    write(tmp_path, a="")
    assert Project.at(str(tmp_path)).files() == ["a.py"]


def test_source_and_artefacts_are_asked_for_with_what_was_not_looked_at(tmp_path):
    write(tmp_path, a="import torch\n", b="")
    project = Project.at(str(tmp_path), Limits(files=1))
    assert [one["file"] for one in project.ask(SOURCE, "torch").found] == ["a.py"]
    for kind, key in ((SOURCE, "numpy"), (ARTIFACT, ""), (SHADOWS, "standard-library")):
        answer = project.ask(kind, key)
        assert answer.found == []
        assert answer.gaps == project.gaps
        assert len(project.gaps) == 1
    assert project.root == str(tmp_path)
