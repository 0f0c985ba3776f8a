"""Directories as people have them: several on the path, two of a name, leftovers, broken, huge, blocking."""

import importlib.metadata
import os
import sys

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from envdoctor.probes.distributions import HEADER_LIMIT, fields, installer, read_header, read_metadata, scan, wheel_tags


def dist(site, name, version, lines="", folder=None, wheel=None):
    path = site / (folder or f"{name}-{version}.dist-info")
    path.mkdir(parents=True)
    (path / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}\n\nA description.\n"
    )
    if wheel:
        (path / "WHEEL").write_text("Wheel-Version: 1.0\n" + "".join(f"Tag: {tag}\n" for tag in wheel))
    return path


def found(*paths):
    return {name: one.version for name, one in scan([str(path) for path in paths]).packages.items()}


def test_this_environment_is_listed_as_importlib_metadata_lists_it():
    expected = {}
    for one in importlib.metadata.distributions():
        expected.setdefault(one.metadata["Name"].lower().replace("_", "-").replace(".", "-"), one.version)

    assert found(*sys.path) == expected


def test_names_are_normalised_and_versions_kept(tmp_path):
    dist(tmp_path, "Foo_Bar.baz", "1.0.post1")

    assert found(tmp_path) == {"foo-bar-baz": "1.0.post1"}


def test_the_first_on_the_path_is_what_would_be_imported(tmp_path):
    first = dist(tmp_path / "a", "x", "2.0")
    dist(tmp_path / "b", "x", "1.0")

    scanned = scan([str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "a")])

    assert scanned.packages["x"].path == str(first)
    assert [one.version for one in scanned.duplicates] == ["1.0"]


def test_of_two_in_one_directory_the_one_written_last_counts(tmp_path):
    new, old = dist(tmp_path, "x", "1.0"), dist(tmp_path, "x", "2.0")
    os.utime(old, (1, 1))

    scanned = scan([str(tmp_path)])

    assert scanned.packages["x"].path == str(new)
    assert [one.version for one in scanned.duplicates] == ["2.0"]


def test_leftovers_of_an_interrupted_uninstall_are_no_distributions(tmp_path):
    dist(tmp_path, "numpy", "1.0", folder="~umpy-1.0.dist-info")
    (tmp_path / "~umpy").mkdir()

    scanned = scan([str(tmp_path)])

    assert scanned.packages == {}
    assert sorted(os.path.basename(path) for path in scanned.leftovers) == ["~umpy", "~umpy-1.0.dist-info"]


def test_egg_info_as_a_file_as_a_directory_and_of_a_development_install(tmp_path):
    (tmp_path / "Old-1.2-py3.8.egg-info").write_text("Metadata-Version: 1.0\nName: Old\nVersion: 1.2\n")
    (tmp_path / "dev_thing.egg-info").mkdir()
    (tmp_path / "dev_thing.egg-info" / "PKG-INFO").write_text("Name: dev-thing\nVersion: 0.1.dev3\n\n")
    (tmp_path / "dev_thing.egg-info" / "requires.txt").write_text(
        "a>=1\n\n[extra]\nb\n\n[:python_version < '3']\nc\n# note\n"
    )

    scanned = scan([str(tmp_path)])

    assert {name: one.version for name, one in scanned.packages.items()} == {"old": "1.2", "dev-thing": "0.1.dev3"}
    assert read_metadata(scanned.packages["dev-thing"]).requires == ["a>=1", "c ; python_version < '3'"]
    assert read_metadata(scanned.packages["old"]).requires == []


