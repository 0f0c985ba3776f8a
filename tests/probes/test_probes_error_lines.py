"""One traceback in everything that is put around it, and any text at all: what is read stays the same, or nothing breaks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.probes.error_lines import clean
from envdoctor.probes.error_text import MOST_TEXT, read


def modules(failure):
    return [frame.module for frame in failure.frames]


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
    "buildkit-late": "328.{} ",
    "buildkit-indented": "    #20 328.{} ",
    "worker": "(pid=123) ",
    "actor": "\x1b[36m(MyActor pid=1, ip=10.0.0.1)\x1b[0m ",
    "actor-colour-torn": "[36m(MyActor.run pid=1, ip=10.0.0.1)[0m ",
    "daemon": "(raylet, ip=10.0.0.2) ",
    "rank": "[rank0]: ",
    "mpi": "[1,0]<stderr>:",
    "syslog": "May 01 12:00:0{} host app[123]: ",
    "supervisor": "2024-05-01 12:00:0{},123 ",
    "reactor": "2024-05-01T12:00:00+0000 [-] ",
    "test-runner": "INTERNALERROR> ",
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


def test_a_notebook_copied_from_a_web_page():
    error = read(
        "ImportError                               Traceback (most recent call last)\n"
        "[/tmp/ipykernel_2306/3721.py](https://localhost:8080/#) in <cell line: 0>()\n"
        "     39 import sys\n---> **40 import pkg_a**\n     41 \n\n10 frames\n"
        "[/usr/lib/python3.13/dist-packages/pkg_a/core.py](https://localhost:8080/#) in <module>\n"
        "---> **22 from pkg_b import (**\n     23     one,\n\n"
        "pkg_b/part.pyx in init pkg_b.part()\n\n"
        "**ImportError: cannot import name 'x' from 'pkg_b'**\n"
    )
    (failure,) = error.failures
    assert (failure.exception, failure.message) == ("ImportError", "cannot import name 'x' from 'pkg_b'")
    assert [(frame.module, frame.line, frame.code) for frame in failure.frames] == [
        ("3721", 40, "import pkg_a"),
        ("pkg_a.core", 22, "from pkg_b import ("),
        ("pkg_b.part", None, None),
    ]


def test_entities_and_links_of_a_web_page():
    text = "File &quot;/opt/site-packages/pkg_a/b.py&quot;, line [20](https://example.org/run#step:2:20)4, in &lt;module&gt;\n"
    (frame,) = read(text).failures[0].frames
    assert (frame.module, frame.line, frame.function) == ("pkg_a.b", 204, "<module>")


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
