"""What some versions of Python refuse of source that all of them parse: each form is run by both versions, if found."""

import subprocess

import interpreters
import linker_environment as env
import pytest

CLASS = "from dataclasses import dataclass\n@dataclass({})\nclass K:\n    x: int = 1\n"
LOOP = "import asyncio\nasync def g(): pass\ndef f():\n    {}\nf()\n"
METACLASS = "class M(type):\n    def __new__(cls, n, b, names):\n        names['__annotations__']\n"
#: Source, the last version that takes it or the first, and the first that refuses it or the last.
REFUSED = {
    "a builtin type in brackets": ("def f(x: list[int]): pass", (3, 9), (3, 8)),
    "an abstract class in brackets": ("import collections.abc as c\nX = c.Callable[[int], int]", (3, 9), (3, 8)),
    "a union in an annotation": ("class K: pass\ndef f(x: K | None): pass", (3, 10), (3, 9)),
    "a union in brackets": ("import typing as t\ndef f(x: t.Dict[str, bytes | None]): pass", (3, 10), (3, 9)),
    "a union of types in an expression": ("isinstance(1, int | str)", (3, 10), (3, 9)),
    "a default without a hash": (CLASS.format("") + "@dataclass\nclass B:\n    k: K = K()", (3, 10), (3, 11)),
    "a pattern's flags behind its start": ("import re\nre.compile('a(?i)')", (3, 10), (3, 11)),
    "a mode with U": ("open(__file__, 'rU')", (3, 10), (3, 11)),
    "a keyword that is passed on": ("import json\njson.loads('1', encoding='utf-8')", (3, 8), (3, 9)),
    "annotations of a class that is made": (METACLASS + "class K(metaclass=M):\n    x: int", (3, 13), (3, 14)),
    "a property of a class": ("class K:\n    @classmethod\n    @property\n    def f(cls): return 1\nK.f + 1", (3, 12), (3, 13)),
    "a loop that nobody made": (
        LOOP.format("loop = asyncio.get_event_loop()\n    loop.run_until_complete(g())"), (3, 13), (3, 14)
    ),
}  # fmt: skip
#: Source that runs in any version.
TAKEN = {
    "annotations that are not evaluated": (
        "from __future__ import annotations\ndef f(x: list[int] | None): pass", (3, 8)
    ),
    "an annotation in a text": ("def f(x: 'list[int]'): pass", (3, 8)),
    "an annotation of a local name": ("def f():\n    x: list[int] = []\nf()", (3, 8)),
    "another thing of the name": ("from typing import List as list\nX = list[int]", (3, 8)),
    "an argument of the name": ("def f(dict):\n    return dict['a']\nf({'a': 1})", (3, 8)),
    "a local name of the name": ("def f():\n    for list in ['ab']:\n        return list[0]\nf()", (3, 8)),
    "another module of the name": ("import decimal as json\ndef f(): json.loads('1', encoding='utf-8')", (3, 9)),
    "brackets behind a version": ("import sys\nif sys.version_info >= (3, 9):\n    X = list[int]", (3, 8)),
    "brackets that are tried": ("try:\n    X = list[int]\nexcept TypeError:\n    X = list", (3, 8)),
    "numbers": ("X = 1 | 2", (3, 9)),
    "a frozen default": (CLASS.format("frozen=True") + "@dataclass\nclass B:\n    k: K = K()", (3, 11)),
    "flags at the start and in a group": ("import re\nre.compile('(?i)a')\nre.compile('a(?i:b)[(?i)]')", (3, 11)),
    "a loop that is set": (
        LOOP.format("asyncio.set_event_loop(asyncio.new_event_loop())\n    loop = asyncio.get_event_loop()\n"
                    "    loop.run_until_complete(g())"), (3, 14)
    ),
    "a loop that is made where there is none": (
        LOOP.format("try:\n        loop = asyncio.get_event_loop()\n    except RuntimeError:\n"
                    "        loop = asyncio.new_event_loop()\n    loop.run_until_complete(g())"), (3, 14)
    ),
}  # fmt: skip


def asked(folder, source, minor):
    env.write(folder, a={"a.py": source})
    return env.missing(folder, minor)


def runs(folder, minor):
    python = interpreters.find("{}.{}".format(*minor))
    if python is None:
        return None
    return subprocess.run([python, "a.py"], cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("case", REFUSED)
def test_a_form_is_found_where_python_refuses_it(tmp_path, case):
    source, taking, refusing = REFUSED[case]
    assert asked(tmp_path, source, taking) == []
    assert asked(tmp_path, source, refusing)
    assert runs(tmp_path, taking) is not False
    assert runs(tmp_path, refusing) is not True


@pytest.mark.parametrize("case", TAKEN)
def test_a_form_that_runs_is_not_reported(tmp_path, case):
    source, minor = TAKEN[case]
    assert asked(tmp_path, source, minor) == []
    assert runs(tmp_path, minor) is not False


@pytest.mark.parametrize(("given", "count"), [("", 1), ("frozen=True", 0), ("eq=False", 0), ("unsafe_hash=True", 0)])
def test_a_default_of_a_class_from_elsewhere(tmp_path, given, count):
    consumer = (
        "from dataclasses import dataclass, field\nfrom b import K\n@dataclass\nclass B:\n    k: K = field(default=K())"
    )
    env.write(tmp_path, b={"b.py": CLASS.format(given)})
    assert len(asked(tmp_path, consumer, (3, 11))) == count
