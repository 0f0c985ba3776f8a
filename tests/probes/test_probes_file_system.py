"""A file system below a directory is read without leaving it, and headers of programs without trusting them."""

import os
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.probes.file_system import Root, machine_and_loader

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the file systems have symbolic links and pipes")


@pytest.mark.parametrize(
    ("link", "target", "path", "real"),
    [
        ("a", "/b", "/a/c", "/b/c"),
        ("a", "b", "/a/c", "/b/c"),
        ("x/a", "b", "/x/a", "/x/b"),
        ("x/a", "../../../../b", "/x/a/c", "/b/c"),
        ("x/a", "/", "/x/a/x/a/c", "/c"),
        ("a", "a", "/a", None),
        ("a", "a/b", "/a/c", None),
        ("a", "/b", "/../../a/./c//d/..", "/b/c"),
        ("a", "/b", "/other/../..", "/"),
    ],
)
def test_links_mean_the_inside(tmp_path, link, target, path, real):
    (tmp_path / "x").mkdir()
    (tmp_path / link).symlink_to(target)
    root = Root(str(tmp_path))

    assert root.real(path) == real
    assert os.path.commonpath([root.host(path), str(tmp_path)]) == str(tmp_path)


def test_what_is_no_file_reads_as_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "passwords").symlink_to("/etc/passwd")
    root = Root(str(tmp_path))

    for path in ("/pipe", "/loop", "/folder", "/empty", "/passwords", "/missing", "/with\0null"):
        assert (root.read(path), root.text(path), root.search(path, b"(.)")) == (b"", "", set())
    assert [name for name in ("/pipe", "/loop", "/empty") if root.names(name)] == []
    assert root.denied == []


def test_a_search_finds_the_group_in_a_file_of_any_size(tmp_path):
    (tmp_path / "file").write_bytes(bytes(1 << 22) + b"version 1.2 version 3.4\0")

    assert Root(str(tmp_path)).search("/file", rb"version (\d\.\d)") == {"1.2", "3.4"}


def test_a_star_stands_for_whole_names(tmp_path):
    for name in ("home/b/.venv", "home/a/.venv", "home/c"):
        (tmp_path / name).mkdir(parents=True)
    root = Root(str(tmp_path))

    assert root.glob("/home/*/.venv") == ["/home/a/.venv", "/home/b/.venv"]
    assert root.glob("/home/*") == ["/home/a", "/home/b", "/home/c"]
    assert root.glob("/nowhere/*/.venv") == []


@pytest.mark.parametrize(
    ("machine", "wide", "order", "name"),
    [(3, 1, "<", "i686"), (21, 2, "<", "ppc64le"), (21, 2, ">", "ppc64"), (22, 2, ">", "s390x"), (40, 1, "<", None)],
)
def test_headers_of_both_widths_and_byte_orders(machine, wide, order, name):
    loader = b"/lib/ld.so\0"
    start = 64 if wide == 2 else 52
    words, segment = ("QQQ", "IIQQQQQQ") if wide == 2 else ("III", "IIIIIIII")
    size = struct.calcsize(order + segment)
    head = b"\x7fELF" + bytes([wide, 1 if order == "<" else 2, 1]) + bytes(9)
    head += struct.pack(order + "HHI" + words + "IHHHHHH", 3, machine, 1, 0, start, 0, 0, start, size, 1, 0, 0, 0)
    place = start + size
    values = (3, 4, place, 0, 0, len(loader), 0, 1) if wide == 2 else (3, place, 0, 0, len(loader), 0, 4, 1)
    head += struct.pack(order + segment, *values) + loader + bytes(64)

    assert machine_and_loader(head) == (name, "/lib/ld.so")


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x7fELF\x02\x01", b"\x7fELF\x01\x02"]))
def test_no_header_is_trusted(rest, start):
    machine_and_loader(start + rest)


@pytest.mark.skipif(sys.platform != "linux", reason="programs of Linux are examined")
def test_this_interpreter_names_its_machine_and_loader():
    machine, loader = machine_and_loader(Root("/").read(os.path.realpath(sys.executable)))

    assert machine == os.uname().machine
    assert os.path.exists(loader)
