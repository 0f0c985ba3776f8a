"""Only names that may lead to what is asked are resolved, and what is found is what resolving all names finds."""

import ast
import os
import sysconfig
import textwrap

import pytest
from conftest import untraced

from envdoctor.probes.project import Project
from envdoctor.probes.source import expect, uses
from envdoctor.probes.source.ast_statements import Walker
from envdoctor.probes.source.bindings import below
from envdoctor.probes.source.relevance import Relevance, patterns_of

#: Functions that have nothing to do with it, before and after what a row gives.
OTHERS = "\ndef other{0}(a, b=1):\n  return a + b\nclass Other{0}:\n  def method(self):\n    self.kept = 1\n"


def both(source, *patterns, **others):
    """What is found where the patterns are announced; the same where they are not."""
    text = OTHERS.format(1) + textwrap.dedent(source) + OTHERS.format(2)
    files = {"x.py": text, **{f"{name}.py": textwrap.dedent(other) for name, other in others.items()}}
    project = Project.of(files)
    expect(project, patterns)
    found = [uses(project, pattern) for pattern in patterns]
    assert found == [uses(Project.of(files), pattern) for pattern in patterns]
    lines = text.split("\n")
    return [
        (lines[use["line"] - 1].strip(), use["guarded"])
        for one in found
        for use in one["found"]
        if use["file"] == "x.py"
    ]


def concerned(source, *patterns):
    """The called expressions that may lead to what is asked."""
    text = textwrap.dedent(source)
    scopes = list(below(Walker(ast.parse(text), text).module))
    relevance = Relevance(scopes, patterns_of(frozenset(patterns), frozenset()))
    calls = [node.func for scope in scopes for node, _ in scope.reads if isinstance(node, ast.Call)]
    return sorted(ast.unparse(call) for call in calls if relevance.concerns(call))


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("from lib import make as m\ndef f():\n  return [m(1)]", "return [m(1)]"),
        ("import lib\nm = lib.make\ndef f():\n  m(1)", "m(1)"),
        ("import lib\nclass A:\n  m = lib.make\n  def f(self):\n    self.m(1)", "self.m(1)"),
        (
            "import lib\nclass A:\n  def f(self):\n    self.m(1)\n  def g(self):\n    self.m = lib.make",
            "self.m(1)",
        ),
        (
            "import lib\nclass A:\n def f(self):\n  self.n(1)\n def g(self):\n  self.n = self.m\n def h(self):\n  self.m = lib.make",
            "self.n(1)",
        ),
        ("import lib\ndef get():\n  return lib.make\ndef f():\n  get()(1)", "get()(1)"),
        ("import lib\ndef get():\n  return lib.make\ndef f():\n  m = get()\n  m(1)", "m(1)"),
        ("import lib\ndef get():\n  return lib.make\ndef also():\n  return get()\ndef f():\n  also()(1)", "also()(1)"),
        ("import lib\nget = lambda: lib.make\ndef f():\n  get()(1)", "get()(1)"),
        ("import lib\ndef set():\n  global m\n  m = lib.make\ndef f():\n  m(1)", "m(1)"),
        ("import lib\nm = None\ndef f():\n  m(1)\ndef set():\n  global m\n  n = lib.make\n  m = n", "m(1)"),
        (
            "import lib\ndef f():\n  m = None\n  def set():\n    nonlocal m\n    m = lib.make\n  def g():\n    m(1)",
            "m(1)",
        ),
        ("import lib\ndef f():\n  m = lib.make\n  def g():\n    return lambda: m(1)", "return lambda: m(1)"),
        ("import lib\ndef f(m=lib.make):\n  m(1)", "m(1)"),
        ("import lib\nfor m in [lib.make]:\n  pass\ndef f():\n  m(1)", "m(1)"),
        ("import lib\nkinds = {'a': lib.make}\ndef f():\n  kinds['a'](1)", "kinds['a'](1)"),
        ("import lib\nkinds = []\nkinds.append(lib.make)\ndef f():\n  for m in kinds:\n    m(1)", "m(1)"),
        ("import lib\nprint(m := lib.make)\ndef f():\n  m(1)", "m(1)"),
        ("import lib\nf'''\n{[m := lib.make]}'''\ndef f():\n  m(1)", "m(1)"),
        ("import lib\ndef f():\n  f'''\n\n{[m := lib.make]}'''\n  m(1)", "m(1)"),
        ("import lib\ndef f():\n  return [m(1) for m in (lib.make,)]", "return [m(1) for m in (lib.make,)]"),
        (
            "import lib\ndef get():\n  class A:\n    m = lib.make\n  return A\ndef f():\n  get().m(1)",
            "get().m(1)",
        ),
        (
            "import lib\ndef get():\n class A:\n  def m(self):\n   return lib.make\n return A\ndef f():\n get()().m()(1)",
            "get()().m()(1)",
        ),
        ("import lib\ndef hand(x):\n  return x\ndef f():\n  hand(lib.make)(1)", "hand(lib.make)(1)"),
        ("import lib\ndef hand(x=lib.make):\n  return x\ndef f():\n  hand()(1)", "hand()(1)"),
        ("import lib\ndef numbers():\n  yield lib.make\ndef f():\n  lib.make(1)", "lib.make(1)"),
        ("def f():\n  import lib as m\n  m.make(1)", "m.make(1)"),
        ("import lib\ndef f():\n  lib.\\\n    make(1)", "lib.\\"),
        ("import lib\ndef g():\n  lib.make()\ndef f():\n  lib.\N{FULLWIDTH LATIN SMALL LETTER M}ake(1)", None),
    ],
)
def test_names_are_followed(source, line):
    found = [text for text, _ in both(source, "lib.make")]
    assert (line or source.split("\n")[-1].strip()) in found


