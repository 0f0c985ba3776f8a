"""pip's requirements files, the marker environment, and the errors that every format shares."""

from __future__ import annotations

import os
import textwrap

import pytest
from known_facts import fact

from envdoctor.errors import ProbeError, UsageError
from envdoctor.model import Unknown
from envdoctor.targets import requirements
from envdoctor.targets.locks import contents
from envdoctor.targets.locks.requirement_lines import logical_lines

DATA = os.path.join(os.path.dirname(__file__), os.pardir, "data", "locks")


def write(folder, text, name="requirements.txt"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def versions(snapshot):
    return {name: found.version for name, found in snapshot.packages.items()}


def reasons(snapshot):
    return {one.fact: one.reason for one in snapshot.notes}


def test_a_pip_compiled_file():
    for name in ("requirements.txt", "requirements-hashed.txt"):
        path = os.path.join(DATA, "piptools", name)
        snapshot = requirements.snapshot_of(path, "3.11", "linux")
        assert versions(snapshot)["markupsafe"] == "2.1.5"
        assert versions(snapshot)["requests"] == "2.31.0"
        assert len(snapshot.packages) == 8
        assert snapshot.complete
        assert not snapshot.notes
        assert snapshot.target == {"kind": "requirements", "path": path, "format": "requirements.txt"}
        assert snapshot.source == path


def test_a_file_exported_by_uv():
    snapshot = requirements.snapshot_of(os.path.join(DATA, "uv", "requirements.txt"), "3.9", "win32")
    assert versions(snapshot)["colorama"] == "0.4.6"
    assert snapshot.complete


def test_what_is_not_pinned_is_unknown(tmp_path):
    path = write(
        tmp_path, "\nflask>=2\nidna==3.7\nsix==1.*\nattrs===23.1.0\nplain\na==1,==2\nb==1.0,>=0.5\nc[x,y] == 1.0\n"
    )
    snapshot = requirements.snapshot_of(path)
    assert versions(snapshot) == {
        "flask": None,
        "idna": "3.7",
        "six": None,
        "attrs": "23.1.0",
        "plain": None,
        "a": None,
        "b": "1.0",
        "c": "1.0",
    }
    assert reasons(snapshot)["packages.flask"] == f"{path}:2: flask>=2 is not pinned"
    assert snapshot.packages["idna"].path == f"{path}:3"
    assert not snapshot.complete
    assert all(one.rule is None for one in snapshot.notes)


def test_markers_drop_lines_or_are_said_to_be_unknown(tmp_path):
    path = write(
        tmp_path, "a==1; sys_platform == 'win32'\nb==1 ; python_version < '3.9' or os_name == 'nt'\nc==1;extra=='x'\n"
    )
    assert versions(requirements.snapshot_of(path, "3.11", "linux")) == {"c": "1"}
    snapshot = requirements.snapshot_of(path, "3.11")
    assert versions(snapshot) == {"a": "1", "b": "1", "c": "1"}
    assert "sys_platform (not known; state --platform)" in reasons(snapshot)["packages.a"]
    assert "os_name" in reasons(snapshot)["packages.b"]
    assert "packages.c" not in reasons(snapshot)


def test_one_line_for_each_python(tmp_path):
    path = write(
        tmp_path, "n==1.21; python_version < '3.8'\nn==1.24; python_version == '3.8'\nn==2.0; python_version > '3.8'\n"
    )
    assert versions(requirements.snapshot_of(path, "3.7")) == {"n": "1.21"}
    assert versions(requirements.snapshot_of(path, "3.8")) == {"n": "1.24"}
    assert requirements.snapshot_of(path, "3.11").packages["n"].path == f"{path}:3"
    assert versions(requirements.snapshot_of(path)) == {"n": None}


def test_contradicting_pins(tmp_path):
    snapshot = requirements.snapshot_of(write(tmp_path, "a==1\na==2\n"))
    assert versions(snapshot) == {"a": None}
    assert "1 (" in reasons(snapshot)["packages.a"]
    assert "2 (" in reasons(snapshot)["packages.a"]


def test_nested_files_constraints_and_cycles(tmp_path):
    path = write(tmp_path, "-r sub/more.txt\n-c constraints.txt\n--requirement=third.txt\nflask>=2\nonly\n")
    write(tmp_path, "-r ../requirements.txt\n-r more.txt\nidna==3.7\n-c ../constraints.txt\n", "sub/more.txt")
    write(tmp_path, "flask==2.0.1\nabsent==1\nonly<3\nidna==3.7\n", "constraints.txt")
    write(tmp_path, "last==1\n", "third.txt")
    snapshot = requirements.snapshot_of(path)
    assert versions(snapshot) == {"flask": "2.0.1", "idna": "3.7", "only": None, "last": "1"}
    assert snapshot.packages["flask"].path == f"{tmp_path / 'constraints.txt'}:1"
    assert snapshot.packages["idna"].path == os.path.join(str(tmp_path), "sub/more.txt") + ":3"


def test_a_nested_file_that_is_missing(tmp_path):
    path = write(tmp_path, "idna==3.7\n-r gone.txt\n")
    with pytest.raises(ProbeError, match=r"requirements.txt:2 names another file: .*gone.txt does not exist"):
        requirements.snapshot_of(path)


def test_a_nested_file_elsewhere_is_not_fetched(tmp_path):
    snapshot = requirements.snapshot_of(
        write(tmp_path, "idna==3.7 --hash=sha256:0\n-r https://index.example.org/r.txt\n")
    )
    assert versions(snapshot) == {"idna": "3.7"}
    assert not snapshot.complete
    assert "not on this machine" in reasons(snapshot)["packages"]


def test_addresses_and_paths(tmp_path):
    path = write(
        tmp_path,
        """
        https://index.example.org/idna-3.7-py3-none-any.whl
        ./dist/click-8.1.7.tar.gz
        markupsafe @ https://index.example.org/MarkupSafe-2.1.5-cp311-cp311-linux_x86_64.whl#sha256=0
        torchy @ https://index.example.org/torchy-2.0.1%2Bcpu-cp311-cp311-linux_x86_64.whl
        six @ git+https://user:secret@index.example.org/six.git@v1
        git+https://index.example.org/attrs.git@main#egg=attrs[dev]
        -e git+https://index.example.org/flask.git#egg=flask
        -e .
        git+https://user:secret@index.example.org/nameless.git
        wheel-0.43.0-py3-none-any.whl ; sys_platform == "win32"
        """,
    )
    snapshot = requirements.snapshot_of(path, "3.11", "linux")
    assert versions(snapshot) == {
        "idna": "3.7",
        "click": "8.1.7",
        "markupsafe": "2.1.5",
        "torchy": "2.0.1+cpu",
        "six": None,
        "attrs": None,
        "flask": None,
    }
    said = " ".join(one.reason for one in snapshot.notes)
    assert "secret" not in said
    assert "'.' does not say which distribution" in said


def test_options_comments_and_continued_lines(tmp_path):
    path = write(
        tmp_path,
        """
        # a comment
        --index-url https://index.example.org/simple
        -i https://index.example.org/simple
        --no-binary :all:
        --pre
        idna \\
          == \\
          3.7   # why not
        click==8.1.7 \\
            --hash=sha256:0 \\
            --hash=sha256:1
            # via flask
        six==1.16.0 --config-settings="a=b" # pinned
        "attrs==23.1.0"
        own==${OWN_VERSION}
        b==1#not-a-comment
        """,
    )
    snapshot = requirements.snapshot_of(path)
    found = versions(snapshot)
    assert found["idna"] == "3.7"
    assert found["click"] == "8.1.7"
    assert found["six"] == "1.16.0"
    assert found["attrs"] == "23.1.0"
    assert found["own"] is None
    assert "${OWN_VERSION}" in reasons(snapshot)["packages.own"]
    assert snapshot.packages["idna"].path == f"{path}:7"
    assert not snapshot.complete


def test_completeness(tmp_path):
    assert requirements.snapshot_of(write(tmp_path, "a==1 --hash=sha256:0\nb==2 --hash=sha256:0\n")).complete
    assert not requirements.snapshot_of(write(tmp_path, "a==1 --hash=sha256:0\nb==2\n")).complete
    assert not requirements.snapshot_of(write(tmp_path, "a==1\n")).complete
    assert requirements.snapshot_of(
        write(tmp_path, "# This file is autogenerated by pip-compile\n-e .\na==1\n")
    ).complete
    assert not requirements.snapshot_of(write(tmp_path, "# This file is autogenerated by pip-compile\na>1\n")).complete
    assert requirements.snapshot_of(
        write(tmp_path, "a>1; sys_platform == 'win32'\nb==2 --hash=sha256:0\n"), platform="linux"
    ).complete


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "requirements.txt"
    path.write_bytes("# café\r\nidna==3.7\r\n".encode(encoding))
    snapshot = requirements.snapshot_of(str(path))
    assert versions(snapshot) == {"idna": "3.7"}
    assert snapshot.packages["idna"].path == f"{path}:2"


def test_an_empty_file(tmp_path):
    snapshot = requirements.snapshot_of(write(tmp_path, ""))
    assert not snapshot.packages
    assert not snapshot.notes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\\\nb", [(1, "ab")]),
        ("a \\\n# c\nb", [(1, "a"), (3, "b")]),
        ("a\\\n", [(1, "a")]),
        ("a\\", [(1, "a")]),
        ("# x \\\na", [(2, "a")]),
        ("  # x\n\na # y", [(3, "a")]),
    ],
)
def test_logical_lines(text, expected):
    assert list(logical_lines(text)) == expected


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ProbeError, match="does not exist: give"):
        requirements.snapshot_of(str(tmp_path / "gone.txt"))
    with pytest.raises(ProbeError, match="is a directory: give"):
        requirements.snapshot_of(str(tmp_path))
    with pytest.raises(ProbeError, match="could not be read"):
        requirements.snapshot_of("a\0b")
    binary = tmp_path / "requirements.txt"
    binary.write_bytes(b"\x7fELF\0\0\1")
    with pytest.raises(ProbeError, match="is binary"):
        requirements.snapshot_of(str(binary))
    prose = write(tmp_path, "# Title\n\nThis is no list of requirements.\n", "README.md")
    with pytest.raises(ProbeError, match="no line of it is a requirement"):
        requirements.snapshot_of(prose)


