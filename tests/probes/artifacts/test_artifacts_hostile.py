"""Files made to hurt their reader, and broken ones: a clear line each, in bounded time and memory, nothing executed."""

import bz2
import functools
import gzip
import io
import itertools
import lzma
import os
import pickle
import random
import struct
import subprocess
import sys
import zipfile
import zlib

import pytest

from envdoctor.errors import ProbeError
from envdoctor.probes import artifacts
from envdoctor.probes.artifacts import pickle_machine, pickles, streams, zips

pytestmark = pytest.mark.trials

HARMLESS = pickle.dumps({"a": [1, 2.5, "three"], "b": io.BytesIO}, protocol=4)


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def doubled():
    """A list of two lists of two lists...: 2**40 items for who follows them."""
    made = [0]
    for _ in range(40):
        made = [made, made]
    return pickle.dumps(made)


def many_members(count):
    data = a_zip({f"{0:060}/data.pkl": b""}, zipfile.ZIP_STORED)
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    directory = data[at:end] * count
    return data[:at] + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), at, 0)


def a_zip(members, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def overlapping():
    """Two members of the directory that are one in the file."""
    data = a_zip({"a/data.pkl": HARMLESS, "b/data.pkl": HARMLESS}, zipfile.ZIP_STORED)
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 42] + struct.pack("<I", 0) + data[at + 46 :]


def absurd_directory():
    """A directory said to have 4 GB."""
    data = a_zip({"a/data.pkl": HARMLESS})
    at = data.rindex(b"PK\x05\x06")
    return data[: at + 12] + struct.pack("<I", 0xFFFFFFF0) + data[at + 16 :]


def nested(levels):
    data = HARMLESS
    for _ in range(levels):
        data = a_zip({"archive/data.pkl": data})
    return data


NOISE = gzip.compress(pickle.dumps([str(number) for number in random.Random(1).sample(range(99_999), 9_000)]))
ENDLESS = b"\x80\x04N" + b"2" * 1_200_000 + b"."
REFUSED = {
    "a number of 4 GB": (b"\x80\x02\x8b\xff\xff\xff\x7f", "ends too early"),
    "bytes of 16 EB": (b"\x80\x04\x8e" + b"\xff" * 8, "ends too early"),
    "a text of 4 GB": (b"\x80\x04\x58\xff\xff\xff\xff", "ends too early"),
    "a negative length": (b"\x80\x02\x8b\xff\xff\xff\xff.", "negative length"),
    "groups in groups": (b"\x80\x04" + b"(" * 1_000_000, "nests more than"),
    "an empty stack": (b"\x80\x04b.", "goes wrong at byte"),
    "only an end": (b"\x80\x04.", "goes wrong at byte"),
    "no instruction": (b"\x80\x04\xff.", "is no instruction"),
    "a protocol to come": (b"\x80\x07N.", "protocol 7, which is not known"),
    "an endless line": (b"\x80\x02c" + b"x" * 200_000, "holds a line of more than"),
    "a pickle cut short": (HARMLESS[:-3], "ends too early"),
    "a zip cut short": (a_zip({"a/data.pkl": HARMLESS})[:-40], "ends too early"),
    "gzip cut short": (gzip.compress(HARMLESS)[:-30], "ends too early"),
    "damaged gzip": (NOISE[:2_000] + b"\0" * 900 + NOISE[2_900:], "damaged compressed data"),
    "a gzip bomb": (lambda: gzip.compress(b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + bytes(30 << 20)), "1000 times its size"),
    "a bz2 bomb": (lambda: bz2.compress(b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + bytes(30 << 20)), "1000 times its size"),
    "an xz bomb": (lambda: lzma.compress(b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + bytes(30 << 20)), "1000 times its size"),
    "a zip bomb": (lambda: a_zip({"x/data.pkl": b"\x80\x04\x8e" + struct.pack("<Q", 30 << 20) + bytes(30 << 20)}), "over 1000 times its size"),
    "overlapping members": (overlapping(), "members overlap"),
    "an absurd directory": (absurd_directory(), "directory"),
    "a directory of 60,000 members": (lambda: many_members(60_000), "directory has more than"),
    "zips in zips": (nested(9), "which is not a pickle"),
    "an array cut short": (b"\x93NUMPY\x01\x00\xff\x00{'descr'", "ends too early"),
    "an array header of 4 GB": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", "a header of 2147483647 bytes"),
    "an array header of brackets": (b"\x93NUMPY\x01\x00\x00\x40" + b"[" * 0x4000, "header cannot be read"),
    "an array of another age": (b"\x93NUMPY\x09\x00\x00\x00", "version that is not known"),
    "lz4": (b"\x04\x22\x4d\x18" + bytes(50), "LZ4"),
    "lzma that wants 4 GB": (b"\x5d\x00\x00\xff\xff\xff\xff" + b"\xff" * 8 + bytes(50), "damaged compressed data"),
    "nothing": (b"", "is empty"),
    "zeros": (bytes(5_000), "is none of the kinds"),
    "a text": (b"import this\n" * 50, "is none of the kinds"),
    "HDF5 cut short": (b"\x89HDF\r\n\x1a\n" + bytes(100), "without the marks of a saved model"),
    "a zip of texts": (a_zip({"read.me": b"hello"}), "without the marks of a saved model"),
    "an agent without data": (a_zip({"data": b"[[[", "_stable_baselines3_version": b"2.0"}), "is not readable JSON"),
    "an agent of brackets": (a_zip({"data": b"[" * 100_000, "policy.pth": b""}), "is not readable JSON"),
    "a network of brackets": (a_zip({"metadata.json": b"[" * 100_000, "config.json": b"{}"}), "is not readable JSON"),
}  # fmt: skip


