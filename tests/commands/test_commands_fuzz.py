"""Whatever a file holds and whatever is typed: an exit status of the table, a line, and never a traceback."""

import contextlib
import io
import json
import os
from pathlib import Path
from unittest import mock

import pytest
from conftest import CHECKOUT
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.cli import main

pytestmark = pytest.mark.trials

LOCKS = Path(CHECKOUT, "tests", "data", "locks")
NAMES = [
    "requirements.txt",
    "pylock.toml",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
    "environment.yml",
    "conda-lock.yml",
]
SEEDS = {path.name: path.read_bytes() for path in LOCKS.glob("*/*") if path.name in NAMES}


def outcome(*words):
    """The exit status, and what was printed; asserts that it was said decently."""
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(b"{}"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch("sys.stdin", stdin):
        status = main(list(words))
    assert status in {0, 1, 2, 3}, err.getvalue()
    assert "Traceback" not in err.getvalue()
    assert "envdoctor itself failed" not in err.getvalue()
    assert status < 2 or err.getvalue().startswith("envdoctor: ")
    return status


names = st.sampled_from(["cloudpickle", "numpy", "A_b.C", "", "a b", "\0", "x" * 300, "\ud7ff", "python"])
versions = st.sampled_from(
    ["1.6.0", "1", "", None, "1.0+cpu", "9" * 50, "v1", "1!2.0rc1.post3.dev4", "\n", "1.0 ; x", 3, [], {}]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | versions,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
snapshots = st.fixed_dictionaries(
    {"packages": st.dictionaries(names, versions, max_size=4)},
    optional={
        "schema": st.sampled_from([1, "1", 2, True, None]),
        "python": st.fixed_dictionaries({"version": versions | st.sampled_from(["3.11.7", "3.14.0rc1", "2"])})
        | json_values,
        "platform": json_values,
        "start_method": json_values,
        "requirements": st.dictionaries(
            names, st.lists(st.text(max_size=20) | st.just("a>=1 ; python_version < '3'"), max_size=2)
        ),
        "requires_python": st.dictionaries(names, st.sampled_from([">=3.8", "<", ">=3.x", "", None])),
        "tags": st.dictionaries(
            names, st.lists(st.sampled_from(["py3-none-any", "x", "cp27-cp27m-win32", ""]), max_size=2)
        ),
        "modules": st.dictionaries(names, json_values),
        "installed": st.dictionaries(st.sampled_from(["leftover", "unreadable", "x"]), json_values),
        "duplicates": json_values | st.lists(st.fixed_dictionaries({"name": names, "version": versions}), max_size=2),
        "distributions": json_values | st.dictionaries(names, st.fixed_dictionaries({"candidates": json_values})),
        "target": json_values,
        "system": json_values,
        "env": json_values,
        "marker": json_values,
        "unknown": json_values,
        "notes": json_values,
        "complete": st.sampled_from([True, False, 1, None]),
    },
)


@given(document=snapshots, words=st.sampled_from([[], ["-f", "json"], ["-f", "markdown"]]))
def test_any_snapshot_is_diagnosed_or_refused(document, words, tmp_path):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    for command in ("check", "report", "snapshot"):
        outcome(command, "--snapshot", str(path), *(words if command == "check" else []))


@given(data=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(data=b"\xef\xbb\xbf{}")
@example(data=b'{"packages": {"a": "1"}' + b" " * 100)
@example(data=b'{"packages": ' * 2000)
def test_a_file_of_anything_is_no_traceback(data, tmp_path):
    path = tmp_path / "facts.json"
    path.write_bytes(data)

    outcome("--snapshot", str(path))
    outcome("explain", str(path), "--no-target")


@given(name=st.sampled_from(NAMES), data=st.data())
def test_a_spoilt_lock_file_is_diagnosed_or_refused(name, data, tmp_path):
    """A real one with pieces cut out, doubled or replaced."""
    content = SEEDS[name]
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 60)))
        content = content[:start] + data.draw(st.binary(max_size=8) | st.just(content[start:end] * 2)) + content[end:]
    path = tmp_path / name
    path.write_bytes(content)

    version = data.draw(st.sampled_from(["3.6", "3.11", "3.14", "3.11.7", "2.7", "x", "", "3"]))
    outcome("-r", str(path), "--python-version", version)


lines = st.lists(
    st.sampled_from(
        ["cloudpickle==1.6.0", "-r other.txt", "-c requirements.txt", "-r requirements.txt", "a==1 \\", "--hash=sha256:0", "-e .",
         "x @ file:///y", "b[extra]==2 ; python_version<'3'", "==", "a===", "--index-url", "-i http://u:p@h/", "\ufeff", "c==1.*", "#", "${A}"]
    )
    | st.text(max_size=30),
    max_size=6,
)  # fmt: skip


@given(lines=lines)
def test_any_requirements_file_is_diagnosed_or_refused(lines, tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")

    outcome("-r", str(path), "--python-version", "3.11")


words = st.lists(
    st.sampled_from(
        ["check", "report", "snapshot", "rules", "list", "show", "explain", "--no-target", "-f", "json", "--fail-on", "info",
         "--python", "--root", "--snapshot", "-r", "--python-version", "3.11", "--platform", "linux", "--start-method", "spawn", "--rules",
         "-o", "--", "-", "--help", "-h", "--version", "", "\0", "\ud800", "/not/there", ".", "-x", "--project"]
    ),
    max_size=6,
)  # fmt: skip


@given(words=words)
def test_any_command_line_ends_decently(words, tmp_path):
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        outcome(*words)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_file_without_content_or_end_is_a_line(name, tmp_path):
    path = tmp_path / name
    for content in (b"", b"\0", SEEDS[name][: len(SEEDS[name]) // 2], b"[" * 10000, b"{" * 10000, b"- " * 5000):
        path.write_bytes(content)
        outcome("-r", str(path), "--python-version", "3.11")
