"""Whatever a file holds, only errors that speak to the user come out."""

from __future__ import annotations

import json
import os
import random
import sys

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.errors import EnvdoctorError
from envdoctor.model import Snapshot
from envdoctor.targets import requirements

pytestmark = pytest.mark.trials

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = os.path.join(os.path.dirname(__file__), os.pardir, "data", "locks")
NAMES = [
    "pylock.toml",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
    "environment.yml",
    "conda-lock.yml",
    "requirements.txt",
    "other.lock",
]
SEEDS = {
    "pylock.toml": "uv/pylock.toml",
    "uv.lock": "uv/uv.lock",
    "poetry.lock": "poetry1/poetry.lock",
    "pdm.lock": "pdm-plain/pdm.lock",
    "Pipfile.lock": "pipenv/Pipfile.lock",
    "environment.yml": "conda/environment.yml",
    "conda-lock.yml": "conda/conda-lock.yml",
    "requirements.txt": "piptools/requirements-hashed.txt",
}


def survive(folder, name, data):
    """Read a file; the result is a snapshot whose parts are plain, or an error for the user."""
    path = os.path.join(str(folder), name)
    with open(path, "wb") as file:
        file.write(data)
    snapshot = None
    try:
        snapshot = requirements.snapshot_of(path, "3.11", "linux")
    except EnvdoctorError as error:
        said = str(error)
    if snapshot is None:
        assert path in said
        return
    assert isinstance(snapshot, Snapshot)
    for key, found in snapshot.packages.items():
        assert found.name == key == key.lower()
        assert found.version is None or (isinstance(found.version, str) and found.version)
        assert found.path.startswith(path)
    assert all(one.reason for one in snapshot.notes)
    json.dumps([snapshot.target, snapshot.python, snapshot.platform])


@pytest.mark.parametrize("name", NAMES)
@given(data=st.binary(max_size=300))
@example(data=b"\xff\xfe\x00\xd8")
@example(data=b"\xef\xbb\xbf\xef\xbb\xbf")
@example(data=b"[[package]]\nname = 'a'\nversion = 1979-05-27\n[metadata]\n")
@example(data=b"a = " + b"9" * 5000)
@example(data=b'{"default": {"a": {"version": ' + b"9" * 5000 + b"}}}")
@example(data=b'{"default": {"\\ud800": {"version": "==1"}}}')
@example(data=b"dependencies:\n- ? [a]\n  : b\n")
@example(data=b"? {a: b}\n: c\ndependencies: []")
@example(data=b"dependencies: &a [*a]")
@example(data=b"dependencies: [!!python/object:os.system x]")
@example(data=b"%YAML 9.9\n---\na")
@example(data=b"-r requirements.txt\n-c requirements.txt")
@example(data=b"-r .")
@example(data=b"-e\n-r\n--hash")
def test_any_bytes(tmp_path, name, data):
    survive(tmp_path, name, data)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(alphabet="abz019.-_=<>!~;,@#[]{}()\"'\\/:*&\n \t$é", max_size=200))
def test_any_text(tmp_path, name, text):
    survive(tmp_path, name, text.encode())


@pytest.mark.parametrize("name", SEEDS)
@given(
    cuts=st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 30), st.binary(max_size=6)), min_size=1, max_size=4)
)
def test_damaged_files(tmp_path, name, cuts):
    with open(os.path.join(DATA, SEEDS[name]), "rb") as file:
        data = bytearray(file.read())
    for place, length, instead in cuts:
        start = len(data) * place // 1000
        data[start : start + length] = instead
    survive(tmp_path, name, bytes(data))


LEAVES = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["", "*", "==1.*", "python_version < '3'", "not a marker", "a" * 300, "../x", "git+x", "1.0"]),
)
SHALLOW = st.one_of(LEAVES, st.lists(LEAVES, max_size=3), st.dictionaries(st.text(max_size=6), LEAVES, max_size=3))
VALUES = st.one_of(SHALLOW, st.lists(SHALLOW, max_size=3), st.dictionaries(st.text(max_size=6), SHALLOW, max_size=3))


def _toml(value):
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text):
    return json.dumps(text).replace("\x7f", "\\u007f") if text.isascii() else '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character):
    code = ord(character)
    return (
        "?"
        if 0xD800 <= code < 0xE000
        else character
        if 32 <= code < 127 and character not in '"\\'
        else f"\\U{code:08x}"
    )


def _load(name, text):
    if name.endswith(".yml"):
        return yaml.safe_load(text)
    return json.loads(text) if name == "Pipfile.lock" else tomllib.loads(text)


def _dump(name, value):
    if name.endswith(".yml"):
        return yaml.safe_dump(value, allow_unicode=True)
    if name == "Pipfile.lock":
        return json.dumps(value)
    return "".join(f"{_quoted(key)} = {_toml(one)}\n" for key, one in value.items())


def _places(value, found):
    """Every container and key below a value."""
    for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
        found.append((value, key))
        if isinstance(one, (dict, list)):
            _places(one, found)
    return found


@pytest.mark.parametrize("name", [name for name in SEEDS if name != "requirements.txt"])
@given(seed=st.integers(0, 2**32), values=st.lists(VALUES, min_size=1, max_size=5))
def test_other_values_in_place_of_the_expected(tmp_path, name, seed, values):
    with open(os.path.join(DATA, SEEDS[name]), encoding="utf-8") as file:
        whole = _load(name, file.read())
    whole = json.loads(json.dumps(whole, default=str))
    chance = random.Random(seed)
    for value in values:
        place, key = chance.choice(_places(whole, []) or [(whole, "x")])
        place[key] = value
    survive(tmp_path, name, _dump(name, whole).encode("utf-8", "replace"))


PIECES = [
    "a",
    "==",
    "1.0",
    ">=",
    "*",
    ";",
    "python_version",
    "<",
    "'3'",
    "and",
    "or",
    "(",
    ")",
    "[x]",
    "@",
    "https://x/y",
    "-r",
    "-c",
    "-e",
    ".",
    "/",
    "\\",
    "#",
    "--hash=",
    "sha256:0",
    "git+",
    "#egg=",
    "b-1.whl",
    "c-1.0-py3-none-any.whl",
    "${X}",
    '"',
    "//",
]
LINE = st.lists(st.sampled_from([*PIECES, "\n", " ", "\x0c"]), max_size=25).map("".join)


@given(text=LINE)
@example(text="-r a\n-c ..")
@example(text="a @ b-1.whl")
@example(text="//x@y")
def test_requirement_lines(tmp_path, text):
    survive(tmp_path, "requirements.txt", text.encode())