@functools.cache
def refused(name):
    """The bytes of such a file; the large ones are made where they are wanted."""
    data = REFUSED[name][0]
    return data() if callable(data) else data


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_told_in_one_line(name, tmp_path):
    reason = REFUSED[name][1]
    path = tmp_path / "model.pkl"
    path.write_bytes(refused(name))
    with pytest.raises(ProbeError) as caught:
        artifacts.artifact_at(str(path))
    message = str(caught.value)
    assert reason in message
    assert message.startswith(f"{path} ")
    assert "\n" not in message
    assert artifacts.of_files([str(path)]) == {"found": [], "gaps": [message]}


def test_a_pickle_that_would_run_a_command_is_only_read(tmp_path):
    mark = tmp_path / "ran"
    path = tmp_path / "evil.pkl"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Command(mark), protocol=protocol))
        assert artifacts.artifact_at(str(path))["names"] == [f"{os.name if os.name != 'nt' else 'nt'}.system"]
    assert not mark.exists()


def test_what_is_too_long_is_told_as_far_as_it_was_read(tmp_path):
    path = tmp_path / "long.pkl"
    path.write_bytes(HARMLESS[:-1] + ENDLESS[2:])
    record = artifacts.artifact_at(str(path))
    assert record["names"] == ["_io.BytesIO"]
    assert "is read up to byte" in record["gaps"][0]


def test_a_bomb_of_lists_is_no_work(tmp_path):
    path = tmp_path / "doubled.pkl"
    path.write_bytes(doubled())
    assert artifacts.artifact_at(str(path))["gaps"] == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX file types")
def test_what_is_no_file_is_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo.pkl")
    (tmp_path / "directory.pkl").mkdir()
    (tmp_path / "loop.pkl").symlink_to(tmp_path / "loop.pkl")
    paths = [str(tmp_path / name) for name in ("fifo.pkl", "directory.pkl", "loop.pkl", "missing.pkl")] + [
        "/dev/zero",
        "a\0b",
    ]
    answer = artifacts.of_files(paths)
    assert answer["found"] == []
    reasons = [
        "not a regular file",
        "not a regular file",
        "symbolic links",
        "No such file",
        "not a regular file",
        "null",
    ]
    for path, gap, reason in itertools.zip_longest(paths, answer["gaps"], reasons):
        assert gap.startswith(path)
        assert reason in gap


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_told(tmp_path):
    path = tmp_path / "mine.pkl"
    path.write_bytes(HARMLESS)
    path.chmod(0)
    assert "Permission denied" in artifacts.of_files([str(path)])["gaps"][0]


