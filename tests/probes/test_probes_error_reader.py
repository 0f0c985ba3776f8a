"""Texts of which a part is missing, and what fails below Python."""

import pytest

from envdoctor.probes.error_text import read

ROWS = """\
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/pkg_a/core.py", line 12, in start
    raise ValueError("no such thing")
pkg_a.errors.StartError: no such thing: 'x'
""".splitlines()


def modules(failure):
    return [frame.module for frame in failure.frames]


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


def test_a_name_with_a_colon_is_no_failure_without_a_traceback():
    assert read("Known settings:\nValueError:\n\nwhat to do\n").failures == ()


def test_a_path_broken_at_the_edge_of_a_box():
    text = (
        "╭───── Traceback (most recent call last) ─────╮\n"
        "│ /opt/venv/lib/python3.11/site-packages/pkg_ │\n"
        "│ a/core.py:12 in start                       │\n"
        "│                                             │\n"
        "│ ❱ 12 │   go()                               │\n"
        "╰─────────────────────────────────────────────╯\n"
        "TypeError: go() got an unexpected keyword argument 'x'\n"
    )
    (failure,) = read(text).failures
    assert [(frame.module, frame.line, frame.function) for frame in failure.frames] == [("pkg_a.core", 12, "start")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("RuntimeError('pad 9.1 is too new')", "pad 9.1 is too new"),
        ('pkg.errors.PadError("it\'s odd",)', "it's odd"),
    ],
)
def test_an_exception_that_is_printed_as_a_call(line, message):
    (failure,) = read(line).failures

    assert failure.message == message
    assert not read(f"    raise {line}").failures


@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_message_that_begins_below_the_name_of_the_exception(gap):
    (failure,) = read("\n".join([*ROWS[:-1], "pkg_a.errors.StartError:", f"{gap}cannot mix old and new keys"])).failures

    assert (failure.exception, failure.message) == ("pkg_a.errors.StartError", "cannot mix old and new keys")
