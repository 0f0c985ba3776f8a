"""What git ignores, compared with git itself where it is installed."""

import os
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.probes.project import Project
from envdoctor.probes.project.ignore import MOST_PATTERNS, Ignored
from envdoctor.probes.project.tracked import tracked

needs_git = pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="needs git on a POSIX system")

NAMES = ["a", "b", "ab", "a.py", "foo", "bar", "x y", "[a]", "]", "-", "é", "A", "!a", "#c", "a*b", "t ", "\\", "foob"]
WORDS = "a b ab * ? ** / **/ /** [ab] [!a] [^b] [a-z] [b-] []] [[:alpha:]] [\\]a] [a/b] \\ \\* foo bar .py [ ] - ! #"
PARTS = [*WORDS.split(), " ", "x y", "é", "\\ "]
PATTERNS = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join), max_size=4)
NEGATIVE = st.lists(st.sampled_from(["", "", "", "!"]), min_size=4, max_size=4)


def git(root, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True, env=environment).stdout


def kept_by_git(root):
    """The files that git would add, without its own."""
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
    return sorted(os.fsdecode(name) for name in listed if name)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    if shutil.which("git"):
        git(root, "init", "-q")
    for above in ("", "foo/", "foo/a/", "bar/x y/", "a/b/", "ab/"):
        for number, name in enumerate(NAMES):
            path = root / above / name
            if path.exists():
                continue
            if number % 5 == 4 or any((above + name + "/") in one for one in ("foo/a/", "bar/x y/", "a/b/", "ab/")):
                path.mkdir(parents=True)
                (path / "file").touch()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    return root


@needs_git
@given(top=PATTERNS, signs=NEGATIVE, below=PATTERNS, excluded=PATTERNS)
@example(top=[], signs=[""], below=[], excluded=["a**/**/b"])
@example(top=[], signs=[""], below=[], excluded=["/**\\/**"])
@example(top=[], signs=[""], below=[], excluded=["**\\/b"])
def test_the_same_files_are_ignored_as_by_git(repository, top, signs, below, excluded):
    top = [sign + pattern for sign, pattern in zip(signs, top)]
    for name, patterns in ((".gitignore", top), ("foo/.gitignore", below), (".git/info/exclude", excluded)):
        (repository / name).write_text("\n".join(patterns) + "\n", encoding="utf-8")
    assert Project.at(str(repository)).files() == kept_by_git(repository)


