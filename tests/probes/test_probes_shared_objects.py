"""What shared libraries say of themselves, read from the interpreter's own; damaged ones say nothing, and do no harm."""

import os
import random
import sys

import pytest

from envdoctor.collector import find_library
from envdoctor.probes.shared_objects import loadable, read_facts

pytest.importorskip("elftools")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared libraries of Linux")


def test_the_interpreter_and_the_c_library_fit_together():
    program, library = (
        read_facts(os.path.realpath(sys.executable)),
        read_facts(find_library("libc.so.6") or sys.executable),
    )
    if not library["has"] or program["rpath"]:
        pytest.skip("no GNU C library here, or this interpreter brings its own")
    assert library["soname"] == "libc.so.6"
    assert "libc.so.6" in program["needed"]
    assert set(program["asks"]["libc.so.6"]) <= set(library["has"])
    assert "malloc" in library["defined"]
    assert program["machine"] == library["machine"]


def test_what_is_none_or_damaged_is_not_read(tmp_path):
    path = tmp_path / "a.so"
    path.write_bytes(b"no library")
    assert read_facts(str(path)) is None
    assert read_facts(str(tmp_path / "gone.so")) is None
    with open(find_library("libc.so.6") or sys.executable, "rb") as file:
        data = file.read()
    chance = random.Random(7)
    for end in (16, 64, 1000, len(data) // 2):
        path.write_bytes(data[:end])
        read_facts(str(path))
    for _ in range(30):
        damaged = bytearray(data)
        for _ in range(20):
            damaged[chance.choice([chance.randrange(64), chance.randrange(len(data) - 4000, len(data))])] = (
                chance.randrange(256)
            )
        path.write_bytes(damaged)
        read_facts(str(path))


@pytest.mark.parametrize(
    ("name", "minor", "expected"),
    [
        ("x.cpython-311-x86_64-linux-gnu.so", (3, 11), True),
        ("x.cpython-311-x86_64-linux-gnu.so", (3, 1), False),
        ("x.cpython-37m-x86_64-linux-gnu.so", (3, 7), True),
        ("x.cpython-313t-x86_64-linux-gnu.so", (3, 13), True),
        ("x.abi3.so", (3, 9), True),
        ("x.so", (3, 12), True),
        ("x.so.1", (3, 12), False),
        ("x.pypy39-pp73-x86_64-linux-gnu.so", (3, 9), False),
    ],
)
def test_the_name_tells_which_interpreter_takes_a_module(name, minor, expected):
    assert loadable(name, minor) is expected
