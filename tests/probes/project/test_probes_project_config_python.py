"""Settings in Python: what Python itself has after running them, and what is not read."""

import runpy

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from envdoctor.facts import CONFIG
from envdoctor.probes.project import Project
from envdoctor.probes.project.config_python import python

SETTINGS = """\
import os

DEBUG = True
HOSTS = ["https://a.example", "b.example"]
HOSTS += ("c.example",)
NAME: str = "one"
NAME = "two"
KEY = os.environ["KEY"]
PLACES = {"python": ("https://docs.example/3", None), 3: -1.5}
PLACES["more"] = {"deep": b"x"}
PLACES["python"] = "again"
NUMBER = 1
NUMBER += 1
c.ServerApp.port = 8888
FIRST = SECOND = ""
if DEBUG:
    BEHIND = 1
"""


def values(text):
    read, gap = python(text.encode())
    assert gap is None
    return {path: value for path, value, _ in read}


def test_names_attributes_keys_and_members_with_their_lines():
    read, gap = python(SETTINGS.encode())
    assert gap is None
    assert list(read) == [
        ("DEBUG", True, 3),
        ("HOSTS.0", "https://a.example", 4),
        ("HOSTS.1", "b.example", 4),
        ("HOSTS.2", "c.example", 5),
        ("NAME", "two", 7),
        ("KEY", None, 8),
        ("PLACES.python", "again", 11),
        ("PLACES.3", -1.5, 9),
        ("PLACES.more.deep", None, 10),
        ("NUMBER", None, 13),
        ("c.ServerApp.port", 8888, 14),
        ("FIRST", "", 15),
        ("SECOND", "", 15),
    ]


def test_only_a_glob_of_python_files_reads_them():
    files = {"shop/settings.py": "HOST = 'a'\n", "shop/settings.toml": "HOST = 'b'\n", "settings.d.py": "HOST ="}
    ask = Project.of(files).ask
    assert [one["value"] for one in ask(CONFIG, ("**/settings.py", "HOST")).found] == ["a"]
    other = ask(CONFIG, ("settings.*", "HOST"))
    assert ([one["value"] for one in other.found], [*other.gaps]) == (["b"], [])
    assert len(ask(CONFIG, ("settings*.py", "HOST")).gaps) == 1


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("print 'x'\n", "it cannot be parsed: "),
        ("x = 1\0", "it cannot be parsed: "),
        ("x = " + "[" * 300 + "]" * 300, "it "),
        ("x = [" + "1," * 200_000 + "]", "it has more than 100000 values, and was not read"),
        ("x = " + "-" * 50_000 + "1", "it "),
    ],
)
def test_what_cannot_be_read_is_said(text, gap):
    read, said = python(text.encode())
    assert list(read) == []
    assert said.startswith(gap)


@pytest.mark.trials
@pytest.mark.parametrize("doubled", ["x = x + x", "x = [x, x]", "x += x", "x.extend(x)", "x = {'a': x, 'b': x}"])
def test_settings_that_double_themselves_come_to_an_end(doubled):
    for first in ("x = ['a']\n", "x = [[]]\n"):
        read, gap = python((first + f"{doubled}\n" * 60).encode())
        assert gap is None
        assert len(read) <= 300_000


@pytest.mark.trials
def test_tens_of_thousands_of_settings_are_read():
    one = "".join(f"x{number} = 1\nd['k{number}'] = 1\n" for number in range(40_000))
    read, gap = python(one.encode())
    assert (len(read), gap) == (80_000, None)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = ['a']\nif flag:\n  x = ['b']\n", {"x": None}),
        ("x = 'a'\ntry:\n  x = 'b'\nexcept E: pass\n", {"x": None}),
        ("x = ['a']\nif flag:\n  x += ['b']\n", {"x.0": "a"}),
        ("if flag:\n  x = 'b'\n", {}),
        ("x = 'a'\nif django.VERSION >= (4,):\n  x = 'b'\n", {"x": "b"}),
        ("x = 'a'\nif (4,) > django.VERSION:\n  x = 'b'\n", {"x": "a"}),
        ("if django.VERSION < (4,):\n  x = 'a'\nelse:\n  y = 'b'\n", {"y": "b"}),
        ("if flag:\n  if a.__version__ > '1':\n    x = 'a'\n", {}),
        ("def f():\n  x = 1\n", {}),
        ("x = ['a']\nx.append('b')\nx.extend(('c',))\n", {"x.0": "a", "x.1": "b", "x.2": "c"}),
        ("x = {'a': 1}\nx.update({'b': 2})\nx.update(dict(c=3))\n", {"x.a": 1, "x.b": 2, "x.c": 3}),
        ("x = ['a'] + ['b']\ny = x\nz = y + x\n", {"x.0": "a", "x.1": "b", "y.0": "a", "y.1": "b",
         "z.0": "a", "z.1": "b", "z.2": "a", "z.3": "b"}),
        ("x = ['a']\ny = x\ny.append('b')\n", {"x.0": "a", "y.0": "a", "y.1": "b"}),
        ("x = ['a'] + other\nx.clear()\n", {"x": None}),
    ],
)  # fmt: skip
def test_what_conditions_and_calls_leave(text, left):
    assert values(text) == left


KEYS = st.text("abc", min_size=1, max_size=2)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def scalars(value, path):
    """The scalars of a value that Python holds."""
    if isinstance(value, (list, dict)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {inner: one for key, member in pairs for inner, one in scalars(member, f"{path}.{key}").items()}
    return {path: value}


@given(st.lists(st.tuples(st.sampled_from(["x", "y", "x['a']", "x['b']['c']"]), VALUES), max_size=5))
def test_it_reads_what_running_the_module_leaves(tmp_path_factory, assigned):
    text = "x = {'b': {}}\n" + "".join(f"{name} = {value!r}\n" for name, value in assigned)
    file = tmp_path_factory.mktemp("settings") / "settings.py"
    file.write_text(text)
    try:
        left = {name: value for name, value in runpy.run_path(str(file)).items() if name in "xy"}
    except (TypeError, KeyError, IndexError):
        reject()  # a value that takes no such key
    assert values(text) == {path: one for name in left for path, one in scalars(left[name], name).items()}
