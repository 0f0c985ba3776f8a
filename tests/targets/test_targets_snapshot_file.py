import contextlib
import io
import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_facts import OF_METADATA, fact, facts_of

from envdoctor.errors import TargetError
from envdoctor.facts import RECORDED
from envdoctor.model import Distribution, Snapshot, Unknown
from envdoctor.renderers.redaction import Redactor
from envdoctor.renderers.snapshot_document import render
from envdoctor.targets import snapshot_file

KINDS = [*OF_METADATA, *(kind.name for kind in RECORDED)]
MINIMAL = {"python": {"version": "3.11.7"}, "packages": {"cloudpickle": "1.6.0"}}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("snapshots")


@pytest.fixture
def load(place):
    def load(content):
        path = place / "facts.json"
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        return snapshot_file.snapshot_of(str(path))

    return load


def test_the_least(load):
    snapshot = load(MINIMAL)
    assert snapshot.python == {"version": "3.11.7"}
    assert snapshot.packages["cloudpickle"].version == "1.6.0"
    assert snapshot.complete is True
    assert snapshot.platform == {}
    assert snapshot.notes == ()
    assert snapshot.target["kind"] == "snapshot"
    assert fact(snapshot, "env", "X") == Unknown(reason="not recorded in this snapshot")


def test_packages_alone(load):
    snapshot = load({"packages": {"Foo_Bar": "1.0", "odd": None}})
    assert snapshot.python == {}
    assert snapshot.packages["foo-bar"].name == "foo-bar"
    assert snapshot.packages["odd"].version is None


@pytest.mark.parametrize("version", ["3.11.7+", "3.11", "3.13.0rc1", "3.14.0a1+", "2.7.18", "3.15.0a0 "])
def test_versions_of_python(load, version):
    if version.endswith(" "):
        with pytest.raises(TargetError, match=r"python\.version"):
            load({"python": {"version": version}, "packages": {}})
    else:
        assert load({"python": {"version": version}, "packages": {}}).python["version"] == version


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"cloudpickle==1.6.0\n", "is not JSON"),
        (b'{"packages": {"a": "1', "cut off"),
        (b'{"packages": {}', "cut off"),
        (b'{"packages": {}} trailing', "is not JSON"),
        (b'{"packages": {"a": "\xff"}}', "is not UTF-8"),
        (b"\xff\xfe{", "is not UTF-8"),
        (b'{"packages": {}, "x": NaN}', "NaN is not a number"),
        (b'{"packages": {}, "x": -Infinity}', "not a number"),
        (b'{"packages": {}, "x": 1e999}', "out of range"),
        (b'{"packages": {}, "x": ' + b"9" * 100_000 + b"}", "100,000 digits"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[]", "is a list, not an object"),
        (b'"text"', "is a text, not an object"),
        (b"null", "is null, not an object"),
        (b"{}", "has no 'packages'"),
        ({"packages": []}, r"packages is a list of 0 \(a list\); expected an object"),
        ({"packages": {"a": 1.6}}, r"packages.a is 1.6 \(a number\); expected a text in quotes"),
        ({"packages": {"a": ["1"]}}, "packages.a is a list of 1"),
        ({"packages": {"": "1"}}, "an empty name"),
        ({"packages": {}, "schema": 2}, "has schema 2; this envdoctor reads schema 1"),
        ({"packages": {}, "schema": True}, "has schema true"),
        ({"packages": {}, "schema": [1]}, "has schema a list of 1"),
        ({"packages": {}, "python": "3.11"}, "python is .*expected an object"),
        ({"packages": {}, "python": {"version": 3.11}}, r"python.version is 3.11 \(a number\); expected a text"),
        ({"packages": {}, "python": {"version": "three"}}, "expected one like 3.11.7"),
        ({"packages": {}, "python": {"version": "3"}}, "expected one like 3.11.7"),
        ({"packages": {}, "python": {"debug": "no"}}, "python.debug"),
        ({"packages": {}, "platform": {"system": 1}}, "platform.system"),
        ({"packages": {}, "start_method": {"default": True}}, "start_method.default is true"),
        ({"packages": {}, "complete": 1}, "complete is 1"),
        ({"packages": {}, "env": {"A": 0}}, "env.A is 0"),
        ({"packages": {}, "modules": {"a": "missing"}}, "modules.a is .*expected an object with a 'kind'"),
        ({"packages": {}, "system": {"glibc": {}}}, "system.glibc"),
        ({"packages": {}, "marker": {"os_name": []}}, "marker.os_name"),
        ({"packages": {}, "requirements": {"a": "b"}}, "requirements.a"),
        ({"packages": {}, "requirements": {"a": [1]}}, "requirements.a"),
        ({"packages": {}, "tags": {"a": "py3-none-any"}}, "tags.a"),
        ({"packages": {}, "installed": {"leftover": [["a"]]}}, "installed.leftover"),
        ({"packages": {"a": "1"}, "distributions": {"a": "x"}}, "distributions.a"),
        ({"packages": {"a": "1"}, "distributions": {"A": {"path": 1}}}, r"distributions.A.path"),
        ({"packages": {}, "duplicates": {}}, "duplicates is"),
        ({"packages": {}, "duplicates": [1]}, r"duplicates\[0\]"),
        ({"packages": {}, "duplicates": [{"name": "a", "version": 1}]}, r"duplicates\[0\].version"),
        ({"packages": {}, "unknown": [1]}, r"unknown\[0\]"),
        ({"packages": {}, "unknown": [{"fact": 1}]}, r"unknown\[0\].fact"),
        ({"packages": {}, "notes": {}}, "notes is"),
        ({"packages": {}, "target": "x"}, "target is"),
    ],
)
def test_what_is_refused(load, content, said):
    with pytest.raises(TargetError, match=said) as caught:
        load(content)
    assert "\n" not in str(caught.value)