def test_a_line_that_is_no_requirement_is_said(tmp_path):
    snapshot = requirements.snapshot_of(write(tmp_path, "idna==3.7\nthis is prose\nhalf==\n"))
    assert versions(snapshot) == {"idna": "3.7", "half": None}
    assert "requirements.txt:2" in reasons(snapshot)["packages"]
    assert not snapshot.complete


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "requirements.txt")
    with pytest.raises(ProbeError, match="not an ordinary file"):
        requirements.snapshot_of(str(tmp_path / "requirements.txt"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path):
    path = write(tmp_path, "idna==3.7\n")
    os.chmod(path, 0)
    with pytest.raises(ProbeError, match="may be read"):
        requirements.snapshot_of(path)


def test_a_huge_file_is_refused(tmp_path):
    path = tmp_path / "requirements.txt"
    with open(path, "wb") as file:
        file.truncate(contents.LARGEST + 1)
    with pytest.raises(ProbeError, match="50 MiB"):
        requirements.snapshot_of(str(path))


@pytest.mark.parametrize(
    "stated", ["", "x", "3.x", "3.11.7.1", ">=3.11", "python3.11", "-3", "\u0663.\u0661\u0661", "311.7"]
)
def test_what_is_no_python_version(tmp_path, stated):
    with pytest.raises(UsageError, match="--python-version"):
        requirements.snapshot_of(write(tmp_path, "idna==3.7\n"), stated)


def test_a_major_version_alone_leaves_python_unknown(tmp_path):
    snapshot = requirements.snapshot_of(write(tmp_path, "idna==3.7\n"), "3")
    assert snapshot.python == {}
    assert "3.11" in reasons(snapshot)["python.version"]


def test_the_snapshot_answers_for_marker_variables(tmp_path):
    snapshot = requirements.snapshot_of(write(tmp_path, "idna==3.7\n"), "3.11", "win32", "x86_64")
    assert fact(snapshot, "marker", "python_version") == "3.11"
    assert fact(snapshot, "marker", "platform_machine") == "AMD64"
    assert snapshot.platform == {"system": "win32", "machine": "AMD64"}
    for kind, key in (("marker", "python_full_version"), ("env", "HOME"), ("module", "x"), ("system", "glibc")):
        answer = fact(snapshot, kind, key)
        assert isinstance(answer, Unknown)
        assert answer.reason


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("a" + " " * 200_000 + "==1 # why\n", {"a": "1"}),
        ("a==1" + "\t" * 200_000 + "# why\n", {"a": "1"}),
        ("#" + "generated by " * 100_000 + "nobody\na==1\n", {"a": "1"}),
        ("-r " * 50_000 + "\na==1\n", {"a": "1"}),
        ("a==1\\\n" + "\\\n" * 100_000, {"a": "1"}),
    ],
)
def test_long_lines_are_read_in_time_that_grows_with_their_length(tmp_path, text, packages):
    snapshot = requirements.snapshot_of(write(tmp_path, text))

    assert versions(snapshot) == packages
    assert not snapshot.complete
    assert all(len(note.reason) < 1_000 for note in snapshot.notes)


@pytest.mark.trials
def test_more_lines_than_anybody_needs_are_refused(tmp_path):
    with pytest.raises(ProbeError, match="has more than 20,000 lines, which no environment needs"):
        requirements.snapshot_of(write(tmp_path, "a==1\n" * 20_001))


def test_a_number_that_is_too_long_is_no_version_of_python(tmp_path):
    text = f'version = 1\nrequires-python = ">={"3" * 5000}"\n[[package]]\nname = "a"\nversion = "1"\n'

    assert versions(requirements.snapshot_of(write(tmp_path, text, "uv.lock"), "3.11", "linux")) == {"a": "1"}


def test_of_many_candidates_a_few_are_named(tmp_path):
    text = "version = 1\n" + "".join(f'[[package]]\nname = "a"\nversion = "{n}"\n' for n in range(1_000))

    snapshot = requirements.snapshot_of(write(tmp_path, text, "uv.lock"))

    assert len(snapshot.packages["a"].candidates) == 1_000
    assert "and 990 more" in reasons(snapshot)["packages.a"]
