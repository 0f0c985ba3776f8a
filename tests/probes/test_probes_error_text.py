"""Real texts give the failures, frames and versions that a person reads in them."""

import glob
import os
import shutil
import subprocess
import sys

import pytest

from envdoctor.probes.error_text import read

LOGS = os.path.join(os.path.dirname(__file__), "..", "data", "logs")


def log(name):
    with open(os.path.join(LOGS, f"{name}.log"), encoding="utf-8") as file:
        return read(file.read())


def told(error):
    return [(failure.exception, failure.message.split("\n")[0], failure.chained) for failure in error.failures]


def modules(failure):
    return [frame.module for frame in failure.frames]


# -- captured texts ---


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("index-py36", [("IndexError", "tuple index out of range", None)]),
        ("index-py313", [("IndexError", "tuple index out of range", None)]),
        ("syntax-py39", [("SyntaxError", "invalid syntax", None)]),
        ("logging-py39", [("ModuleNotFoundError", "No module named 'nowhere_to_be_found'", None)]),
        (
            "chain-py314",
            [
                ("ValueError", "invalid literal for int() with base 10: 'x'", None),
                ("RuntimeError", "cannot read the setting", "cause"),
                ("KeyError", "'missing'", "context"),
            ],
        ),
        (
            "ignored-py314",
            [
                ("ValueError", "in del", "ignored"),
                ("ModuleNotFoundError", "No module named 'nowhere_to_be_found'", None),
            ],
        ),
        (
            "group-py314",
            [
                ("ExceptionGroup", "several (2 sub-exceptions)", None),
                ("ValueError", "first", "group"),
                ("TypeError", "second", "group"),
            ],
        ),
        *(
            (
                name,
                [
                    ("ZeroDivisionError", "integer division or modulo by zero", None),
                    ("ZeroDivisionError", "integer division or modulo by zero", "cause"),
                ],
            )
            for name in ("pool-py38", "futures-py312", "loky")
        ),
        *(
            (
                name,
                [("KeyError", "'k'", None), ("AssertionError", "lists", None), ("ValueError", "first line", None)],
            )
            for name in ("test-long", "test-short", "test-line")
        ),
        *(
            (
                name,
                [
                    ("ZeroDivisionError", "division by zero", None),
                    ("ModuleNotFoundError", "No module named 'nowhere'", None),
                    ("SyntaxError", "invalid syntax", None),
                ],
            )
            for name in ("notebook-new", "notebook-old")
        ),
        ("boxed", [("JSONDecodeError", "Expecting property name enclosed in double quotes: line 1 ", None)]),
        ("pip-metadata", [("ModuleNotFoundError", "No module named 'distutils.nothing_here'", None)]),
        (
            "uv-build",
            [
                (None, "The build backend returned an error", None),
                ("ModuleNotFoundError", "No module named 'distutils.nothing_here'", None),
            ],
        ),
        (
            "pip-compile",
            [
                (
                    None,
                    "cext.c:2:32: error: ‘PyLongObject’ {aka ‘struct _longobject’} has no member named ‘no_such_digit’",  # noqa: RUF001
                    None,
                )
            ],
        ),
        ("segfault-py314", [(None, "Fatal Python error: Segmentation fault", None)]),
        ("segfault-shell", [(None, "Fatal Python error: Segmentation fault", None)]),
    ],
)
def test_a_captured_text_tells_what_failed(name, expected):
    assert told(log(name)) == expected


def test_frames_tell_file_line_function_and_source():
    outer, inner = log("index-py313").failures[0].frames
    assert (outer.file, outer.line, outer.function, outer.code) == (
        "/home/u/project/simple.py",
        4,
        "<module>",
        "third((1, 2))",
    )
    assert (inner.function, inner.module, inner.standard_library, inner.installed) == ("third", "simple", False, False)


def test_frames_tell_where_they_are_imported_from():
    last = log("loky").failures[-1]
    assert modules(last)[:2] == ["loky", "joblib.parallel"]
    assert last.frames[1].installed
    assert [frame.package for frame in last.frames[:2]] == [None, "joblib"]
    remote = log("pool-py38").failures[0]
    assert modules(remote) == ["multiprocessing.pool", "multiprocessing.pool", "pool"]
    assert [frame.standard_library for frame in remote.frames] == [True, True, False]
    assert [frame.package for frame in remote.frames] == [None, None, None]
    assert read('File ".../pkg_a/core.py", line 3, in f').failures[0].frames[0].package == "pkg_a"


@pytest.mark.parametrize("name", ["notebook-new", "notebook-old"])
def test_frames_of_a_notebook(name):
    failure = log(name).failures[0]
    cell, inner = failure.frames
    assert (cell.line, cell.code, cell.module) == (1, "nb.f(0)", None)
    assert (inner.file, inner.line, inner.function) == ("/home/u/project/nb.py", 3, "f(x)")
    assert inner.code == "return 1 / (y - 1)"
    assert failure.complete


