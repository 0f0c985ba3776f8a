"""What objects lack, by the classes that their makers promise: each case is run, and fails where something is found."""

import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.branches import Target
from envdoctor.linker.forwarded_keywords import ForwardedKeywords
from envdoctor.linker.instances import Instances
from envdoctor.linker.made_words import MadeWords
from envdoctor.linker.module_files import Layout
from envdoctor.linker.own_checks import OwnChecks
from envdoctor.linker.reach import Reach
from envdoctor.linker.refused_calls import RefusedCalls
from envdoctor.linker.world import World
from envdoctor.probes.distributions import scan

PROVIDER = """
import contextlib, typing
from typing import Optional

class Base:
    def old(self): pass

class K(Base):
    limit = 3
    def __init__(self): self.given = Part()
    def part(self) -> "Part": return Part()
    def itself(self): return self
    def maybe(self) -> Optional["Part"]: return Part()
    def either(self) -> "Part | Base": return Part()
    def take(self, one, *, two=2): pass
    @property
    def held(self) -> "Part": return Part()
    def __getitem__(self, key) -> "Part": return Part()
    def __enter__(self): return self
    def __exit__(self, *why): pass
    @classmethod
    def made(cls): return cls()

class Part:
    size = 1
    def run(self): pass

class More(Part):
    def further(self): pass

class Columns:
    there = 1
    def __getitem__(self, key): return print
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return self[name]

class Filled:
    there = 1

def fill(thing, name): setattr(thing, name, print)
fill(Filled, "lo" + "st")
setattr(Filled, "quoted", 1)

class Given:
    there = 1
    def __init__(self): give(self)

class Kept:
    there = 1
    def __init__(self): keep(self)

def give(thing):
    for name in dir(Part):
        if name[0] != "_": setattr(thing, name, print)
def keep(thing): kept.append(thing); thing.seen = 1
kept = []

class Traded:
    there = 1
    def __get__(self, owner, kind): return Part()

class Meta(type):
    def __getattr__(cls, name): return 1
class Odd(metaclass=Meta):
    def __getattribute__(self, name): return 1

def make() -> K: return K()
def plain(): return K()
def part(): return K().part()
def some(flag): return K() if flag else Part()
def word() -> str: return ""
def wrong(anything): return anything
def further() -> Part: return More()
async def later() -> K: return K()
@contextlib.contextmanager
def within() -> typing.Iterator[K]: yield K()
@contextlib.contextmanager
def bare():
    yield K()
@typing.overload
def over(x: int) -> K: ...
@typing.overload
def over(x: str) -> Part: ...
def over(x): return K() if isinstance(x, int) else Part()
shared = K()
shown = shared.itself
def both(): return K(), [1]
def two() -> "tuple[K, int]": return K(), 1
def mixed(flag):
    if flag: return K(), 1
    return "ab"
def swapped(flag):
    if flag: return K(), 1
    return Part(), 2
"""

