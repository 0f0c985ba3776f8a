"""Calls that a function of another distribution refuses, whatever else it is given: each case is run."""

import os
import subprocess
import sys

import linker_environment as env
import pytest

B = '''
import warnings

class Gone(Exception): pass

def _removed(old, new):
    raise Gone(f"{old} is gone, use {new}")

def removed_in_3(old, new):
    _removed(old, new)

def bare(path):
    """Reads."""
    raise Gone("bare was removed in b 3.0; use better")

def helped(path):
    removed_in_3("helped", "better")
    return path

def abort(code=404):
    raise Gone(f"status {code}")

def later():
    raise NotImplementedError("a derived class says how")

_GONE = "b.Legacy has been removed in 3.0"

class Legacy:
    def __init__(self, path, mode=None):
        raise NotImplementedError(_GONE)

_SAMPLES = ["world", "cities"]

def sample(name):
    if name in _SAMPLES:
        raise Gone(f"the sample {name} was removed")
    else:
        raise Gone("all samples were removed")

def either(name):
    if name == "new":
        raise Gone("new was removed")
    else:
        name = name or "old"
    return name

def warned(path):
    warnings.warn("deprecated", DeprecationWarning)
    return path

def needs(path, mode=None, *, size=0):
    if mode is None and not size:
        raise ValueError("mode is required since 3.0")
    return path

def picky(path, mode=None):
    if not isinstance(path, str):
        raise TypeError("path is removed")
    return path

def whole(path, years=0, months=0):
    if any(one is not None and one != int(one) for one in (years, months)):
        raise ValueError("years are whole")
    return path

_ready = []

def ready():
    if not _ready:
        raise Gone("call start() first")
    return 1

try:
    import nobody_has_this
except ImportError:
    nobody_has_this = None

def optional(path, engine=None):
    if engine is None:
        if nobody_has_this is None:
            raise ImportError("install nobody_has_this, or give an engine")
    return path

def wraps(function):
    return lambda *given: given

@wraps
def hidden(path):
    raise Gone("was removed")

def many(path):
    for one in path:
        raise Gone("was removed")
    return path

def jumps(path):
    for one in ["a"]:
        if path != one:
            break
        else:
            return path
    raise Gone("it was removed")

class Better:
    def __init__(self, path, mode=None): self.path = path

class Reader(Better):
    def __init__(self, *args, **kwargs):
        removed_in_3("Reader", "Better")
        super().__init__(*args, **kwargs)

class Strict(Better):
    def __init__(self, path, version=None):
        if version is None:
            raise ValueError("a version has to be given")
'''

CASES = {
    "of a function that was removed": ("b.bare('a')", "b.bare"),
    "through others": ("b.helped('a')", "b.helped"),
    "of a class": ("b.Reader('a')", "b.Reader"),
    "without what is required": ("b.needs('a')", "b.needs"),
    "with what is required": ("b.needs('a', 'r')", None),
    "with another way to give it": ("b.needs('a', size=1)", None),
    "with what is not known": ("b.needs('a', **{'mode': 'r'})", None),
    "of a class without what it requires": ("b.Strict('a')", "b.Strict"),
    "of a class with it": ("b.Strict('a', 2)", None),
    "of what raises on purpose": ("try:\n    b.abort()\nexcept b.Gone: pass", None),
    "of what raises on purpose, uncaught": ("if len(b.__name__) > 5: b.abort(500)", None),
    "in a try": ("try:\n    b.bare('a')\nexcept b.Gone: pass", None),
    "of what only warns": ("b.warned('a')", None),
    "of what looks at its argument": ("b.picky('a')", None),
    "of what looks at several": ("b.whole('a', months=1)", None),
    "of what depends on what happened before": ("b._ready.append(1); b.ready()", None),
    "of what needs a choice": ("try:\n    if len(b.__name__) > 5: b.optional('a')\nexcept ImportError: pass", None),
    "of what needs a choice, in a function": ("def f(): return b.optional('a')", None),
    "of what is decorated": ("b.hidden('a')", None),
    "of what raises in a loop": ("b.many([])", None),
    "of what derived classes define": ("try:\n    b.later()\nexcept ValueError: pass\nexcept Exception: pass", None),
    "of what derived classes define, in a function": ("def f(): return b.later()", None),
    "of a class that was removed, as one not implemented": ("b.Legacy('a')", "b.Legacy"),
    "of what raises in either case": ("b.sample('world' + str(b)[:0])", "b.sample"),
    "of what goes on in one of two cases": ("b.jumps('a' + str(b)[:0])", None),
    "of what raises in one of two cases": ("b.either('a' + str(b)[:0])", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "asked"), CASES.values(), ids=list(CASES))
