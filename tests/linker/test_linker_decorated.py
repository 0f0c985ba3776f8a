"""Signatures behind decorators, metaclasses and lazily imported names: known where the source of these says enough."""

import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

HEAD = "import functools\n"
USE = "@{mark}\ndef f(x, y=1):\n    pass\n"
KEEPING = {
    "the function itself": ("""\
def d(function):
    function.mark = 1
    return function
""", "d"),
    "a wrapper": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(len(args))
        return function(*args, **kwargs)
    return wrapper
""", "d"),
    "a wrapper with arguments": ("""\
def d(word='x'):
    def inner(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapper
    return inner
""", "d(word='y')"),
    "with or without arguments": ("""\
def d(function=None, *, word='x'):
    def inner(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapper
    if function is None:
        return inner
    return inner(function)
""", "d()"),
    "a class": ("""\
class d:
    def __init__(self, text):
        self.text = text
    def __call__(self, function):
        function.__doc__ = self.text
        return function
""", "d('x')"),
    "a function that reads": ("""\
def named(function, args, kwargs):
    found = dict(zip('ab', args))
    found.update(kwargs)
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        named(function, args, kwargs)
        return function(*args, **kwargs)
    return wrapper
""", "d"),
    "keywords that are looked for": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if 'z' in kwargs:
            print()
        return function(*args, **kwargs)
    return wrapper
""", "d"),
}  # fmt: skip
CHANGING = {
    "what renames": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        kwargs['y'] = kwargs.pop('w', 1)
        return function(*args, **kwargs)
    return wrapper
""", "d"),
    "what changes what it is given": ("""\
def rename(kwargs):
    kwargs['y'] = kwargs.pop('w', 1)
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        rename(kwargs)
        return function(*args, **kwargs)
    return wrapper
""", "d"),
    "what adds": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args[:1])
    return wrapper
""", "d"),
    "what catches": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError:
            return None
    return wrapper
""", "d"),
    "what calls another": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if 'w' in kwargs:
            return old(*args, **kwargs)
        return function(*args, **kwargs)
    return wrapper
def old(*args, **kwargs): pass
""", "d"),
    "what is bound anew": ("""\
def d(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        kwargs = {}
        return function(*args, **kwargs)
    return wrapper
""", "d"),
}  # fmt: skip


def found(tmp_path, library, source, **more):
    """The line, kind and words of each call of a project that a library refuses."""
    site = env.write(tmp_path / "site", b={"b/__init__.py": library, **more})
    beside = Beside(Project.of({"run.py": source}))
    missing = link(
        scan([site]).packages.values(), Target(sys.version_info[:2], "linux"), lambda _: None, beside
    ).missing
    return [(one.line, one.kind, one.detail) for one in missing if one.severity != "info"]