def test_a_key_cannot_drive_the_terminal(load):
    with pytest.raises(TargetError) as caught:
        load({"packages": {"\x1b[2J\n": 1}})
    assert str(caught.value).isprintable()


def test_no_such_file(tmp_path):
    with pytest.raises(TargetError, match="cannot be read: No such file"):
        snapshot_file.snapshot_of(str(tmp_path / "none.json"))
    with pytest.raises(TargetError, match="cannot be read"):
        snapshot_file.snapshot_of(str(tmp_path))
    with pytest.raises(TargetError, match="cannot be read"):
        snapshot_file.snapshot_of("a\0b")


def test_too_long(tmp_path):
    path = tmp_path / "long.json"
    with open(path, "wb") as file:
        file.truncate(snapshot_file.LIMIT + 1)
    with pytest.raises(TargetError, match="longer than 64 MiB"):
        snapshot_file.snapshot_of(str(path))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(MINIMAL).encode())))
    snapshot = snapshot_file.snapshot_of("-")
    assert snapshot.source == "standard input"
    assert "cloudpickle" in snapshot.packages


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe():
    read, write = os.pipe()
    os.write(write, json.dumps(MINIMAL).encode())
    os.close(write)
    try:
        assert "cloudpickle" in snapshot_file.snapshot_of(f"/dev/fd/{read}").packages
    finally:
        os.close(read)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_as_shells_redirect_it(load, encoding):
    assert "cloudpickle" in load(json.dumps(MINIMAL).encode(encoding)).packages


@pytest.mark.parametrize("packages", ['{"Foo_Bar": "1.0", "foo-bar": "2.0"}', '{"foo-bar": "1.0", "foo-bar": "2.0"}'])
def test_of_a_name_given_twice_the_last_counts(load, packages):
    snapshot = load(f'{{"packages": {packages}}}')
    assert snapshot.packages["foo-bar"].version == "2.0"
    assert [note.fact for note in snapshot.notes] == ["packages.foo-bar"]
    assert "the last one is used" in snapshot.notes[0].reason


def test_answers(load):
    snapshot = load(
        {
            "packages": {"A_b": "1", "q": "1"},
            "distributions": {"a.B": {"path": "/p", "location": "/l"}},
            "env": {"X": "1", "Y": None},
            "modules": {"distutils": {"kind": "missing"}},
            "system": {"container": False, "glibc": "2.36"},
            "requirements": {"A_b": ["c>=1"]},
            "requires_python": {"a-b": ">=3.8"},
            "installed": {"leftover": [["~umpy", "left behind"]]},
            "unknown": [{"fact": "env.Z", "reason": "hidden"}, {"fact": "requirements.q", "reason": "no METADATA"}],
            "notes": [{"fact": "python", "reason": "noise"}],
            "target": {"kind": "interpreter", "installer": "uv"},
            "complete": False,
        }
    )
    assert snapshot.packages["a-b"] == Distribution(name="a-b", version="1", path="/p", location="/l")
    assert fact(snapshot, "env", "X") == "1"
    assert fact(snapshot, "env", "Y") is None
    assert fact(snapshot, "env", "Z") == Unknown(reason="hidden")
    assert fact(snapshot, "module", "distutils") == {"kind": "missing"}
    assert fact(snapshot, "system", "container") is False
    assert fact(snapshot, "requirements", "a-b") == ["c>=1"]
    assert fact(snapshot, "requirements", "q") == Unknown(reason="no METADATA")
    assert fact(snapshot, "requires_python", "a-b") == ">=3.8"
    assert fact(snapshot, "installed", "leftover") == [["~umpy", "left behind"]]
    assert snapshot.notes[0].reason == "noise"
    assert snapshot.target["installer"] == "uv"
    assert snapshot.target["recorded"]["kind"] == "interpreter"
    assert snapshot.complete is False


