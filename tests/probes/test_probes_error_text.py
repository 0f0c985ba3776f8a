"""Real texts, whole, wrapped, prefixed and cut, give the failures that a person reads in them."""

import glob
import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envdoctor.probes.error_lines import clean
from envdoctor.probes.error_text import MOST_TEXT, read

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
    remote = log("pool-py38").failures[0]
    assert modules(remote) == ["multiprocessing.pool", "multiprocessing.pool", "pool"]
    assert [frame.standard_library for frame in remote.frames] == [True, True, False]


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


# -- one traceback, in everything that is put around it ---

TRACEBACK = """\
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/pkg_a/core.py", line 12, in start
    raise ValueError("no such thing")
pkg_a.errors.StartError: no such thing: 'x'
"""
ROWS = TRACEBACK.splitlines()


def prefixed(form):
    return "\n".join(form.format(n) + row for n, row in enumerate(ROWS))


PREFIXES = {
    "github": "2024-05-01T12:00:00.12345{}7Z ",
    "github-cli": "build (3.11)\tRun tests\t2024-05-01T12:00:00.12345{}7Z ",
    "gitlab": "2024-05-01T12:00:00.12345{}Z 01O ",
    "jenkins": "[2024-05-01T12:00:00.12{}Z] ",
    "jenkins-short": "12:00:0{}  ",
    "platform": "2024-05-01T12:00:00.12345{}+00:00 app[web.1]: ",
    "compose": "service_1  | ",
    "compose-coloured": "\x1b[36mmy-app-web-1  |\x1b[0m ",
    "buildkit": "#12 3.4{}6 ",
    "buildkit-summary": "3.4{}6 ",
    "worker": "(pid=123) ",
    "actor": "\x1b[36m(MyActor pid=1, ip=10.0.0.1)\x1b[0m ",
    "actor-colour-torn": "[36m(MyActor.run pid=1, ip=10.0.0.1)[0m ",
    "daemon": "(raylet, ip=10.0.0.2) ",
    "rank": "[rank0]: ",
    "mpi": "[1,0]<stderr>:",
    "syslog": "May 01 12:00:0{} host app[123]: ",
    "supervisor": "2024-05-01 12:00:0{},123 ",
    "reactor": "2024-05-01T12:00:00+0000 [-] ",
    "unknown": "<<w-{}>> ",
    "quoted": "> ",
    "quoted-twice": "> > ",
    "indented": "        ",
    "tabbed": "\t",
}
PIP_BOX = """\
  error: subprocess-exited-with-error

  × python setup.py egg_info did not run successfully.
  │ exit code: 1
  ╰─> [6 lines of output]
      {}
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed
"""  # noqa: RUF001
OLD_PIP = """\
    ERROR: Command errored out with exit status 1:
     command: /usr/bin/python3 -c 'import x'
    Complete output (7 lines):
    {}
    ----------------------------------------
ERROR: Command errored out with exit status 1: python setup.py egg_info Check the logs for full command output.
"""
UV_BOX = """\
  × Failed to build `x==1.0`
  ├─▶ The build backend returned an error
  ╰─▶ Call to `build` failed (exit status: 1)

      [stderr]
      {}

      hint: This usually indicates a problem with the package
"""  # noqa: RUF001
AROUND = {
    "windows-newlines": TRACEBACK.replace("\n", "\r\n"),
    "service-mark": "##[error]" + TRACEBACK + "##[error]Process completed with exit code 1.\n",
    "fence": f"Error below\n```python\n{TRACEBACK}```\nPlease help. Thanks\n",
    "prompt": f">>> import pkg_a\n{TRACEBACK}>>> ",
    "progress": f"10%\r20%\r100%\n{TRACEBACK}",
    "logger": f"ERROR:root:boom\n{TRACEBACK}",
    "logger-head": f"ERROR:root:{TRACEBACK}",
    "logger-time": f"2024-05-01 12:00:00,123 ERROR app.main: {TRACEBACK}",
    "scheduler": f"2024-05-01 12:00:00,123 - distributed.worker - WARNING - Compute Failed\nKey: x\n{TRACEBACK}",
    "queue": f"[2024-05-01 12:00:00,123: ERROR/ForkPoolWorker-1] Task a[1-2] raised unexpected: X()\n{TRACEBACK}",
    "server": f"[2024-05-01 12:00:00 +0000] [12] [ERROR] Exception in worker\n{TRACEBACK}"
    "[2024-05-01 12:00:00 +0000] [12] [INFO] Worker exiting (pid: 12)\n",
    "pip": PIP_BOX.format("\n      ".join(ROWS)),
    "old-pip": OLD_PIP.format("\n    ".join(ROWS)),
    "uv": UV_BOX.format("\n      ".join(ROWS)),
    "talk": f"{TRACEBACK}\nWhat should I do? Note: it worked before\n",
}
WINDOWS = (
    TRACEBACK.replace("/usr/lib/python3.11/", r"C:\Users\me\Python311\Lib" + "\\")
    .replace("/opt/venv/lib/python3.11/site-packages/pkg_a/", r"C:\venv\Lib\site-packages\pkg_a" + "\\")
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name)
        for name, text in {
            "plain": TRACEBACK,
            **{name: prefixed(form) for name, form in PREFIXES.items()},
            **AROUND,
            "windows": WINDOWS,
        }.items()
    ],
)
def test_what_stands_around_a_traceback_is_taken_off(text):
    error = read(text)
    failure = error.failures[-1]
    assert (failure.exception, failure.message.split("\n")[0]) == ("pkg_a.errors.StartError", "no such thing: 'x'")
    assert [(f.module, f.line, f.standard_library, f.installed) for f in failure.frames] == [
        ("runpy", 198, True, False),
        ("pkg_a.core", 12, False, True),
    ]
    assert [frame.code[:6] for frame in failure.frames] == ["return", "raise "]
    assert failure.complete
    assert error.python == "3.11"


