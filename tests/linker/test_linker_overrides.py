"""Methods that cannot take what the distribution of their base class calls them with: each case is run."""

import subprocess
import sys

import linker_environment as env
import pytest

from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan

B = """
class Base:
    def make(self, context, size=1): return 1
    def rest(self, *, key=None): pass
    def unused(self, context): pass
    def run(self):
        self.make(None)
        self.rest(key=1)
    def _skip(self): pass

class Plugin: pass

def start(plugin):
    Runner(plugin).run_event('serve', 1, builder=2)

class Runner:
    def __init__(self, plugin): self.plugin = plugin
    def run_event(self, name, item, **more):
        method = getattr(self.plugin, 'on_' + name, None)
        return method and method(item, **more)
"""
DISPATCH = {"hooks": {"dispatch": [{"base": "b.Plugin", "call": "run_event", "prefix": "on_"}]}}

CASES = {
    "the same": ("Base", "def make(self, context, size=1): pass", True),
    "all that is passed": ("Base", "def make(self, context): pass", True),
    "anything": ("Base", "def make(self, *args, **kwargs): pass", True),
    "too few": ("Base", "def make(self): pass", False),
    "too many": ("Base", "def make(self, context, size, more): pass", False),
    "a keyword less": ("Base", "def rest(self): pass", False),
    "any keyword": ("Base", "def rest(self, **more): pass", True),
    "what nobody calls": ("Base", "def unused(self): pass", True),
    "decorated": ("Base", "@wrap\n    def make(self): pass", True),
    "its own name": ("Base", "def mine(self): pass", True),
    "an event": ("Plugin", "def on_serve(self, item, builder): pass", True),
    "an event with less": ("Plugin", "def on_serve(self, item): pass", False),
    "an event with anything": ("Plugin", "def on_serve(self, item, **more): pass", True),
    "another event": ("Plugin", "def on_build(self): pass", True),
}
WRAP = "def wrap(f):\n    return lambda *args, **more: f(args[0])\n"


def test_a_method_that_is_called_in_its_own_way(tmp_path):
    source = "import b\nclass Mine(b.Base):\n    def make(self, x, y, z): pass\n    def go(self):\n        self.make(1, 2, 3)\n"
    env.write(tmp_path, a={"a.py": source}, b={"b.py": B})
    assert env.missing(tmp_path) == []


def test_what_is_called_where_nobody_knows_the_class_is_another_method(tmp_path):
    base = "class Base:\n    def make(self, context): pass\n"
    other = "def go(kitchen):\n    kitchen.make('tea')\n"
    mine = "import b\nclass Mine(b.Base):\n    def make(self): pass\n"
    env.write(tmp_path, a={"a.py": mine}, b={"b/__init__.py": base, "b/tea.py": other})
    assert env.missing(tmp_path) == []
    env.write(tmp_path, b={"b/__init__.py": base, "b/tea.py": "from b import Base\n" + other})
    assert [one[3] for one in env.missing(tmp_path)] == ["b.Base.make()"]


@pytest.mark.parametrize(
    "caller",
    [
        "def go(self): self.make(None)",
        "def go(self): Base.make(self, None)",
        "def go(self): Base().make(None)",
        "kind = None\n    def go(self): (self.kind or Base)().make(None)",
        "def go(self):\n        thing = Base()\n        thing.make(None)",
    ],
    ids=[
        "in a method that is overridden too",
        "of the class",
        "of a new object",
        "of a new object of a kind that is kept",
        "of an object that was made there",
    ],
)
def test_a_call_that_reaches_no_override(tmp_path, caller):
    base = f"class Base:\n    def make(self, context): pass\n    {caller}\n"
    own = "    def go(self): self.make()\n" if "self.make" in caller else ""
    mine = f"import b\nclass Mine(b.Base):\n    def make(self): pass\n{own}"
    env.write(tmp_path, a={"a.py": mine}, b={"b.py": base})
    assert env.missing(tmp_path) == []
    subprocess.run([sys.executable, "-c", "import a\na.Mine().go()"], cwd=tmp_path, check=True)
    handed = own.replace("self.make()", "super().go()")
    env.write(tmp_path, a={"a.py": mine.replace(own, handed)}, b={"b.py": base})
    assert [one[3] for one in env.missing(tmp_path)] == (["b.Base.make()"] if own else [])


def test_one_of_two_classes_for_two_releases(tmp_path):
    told = "    class Mine(b.Base):\n        def make(self{}): pass\n"
    mine = f"import b\nif hasattr(b, 'old'):\n{told.format('')}else:\n{told.format(', context')}"
    env.write(
        tmp_path,
        a={"a.py": mine},
        b={"b.py": "class Base:\n    def make(self, context): pass\n    def go(self): self.make(1)\n"},
    )
    assert env.missing(tmp_path) == []


@pytest.mark.parametrize(("base", "method", "fits"), CASES.values(), ids=list(CASES))
def test_what_the_base_is_called_with(tmp_path, base, method, fits):
    env.write(tmp_path, a={"a.py": f"import b\n{WRAP}class Mine(b.{base}):\n    {method}\n"}, b={"b.py": B})
    target = Target(sys.version_info[:2], sys.platform)
    packages = scan([str(tmp_path)]).packages.values()
    found = link(packages, target, lambda _doing: None, vocabulary=DISPATCH).missing
    name = method.partition("def ")[2].partition("(")[0]
    expected = [] if fits else [("warning", 5, f"b.{base}.{name}()")]
    assert [(one.severity, one.line, one.asked) for one in found] == expected
    call = "a.Mine().run()" if base == "Base" else "b.start(a.Mine())"
    done = subprocess.run(
        [sys.executable, "-c", f"import a, b\n{call}"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode == 0) is fits, done.stderr


def test_a_class_between_calls_what_an_override_takes_the_place_of(tmp_path):
    between = (
        "from b import Base\nclass Between(Base):\n    def submit(self, more=None):\n        return self.check(more)\n"
    )
    own = "from c import Between\nclass Own(Between):\n    pass\nclass Mine(Own):\n    def check(self): pass\n"
    base = "class Base:\n    def check(self, more=None): pass\n"
    env.write(tmp_path, a={"a.py": own}, b={"b.py": base}, c={"c.py": between})
    assert env.missing(tmp_path) == [("warning", "a", 5, "c.Between.check()")]
    env.write(tmp_path, c={"c.py": between.replace("self.check(more)", "self.check()")})
    assert env.missing(tmp_path) == []