#: What a function of ``a`` does, and what it asks for that is not there; nothing where it runs.
CASES = {
    "a class": ("x = b.K()\n    x.lost()", "b.K().lost"),
    "a method that is there": ("x = b.K()\n    x.old()", None),
    "an attribute that the constructor sets": ("x = b.K()\n    x.given", None),
    "an annotated function": ("b.make().lost", "b.make().lost"),
    "a function that only makes a class": ("x = b.plain()\n    x.lost", "b.plain().lost"),
    "what another method makes": ("b.part().lost", "b.part().lost"),
    "a chain of calls": ("b.K().itself().part().lost", "b.K().itself().part().lost"),
    "a chain that is there": ("b.K().itself().part().run()", None),
    "optional": ("b.K().maybe().lost", "b.K().maybe().lost"),
    "one of two, neither has it": ("b.K().either().lost", "b.K().either().lost"),
    "one of two that has it": ("b.K().either().run()", None),
    "one of two makers": ("b.some(1).lost", "b.some().lost"),
    "one of two makers that has it": ("b.some(1).old()", None),
    "a property": ("b.K().held.lost", "b.K().held.lost"),
    "a field": ("b.K().given.lost", "b.K().given.lost"),
    "an entry": ("x = b.K()\n    x['y'].lost", "b.K().__getitem__().lost"),
    "a class method": ("b.K.made().lost", "b.K.made().lost"),
    "entered": ("with b.K() as x:\n        x.lost", "b.K().lost"),
    "a context manager": ("with b.within() as x:\n        x.lost", "b.within().lost"),
    "a context manager without annotations": ("with b.bare() as x:\n        x.lost", "b.bare().lost"),
    "overloads, none has it": ("b.over(1).lost", "b.over().lost"),
    "overloads, one has it": ("b.over(1).old()", None),
    "a bound method": ("b.shown().lost", "b.shown().lost"),
    "text that is asked for what bytes have": ("b.word().decode()", "b.word().decode"),
    "text": ("b.word().encode()", None),
    "bound twice, alike": ("x = b.K()\n    x = b.K()\n    x.lost", "b.K().lost"),
    "bound twice": ("x = b.K()\n    x = []\n    x.append(1)", None),
    "one of several values": ("x, y = b.both()\n    x.lost", "b.both().lost"),
    "another of several values": ("x, y = b.both()\n    y.append(1)", None),
    "one of several values that are promised": ("x, y = b.two()\n    x.lost", "b.two().lost"),
    "several values of one expression": ("x, y = b.K(), 1\n    x.lost", "b.K().lost"),
    "several values, or a text": ("x, y = b.mixed(0)\n    x.upper()", None),
    "several values of one or the other": ("x, y = b.swapped(0)\n    x.run()", None),
    "several values with a star": ("*x, y = b.K(), 1\n    x.append(1)", None),
    "bound again by itself": ("x = b.K()\n    x = x.itself()\n    x.lost", "b.K().itself().lost"),
    "bound by a loop": ("x = b.K()\n    for x in 'ab':\n        x.upper()", None),
    "bound in a comprehension": ("x = b.K()\n    return [x.upper() for x in 'ab']", None),
    "asked for its kind": ("x = b.further()\n    if isinstance(x, b.More):\n        x.further()", None),
    "of a derived class": ("b.further().further()", None),
    "asked for first": ("x = b.K()\n    if hasattr(x, 'lost'):\n        x.lost", None),
    "caught": ("x = b.K()\n    try:\n        x.lost\n    except AttributeError:\n        pass", None),
    "in the handler of what works": (
        "x = b.K()\n    try:\n        x.old()\n    except AttributeError:\n        x.lost()", None
    ),
    "set by the function": ("x = b.K()\n    x.lost = 1\n    x.lost", None),
    "told to type checkers": ("x = b.Filled()\n    x.lost()  # type: ignore[attr-defined]", None),
    "what takes names for data": ("b.Columns().lost()", None),
    "what is filled from outside": ("b.Filled().quoted", None),
    "what a function gives an object": ("b.Given().run()", None),
    "what a function sets on an object": ("b.Kept().seen", None),
    "what a function does not set on an object": ("b.Kept().lost", "b.Kept().lost"),
    "a class of another kind": ("b.Odd().lost", None),
    "anything": ("b.wrong('a').upper()", None),
    "an argument": ("b.K().take(1, three=3)", "b.K().take"),
    "an argument too many": ("x = b.make()\n    x.take(1, 2)", "b.make().take"),
    "arguments that fit": ("b.make().take(1, two=3)", None),
}  # fmt: skip


def fails(folder, statement="import a; a.g()"):
    line = [sys.executable, "-c", statement]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode != 0


def found(tmp_path, source, makes=None, **others):
    """What objects lack, whether or not anybody knows of a release that had it: so the project's own code is read."""
    env.write(tmp_path, a={"a.py": source}, **{"b": {"b.py": PROVIDER}, **others})
    layout = Layout(scan([str(tmp_path)]).packages.values())
    world = World(layout, Target(sys.version_info[:2], "linux"), makes or {})
    reach = Reach(layout, world.store, world.resolver, lambda _doing: None)
    reach.follow()
    forwarded = ForwardedKeywords(world.resolver, world.store, world.makes)
    refused = RefusedCalls(forwarded, OwnChecks(world, reach), world.store)
    told = Instances(world, reach, MadeWords(world, reach), refused).all(reach.ways)
    return [(one.severity, one.consumer, one.line, one.asked) for one in told if one.severity != "info"]


