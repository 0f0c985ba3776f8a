"""Keywords that are passed on as ``**kwargs`` to functions that refuse them."""

import linker_environment as env
import pytest

from envdoctor.linker.beside import Beside
from envdoctor.linker.branches import Target
from envdoctor.linker.link import link
from envdoctor.probes.distributions import scan
from envdoctor.probes.project import Project

END = "def end(x, *, y=1): pass\nclass End:\n    def __init__(self, x, y=1): pass\n    def go(self, y=1): pass\n"


def found(tmp_path, library, source):
    """The line and keyword of each call of a project that a library refuses further on."""
    site = env.write(tmp_path / "site", b={"b/__init__.py": END + library, "b/more.py": "def far(z): pass\n"})
    beside = Beside(Project.of({"run.py": source}))
    missing = link(scan([site]).packages.values(), Target((3, 11), "linux"), lambda _doing: None, beside).missing
    assert all(one.provider == "b" and one.severity == "warning" for one in missing)
    return [(one.line, one.detail) for one in missing if one.kind == "forwarded"]


CALL = "import b\nb.f(1, w=2)"
MADE = "import b\nk = b.K()\nk.m(1, w=2)"
REFUSED = {
    "to a function": "def f(x, **rest):\n    return end(x, **rest)",
    "to a class": "def f(x, **rest):\n    if not rest:\n        return None\n    return End(x, **rest)",
    "by way of another": "def g(x, **more):\n    end(x, **more)\ndef f(x, **rest):\n    g(x, **rest)",
    "to either": "def f(x, **rest):\n    if x:\n        end(x, **rest)\n    else:\n        End(x, **rest)",
    "beside another that is taken out": "def f(x, **rest):\n    rest.pop('v', None)\n    end(x, **rest)",
    "as a copy": "def f(x, **rest):\n    more = rest.copy()\n    more.setdefault('y', 2)\n    end(x, **more)",
    "to a class by default": (
        "def f(x, **rest):\n    def make():\n        kind = rest.pop('kind', None) or End\n        return kind(x, **rest)\n    return make()"
    ),
    "to a class in place of none": (
        "def f(x, kind=None, **rest):\n    if kind is None:\n        kind = End\n    return kind(x, **rest)"
    ),
    "of another module": "from b.more import far\ndef f(x, **rest):\n    far(**rest)",
}
TAKEN = {
    "where it is looked at": "def f(x, **rest):\n    rest.pop('w')\n    end(x, **rest)",
    "where nobody gets it": "def f(x, **rest):\n    pass",
    "by one of two": "def g(w): pass\ndef f(x, **rest):\n    end(x, **rest)\n    g(**rest)",
    "by a class that a loop changes": (
        "def f(x, kind=None, **rest):\n    for kind in (dict, End):\n        kind = kind\n    return kind(**rest)"
    ),
    "by a class that the function sets itself": (
        "def f(x, **rest):\n    rest.setdefault('kind', dict)\n    kind = rest.pop('kind', None) or End\n    return kind(**rest)"
    ),
    "by a class that is given by position": (
        "def f(kind=None, **rest):\n    if kind is None:\n        kind = End\n    return kind(**rest)"
    ),
    "by a class that another function gives": (
        "def g(x, kind=None, **rest):\n    if kind is None:\n        kind = End\n    return kind(x, **rest)\n"
        "def f(x, **rest):\n    return g(x, kind=dict, **rest)"
    ),
    "by what is not known": "def f(x, g, **rest):\n    g(**rest)",
    "by what takes all": "def g(**more): pass\ndef f(x, **rest):\n    g(**rest)",
    "where it is kept": "kept = {}\ndef f(x, **rest):\n    kept['x'] = rest\n    end(x, **rest)",
    "under another name": "def f(x, **rest):\n    end = print\n    end(x, **rest)",
    "by locals": "def f(x, **rest):\n    end(x, **rest)\n    print(locals())",
}


@pytest.mark.parametrize("library", REFUSED.values(), ids=list(REFUSED))
def test_nobody_takes_it(tmp_path, library):
    assert found(tmp_path, library, CALL) == [(2, "w")]


@pytest.mark.parametrize("library", TAKEN.values(), ids=list(TAKEN))
def test_somebody_may_take_it(tmp_path, library):
    assert found(tmp_path, library, CALL) == []