def test_a_traceback_inside_a_json_log():
    error = read('{"level":"error","exc":"' + TRACEBACK.replace('"', '\\"').replace("\n", "\\n") + '"}')
    assert error.failures[-1].exception == "pkg_a.errors.StartError"
    assert modules(error.failures[-1]) == ["runpy", "pkg_a.core"]


def test_two_workers_that_speak_at_once_are_told_apart():
    rows = [row for line in ROWS for row in (f"(A pid=1) {line}", f"(A pid=2) {line.replace('Start', 'Stop')}")]
    assert [failure.exception for failure in read("\n".join(rows)).failures] == [
        "pkg_a.errors.StartError",
        "pkg_a.errors.StopError",
    ]


# -- half-copied ---


@pytest.mark.parametrize(
    ("text", "frames"),
    [("\n".join(ROWS[1:]), 2), ("\n".join(ROWS[4:]), 1), (ROWS[-1], 0), ("\n".join(ROWS[5:]), 0)],
)
def test_a_traceback_without_its_head(text, frames):
    (failure,) = read(text).failures
    assert failure.exception == "pkg_a.errors.StartError"
    assert len(failure.frames) == frames
    assert not failure.complete


def test_a_traceback_without_its_end():
    (failure,) = read("\n".join(ROWS[:-1])).failures
    assert (failure.exception, failure.message) == (None, "")
    assert modules(failure) == ["runpy", "pkg_a.core"]


@pytest.mark.parametrize(
    ("line", "exception", "message"),
    [
        ("2024-05-01 12:00:00,123 ERROR app: ImportError: no luck", "ImportError", "no luck"),
        ("could not load plugin: ImportError: no luck", "ImportError", "no luck"),
        ("FAILED test_x.py::test_y - ImportError: no luck", "ImportError", "no luck"),
        ("E   ImportError: no luck", "ImportError", "no luck"),
        ("pkg.sub.Fail: no luck", "pkg.sub.Fail", "no luck"),
        ("pkg.error: no luck", "pkg.error", "no luck"),
        ("Exception: no luck", "Exception", "no luck"),
        ("pkg.exceptions.TaskError(ImportError): no luck", "pkg.exceptions.TaskError", "no luck"),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
    ],
)
def test_a_last_line_alone(line, exception, message):
    (failure,) = read(line).failures
    assert (failure.exception, failure.message) == (exception, message)


@pytest.mark.parametrize(
    "line",
    ["INFO: started", "Note: see below", "else:", "except ValueError: pass", "Done.", "key: value", "Error", "12 x"],
)
def test_a_line_that_says_nothing(line):
    assert read(line).failures == ()


def test_the_message_ends_where_something_else_begins():
    error = read("ValueError: one\ntwo\n\n  three\n\nUnrelated.\n")
    assert error.failures[0].message == "one\ntwo\n\n  three"


def test_a_path_broken_at_the_edge_of_a_window():
    broken = '  File "/opt/venv/lib/python3.11/site-packages/a_long_package/with_a_long_mod\nule.py", line 3, in f\n'
    assert modules(read(broken).failures[0]) == ["a_long_package.with_a_long_module"]