@pytest.mark.parametrize(("body", "asked"), CASES.values(), ids=list(CASES))
def test_what_a_function_asks_of_objects(tmp_path, body, asked):
    told = found(tmp_path, f"import b\ndef g():\n    {body}\n")
    assert [(one[0], one[3]) for one in told] == ([("warning", asked)] if asked else [])
    if "type: ignore" not in body:
        assert fails(tmp_path) is bool(asked)


def test_what_a_function_of_another_module_sets_on_an_object(tmp_path):
    others = {
        "c": {"c.py": "def fill(thing): thing.far = 1"},
        "d": {"d.py": "from c import fill\nclass D:\n    there = 1\n    def __init__(self): fill(self)"},
    }
    assert found(tmp_path, "import d\ndef g():\n    d.D().far\n", **others) == []
    assert fails(tmp_path) is False


#: Source of ``a``, and what it asks for that is not there; nothing where ``g()`` runs.
MODULES = {
    "a parameter that is given another class": (
        "import b\nclass Other: lost = 1\ndef f(x: b.K):\n    x.lost\ndef g(): f(Other())", None
    ),
    "a field that is given another class": (
        ("import b\nclass Other: lost = 1\nclass A:\n    def __init__(self, x: b.K): self.x = x\n"
        "    def m(self): self.x.lost\ndef g(): A(Other()).m()"), None
    ),
    "an annotated parameter": (
        "import array\ndef f(x: array.array):\n    x.fromstring('')\ndef g(): f(array.array('b'))",
        "array.array().fromstring",
    ),
    "an annotation in a string": (
        "import array\ndef f(x: 'array.array | None' = None):\n    x.fromstring('')\ndef g(): f(array.array('b'))",
        "array.array().fromstring",
    ),
    "several parameters": ("def f(*x: 'b.K'):\n    x.count(1)\nimport b\ndef g(): f(b.K())", None),
    "its own function": ("import b\ndef f():\n    return b.K()\ndef g(): f().lost", "b.K().lost"),
    "its own field": (
        ("import b\nclass A:\n    def __init__(self):\n        self.x = b.K()\n    def m(self):\n        self.x.lost\n"
        "def g(): A().m()"), "b.K().lost"
    ),
    "a field that is first nothing": (
        "import b\nclass A:\n    x = None\n    def m(self):\n        self.x = b.K()\n        self.x.lost\ndef g(): A().m()", "b.K().lost"
    ),
    "a field that holds different things": (
        ("import b\nclass A:\n    def m(self):\n        self.x = b.K()\n        self.x = []\n        self.x.append(1)\n"
        "def g(): A().m()"), None
    ),
    "a field that a class describes": (
        "import b\nclass A:\n    x = b.Traded()\n    def m(self):\n        self.x.run()\ndef g(): A().m()", None
    ),
    "what a base has no more": ("import b\nclass A(b.K):\n    def m(self):\n        self.lost\ndef g(): A().m()", "a.A().lost"),
    "what a base has": ("import b\nclass A(b.K):\n    def m(self):\n        self.given.run()\ndef g(): A().m()", None),
    "what a derived class has": (
        "import b\nclass A(b.K):\n    def m(self):\n        self.lost\nclass B(A):\n    lost = 1\ndef g(): B().m()", None
    ),
    "what a class beside it has": (
        ("import b\nclass A(b.K):\n    def m(self):\n        self.lost\nclass Mixin:\n    lost = 1\nclass B(A, Mixin):\n    pass\n"
        "def g(): B().m()"), None
    ),
    "a coroutine": (
        "import asyncio, b\nasync def f():\n    x = await b.later()\n    x.lost\ndef g(): asyncio.run(f())", "b.later().lost"
    ),
    "a coroutine that nobody waits for": ("import b\ndef g():\n    x = b.later()\n    x.close()", None),
    "bound by an inner function": (
        "import b\ndef g():\n    x = b.K()\n    def f():\n        nonlocal x\n        x = 'a'\n    f()\n    x.upper()", None
    ),
    "given to the constructor of the base": (
        "import b\nclass A(b.K):\n    def __init__(self):\n        super().__init__(1)\ndef g(): A()", "b.K().__init__"
    ),
    "given to the constructor of a base that is named": (
        "import b\nclass A(b.K):\n    def __init__(self):\n        super(A, self).__init__(x=1)\ndef g(): A()", "b.K().__init__"
    ),
    "given to the method of a base of a base": (
        ("import b\nclass A(b.K): pass\nclass B(A):\n    def take(self):\n        super().take(1, 2)\n"
        "def g(): B().take()"), "a.A().take"
    ),
    "what the method of the base takes": (
        "import b\nclass A(b.K):\n    def take(self):\n        super().take(1, two=2)\ndef g(): A().take()", None
    ),
    "given to what is beside it in another class": (
        ("import b\nclass A(b.K):\n    def take(self):\n        super().take(1, 2)\n"
        "class Wide(b.K):\n    def take(self, *all): pass\nclass B(A, Wide): pass\ndef g(): B().take()"), None
    ),
    "given to its own base": (
        ("import b\nclass A(b.K):\n    def take(self): pass\nclass B(A):\n    def take(self):\n"
        "        super().take(1)\ndef g(): b.K().take(1)"), None
    ),
    "given to the base of another class": (
        ("import b\nclass A(b.K):\n    def take(self, *all): pass\nclass B(A):\n    def take(self):\n"
        "        super(A, self).take(1)\ndef g(): B().take()"), None
    ),
    "asked of the base, and had by what is beside it": (
        ("import b\nclass A(b.K):\n    def lost(self):\n        super().lost()\nclass Wide(b.K):\n    def lost(self): pass\n"
        "class B(A, Wide): pass\ndef g(): B().lost()"), None
    ),
    "of a class of the standard library that it is derived from": (
        ("import threading\nclass A(threading.Thread): pass\nclass B(A):\n    def m(self): self.isAlive()\n"
        "def g(): B().m()"), "a.B().isAlive"
    ),
    "asked of itself": (
        ("from html.parser import HTMLParser\nclass A(HTMLParser):\n    def text(self): return self.unescape('')\n"
        "def g(): A().text()"), "a.A().unescape"
    ),
    "had by its own class": (
        ("import threading\nclass A(threading.Thread):\n    def isAlive(self): return self.is_alive()\n"
        "class B(A):\n    def m(self): return self.isAlive()\ndef g(): B().m()"), None
    ),
    "had by a class that is derived from it": (
        ("import threading\nclass A(threading.Thread):\n    def m(self): return self.isAlive()\n"
        "class B(A):\n    def isAlive(self): return 1\ndef g(): B().m()"), None
    ),
    "given to the class of the standard library": (
        ("import threading\nthreading.Thread.isAlive = threading.Thread.is_alive\n"
        "class A(threading.Thread):\n    def m(self): return self.isAlive()\ndef g(): A().m()"), None
    ),
    "of what has been no class in every version": (
        "from typing import Dict\nclass A(Dict[str, int]):\n    def m(self): return self.get(1)\ndef g(): A().m()", None
    ),
    "of a class of the standard library that is gone itself": (
        ("try:\n    from collections import Mapping as Base\nexcept ImportError:\n    Base = dict\n"
        "class A(Base):\n    def m(self): return self.get(1)\ndef g(): A().m()"), None
    ),
    "that the class of the standard library never had": (
        "import threading\nclass A(threading.Thread): pass\ndef g():\n    x = A()\n    x.more = 1\n    x.more", None
    ),
    "of the standard library": (
        "import array\ndef g():\n    x = array.array('b')\n    x.fromstring('')", "array.array().fromstring"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "asked"), MODULES.values(), ids=list(MODULES))