def test_metadata_that_is_missing_or_names_nothing_is_said_and_does_not_end_the_rest(tmp_path):
    (tmp_path / "gone-1.0.dist-info").mkdir()
    (tmp_path / "empty.dist-info").mkdir()
    dist(tmp_path, "fine", "1.0", "Requires-Dist: a\nRequires-Python: >=3.8")

    scanned = scan([str(tmp_path), str(tmp_path / "nowhere"), __file__])

    assert set(scanned.packages) == {"gone", "fine"}
    assert [os.path.basename(path) for path, _ in scanned.unreadable] == ["empty.dist-info"]
    assert read_metadata(scanned.packages["gone"]).reason
    assert read_metadata(scanned.packages["fine"]).requires == ["a"]
    assert read_metadata(scanned.packages["fine"]).requires_python == ">=3.8"


def test_requirements_of_extras_are_left_out_and_folded_lines_joined(tmp_path):
    lines = (
        "Requires-Dist: a>=1\nRequires-Dist: b; extra == 'test'\nRequires-Dist: c;\n  python_version < '3'\n"
        "Requires-Dist: d ; (extra=='x') and python_version > '3'\nrequires-dist: e\n"
        "Requires-Dist: f; extra == 'y' or python_version > '3'"
    )
    dist(tmp_path, "x", "1", lines)

    requires = read_metadata(scan([str(tmp_path)]).packages["x"]).requires

    assert requires == ["a>=1", "c; python_version < '3'", "e", "f; extra == 'y' or python_version > '3'"]


def test_windows_line_ends(tmp_path):
    path = dist(tmp_path, "x", "1") / "METADATA"
    path.write_bytes(b"Name: x\r\nVersion: 1\r\nRequires-Dist: a\r\n\r\nText\r\n\r\nRequires-Dist: b\r\n")

    assert read_metadata(scan([str(tmp_path)]).packages["x"]).requires == ["a"]


def test_of_a_gigabyte_of_metadata_only_the_header_is_read(tmp_path):
    path = dist(tmp_path, "x", "1", "Requires-Dist: a") / "METADATA"
    with open(path, "r+b") as file:
        file.truncate(1 << 30)
    assert read_metadata(scan([str(tmp_path)]).packages["x"]).requires == ["a"]

    with open(path, "wb") as file:
        file.truncate(1 << 30)
    assert len(read_header(str(path))) <= HEADER_LIMIT + (1 << 16)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_and_a_symlink_loop_neither_block_nor_end_the_scan(tmp_path):
    path = tmp_path / "fifo-1.0.dist-info"
    path.mkdir()
    os.mkfifo(path / "METADATA")
    os.mkfifo(path / "WHEEL")
    os.mkfifo(tmp_path / "pipe.egg-info")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "loop-1.dist-info").symlink_to("loop-1.dist-info")
    dist(tmp_path, "fine", "1.0")

    scanned = scan([str(tmp_path), str(tmp_path / "loop")])

    assert {"fine", "fifo", "loop"} <= set(scanned.packages)
    assert read_metadata(scanned.packages["fifo"]).reason
    assert wheel_tags(scanned.packages["fifo"]) is None
    assert read_metadata(scanned.packages["loop"]).reason


def test_wheel_tags_and_installer(tmp_path):
    path = dist(tmp_path, "x", "1", wheel=["cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"])
    (path / "INSTALLER").write_text("uv\n")
    dist(tmp_path, "y", "1", wheel=["py2-none-any", "py3-none-any"])
    packages = scan([str(tmp_path)]).packages

    assert wheel_tags(packages["x"]) == ["cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"]
    assert wheel_tags(packages["y"]) is None
    assert installer(packages["x"]) == "uv"
    assert installer(packages["y"]) is None


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("x/__init__.py,,\nx/lib/libx.so,,\n", ["py3-none-manylinux_2_17_x86_64", "py3-none-manylinux2014_x86_64"]),
        ("x/__init__.py,,\nx/_core.cpython-310-x86_64-linux-gnu.so,,\n", None),
        ("libx.cpython-310-x86_64-linux-gnu.so,,\n", None),
        ("x/_core.so,,\n", None),
        ("x/_core.pyd,,\n", None),
        (None, None),
    ],
)
def test_a_wheel_without_extension_modules_is_for_every_python(tmp_path, record, expected):
    tags = ["cp310-cp310-manylinux_2_17_x86_64", "cp310-cp310-manylinux2014_x86_64"]
    path = dist(tmp_path / "python3.11", "x", "1", wheel=tags)
    if record is not None:
        (path / "RECORD").write_text(record)
    assert wheel_tags(scan([str(tmp_path / "python3.11")]).packages["x"]) == (expected or tags)