@pytest.mark.parametrize("pattern", ["lib.old.**", "lib.old.*", "**.old.**"])
def test_names_below_a_glob(pattern):
    source = """
        from lib.old import Thing
        class A:
            def __init__(self):
                self.thing = Thing()
            def use(self):
                self.thing.part(1)
        def other():
            Thing.from_(2)
    """
    found = [text for text, _ in both(source, pattern)]
    assert ("Thing.from_(2)" in found) == pattern.endswith("**")
    assert ("self.thing.part(1)" in found) == pattern.endswith("**")


def test_names_of_other_files_below_a_glob():
    source = "from compat import old, thing  # of lib\ndef f():\n  thing(1)\n"
    compat = "from lib import old\nfrom lib.old import thing\n"
    assert ("thing(1)", True) in both(source, "lib.old.**", compat=compat)


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        ("def f():\n  lib.make(1)\nf()", False),
        ("def f():\n  lib.make(1)\ndef g():\n  f()\ndef h():\n  g()\nh()", False),
        ("def f():\n  lib.make(1)\ndef g():\n  f()\ndef h():\n  g()\nif __name__ == '__main__':\n  h()", True),
        ("def f():\n  lib.make(1)\ndef g():\n  f()", True),
        ("class A:\n  def __init__(self):\n    self.f()\n  def f(self):\n    lib.make(1)\nA()", False),
        ("class A:\n  def __init__(self):\n    self.g = self.f\n  def f(self):\n    lib.make(1)\nA().g()", False),
        ("class A:\n  def f(self):\n    lib.make(1)\n  f(None)", False),
        ("def f():\n  lib.make(1)\ndef get():\n  return f\nget()()", False),
        ("def f():\n  class A:\n    x = [lib.make(1) for _ in 'a']\nf()", False),
        ("def f():\n  lib.make(1)\n@f()\ndef g(): pass", False),
        ("def set():\n  global h\n  h = f\ndef f():\n  lib.make(1)\nset()\nh()", False),
    ],
)
def test_functions_that_run_at_import(source, guarded):
    assert ("lib.make(1)", guarded) in [
        ("lib.make(1)" if "lib.make(1)" in text else text, told)
        for text, told in both("import lib\n" + source, "lib.make")
    ]


def test_what_an_argument_carries_is_in_the_order_of_the_file():
    source = """
        import lib, socket, threading
        class Held:
            def one(self):
                self.first = socket.socket()
            def two(self):
                self.second = threading.Lock()
                self.first = threading.Lock()
            def use(self):
                lib.make(self)
    """
    project = Project.of({"x.py": textwrap.dedent(source)})
    expect(project, ["lib.make"])
    (use,) = (one for one in uses(project, "lib.make")["found"] if one["kind"] == "call")
    carried = [(one["name"], one["via"]) for one in use["arguments"][0]["carries"]]
    names = [("socket.socket", "self.first"), ("threading.Lock", "self.first"), ("threading.Lock", "self.second")]
    assert carried == names


def test_names_without_a_way_to_the_pattern_are_not_resolved():
    source = """
        import lib
        def one(): return lib.make
        def two(): one()(1)
        def three(): return lib.other(1)
        class A:
            def four(self): self.made = lib.make(1)
            def five(self): self.maker = lib.make
            def six(self): self.run()
            def seven(self): self.maker()
        def eight(remake, makes): remake(makes(1))
    """
    assert concerned(source, "lib.make") == ["lib.make", "one", "one()", "self.maker"]
    assert concerned(source, "lib.**") == ["lib.make", "lib.other", "one", "one()", "self.maker"]


def test_annotations_that_are_not_evaluated_lead_to_what_is_asked():
    source = """
        from __future__ import annotations
        import lib
        def run(thing: lib.Thing):
            thing.part(1)
            other.part(1)
    """
    assert concerned(source, "lib.Thing.*") == ["thing.part"]
    assert [text for text, _ in both(source, "lib.Thing.*")] == ["thing.part(1)"]


def test_an_attribute_of_what_a_call_returns():
    source = "from lib import fail\nfail(1).with_traceback(2)\n"
    assert concerned(source, "lib.**") == ["fail", "fail(1).with_traceback"]


def test_a_long_chain_of_names():
    chain = "".join(f"m{number} = m{number - 1}\n" for number in range(1, 80))
    source = f"import lib\nm0 = lib.make\n{chain}def f():\n  m79(1)\ndef g():\n  return 1\n"
    assert both(source, "lib.make")[-1] == ("m79(1)", True)


PATTERNS = ["copy.copy", "**.join", "functools.partial", "os.path.*", "re.compile", "threading.**", "**.Lock", "sys.**"]
MODULES = ("argparse", "cgitb", "concurrent", "copy", "functools", "importlib", "json", "logging", "multiprocessing")
MODULES += ("pickle", "queue", "shutil", "tempfile", "threading", "typing", "unittest", "urllib", "weakref")


@pytest.mark.trials
@pytest.mark.parametrize("module", MODULES)
def test_the_standard_library(module):
    """What is announced is answered as what is not, over code that nobody wrote for this."""
    stdlib = sysconfig.get_path("stdlib")
    folder = os.path.join(stdlib, module)
    names = [os.path.join(module, name) for name in os.listdir(folder)] if os.path.isdir(folder) else [f"{module}.py"]
    files = {}
    for name in names:
        if name.endswith(".py") and os.path.isfile(os.path.join(stdlib, name)):
            with open(os.path.join(stdlib, name), "rb") as file:
                files[name.replace(os.sep, "/")] = file.read()
    project = Project.of(files)
    plain = Project.of(files)
    with untraced():
        expect(project, PATTERNS)
        for pattern in PATTERNS:
            assert uses(project, pattern) == uses(plain, pattern)