def test_where_objects_come_from(tmp_path, source, asked):
    told = found(tmp_path, source)
    assert [(one[0], one[3]) for one in told] == ([("warning", asked)] if asked else [])
    assert fails(tmp_path) is bool(asked)


MAKES = {"b.hidden.()": "b:K.()", "b.pair.().(0)": "b:K.()", "b.Part.inner": "b:K.()", "b.K.part.()": "b:Base.()"}


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("b.hidden().lost", "b.hidden().lost"),
        ("b.hidden().old()", None),
        ("x, y = b.pair()\n    x.lost", "b.pair().lost"),
        ("b.Part().inner.lost", "b.Part().inner.lost"),
        ("b.K().part().run()", "b.K().part().run"),  # what is said counts, not what the source promises
    ],
)
def test_what_the_vocabulary_says_of_makings(tmp_path, body, asked):
    more = "\ndef hidden(): return eval('K()')\ndef pair(): return eval('K(), 1')\nPart.inner = K()\n"
    provider = PROVIDER.replace("class Part:\n", "class Part:\n    inner = eval('K()')\n") + more
    told = found(tmp_path, f"import b\ndef g():\n    {body}\n", MAKES, b={"b.py": provider})
    assert [(one[0], one[3]) for one in told] == ([("warning", asked)] if asked else [])


