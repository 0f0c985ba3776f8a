"""Calls of own classes whose constructor is that of a base of another distribution: each case is run."""

import subprocess
import sys

import linker_environment as env
import pytest

LIB = {
    "lib.py": "class Base:\n    def __init__(self, only=None): pass\n"
    "def Made(name): pass\nMade.__mro_entries__ = lambda bases: (dict,)\n"
    "class Meta(type):\n    def __call__(cls, **given): return super().__call__()\nclass Open(metaclass=Meta):\n    def __init__(self): pass\n"
    "class Function(Base):\n    def __new__(cls, *given, **more): return 1\nclass Called(Function): pass\n"
}
CASES = {
    "of a class": ("class C(Base): pass\nC(strict=True)", 3),
    "of a class in a class": ("class R:\n    class C(Base): pass\n    made = C(strict=True)", 4),
    "of a class behind another": ("class C(Base): pass\nclass D(C): pass\nD(strict=True)", 4),
    "with what it takes": ("class C(Base): pass\nC(only=True)", None),
    "of a class with its own": ("class C(Base):\n    def __init__(self, **given): pass\nC(strict=True)", None),
    "of a class that makes another": (
        "class C(Base):\n    def __new__(cls, **given): return 1\nC(strict=True)", None
    ),
    "of a class behind one that makes another": (
        "class C(Base):\n    def __new__(cls, **given): return 1\nclass D(C): pass\nD(strict=True)", None
    ),
    "of a class of another behind one that makes another": ("import lib\nlib.Called(1, 2)", None),
    "of one with two bases": ("class A:\n    def __init__(self, strict): pass\nclass C(A, Base): pass\nC(strict=True)", None),
    "of one that is decorated": ("@lambda kind: dict\nclass C(Base): pass\nC(strict=True)", None),
    "of one that is defined again": (
        "class C(Base): pass\nclass C:\n    def __init__(self, strict): pass\nC(strict=True)", None
    ),
    "of what a function is given under its name": (
        "class C(Base): pass\ndef make(C): return C(strict=True)\nmake(dict)", None
    ),
    "of what a loop binds to its name": ("class C(Base): pass\nfor C in [dict]: C(strict=True)", None),
    "of a base that is a function": ("class C(Made): pass\nC(strict=True)", None),
    "of one with its own metaclass": ("class C(Open): pass\nC(strict=True)", None),
    "of a named tuple": ("from typing import NamedTuple\nclass C(NamedTuple):\n    strict: bool\nC(strict=True)\nC(True)", None),
    "of an enumeration": ("import enum\nclass C(enum.Enum):\n    ONE = 1\nC(1)", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "line"), CASES.values(), ids=list(CASES))
def test_calls_of_own_classes(tmp_path, source, line):
    env.write(tmp_path, lib=LIB, user={"user.py": f"from lib import Base, Made, Open\n{source}\n"})
    found = env.missing(tmp_path)
    assert found == ([("warning", "user", line, "lib.Base")] if line else [])
    done = subprocess.run(
        [sys.executable, "-c", "import user"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ("TypeError" in done.stderr) is bool(line), done.stderr
