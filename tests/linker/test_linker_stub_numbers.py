"""Floats for the integers of compiled classes, by what the stubs beside them say."""

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

STUB = """
import typing
import w.sip

class Size(w.sip.simplewrapper):
    @typing.overload
    def __init__(self) -> None: ...
    @typing.overload
    def __init__(self, w: int, h: int) -> None: ...
    @typing.overload
    def __init__(self, a0: 'Size') -> None: ...

class Rect(Size):
    @typing.overload
    def __init__(self, x: int, y: int, z: int) -> None: ...
    @typing.overload
    def __init__(self, x: float, y: float, z: float) -> None: ...

class Plain:
    def __init__(self, w: int) -> None: ...
"""
W = {"w/__init__.py": "", "w/core.abi3.so": b"\x7fELF", "w/core.pyi": STUB}
IMPORT = "from w.core import Size, Rect, Plain\n"


def found(tmp_path, source, minor=(3, 10)):
    """The line and the argument of each call that is refused."""
    site = env.write(tmp_path / "site", w=W)
    beside = Beside(Project.of({"run.py": source}))
    missing = link(scan([site]).packages.values(), Target(minor, "linux"), lambda _doing: None, beside).missing
    assert all(one.provider == "w" and one.severity == "warning" for one in missing)
    return [(one.line, one.detail) for one in missing if one.kind == "float"]


REFUSED = {
    "a quotient": (IMPORT + "Size(1, 4 / 2)", [(2, "4 / 2")]),
    "a constant": (IMPORT + "Size(1.5, 2)", [(2, "1.5")]),
    "by way of a name": (IMPORT + "def f(n):\n    h = n * 1.5 + 3\n    return Size(0, h)", [(4, "h")]),
    "of a module": ("from w import core\ncore.Size(0, -0.5)", [(2, "-0.5")]),
    "with a star": ("from w.core import *\nSize(0, float(3))", [(2, "float(3)")]),
    "whole": (IMPORT + "Size(0, int(4 / 2)); Size(0, 4 // 2); Size(0, round(2.5))", []),
    "one overload takes it": (IMPORT + "Rect(1, 2, 3 / 2)", []),
    "another number of arguments": (IMPORT + "Size(4 / 2)", []),
    "another kind of class": (IMPORT + "Plain(4 / 2)", []),
    "a name that may be whole": (IMPORT + "def f(n):\n    h = n * 1.5\n    h = int(h)\n    return Size(0, h)", []),
    "a parameter": (IMPORT + "def f(h=1.5):\n    return Size(0, h)", []),
    "caught": (IMPORT + "try:\n    Size(0, 1.5)\nexcept TypeError:\n    pass", []),
    "its own class": ("class Size: pass\n" + IMPORT + "Size(0, 1.5)", []),
}


@pytest.mark.parametrize(("source", "expected"), REFUSED.values(), ids=list(REFUSED))
def test_floats_for_integers(tmp_path, source, expected):
    assert found(tmp_path, source) == expected


def test_older_pythons_convert(tmp_path):
    assert found(tmp_path, IMPORT + "Size(1.5, 2)", (3, 9)) == []