#: Graphs lost ``node`` after 2.3.
GRAPHS = {"networkx/__init__.py": "from networkx.graph import Graph\ndef read(path): return eval(path)\n",
          "networkx/graph.py": "class Graph:\n    def nodes(self): pass\n"}  # fmt: skip


GIVEN = {"networkx/old.py": "from networkx.graph import Graph\ndef give(patch): patch.setattr(Graph, 'node', 1)\n"}


TREES = {
    "xml.etree.ElementTree.fromstring.()": "xml.etree.ElementTree:Element.()",
    "xml.etree.ElementTree.ElementTree.getroot.()": "xml.etree.ElementTree:Element.()",
}


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("tree.fromstring('<a/>').getchildren()", "xml.etree.ElementTree.fromstring().getchildren"),
        ("tree.ElementTree(None).getroot().getchildren()", "xml.etree.ElementTree.ElementTree().getroot().getchildren"),
        ("tree.fromstring('<a/>').find('b')", None),
        ("tree.ElementTree(None).getroot()", None),
    ],
)
def test_what_functions_and_methods_of_the_standard_library_return(tmp_path, body, asked):
    told = found(tmp_path, f"from xml.etree import ElementTree as tree\ndef g():\n    {body}\n", TREES)
    assert [(one[0], one[3]) for one in told] == ([("warning", asked)] if asked else [])
    assert fails(tmp_path) is bool(asked)


@pytest.mark.parametrize(("version", "more", "many"), [("2.4", {}, 1), ("2.4", GIVEN, 0), ("2.3", {}, 0)])
def test_what_may_be_anything_counts_where_a_class_has_lost_it(tmp_path, version, more, many):
    source = (
        "import networkx\nclass A:\n    def __init__(self, x=None):\n        self.x = x\n        self.y = networkx.read('1')\n"
        "        self.x = networkx.Graph()\n    def m(self):\n        self.x.node\n        self.x.other\n        self.y.node\n"
    )
    env.write(tmp_path, version, networkx={**GRAPHS, **more})
    env.write(tmp_path, a={"a.py": source})
    told = [one for one in env.linked(tmp_path).missing if one.kind == "attribute"]
    assert [(one.line, one.detail[-11:]) for one in told] == [(8, "gone in 2.4")] * many


@pytest.mark.parametrize(
    ("opened", "many"),
    [
        ("@elsewhere\nclass Graph:\n", 1),
        ("class Graph:\n    def __getattr__(self, name): raise AttributeError(name)\n", 1),
        ("class Graph:\n    def __getattr__(self, name): return getattr(self.other, name)\n", 0),
        ("class Graph:\n    def __getattr__(self, name): return {'node': 1}[name]\n", 0),
        ("class Graph(metaclass=elsewhere):\n", 0),
    ],
)
def test_a_class_that_is_open_lacks_what_it_has_lost_and_does_not_name(tmp_path, opened, many):
    files = {**GRAPHS, "networkx/graph.py": f"from c import elsewhere\n{opened}    def nodes(self): pass\n"}
    env.write(tmp_path, "2.4", networkx=files)
    env.write(
        tmp_path, a={"a.py": "import networkx\ndef f():\n    x = networkx.Graph()\n    x.node()\n    x.other()\n"}
    )

    told = [one for one in env.linked(tmp_path).missing if one.kind == "attribute"]

    assert [one.line for one in told] == [4] * many