def files(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_rules_hold_without_a_repository(tmp_path):
    files(tmp_path, "a.py", "build/b.py", "sub/c.py", "sub/d.py")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfbuild/\r\n# c.py\r\n")
    (tmp_path / "sub/.gitignore").write_text("d.py")
    assert [name for name in Project.at(str(tmp_path)).files() if name.endswith(".py")] == ["a.py", "sub/c.py"]


def test_rules_from_above_hold_up_to_the_repository_and_no_further(tmp_path):
    files(tmp_path, "top/.git/HEAD", "top/sub/project/a.py", "top/sub/project/b.py", "top/sub/project/c.py")
    files(tmp_path, "top/sub/project/d.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "top/.gitignore").write_text("/sub/project/b.py\nsub/\n")
    (tmp_path / "top/sub/.gitignore").write_text("project/c.py\n")
    assert Project.at(str(tmp_path / "top/sub/project")).files() == ["a.py", "d.py"]


def test_a_repository_within_has_its_own_rules(tmp_path):
    files(tmp_path, ".git/HEAD", "inner/.git/HEAD", "inner/a.py", "inner/b.py", "a.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "inner/.gitignore").write_text("b.py\n")
    found = [name for name in Project.at(str(tmp_path)).files() if name.endswith(".py")]
    assert found == ["inner/a.py"]


@needs_git
def test_a_worktree_follows_the_excludes_of_its_repository(tmp_path):
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", str(tmp_path / "tree"))
    (main / ".git/info/exclude").write_text("out\n")
    files(tmp_path / "tree", "out/a.py", "b.py")
    assert Project.at(str(tmp_path / "tree")).files() == kept_by_git(tmp_path / "tree") == ["b.py"]


def test_an_ignored_dotenv_file_is_in_force_all_the_same(tmp_path):
    files(tmp_path, "ignored/.env")
    (tmp_path / ".env").write_text("USE=1\n")
    (tmp_path / ".gitignore").write_text(".env*\nignored/\n")
    assert [name for name in Project.at(str(tmp_path)).files() if name != ".gitignore"] == [".env"]


def test_git_is_not_run(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "git"
    files(tmp_path, "bin/git", "p/.git/HEAD", "p/a.py")
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    (tmp_path / "p/.git/config").write_text(f"[core]\nfsmonitor = touch {tmp_path}/ran\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    assert Project.at(str(tmp_path / "p")).files() == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_a_git_file_that_leads_nowhere_is_no_trouble(tmp_path):
    files(tmp_path, "a.py")
    for text in (b"gitdir: /nowhere\n", b"gitdir: \0\n", b"", b"\xff" * 100, b"gitdir:" + b"x" * 10000):
        (tmp_path / ".git").write_bytes(text)
        assert Project.at(str(tmp_path)).files() == ["a.py"]


@pytest.mark.parametrize(
    "pattern", ["*a" * 60 + "b", "[" * 5000, "**/" * 300 + "b", "a" * 100_000, "\\" * 1001, "?" * 9000]
)
def test_a_hostile_pattern_takes_no_time(pattern):
    rules = Ignored(pattern.encode() + b"\n/x/" + pattern.encode())
    name = "a" * 255
    assert rules.says("/".join(["x", *["a"] * 40, name]), name, directory=False) is None


def test_only_so_many_wildcards_are_followed():
    lines = [f"?{number}x" for number in range(MOST_PATTERNS)]
    rules = Ignored("\n".join([*lines, "late*r", "plain"]).encode())
    assert rules.says("a7x", "a7x", directory=False) is True
    assert rules.says("later", "later", directory=False) is None
    assert rules.says("plain", "plain", directory=False) is True


@needs_git
@pytest.mark.parametrize("version", ["2", "4"])
def test_what_is_in_the_index_is_not_ignored(tmp_path, version):
    git(tmp_path, "init", "-q")
    files(
        tmp_path, "lib/kept.py", "lib/é/deep/kept.py", "lib/not.py", "lib/é/not.py", "a.py", "lib/é/none/x.py", "b.py"
    )
    files(tmp_path, "lib/é/deep/also.py")
    (tmp_path / ".gitignore").write_text("lib/\na.py\nb.py\n")
    git(tmp_path, "add", "-f", "lib/kept.py", "lib/é/deep", "a.py", ".gitignore")
    git(tmp_path, "update-index", "--index-version", version)
    kept = [os.fsdecode(name) for name in git(tmp_path, "ls-files", "-z").split(b"\0") if name]
    assert Project.at(str(tmp_path)).files() == sorted([*kept, *kept_by_git(tmp_path)])
    assert Project.at(str(tmp_path / "lib")).files() == [
        "kept.py",
        "not.py",
        "é/deep/also.py",
        "é/deep/kept.py",
        "é/none/x.py",
        "é/not.py",
    ]
    index = (tmp_path / ".git/index").read_bytes()
    for end in range(0, len(index), 7):  # a broken index ends nothing
        (tmp_path / ".git/index").write_bytes(index[:end])
        assert "lib/not.py" not in Project.at(str(tmp_path)).files()


@given(data=st.binary(max_size=300), version=st.integers(1, 5), count=st.integers(0, 2**32 - 1))
def test_any_index_is_read_or_passed_over(data, version, count):
    tracked(b"DIRC" + version.to_bytes(4, "big") + count.to_bytes(4, "big") + data)