def fails(tmp_path, source):
    """Whether Python itself refuses the project's source: what it is given, or what it asks for."""
    around = {"PYTHONPATH": str(tmp_path / "site"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", source], env=around, capture_output=True, text=True, check=False)
    assert not done.returncode or "TypeError" in done.stderr or "AttributeError: gone" in done.stderr
    return bool(done.returncode)


@pytest.mark.parametrize("case", KEEPING)
def test_a_decorator_that_passes_on_what_it_gets_keeps_a_signature(tmp_path, case):
    decorator, mark = KEEPING[case]
    source = "import b\nb.f(1, y=2)\nb.f(1, w=2)"
    assert found(tmp_path, HEAD + decorator + USE.format(mark=mark), source) == [(3, "unknown", "w")]
    assert fails(tmp_path, source)
    assert not fails(tmp_path, "import b\nb.f(1, y=2)")


@pytest.mark.parametrize("case", CHANGING)
def test_a_decorator_that_may_change_a_call_leaves_it_open(tmp_path, case):
    decorator, mark = CHANGING[case]
    source = "import b\nb.f(1, w=2)"
    assert found(tmp_path, HEAD + decorator + USE.format(mark=mark), source) == []
    assert not fails(tmp_path, source)


def test_the_methods_of_a_class_are_decorated_too(tmp_path):
    decorator = HEAD + KEEPING["a wrapper"][0]
    library = (
        decorator
        + "class K:\n    @d\n    def __init__(self, x):\n        pass\n    @d\n    def m(self, y):\n        pass\n"
    )
    source = "import b\nk = b.K(1)\nk.m(1, 2)\nb.K(z=1)"
    assert found(tmp_path, library, source) == [(4, "unknown", "z"), (3, "many", "1")]
    assert fails(tmp_path, "import b\nb.K(1).m(1, 2)")


META = "class M(type):\n    {body}\nclass K(metaclass=M):\n    def __init__(self, x):\n        pass\n"


def test_a_metaclass_that_leaves_calls_to_type_keeps_the_constructor(tmp_path):
    source = "import b\nb.K(1)\nb.K(z=1)"
    plain = META.format(body="def __new__(cls, *args):\n        return super().__new__(cls, *args)")
    assert found(tmp_path, plain, source) == [(3, "unknown", "z")]
    assert fails(tmp_path, source)


def test_a_metaclass_that_makes_objects_itself_leaves_it_open(tmp_path):
    own = META.format(body="def __call__(cls, *args, **kwargs):\n        return super().__call__(1)")
    assert found(tmp_path, own, "import b\nb.K(z=1)") == []
    assert not fails(tmp_path, "import b\nb.K(z=1)")


LAZY = """from typing import TYPE_CHECKING
import importlib, json
if TYPE_CHECKING:
    from {said} import *
_HOMES = json.loads('{{"f": "b.inner"}}')
def __getattr__(name):
    for key in list(globals()):
        pass
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(importlib.import_module(_HOMES[name]), name)
__all__ = ["f"]
"""


def test_what_a_module_imports_for_type_checkers_says_what_its_lazy_names_are(tmp_path):
    source = "from b import f\nf(1)\nf(1, w=2)"
    inner = {"b/inner.py": "def f(x): pass\n"}
    assert found(tmp_path, LAZY.format(said=".inner"), source, **inner) == [(3, "unknown", "w")]
    assert fails(tmp_path, source)


LOADER = """import importlib, sys
def attach_stub(package, file):
    names = {}
    for line in open(file + "i"):
        if line.startswith("from ."):
            origin, _, imported = line[6:].partition(" import ")
            names.update({one.strip(): origin for one in imported.split(",")})
    def __getattr__(name):
        if name not in names:
            raise AttributeError(name)
        if not names[name]:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{names[name]}"), name)
    return __getattr__, lambda: sorted(names), list(names)
"""


@pytest.mark.parametrize(
    ("statement", "fails_there"), [("b.f(1)", False), ("b.inner.f(1)", False), ("b.f(1, w=2)", True), ("b.gone", True)]
)
def test_a_stub_that_a_package_attaches_says_what_its_names_are(tmp_path, statement, fails_there):
    attached = "import loader as lazy\n__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)\n"
    inner = {"b/inner.py": "def f(x): pass\n", "b/__init__.pyi": "from . import inner\nfrom .inner import f\n"}
    source = f"import b\n{statement}"
    assert bool(found(tmp_path, attached, source, **inner, **{"loader.py": LOADER})) is fails_there
    assert bool(fails(tmp_path, source)) is fails_there


def test_a_module_that_is_not_there_says_nothing_for_type_checkers(tmp_path):
    inner = {"b/inner.py": "def f(x): pass\n"}
    assert found(tmp_path, LAZY.format(said=".gone"), "from b import f\nf(1, w=2)", **inner) == []


def test_an_attribute_that_getattr_makes_is_of_the_class_that_it_is_said_to_return(tmp_path):
    library = (
        "class Db:\n    def m(self, x): pass\n"
        "class Client:\n    def __getattr__(self, name) -> 'Db':\n        return Db()\n    def close(self): pass\n"
    )
    source = "import b\nc = b.Client()\nc.shop.m(1)\nc.shop.m(1, 2)"
    assert found(tmp_path, library, source) == [(4, "many", "1")]
    assert fails(tmp_path, source)