def test_a_call_that_surely_raises(tmp_path, source, asked):
    folder = env.write(tmp_path, "3.0", b={"b.py": B})
    env.write(tmp_path, a={"a.py": f"import b\n{source}\n"})

    found = env.linked(folder).missing

    assert [(one.severity, one.asked) for one in found if one.kind == "refuses"] == (
        [("warning", asked)] if asked else []
    )
    done = subprocess.run(
        [sys.executable, "-c", "import a"], check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": folder},
    )  # fmt: skip
    assert bool(done.returncode) is (asked is not None), done.stderr


def test_what_it_says_is_the_exception(tmp_path):
    folder = env.write(tmp_path, "3.0", b={"b.py": B})
    env.write(tmp_path, a={"a.py": "import b\nb.bare('a')\nb.Reader('a')\n"})

    said = [one.detail for one in env.linked(folder).missing if one.kind == "refuses"]

    assert said == ["Gone: bare was removed in b 3.0; use better", "Gone: is gone, use"]


KEPT = '''
class Table:
    def older(self, *rows):
        raise AttributeError("older has been removed, use rows")

    @classmethod
    def made(cls):
        raise TypeError("made is no longer there; call the class")

    def helped(self):
        self._say("helped")

    def _say(self, what):
        raise RuntimeError(what)

    def rows(self, size=None):
        """The keyword that was removed is mode."""
        if size is not None:
            raise ValueError("size was removed")
        return []

    def strict(self):
        raise ValueError("a table has no order")

    def each(self):
        """To be replaced by derived classes."""
        raise NotImplementedError

    @property
    def gone(self):
        raise AttributeError("gone was removed")

class Wide(Table):
    def __init__(self): self.kept = 1

class Other(Table):
    def older(self, *rows): return rows
'''

METHODS = {
    "that was removed": ("b.Wide().older(1)", "b.Wide().older"),
    "of a class that was removed": ("b.Wide().made()", "b.Wide().made"),
    "that only raises and does not say why": ("b.Wide().strict()", None),
    "that raises what it is given": ("b.Wide().helped()", None),
    "that takes something else": ("b.Wide().rows()", None),
    "that derived classes define": ("b.Wide().each()", None),
    "that a derived class has": ("b.Other().older(1)", None),
    "in a try": ("try:\n        b.Wide().older(1)\n    except AttributeError: pass", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "asked"), METHODS.values(), ids=list(METHODS))
def test_a_method_that_is_kept_to_say_that_it_is_gone(tmp_path, source, asked):
    folder = env.write(tmp_path, "3.0", b={"b.py": KEPT})
    env.write(tmp_path, a={"a.py": f"import b\ndef f():\n    {source}\n"})

    found = env.linked(folder).missing

    assert [(one.severity, one.asked) for one in found if one.kind == "refuses"] == (
        [("warning", asked)] if asked else []
    )


def test_a_project_is_told_what_a_method_says_that_is_gone(tmp_path):
    env.write(tmp_path, "3.0", b={"b.py": KEPT})
    env.write(tmp_path, a={"a.py": "import b\ntable = b.Wide()\ndef f():\n    table.older(1)\n"})

    (found,) = (one for one in env.linked(str(tmp_path)).missing if one.kind == "refuses")

    assert (found.line, found.provider, found.detail) == (4, "b", "AttributeError: older has been removed, use rows")