MEMORY = """
import resource, sys, time
from envdoctor.probes import artifacts
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
for path in sys.argv[1:]:
    answer = artifacts.of_files([path])
    print(len(answer["found"]), len(answer["gaps"]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is kept on Linux")
def test_memory_stays_bounded(tmp_path):
    """Each of these would take gigabytes of who believes it."""
    paths = []
    for name in REFUSED:
        if not any(word in name for word in ("bomb", "GB", "EB", "absurd", "60,000", "brackets", "groups")):
            continue
        paths.append(tmp_path / f"{name.replace(' ', '-')}.pkl")
        paths[-1].write_bytes(refused(name))
    sparse = tmp_path / "sparse.pkl"
    with open(sparse, "wb") as file:
        file.write(b"\x80\x04\x8e" + struct.pack("<Q", (10 << 30) - 12))
        file.truncate(10 << 30)
        file.seek(-1, os.SEEK_END)
        file.write(b".")
    long = tmp_path / "long.pkl"
    long.write_bytes(pickle.dumps([{str(number): [str(number)]} for number in range(150_000)]))
    texts = tmp_path / "texts.pkl"
    texts.write_bytes(pickle.dumps([str(number) * 2_000 for number in range(20_000)]))
    for name, start in (("zeros.h5", b"\x89HDF\r\n\x1a\n"), ("zeros.zip", b"PK\x03\x04"), ("zeros.pkl", b"")):
        paths.append(tmp_path / name)
        with open(paths[-1], "wb") as file:
            file.write(start)
            file.truncate(10 << 30)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, *map(str, [sparse, long, texts, *paths])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = [line.split() for line in done.stdout.splitlines()]
    assert found[:3] == [["1", "0"], ["1", "1"], ["1", "0"]]
    assert found[3:] == [["0", "1"]] * len(paths)


def test_a_large_part_is_stepped_over_and_not_read(tmp_path):
    path = tmp_path / "large.pkl"
    with open(path, "wb") as file:
        file.write(b"\x80\x04\x8e" + struct.pack("<Q", 5 << 30))
        file.seek(5 << 30, os.SEEK_CUR)
        file.write(b"0" + HARMLESS[2:])
    assert artifacts.artifact_at(str(path))["names"] == ["_io.BytesIO"]


def test_time_is_bounded(tmp_path):
    budget = streams.Budget(seconds=0)
    with pytest.raises(ProbeError, match="takes too long"):
        pickles.walk(streams.BoundedReader(io.BytesIO(HARMLESS), budget, len(HARMLESS)), budget, pickle_machine.Notes())


def test_compressed_streams_of_several_members_are_read_on():
    budget = streams.Budget()
    data = b"x" * 100_000
    for packed in (gzip.compress(data) * 2, bz2.compress(data) * 2, lzma.compress(data) * 2):
        reader = streams.BoundedReader(streams.Inflated(io.BytesIO(packed), budget), budget)
        assert reader.read(200_000) == data * 2
    reader = streams.BoundedReader(streams.Inflated(io.BytesIO(zlib.compress(data)), budget), budget)
    assert reader.read(100_000) == data


def test_a_part_of_a_file_is_a_file():
    part = streams.Part(io.BytesIO(b"0123456789"), 2, 5)
    assert (part.read(2), part.read(), part.read(1), part.seek(-2, 2), part.read(9)) == (b"23", b"456", b"", 3, b"56")


def test_a_member_that_cannot_be_printed_is_shown_all_the_same():
    assert zips.shown("a\x1b[31m\n" + "b" * 200) == "a?[31m?" + "b" * 73