def test_a_warning_is_a_failure_with_a_place():
    (failure,) = read(
        "/opt/lib/python3.9/site-packages/pkg_a/b.py:3: DeprecationWarning: do not\n  import x\n"
    ).failures
    assert (failure.exception, failure.message, modules(failure)) == ("DeprecationWarning", "do not", ["pkg_a.b"])


# -- below Python ---


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("Segmentation fault (core dumped)", "SIGSEGV"),
        ("bash: line 1: 31081 Segmentation fault      python x.py", "SIGSEGV"),
        ("Process finished with exit code 139 (interrupted by signal 11:SIGSEGV)", "SIGSEGV"),
        ("container exited with exit code 137", "SIGKILL"),
        ("worker exited with code: -11", "SIGSEGV"),
        ("died with <Signals.SIGABRT: 6>.", "SIGABRT"),
        ("the work-horse terminated unexpectedly; waitpid returned 6", "SIGABRT"),
        ("Killed", "SIGKILL"),
        ("Fatal Python error: init_fs_encoding: failed to get the Python codec", "SIGABRT"),
        ("subprocess.CalledProcessError: Command 'x' died with <Signals.SIGSEGV: 11>.", "SIGSEGV"),
    ],
)
def test_a_signal(line, signal):
    (failure,) = read(line).failures
    assert failure.exit_signal == signal


@pytest.mark.parametrize("line", ["Process completed with exit code 1.", "exit status: 2", "it returned 137 rows"])
def test_an_ordinary_exit_is_no_signal(line):
    assert read(line).failures == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("python: symbol lookup error: /x/y.so: undefined symbol: foo", "undefined symbol: foo"),
        ("/x/y.so: /lib64/libc.so.6: version `GLIBC_2.29' not found (required by /x/y.so)", "GLIBC_2.29' not found"),
        ("libz.so.1: cannot open shared object file: No such file or directory", "cannot open shared object file"),
        ("a/b.c:12:5: fatal error: Python.h: No such file or directory", "Python.h"),
        ("error in pkg-a setup command: use_2to3 is invalid.", "use_2to3 is invalid."),
        ("ERROR: No matching distribution found for pkg-a", "No matching distribution"),
    ],
)
def test_what_tools_say(line, message):
    (failure,) = read(line).failures
    assert failure.exception is None
    assert message in failure.message


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
        [interpreter, "boom.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
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


# -- anything at all ---

FRAGMENTS = [
    *ROWS, *(form.format(1) for form in PREFIXES.values()), "\n", "\n", "\n", "\r", " ", "\x1b[0m", "\x1b[", "(", '"', "'",
    "Traceback", "File ", "E   ", "> ", "----> 3 x", "ValueError: ", "a/b.py:3: ", "Cell In[1], line 2", " in f(x)", "+-+--- 1 ---",
    "During handling of the above exception, another exception occurred:", "Thread 0x1 (most recent call first):", "Current ",
    "Collecting ", "==1.0", "exit code ", "139", "Fatal Python error: ", '"""', "```", "│ ", "\\n", "last):\\n", "\x00", "\ud800",
]  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)))
@example("\x1b]0;title")
@example('  File "' + "x" * 100)
@example("E")
@settings(deadline=None, max_examples=300)
def test_any_text_is_read(text):
    error = read(text)
    assert all(frame.file for failure in error.failures for frame in failure.frames)
    assert all(failure.exception or failure.message or failure.frames for failure in error.failures)
    assert isinstance(error.text, str)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n\x00\x1b\ufeff"), max_size=80))
def test_a_message_survives(message):
    text = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\nValueError: x{message}\n'
    shown = read(text).failures[0].message
    if "[" not in message and "\\" not in message:  # the remains of a colour are taken off
        assert shown == f"x{message}".strip()


@pytest.mark.parametrize("fragment", ["ValueError: x" + "y" * 200 + "\n", "a.", "> ", "/a.py:1:"])
def test_a_long_text_is_cut_and_read(fragment):
    error = read(fragment * (MOST_TEXT // len(fragment) + 10))
    assert "the text is long" in error.notes[0]
    assert len(error.text) <= MOST_TEXT + 2
    assert len(error.failures) <= 100


def test_many_failures_and_frames_are_bounded():
    text = "".join(f"ValueError: {number}\n\n" for number in range(500)) + '  File "a.py", line 1, in f\n' * 5000
    error = read(text)
    assert len(error.failures) == 100
    assert len(error.failures[-1].frames) == 400
    assert error.failures[0].message == "0"
    assert "of 501 failures" in error.notes[0]


def test_cleaning_keeps_every_line():
    rows = "a\n\n  b\nE\n> c\n"
    assert [line for _prefix, line in clean(rows)] == ["a", "", "  b", "", "c", ""]