header_lines = st.sampled_from(
    ["Name: x", "Requires-Dist: a>=1", "Requires-Dist: b ; extra == 'c'", "requires-dist: d", "Summary: é", "  folded",
     "\tfolded", "Requires-Dist:  spaced ", "License: x", "Requires-Dist: e"]
)  # fmt: skip


@given(st.lists(header_lines, max_size=8))
@example(["requires-dist: d", "  folded"])
def test_header_fields_are_read_as_the_email_package_reads_them(lines):
    from email.parser import HeaderParser

    assume("requires-dist: d" not in lines or not any(line.startswith("Requires-Dist") for line in lines))
    header = "\n".join(["Metadata-Version: 2.1", *lines])
    expected = [" ".join(value.split()) for value in HeaderParser().parsestr(header).get_all("Requires-Dist", [])]

    assert [" ".join(value.split()) for value in fields(header, "Requires-Dist")] == expected


written = st.sampled_from(
    ["Requires-Dist: a>=1", "Requires-Dist:b", "requires-dist: c", "Requires-Dist: d ; extra == 'x'", "Provides-Extra: x",
     "Requires-Dist: e;\n extra == 'x'", "Requires-Dist: f;\n  python_version > '3'", "License: MIT\n  or another one",
     "Requires-Dist: g; extra == 'x' or python_version > '3'", "Summary: Requires-Dist: none", "Requires-Dist: h; extra=='x'"]
)  # fmt: skip
pythons = st.sampled_from([[], ["Requires-Python: >=3.8"], ["Requires-Python:>=3.8"], ["requires-python: >=3.8"]])


@given(st.lists(written, max_size=6), pythons, st.integers(0, 6), st.sampled_from(["\n", "\r\n"]))
@example(["Requires-Dist: a>=1", "requires-dist: c"], ["Requires-Python: >=3.8"], 1, "\n")
@example(["Requires-Dist: a>=1", "Requires-Dist: d ; extra == 'x'"], ["Requires-Python: >=3.8"], 1, "\r\n")
def test_requirements_are_read_as_the_email_package_reads_them(tmp_path_factory, lines, python, place, end):
    from email.parser import HeaderParser

    header = "\n".join(["Metadata-Version: 2.1", *lines[:place], *python, *lines[place:]])
    site = tmp_path_factory.mktemp("site")
    path = site / "x-1.dist-info"
    path.mkdir()
    body = "\nA description.\n\nRequires-Dist: not-a-requirement\n"
    (path / "METADATA").write_bytes((header.replace("\n", end) + end + end + body).encode())
    message = HeaderParser().parsestr(header)
    expected = [" ".join(value.split()) for value in message.get_all("Requires-Dist", [])]
    expected = [line for line in expected if "extra" not in line or " or " in line]

    found = read_metadata(scan([str(site)]).packages["x"])

    assert [" ".join(line.split()) for line in found.requires] == expected
    assert found.requires_python == message["Requires-Python"]


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(tmp_path_factory, data):
    site = tmp_path_factory.mktemp("site")
    path = site / "x-1.dist-info"
    path.mkdir()
    (path / "METADATA").write_bytes(data)
    (path / "WHEEL").write_bytes(data)
    (site / "y.egg-info").write_bytes(data)

    scanned = scan([str(site)])

    read_metadata(scanned.packages["x"])
    wheel_tags(scanned.packages["x"])
