"""The standard library by version, and what changed in it needs no rule."""

import subprocess

import interpreters
import linker_environment as env
import pytest

from envdoctor.linker.standard_library import Standard

#: What is used, the Python that lacks it, and one that has it.
REMOVED = [
    ("import cgi", (3, 13), (3, 12)),
    ("import distutils", (3, 12), (3, 11)),
    ("import audioop", (3, 13), (3, 12)),
    ("from typing.io import IO", (3, 13), (3, 12)),
    ("import typing.re", (3, 13), (3, 12)),
    ("from inspect import getargspec", (3, 11), (3, 10)),
    ("from inspect import formatargspec", (3, 11), (3, 10)),
    ("import asyncio\nasyncio.coroutine", (3, 11), (3, 10)),
    ("from collections import Mapping", (3, 10), (3, 9)),
    ("import pkgutil\npkgutil.ImpImporter", (3, 12), (3, 11)),
    ("import ast\nast.Str", (3, 14), (3, 13)),
    ("import time\ntime.clock", (3, 8), (3, 7)),
    ("import ssl\nssl.wrap_socket", (3, 12), (3, 11)),
    ("import datetime\ndatetime.UTC", (3, 10), (3, 11)),
    ("import dataclasses", (3, 6), (3, 7)),
    ("import array\narray.array.tostring", (3, 9), (3, 8)),
]


def runs(version, source):
    python = interpreters.need("{}.{}".format(*version))
    done = subprocess.run([python, "-I", "-S", "-W", "ignore", "-c", source], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(("source", "without", "having"), REMOVED, ids=[one[0].replace("\n", ";") for one in REMOVED])
def test_a_library_that_changed(tmp_path, source, without, having):
    env.write(tmp_path, a={"a.py": source})
    (told,) = env.missing(tmp_path, without)
    assert told[:2] == ("error", "a")
    assert env.missing(tmp_path, having) == []
    assert runs(without, source) is False
    assert runs(having, source) is True


@pytest.mark.parametrize(
    "source",
    [
        "import winreg", "import ctypes\nfrom ctypes import wintypes\nwintypes.DWORD", "import select\nselect.kqueue",
        "import os.path", "import logging\nlogging.handlers", "import signal\nsignal.CTRL_C_EVENT", "import msvcrt",
    ],
)  # fmt: skip
@pytest.mark.parametrize("minor", [(3, 6), (3, 8), (3, 9), (3, 14)])
def test_what_other_systems_have_is_not_missing(tmp_path, source, minor):
    env.write(tmp_path, a={"a.py": source})
    assert env.missing(tmp_path, minor) == []


def test_an_argument_that_was_removed(tmp_path):
    source = "import asyncio\nasync def f(loop):\n    await asyncio.sleep(1, loop=loop)\n"
    env.write(tmp_path, a={"a.py": source})
    (told,) = env.missing(tmp_path, (3, 10))
    assert told == ("warning", "a", 3, "asyncio.sleep")
    assert env.missing(tmp_path, (3, 9)) == []


def test_the_versions_that_have_a_name():
    standard = Standard((3, 12))
    assert standard.span("cgi") == ("3.6", "3.12")
    assert standard.span("inspect", "getargspec") == ("3.6", "3.10")
    assert standard.span("tomllib") == ("3.11", "")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cgi", ("removed", "3.13")), ("distutils.core", ("removed", "3.12")), ("collections.Mapping", ("removed", "3.10")),
        ("inspect.getargspec", ("removed", "3.11")), ("tomllib", ("added", "3.11")), ("typing.Self", ("added", "3.11")),
        ("os.path", None), ("logging.getLogger", None), ("left.gone", None),
    ],
)  # fmt: skip
def test_in_which_version_a_name_went_or_came(name, change):
    assert Standard((3, 12)).moved(name) == change


def test_a_method_is_found_by_its_class_alone():
    standard = Standard((3, 12))
    assert standard.method("Thread", "isAlive") == "threading.Thread.isAlive"
    assert standard.method("Thread", "start") is None


def test_a_python_that_the_data_does_not_know_decides_nothing(tmp_path):
    env.write(tmp_path, a={"a.py": "from inspect import getargspec\nimport cgi"})
    assert env.missing(tmp_path, (3, 99)) == []


@pytest.mark.parametrize("minor", [(3, 7), (3, 9)])
def test_a_class_that_a_module_only_answers_for_has_what_it_had(tmp_path, minor):
    source = "from collections import MutableMapping\nclass C(dict):\n    update = MutableMapping.update\n"
    env.write(tmp_path, a={"a.py": source})
    assert env.missing(tmp_path, minor) == []
    assert runs(minor, source) is True


@pytest.mark.parametrize(
    ("minor", "module", "kind", "name", "lost"),
    [
        ((3, 13), "threading", "Thread", "isAlive", True),
        ((3, 8), "threading", "Thread", "isAlive", False),
        ((3, 13), "threading", "Thread", "is_alive", False),
        ((3, 13), "typing", "Dict", "get", False),  # in some versions it is a class
        ((3, 13), "urllib.parse", "Quoter", "get", False),  # it is gone itself
        ((3, 14), "asyncio", "AbstractEventLoopPolicy", "get_event_loop", False),  # so is this one, from its old place
    ],
)
def test_a_class_that_is_there_has_lost_what_other_versions_have(minor, module, kind, name, lost):
    assert Standard(minor).lost(module, kind, name) is lost