METHODS = {
    "to a function": ("class K:\n    def m(self, x, **rest):\n        end(x, **rest)", True),
    "to its own method": (
        "class K:\n    def m(self, x, **rest):\n        self.n(x, **rest)\n    def n(self, x): pass", True
    ),
    "to that of its base": ("class K(End):\n    def m(self, x, **rest):\n        self.go(**rest)", None),
    "by way of super": (
        "class L:\n    def m(self, y): pass\nclass K(L):\n    def m(self, x, **rest):\n        super().m(**rest)", True
    ),
    "to one that another class replaces": (
        "class L:\n    def m(self, x, **r):\n        self.n(x, **r)\n    def n(self): pass\nclass K(L):\n    def n(self, w): pass",
        False,
    ),
    "to an object that is not known": ("class K:\n    def m(self, x, **rest):\n        self.o.n(**rest)", False),
}  # fmt: skip


@pytest.mark.parametrize(("library", "refused"), METHODS.values(), ids=list(METHODS))
def test_methods(tmp_path, library, refused):
    source = MADE.replace("K()", "K(1)") if refused is None else MADE
    assert found(tmp_path, library, source) == ([(3, "w")] if refused is not False else [])


def test_a_constructor_that_hands_on_to_its_base(tmp_path):
    library = "class K(End):\n    def __init__(self, z, **rest):\n        super().__init__(z, **rest)"
    assert found(tmp_path, library, "import b\nb.K(1, y=2)\nb.K(1, w=2)") == [(3, "w")]
    derived = library + "\nclass M(K):\n    def __init__(self, **rest):\n        super().__init__(1, **rest)"
    assert found(tmp_path / "m", derived, "import b\nb.M(y=2)") == []


KEPT = """class Base:
    target = End
    def __init__(self, x, **more):
        self.more = more
        self.more.setdefault("y", 2)
    def make(self):
        given = self.more.copy()
        return self.target(1, **given)
class Derived(Base):
    pass
class Wide:
    def __init__(self, x, y=1, w=3): pass
class Other(Base):
    target = Wide
class Replaced(Base):
    def make(self):
        self.target = Wide
        return super().make()
class Reading(Base):
    def make(self):
        return self.more["w"]
class Mixed(Base, Wide):
    pass
"""


@pytest.mark.parametrize(
    ("name", "refused"),
    [("Base", True), ("Derived", True), ("Other", False), ("Replaced", False), ("Reading", False), ("Mixed", True)],
)
def test_keywords_that_an_object_keeps_are_followed_to_where_its_methods_hand_them_on(tmp_path, name, refused):
    found_here = found(tmp_path, KEPT, f"import b\nb.{name}(1, y=2)\nb.{name}(1, w=2)")
    assert found_here == ([(3, "w")] if refused else [])


def test_keywords_that_others_may_read_of_an_object_are_open(tmp_path):
    assert found(tmp_path, KEPT + "def read(one):\n    return one.more\n", "import b\nb.Base(1, w=2)") == []


def test_a_class_that_a_call_gives_may_take_anything(tmp_path):
    library = "def f(x, **rest):\n    kind = rest.pop('kind', None) or End\n    return kind(x, **rest)"
    source = "import b\nb.f(1, kind=dict, w=2)\nb.f(1, w=2)"
    assert found(tmp_path, library, source) == [(3, "w")]


def test_a_distribution_that_gives_what_another_refuses_further_on(tmp_path):
    env.write(tmp_path, b={"b/__init__.py": END + REFUSED["to a function"], "b/more.py": ""}, a={"a.py": CALL})
    assert env.missing(tmp_path) == [("warning", "a", 2, "b.f")]


LOOPS = "import asyncio\nasync def f(x, **rest):\n    loop = {made}\n    return await loop.{method}(x, **rest)\n"


@pytest.mark.parametrize(
    ("made", "method", "keyword", "refused"),
    [
        ("asyncio.get_running_loop()", "create_connection", "w", True),
        ("asyncio.get_running_loop()", "create_connection", "sock", False),
        ("asyncio.get_running_loop()", "subprocess_exec", "w", False),
        ("x.loop()", "create_connection", "w", False),
    ],
)
def test_what_an_object_of_the_standard_library_takes(tmp_path, made, method, keyword, refused):
    site = env.write(tmp_path, b={"b.py": LOOPS.format(made=made, method=method)})
    beside = Beside(Project.of({"run.py": f"import b\nb.f(1, {keyword}=2)\n".encode()}))
    target, makes = Target((3, 11), "linux"), {"asyncio.get_running_loop.()": "asyncio:AbstractEventLoop.()"}

    told = link(scan([site]).packages.values(), target, lambda _doing: None, beside, {"makes": makes}).missing

    assert [(one.line, one.detail) for one in told] == [(2, keyword)] * refused