def test_frames_of_a_test_run():
    failure = log("test-long").failures[0]
    assert [(frame.file, frame.line, frame.code) for frame in failure.frames] == [
        ("test_sample.py", 5, 'helper("k")'),
        ("test_sample.py", 3, "return {}[x]"),
    ]
    assert not failure.complete
    short = log("test-short").failures[0]
    assert [(frame.line, frame.function) for frame in short.frames] == [(5, "test_key"), (3, "helper")]


def test_frames_in_a_box():
    failure = log("boxed").failures[0]
    assert modules(failure) == ["richy", "richy", "json", "json.decoder", "json.decoder"]
    assert failure.frames[0].code == 'g("{")'


def test_a_stack_dump_is_turned_round_and_says_the_signal():
    for name in ("segfault-py314", "segfault-shell"):
        (failure,) = log(name).failures
        assert failure.exit_signal == "SIGSEGV"
        assert modules(failure) == ["segv", "segv", "ctypes"]


def test_notes_and_further_lines_are_kept():
    second, third = log("group-py314").failures[1:]
    assert second.notes == ("note of one",)
    assert third.notes == ("line", "note of two")


def test_versions_of_python_in_captured_texts():
    found = {name: log(name).python for name in ("test-long", "notebook-old", "pip-compile", "pool-py38", "uv-build")}
    assert found == {
        "test-long": "3.11.7",
        "notebook-old": "3.7.16",
        "pip-compile": "3.11",
        "pool-py38": "3.8",
        "uv-build": "3.11.7",
    }


# -- versions ---


def test_versions_that_the_text_names():
    error = read(
        "Python 3.11.7\n"
        "Collecting Pkg_A==1.2.3\n"
        "  Downloading pkg_b-2.0rc1-py3-none-any.whl (1.2 MB)\n"
        "  Using cached pkg-c-3.1.tar.gz (20 kB)\n"
        "Requirement already satisfied: six>=1 in /opt/venv/lib/python3.11/site-packages (from x) (1.16.0)\n"
        "pkg-d 4.0 requires pkg-e<2, but you have pkg-e 2.1 which is incompatible.\n"
        "Successfully installed pkg-f-6.0 pkg-g-7.0.post1\n"
        " + pkg-h==8.0\n"
        "pkg.i==9.0+cu118\n"
        "/opt/venv/lib/python3.11/site-packages/pkg_j-10.0.dist-info/METADATA\n"
    )
    assert error.versions == {
        "pkg-a": "1.2.3",
        "pkg-b": "2.0rc1",
        "pkg-c": "3.1",
        "six": "1.16.0",
        "pkg-d": "4.0",
        "pkg-e": "2.1",
        "pkg-f": "6.0",
        "pkg-g": "7.0.post1",
        "pkg-h": "8.0",
        "pkg-i": "9.0+cu118",
        "pkg-j": "10.0",
    }
    assert error.python == "3.11.7"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("platform linux -- Python 3.9.18, pytest", "3.9.18"),
        ("Using CPython 3.12.1 interpreter", "3.12.1"),
        (r'File "C:\Python38\lib\site-packages\a.py", line 1, in b', "3.8"),
        ("/x/build/temp.linux-x86_64-cpython-310/a.o", "3.10"),
        ("pkg-1.0-cp311-cp311-linux.whl", "3.11"),
        ("Python 3.8 is no longer supported", None),
        ("requires Python 3.10 or newer", None),
        ("Python: 3.10.2", "3.10.2"),
        ("nothing", None),
    ],
)
def test_the_version_of_python(text, version):
    assert read(text).python == version


# -- every interpreter ---

INTERPRETERS = {
    os.path.realpath(path)
    for path in [
        *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")),
        *filter(None, (shutil.which(f"python3.{minor}") for minor in range(6, 15))),
        sys.executable,
    ]
    if "shims" not in path and os.path.exists(path)
}
CRASH = """
import json
def load():
    try:
        json.loads("{")
    except ValueError as error:
        raise RuntimeError("two\\nlines") from error
load()
"""


@pytest.mark.parametrize("interpreter", sorted(INTERPRETERS), ids=lambda path: path.split("/")[-3])
def test_a_live_traceback(interpreter, tmp_path):
    (tmp_path / "boom.py").write_text(CRASH)
    done = subprocess.run(
        [interpreter, "boom.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    first, second = read(done.stderr).failures
    assert (first.exception, second.exception, second.message) == (
        "json.decoder.JSONDecodeError",
        "RuntimeError",
        "two\nlines",
    )
    assert modules(first)[:2] == ["boom", "json"]
    assert [frame.standard_library for frame in first.frames[:2]] == [False, True]
    assert (second.chained, second.complete) == ("cause", True)