@pytest.mark.parametrize("annotation", ["networkx.Graph", "'Graph'"])
def test_an_annotated_parameter_lacks_what_its_class_has_lost(tmp_path, annotation):
    env.write(tmp_path, "2.4", networkx=GRAPHS)
    source = (
        "from typing import TYPE_CHECKING\nimport networkx\nif TYPE_CHECKING:\n    from networkx import Graph\n"
        f"def f(x: {annotation}):\n    x.node()\n    x.other()\n"
    )
    env.write(tmp_path, a={"a.py": source})

    assert [one.line for one in env.linked(tmp_path).missing if one.kind == "attribute"] == [6]


def test_a_class_that_sets_computed_names_lacks_a_method_that_it_has_lost_where_that_is_called(tmp_path):
    graph = "class Graph:\n    def __init__(self, **more):\n        for name in more: setattr(self, name, 1)\nclass Other(Graph): pass\n"
    env.write(tmp_path, "2.4", networkx={**GRAPHS, "networkx/graph.py": graph})
    env.write(tmp_path, a={"a.py": "import networkx\ndef f():\n    x = networkx.Graph()\n    x.node()\n    x.node\n"})

    assert [one.line for one in env.linked(tmp_path).missing if one.kind == "attribute"] == [4]


def test_a_call_that_a_method_does_not_take_is_told_though_others_inherit_the_method(tmp_path):
    graph = "class Graph:\n    def nodes(self): pass\nclass Other(Graph): pass\n"
    env.write(tmp_path, "2.4", networkx={**GRAPHS, "networkx/graph.py": graph})
    env.write(tmp_path, a={"a.py": "import networkx\ndef f():\n    x = networkx.Graph()\n    x.nodes(1)\n"})

    assert [one.kind for one in env.linked(tmp_path).missing] == ["many"]


OPENED = "def mark(kind): return kind\n@mark\nclass Opened:\n    there = 1\n"
RELEASED = {
    "a class that lacks it": ("class Plain:\n    there = 1\n", "b.Plain().lost", 1),
    "a class that has it": ("class Plain:\n    def lost(self): pass\n", "b.Plain().lost", 0),
    "a decorated class": (OPENED, "b.Opened().lost", 1),
    "a decorated class where the name is made": (OPENED + "def lost(): pass\n", "b.Opened().lost", 0),
    "a decorated class, and an option of the name": (OPENED + "OPTION = '--lost'\n", "b.Opened().lost", 0),
    "a class that is filled under the name": ("class Plain:\n    there = 1\nsetattr(Plain, 'lost', 1)\n", "b.Plain().lost", 0),
    "a class of classes": ("class Plain(type):\n    there = 1\n", "b.Plain('x', (), {'lost': 1}).lost", 0),
    "a private name of a class": (
        "class Plain:\n    there = 1\n    def __init__(self): self.__lost = 1\n", "b.Plain()._Plain__lost", 0
    ),
}  # fmt: skip


@pytest.mark.parametrize(("provider", "asked", "many"), RELEASED.values(), ids=list(RELEASED))
def test_what_a_released_library_asks_of_a_class_that_no_history_knows(tmp_path, provider, asked, many):
    env.write(tmp_path, b={"b.py": provider}, a={"a.py": f"import b\ndef f():\n    return {asked}\n"})

    told = [(one.severity, one.line) for one in env.linked(tmp_path).missing if one.kind == "attribute"]

    assert told == [("warning", 3)] * many
    done = subprocess.run([sys.executable, "-c", "import a; a.f()"], cwd=tmp_path, capture_output=True, check=False)
    assert b"AttributeError" in done.stderr or not many