WORDS = st.text("abcdefgh", min_size=1, max_size=6)
NAMES = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+){0,2}", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,3}((a|rc)[0-9])?(\+[a-z0-9]{1,4})?", fullmatch=True)
SPECIFIERS = st.just(">=3.8") | st.none()
MODULES = st.fixed_dictionaries({"kind": st.sampled_from(["missing", "site-packages"]), "origin": st.none() | WORDS})
VALUES = {
    "requirements": st.lists(NAMES, max_size=3),
    "requires_python": SPECIFIERS,
    "tags": st.none() | st.lists(st.just("py3-none-any"), max_size=2),
    "installer": st.none() | st.just("pip"),
    "env": st.none() | WORDS,
    "module": MODULES,
    "system": st.none() | st.booleans() | VERSIONS,
    "file": st.lists(WORDS, max_size=2),
    "library": st.sampled_from(["present", "missing"]),
    "program": st.sampled_from(["present", "missing"]),
    "process": st.none() | st.booleans() | st.integers(0, 1000),
    "marker": WORDS,
    "installed": st.lists(st.tuples(WORDS, WORDS).map(list), max_size=2),
}
UNREAD = st.just("dark").map(lambda reason: Unknown(reason=reason))


@st.composite
def snapshots(draw):
    packages = draw(st.dictionaries(NAMES, st.none() | VERSIONS, max_size=5))
    per_package = ("requirements", "requires_python", "tags", "installer")
    answers = {
        (kind, key): draw(VALUES[kind] | UNREAD)
        for kind in KINDS
        for key in (packages if kind in per_package else draw(st.lists(WORDS, max_size=3, unique=True)))
    }
    installed = {
        name: Distribution(name=name, version=version, path=draw(st.none() | st.just(f"/opt/{name}.dist-info")))
        for name, version in packages.items()
    }
    return answers, Snapshot(
        target={"kind": "interpreter"},
        python={"version": draw(st.sampled_from(["3.11.7", "3.11.7+", "3.13.0rc1"])), "debug": draw(st.booleans())},
        platform={"system": "linux", "machine": "x86_64"},
        start_method={"default": "fork"},
        packages=installed,
        duplicates=[Distribution(name=name, version="9") for name in list(packages)[:1]],
        complete=draw(st.booleans()),
        facts=facts_of(answers, installed),
    )


@given(snapshots())
def test_what_is_written_is_read_back(place, drawn):
    answers, snapshot = drawn
    wanted = {kind: [key for other, key in answers if other == kind] for kind in KINDS}
    path = place / "round.json"
    path.write_text(render(snapshot, wanted, Redactor(known_env=wanted["env"])), encoding="utf-8")
    again = snapshot_file.snapshot_of(str(path))
    for name in ("python", "platform", "start_method", "packages", "complete"):
        assert getattr(again, name) == getattr(snapshot, name)
    assert list(again.duplicates) == list(snapshot.duplicates)
    for (kind, key), value in answers.items():
        assert fact(again, kind, key) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)
KEYS = st.sampled_from(
    ["schema", "python", "platform", "packages", "distributions", "duplicates", "complete", "requirements", "env", "modules",
     "system", "marker", "target", "unknown", "notes", "tags", "installed", "start_method", "requires_python"]
)  # fmt: skip


@given(st.dictionaries(KEYS, JSON) | st.fixed_dictionaries({"packages": st.dictionaries(st.text(), JSON)}))
def test_any_json_is_read_or_refused(load, document):
    try:
        snapshot = load(document)
    except TargetError:
        return
    assert all(name == distribution.name for name, distribution in snapshot.packages.items())


@given(st.binary() | st.binary().map(lambda noise: json.dumps(MINIMAL).encode()[:20] + noise))
def test_any_bytes_are_read_or_refused(load, content):
    with contextlib.suppress(TargetError):
        load(content)
