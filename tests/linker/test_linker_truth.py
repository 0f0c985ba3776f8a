"""What the linker calls an error fails when Python imports it, and what imports is no error: each case is run."""

import os
import subprocess
import sys

import interpreters
import linker_environment as env
import pytest

import envdoctor

PLAIN = {"b/__init__.py": "from b.inner import kept\nfrom b.shop import shop\ndef f(x, *, y=1): pass\nclass K:\n    def m(self, one): pass\n"
         "class Open:\n    def __init__(self, **names):\n        for name in names:\n            setattr(self, name, print)\n"
         "class Wrapped:\n    def __init__(self): pass\n    def init(self, one, two): pass\n"
         "setattr(Wrapped, '__init__', Wrapped.init)\nfrom b import own\n"
         "class Made:\n    @classmethod\n    def make(cls, one): pass\n    def m(self, one): pass\n"
         "    @staticmethod\n    def plain(one): pass\n"
         "import dataclasses\nclass Bare:\n    def __init__(self): pass\n"
         "@dataclasses.dataclass\nclass Field(Bare):\n    on: bool = True\nclass Data(Field): pass\nclass Plain(Bare): pass\n",
         "b/inner.py": "kept = 1\n", "b/lone.py": "lone = 1\n", "b/own.py": "def f(x): pass\n",
         "b/shop.py": "shop = type('Shop', (), {'item': 1})()\n"}  # fmt: skip

#: What ``a`` contains, and what is missing of ``b``; nothing where it imports.
CASES = {
    "a name that is there": ("from b import kept, f", None),
    "a name that is missing": ("from b import gone", "b.gone"),
    "a missing attribute of a module": ("import b\nb.gone", "b.gone"),
    "a missing attribute of a class": ("import b\nb.K.gone", "b.K.gone"),
    "a class that inherits": ("import b\nclass Mine(b.K):\n    pass\nMine.m", None),
    "a missing submodule": ("import b.gone", "b.gone"),
    "from a missing submodule": ("from b.gone import x", "b.gone.x"),
    "a submodule as a name": ("from b import lone", None),
    "a re-exported name": ("import b\nb.inner.kept", None),
    "a decorator": ("import b\n@b.gone\ndef g(): pass", "b.gone"),
    "a default": ("import b\ndef g(x=b.gone): pass", "b.gone"),
    "a base class": ("import b\nclass X(b.Gone): pass", "b.Gone"),
    "an annotation": ("import b\ndef g(x: b.Gone): pass", "b.Gone"),
    "an annotation that is not evaluated": ("from __future__ import annotations\nimport b\ndef g(x: b.Gone): pass", None),
    "in a string": ("import b\ndef g(x: 'b.Gone'): pass", None),
    "caught": ("try:\n    from b import gone\nexcept ImportError:\n    gone = None", None),
    "caught by a name for more": ("try:\n    from b import gone\nexcept Exception:\n    gone = None", None),
    "another exception is caught": ("try:\n    from b import gone\nexcept AttributeError:\n    gone = None", "b.gone"),
    "only a missing module is caught": (
        "try:\n    from b import gone\nexcept ModuleNotFoundError:\n    gone = None", "b.gone"
    ),
    "a missing attribute is no ImportError": ("import b\ntry:\n    b.gone\nexcept ImportError:\n    pass", "b.gone"),
    "a handler that raises": ("try:\n    from b import gone\nexcept ImportError:\n    raise", "b.gone"),
    "suppressed": ("import contextlib\nwith contextlib.suppress(ImportError):\n    from b import gone", None),
    "a handler that is not needed": ("try:\n    from b import kept\nexcept ImportError:\n    from b import gone", None),
    "a handler that fails too": ("try:\n    from b import gone\nexcept ImportError:\n    from b import none", "b.none"),
    "behind a name of Python 2": ("try:\n    text = unicode\n    from b import gone\nexcept NameError:\n    text = str", None),
    "before a name of Python 2": ("try:\n    from b import gone\n    unicode\nexcept NameError:\n    pass", "b.gone"),
    "behind a name of every Python": ("try:\n    str\n    from b import gone\nexcept NameError:\n    pass", "b.gone"),
    "for another Python": ("import sys, b\nif sys.version_info < (3, 7):\n    b.gone", None),
    "between two other Pythons": ("import sys, b\nif (2, 5) < sys.version_info < (3, 0):\n    b.gone", None),
    "for another system": ("import sys, b\nif sys.platform == 'win99':\n    b.gone", None),
    "for type checkers": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import gone", None),
    "a constant of the module": ("import sys, b\nOLD = sys.version_info < (3, 7)\nx = b.gone if OLD else b.kept", None),
    "asked for first": ("import b\nif hasattr(b, 'gone'):\n    b.gone", None),
    "a local name of the same name": ("import b\ndef g(b):\n    return b.gone\n", None),
    "set from outside": ("import b\nb.gone = 1\nb.gone", None),
    "set on what is imported by its name": ("import b\n__import__('b').gone = 1\nb.gone", None),
    "an object in the place of its module": ("import b.shop as shop\nshop.item", None),
    "a module of that name": ("import b.lone as alone\nalone.gone", "b.lone.gone"),
    "set on a submodule": ("from b import lone\nlone.late = late = 1\nfrom b.lone import late", None),
}  # fmt: skip


def fails(folder, statement="import a"):
    done = subprocess.run([sys.executable, "-c", statement], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode != 0


@pytest.mark.parametrize("case", CASES)
def test_errors_are_failing_imports(tmp_path, case):
    if sys.version_info >= (3, 14) and case == "an annotation":
        pytest.skip("annotations are not evaluated on this Python")
    source, asked = CASES[case]
    env.write(tmp_path, a={"a.py": source}, b=PLAIN)
    errors = [told for told in env.missing(tmp_path, sys.version_info[:2]) if told[0] == "error"]
    assert [told[3] for told in errors] == ([asked] if asked else [])
    assert fails(tmp_path) is bool(asked)


PROVIDERS = {
    "binds names in a loop": ("for n in ('g' + 'one',):\n    globals()[n] = 1\n# gone", None),
    "hands its names to others": ("import json\ndef fill(d): d['gone'] = 1\nfill(globals())", None),
    "looks into its own names": (
        "def __getattr__(name):\n    try:\n        return globals()[name]\n    except KeyError:\n        raise AttributeError(name)  # gone",
        "name",
    ),
    "answers for the name": (
        "def __getattr__(name):\n    if name == 'gone': return 1\n    raise AttributeError(name)", None
    ),
    "refuses the name": (
        "_OLD = {'gone': 'no'}\ndef __getattr__(name):\n    if name in _OLD:\n        raise AttributeError\n    raise AttributeError", "gone",
    ),
    "answers for others": (
        "def __getattr__(name):\n    if name in ('x', 'y'):\n        return 1\n    raise AttributeError(name)", "name"
    ),
    "refuses a name that a table has been made of": (
        ("_KINDS = [('gone', 'no')]\n_OLD = {n: f'{n}: {why}' for n, why in _KINDS}\n_KINDS = []\n_WARNED = {}\n"
        "_WARNED.update({n: (int, n) for n in ('old',)})\ndef __getattr__(name):\n    try:\n        kind, n = _WARNED[name]\n"
        "    except KeyError:\n        pass\n    else:\n        return kind\n    if name in _OLD:\n"
        "        raise AttributeError(_OLD[name])\n    raise AttributeError(name)"), "gone",
    ),
    "warns of a name and has it": (
        ("_WARNED = {}\n_WARNED.update({n: (int, n) for n in ('gone',)})\ndef __getattr__(name):\n    try:\n"
        "        kind, n = _WARNED[name]\n    except KeyError:\n        raise AttributeError(name)\n    return kind"), None,
    ),
    "asks a helper that knows what was removed": (
        ("from b.moved import moves\n_moved = moves(__name__)\n_LAZY = {'one': '.inner'}\ndef __getattr__(name):\n"
        "    place = _LAZY.get(name)\n    if place is None:\n        return _moved(name)\n    import importlib\n"
        "    return getattr(importlib.import_module(place, __package__), name)"), "gone",
    ),
    "finds it where a table says": (
        ("_LAZY = {'gone': '.inner'}\ndef __getattr__(name):\n    place = _LAZY.get(name)\n    if place is None:\n"
        "        raise AttributeError(name)\n    from importlib import import_module\n"
        "    return getattr(import_module(place, __package__), name)"), None,
    ),
    "has a table that grows": (
        ("_MORE = {}\ndef add(name):\n    _MORE[name] = 1\nadd('gone')\ndef __getattr__(name):\n"
        "    if name in _MORE:\n        return 1\n    raise AttributeError(name)"), None,
    ),
    "sets names of itself in a loop": (
        ("import sys\nme = sys.modules[__name__]\nfor n in ('g' + 'one',):\n    setattr(me, n, 1)\n# gone\n"
        "def __getattr__(name):\n    raise AttributeError(name)"), None,
    ),
    "is filled by a decorator": (
        (
            "import sys\ndef export(kind):\n    setattr(sys.modules[kind.__module__], 'g' + 'one', 1)\n    return kind\n"
            "@export\nclass K: pass\n# gone"
        ),
        None,
    ),
    "has a loader beside it": ("import b.hook\nword = 'gone'", "name"),
    "takes it with a star": ("from b.inner import *", None),
    "takes it with a star from who takes back": ("from b.round import *\nhere = 1", "name"),
    "takes it with a star from who takes back and has it": ("here = 1\nfrom b.rounder import *", None),
    "takes it with a star from who takes back and makes it": ("here = 1\nfrom b.roundest import *", None),
    "takes what is listed with a star": ("from b.closed import *", "name"),
    "deletes it": ("gone = 1\ndel gone", "name"),
    "replaces itself": (
        "import sys, types\nm = types.ModuleType(__name__)\nm.gone = 1\nsys.modules[__name__] = m\n", None
    ),
    "executes text": ("exec('gone = 1')", None),
    "executes text into a new module": (
        "import types\ndef run():\n    m = types.ModuleType('m')\n    exec('gone = 1', m.__dict__)\nrun()\n", "name"
    ),
    "executes text into a new namespace": ("exec('gone = 1', {})", "name"),
    "executes text into its own module": (
        "import sys\nme = sys.modules[__name__]\nexec('gone = 1', me.__dict__)\n", None
    ),
    "sets it on itself": ("import sys\nsetattr(sys.modules[__name__], 'gone', 1)", None),
    "sets names on itself by another name of sys": (
        "import sys as _sys\ndef make(name):\n    setattr(_sys.modules[__name__], name, 1)\nmake('g' + 'one')", None
    ),
    "hands itself to what replaces it": (
        "from b.wrapped import wrap\nwrap('b', {'gone': 1})", None
    ),
    "passes on the name without itself": ("gone_names = []\ndef note(*names): pass\nnote('gone', 'b.other')", "name"),
    "binds it in a function": ("def init():\n    global gone\n    gone = 1\ninit()", None),
    "gives its names to what only reads them": (
        "def fill(told):\n    return sorted(name for name, value in told.items() if told[name])\nfill(globals())", "name"
    ),
    "gives its names to what adds some": ("def fill(told):\n    told['gone'] = 1\nfill(globals())", None),
    "gives its names to what passes them on": (
        "def fill(told):\n    more(told)\ndef more(told):\n    told.update(gone=1)\nfill(globals())", None
    ),
    "gives its name away in a table": (
        "import json\ndef fill(told):\n    pass\nfill({__name__: ['gone']})\ngone = 1", None
    ),
    "has the list of another module": ("from b.listed import *\nfrom b.listed import __all__", None),
    "binds it under a condition": ("import os\nif os.sep:\n    gone = 1", None),
}  # fmt: skip


@pytest.mark.parametrize(("source", "kind"), PROVIDERS.values(), ids=list(PROVIDERS))
def test_what_a_provider_offers(tmp_path, source, kind):
    inner = {"b/inner.py": "gone = 1", "b/closed.py": "gone = 1\n__all__ = ['other']\nother = 2",
             "b/listed.py": "from b.more import *\nfrom b.more import __all__", "b/more.py": "__all__ = ['gone']\ngone = 1",
             "b/round.py": "from b import *\nother = 1\n", "b/rounder.py": "from b import *\ngone = 1\n",
             "b/roundest.py": "from b import *\nglobals()['go' + 'ne'] = 1\n",
             "b/wrapped.py": "import sys\nclass Wrapped:\n    def __init__(self, names): self.names = names\n"
             "    def __getattr__(self, name):\n        if name in self.names: return self.names[name]\n"
             "        raise AttributeError(name)\ndef wrap(name, names):\n    sys.modules[name] = Wrapped(names)\n",
             "b/hook.py": "import sys\nclass F:\n    def find_spec(*_): pass\nsys.meta_path.append(F())",
             "b/moved.py": "GONE = {'b:gone'}\ndef moves(module):\n    def wrapper(name):\n        path = f'{module}:{name}'\n"
             "        if path in GONE:\n            raise ImportError(path)\n        import sys\n"
             "        if name in sys.modules[module].__dict__:\n            return 1\n"
             "        raise AttributeError(name)\n    return wrapper\n"}  # fmt: skip
    env.write(tmp_path, a={"a.py": "import b\nb.gone"}, b={"b/__init__.py": source, **inner})
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.kind) for one in found] == ([("error", kind)] if kind else [])
    assert fails(tmp_path) is bool(kind)


def test_a_table_of_its_own_that_is_called_modules_makes_no_modules(tmp_path):
    own = "class T:\n    def __init__(self):\n        self.modules = {}\n    def put(self, name):\n        self.modules[name] = 1\n"
    env.write(tmp_path, a={"a.py": "import b.gone"}, b={"b/__init__.py": own})
    assert env.missing(tmp_path) == [("error", "a", 1, "b.gone")]
    assert fails(tmp_path)
    for name in "sys", "_sys":
        fill = f"import sys as {name}\nfor one in ('b.gone',):\n    {name}.modules[one] = {name}\n"
        env.write(tmp_path, b={"b/__init__.py": fill})
        assert env.missing(tmp_path) == []
        assert not fails(tmp_path)


ALIASES = {
    "a name that is there": ("from b.also.c.inner import kept", None),
    "a name that is gone": ("from b.also.c.inner import gone", "b.also.c.inner.gone"),
    "a name behind a module": ("import b\nb.also.c.gone", "b.also.c.gone"),
    "what has no second name": ("try:\n    from b.also.d import gone\nexcept ImportError:\n    pass", None),
}


@pytest.mark.parametrize(("source", "asked"), ALIASES.values(), ids=list(ALIASES))
def test_a_module_with_a_second_name(tmp_path, source, asked):
    also = "import sys, c.inner\nfor n in list(sys.modules):\n    if n.startswith('c'):\n        sys.modules['b.also.' + n] = "
    files = {"b/__init__.py": "import b.also", "b/also.py": also + "sys.modules[n]\nc = c\n"}
    other = {"c/__init__.py": "from c import inner", "c/inner.py": "kept = 1"}
    env.write(tmp_path, a={"a.py": source}, b=files, c=other, d={"d.py": ""})
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.asked, one.provider) for one in found] == ([("error", asked, "c")] if asked else [])
    assert fails(tmp_path) is bool(asked)


PUT = "def put(name, value):\n    sys.modules[name] = value"
FILLERS = {
    "another name": (PUT, "put('b.other', 1)", "warning"),
    "a name that another module hands over": (PUT, "put('b.lost', 1)", None),
    "a name from parts": ("for n in ('lost', 'other'):\n    sys.modules[f'b.{n}'] = sys", "", None),
    "names of files": (
        "import pathlib\nfor one in pathlib.Path(__file__).parent.glob('*.txt'):\n    sys.modules[f'b.{one.stem}'] = sys",
        *("", None),
    ),
    "names of other modules": (
        "import b.kept.lost\nfor n in [*sys.modules]:\n    if 'b.kept.' in n: sys.modules[n.replace('.kept', '')] = sys",
        *("", None),
    ),
}


@pytest.mark.parametrize(("fill", "user", "severity"), FILLERS.values(), ids=list(FILLERS))
def test_modules_that_a_package_makes_under_names_that_are_not_known(tmp_path, fill, user, severity):
    files = {
        "b/__init__.py": "import b.filling, b.more\n",
        "b/filling.py": f"import sys\n{fill}\n",
        "b/more.py": f"from b.filling import *\n{user}\n",
        "b/lost.txt": "",
        "b/kept/__init__.py": "",
        "b/kept/lost.py": "",
    }
    env.write(tmp_path, a={"a.py": "import b.lost\n"}, b=files)
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [one.severity for one in found] == ([severity] if severity else [])
    assert fails(tmp_path) is bool(severity)


CALLS = {
    "fits": ("b.f(1, y=2)", None),
    "a class method": ("b.Made.make(1)", None),
    "a class method, too few": ("b.Made.make()", "missing"),
    "a method of a class": ("b.Made.m(b.Made(), 1)", None),
    "a method of a class, too many": ("b.Made.m(b.Made(), 1, 2)", "many"),
    "a static method": ("b.Made.plain(1)", None),
    "a submodule that the package takes from itself": ("b.own.f(1, 2)", "many"),
    "an unknown keyword": ("b.f(1, z=2)", "unknown"),
    "too many": ("b.f(1, 2)", "many"),
    "too few": ("b.f()", "missing"),
    "spread": ("b.f(*[1])", None),
    "a dictionary with an unknown keyword": ("told = {'x': 1}\n    told['z'] = 2\n    b.f(**told)", "unknown"),
    "a default in a dictionary": ("told = {}\n    told.setdefault('z', 2)\n    b.f(1, **told)", "unknown"),
    "a dictionary that loses it": ("told = dict(z=1)\n    told.pop('z')\n    b.f(1, **told)", None),
    "a dictionary that may have it": ("told = {}\n    if not b:\n        told['z'] = 2\n    b.f(1, **told)", None),
    "a method": ("b.K().m(1)", None),
    "a method with a keyword it does not take": ("k = b.K()\n    k.m(one=1, two=2)", "unknown"),
    "an attribute that the object may give itself": ("b.Open(late=1).late()", None),
    "an attribute of another of the same name": ("k = b.K()\n    k.m(1)\n    return [k.strip() for k in ['x']]", None),
    "a constructor that is put in later": ("b.Wrapped(1, 2)", None),
    "a constructor that a decorator made for a base": ("b.Data(True)", None),
    "a constructor of a base": ("b.Plain(True)", "many"),
    "caught": ("try:\n        b.f(z=1)\n    except TypeError:\n        b.f(1)", None),
}


@pytest.mark.parametrize(("call", "kind"), CALLS.values(), ids=list(CALLS))
def test_calls_against_signatures(tmp_path, call, kind):
    env.write(tmp_path, a={"a.py": f"import b\ndef g():\n    {call}\n"}, b=PLAIN)
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.kind) for one in found] == ([("warning", kind)] if kind else [])
    assert fails(tmp_path, "import a; a.g()") is bool(kind)


BRANCHES = {
    "behind a return for newer releases": ("if b.VERSION_2:\n        return\n    b.gone", "info"),
    "behind an error for older releases": ("if not b.VERSION_2:\n        raise ImportError\n    b.gone", "info"),
    "behind a return that needs more": ("if g and b.VERSION_2:\n        return\n    b.gone", "warning"),
    "behind a return for something else": ("if b.f:\n        pass\n    b.gone", "warning"),
}


@pytest.mark.parametrize(("body", "severity"), BRANCHES.values(), ids=list(BRANCHES))
def test_what_follows_an_early_return_is_its_other_branch(tmp_path, body, severity):
    env.write(tmp_path, a={"a.py": f"import b\ndef g():\n    {body}\n"}, b={"b.py": "VERSION_2 = True\nf = 1\n"})
    assert [one.severity for one in env.linked(tmp_path, sys.version_info[:2]).missing] == [severity]


DEFINED = {
    "in a try whose import fails": "try:\n    import c_is_not_there\n    def g(): b.gone\nexcept ImportError:\n    def g(): pass",
    "in a try that tries the same": (
        "try:\n    b.f(1, z=1)\n    def g(): b.f(1, z=1)\nexcept TypeError:\n    def g(): b.f(1)"
    ),
    "for an import that fails": "try:\n    import b\nexcept ImportError:\n    def g(): b.gone\nelse:\n    def g(): pass",
}


@pytest.mark.parametrize("source", DEFINED.values(), ids=list(DEFINED))
def test_a_function_that_is_not_defined_asks_for_nothing(tmp_path, source):
    env.write(tmp_path, a={"a.py": f"import b\n{source}\n"}, b=PLAIN)
    assert env.linked(tmp_path, sys.version_info[:2]).missing == []
    assert not fails(tmp_path, "import a; a.g()")


def test_a_package_over_several_folders_has_no_class_elsewhere(tmp_path):
    over = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
    env.write(tmp_path, a={"a.py": "from b import Gone, gone"}, b={"b/__init__.py": over})
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.asked) for one in found] == [("warning", "b.Gone")]
    assert fails(tmp_path)


@pytest.mark.parametrize(("name", "asked"), [("Gone", ["b.Gone"]), ("gone", []), ("sub", [])])
def test_a_folder_that_several_distributions_share_is_named_after_one(tmp_path, name, asked):
    env.write(tmp_path, a={"a.py": f"from b import {name}"}, b={"b/sub.py": ""}, c={"b/more.py": ""})
    assert [one.asked for one in env.linked(tmp_path, sys.version_info[:2]).missing] == asked
    assert fails(tmp_path) is (name != "sub")


def test_a_decorator_may_put_a_class_into_the_module_that_it_is_given(tmp_path):
    into = "import sys\ndef into(name):\n    return lambda kind: sys.modules[name].__dict__.update(Late=kind)\n"
    late = "import b.lone\nfrom c import into\n@into('b.lone')\nclass Late: pass\n"
    user = {"a.py": "import b.late\nfrom b.lone import Late\n"}
    env.write(tmp_path, b={"b/__init__.py": "", "b/lone.py": "", "b/late.py": late}, c={"c.py": into}, a=user)
    assert not fails(tmp_path)
    assert env.missing(tmp_path) == []


def test_generated_bytes_spell_a_first_letter_as_a_number(tmp_path):
    generated = (
        "def fill(names, told):\n    names[told[2:].decode()] = 1\nfill(globals(), b'\\n\\x14\\x43odeRequest')\n"
    )
    env.write(tmp_path, a={"a.py": "from b import CodeRequest"}, b={"b.py": generated})
    assert env.missing(tmp_path) == []
    assert not fails(tmp_path)
    env.write(tmp_path, a={"a.py": "from b import CodeReply"})
    assert [one[3] for one in env.missing(tmp_path)] == ["b.CodeReply"]


def test_a_mark_within_a_text_begins_no_comment(tmp_path):
    fill = "def fill(names, told):\n    names[told[2:-2].decode()] = 1\n"
    env.write(tmp_path, a={"a.py": "from b import Request"}, b={"b.py": fill + "fill(globals(), b'#.Request\\n\\n')\n"})

    assert env.missing(tmp_path) == []
    assert not fails(tmp_path)


def test_a_word_in_a_comment_is_written_nowhere(tmp_path):
    fill = "def fill(names, told):\n    names[told[2:-2].decode()] = 1\n"
    env.write(
        tmp_path, a={"a.py": "from b import Request"}, b={"b.py": fill + "fill(globals(), b'..Gone..')\n# Request"}
    )

    assert [one[3] for one in env.missing(tmp_path)] == ["b.Request"]
    assert fails(tmp_path)


KEYS = {
    "a key": ("red", None),
    "a key that is put together": ("dark_red", None),
    "no key": ("get_red", "b.get_red"),
}


@pytest.mark.parametrize(("name", "asked"), KEYS.values(), ids=list(KEYS))
def test_a_module_that_writes_its_names(tmp_path, name, asked):
    source = (
        "from b.told import KINDS\nmade = {f'dark_{k}': k for k in KINDS}\nmade.update(KINDS)\nglobals().update(made)\n"
    )
    files = {"b/__init__.py": "def get_red(): 'get red'\n", "b/told.py": "KINDS = {'red': 'dark', 'dark': 'red'}\n"}
    env.write(tmp_path, a={"a.py": f"from b.map import {name}"}, b={"b/map.py": source, **files})
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.asked) for one in found] == (
        [("warning", asked.replace("b.", "b.map."))] if asked else []
    )
    assert fails(tmp_path) is bool(asked)


@pytest.mark.parametrize(("name", "asked"), [("red", []), ("blue", []), ("gone", ["b.gone"])])
def test_a_module_that_writes_the_names_of_a_list(tmp_path, name, asked):
    source = "NAMES = ['red', 'blue']\nfor one in NAMES:\n    globals()[one] = 'gone'\n'gone'\n"
    env.write(tmp_path, a={"a.py": f"from b import {name}"}, b={"b.py": source})
    assert [one[3] for one in env.missing(tmp_path, sys.version_info[:2])] == asked
    assert fails(tmp_path) is bool(asked)


def test_a_module_that_binds_the_name_of_a_loop_again_may_write_any(tmp_path):
    source = "for one in ['red']:\n    one = one + 'der'\n    globals()[one] = 'redder'\n"
    env.write(tmp_path, a={"a.py": "from b import redder"}, b={"b.py": source})
    assert env.missing(tmp_path, sys.version_info[:2]) == []
    assert not fails(tmp_path)


REFUSALS = {
    "not for this Python": (
        "import b",
        "import sys\nif sys.version_info >= (3, 7):\n    raise RuntimeError('too new')",
        "b",
    ),
    "it has moved": ("import b.moved", "", "b.moved"),
    "it has moved, and that is caught": ("try:\n    import b.moved\nexcept ImportError:\n    pass", "", None),
    "another exception is caught": ("try:\n    import b.moved\nexcept AttributeError:\n    pass", "", "b.moved"),
    "a function says that it has moved": ("import b.told", "", "b.told"),
    "a function says so at times": ("import b.asked", "", None),
    "nobody knows": ("import b", "import os\nif not os.sep:\n    raise ImportError('nowhere')", None),
    "caught where it is raised": ("import b", "try:\n    raise ImportError\nexcept ImportError:\n    pass", None),
}


@pytest.mark.parametrize(("source", "top", "asked"), REFUSALS.values(), ids=list(REFUSALS))
def test_a_module_that_refuses_to_be_imported(tmp_path, source, top, asked):
    files = {
        "b/__init__.py": top,
        "b/moved.py": "raise ImportError('b.moved is c now')\n",
        "_b.py": (
            "import os\ndef tell(name):\n    raise ImportError('it was renamed, and is c now')\n"
            "def ask(name):\n    if not os.sep:\n        raise ImportError(name)\n"
        ),
        "b/told.py": "from _b import tell\ntell('b.told')\n",
        "b/asked.py": "from _b import ask\nask('b.asked')\n",
    }
    env.write(tmp_path, a={"a.py": source}, b=files)
    found = env.linked(tmp_path, sys.version_info[:2]).missing
    assert [(one.severity, one.kind, one.asked) for one in found] == ([("error", "refused", asked)] if asked else [])
    assert fails(tmp_path) is bool(asked)
    assert all(one.detail.endswith(("too new", "is c now")) for one in found)


@pytest.mark.parametrize("there", [True, False])
def test_what_stands_in_a_folder_that_a_distribution_searches(tmp_path, there):
    path = "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '_vendor'))\nimport inner\n"
    files = {"c/__init__.py": path, **({"c/_vendor/inner.py": ""} if there else {})}
    env.write(tmp_path, a={"a.py": "import b.sub"}, b={"b/__init__.py": "", "b/sub.py": "import c"}, c=files)
    errors = [told[3] for told in env.missing(tmp_path, sys.version_info[:2]) if told[0] == "error"]
    assert fails(tmp_path) is not there
    assert errors == ([] if there else ["b.sub"])


@pytest.mark.parametrize(("compiled", "kinds"), [((), ["undeclared"]), (("core.cpython-311-x86_64-linux-gnu.so",), [])])
def test_source_beside_what_was_compiled_from_it_may_import_the_compiler(tmp_path, compiled, kinds):
    beside = {f"a/{one}": "" for one in compiled}
    env.write(tmp_path, a={"a/__init__.py": "from a import core", "a/core.py": "import compiler_of_a", **beside})
    assert [one.kind for one in env.linked(tmp_path, sys.version_info[:2]).missing] == kinds


@pytest.mark.parametrize("version", ["3.9", "3.14"])
def test_the_ends_of_python_find_the_same(tmp_path, version):
    env.write(tmp_path / "site", a={"a.py": "import b\nclass C(b.Base): pass\nfirst, second = b.gone, C(old=1)\n"},
              b={"b.py": "class Base:\n    def __init__(self, new=0): pass\n"})  # fmt: skip
    script = (
        f"import sys; sys.path[:0] = {[os.path.dirname(os.path.dirname(envdoctor.__file__)), os.path.dirname(env.__file__)]!r}\n"
        f"import linker_environment as env; print(sorted(env.missing({str(tmp_path / 'site')!r})))"
    )
    done = subprocess.run([str(interpreters.need(version)), "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[('error', 'a', 3, 'b.gone'), ('warning', 'a', 3, 'b.Base')]", done.stderr


FILLED = {
    "b/__init__.py": "from . import data, filling as _filling\nimport sys\n_filling.put(data, sys.modules[__name__])\n",
    "b/filling.py": "def put(source, module):\n    for one in vars(source).values():\n        if isinstance(one, tuple):\n"
                    "            setattr(module, one[0], one)\n",
    "b/data.py": "X = ('speed', 1)\n",
}  # fmt: skip


def test_a_module_that_gives_itself_to_a_function_which_fills_it_may_have_what_is_written_anywhere(tmp_path):
    env.write(tmp_path, a={"a.py": "import b\nb.speed\nb.nowhere_at_all\n"}, b=FILLED)

    assert env.missing(tmp_path) == [("warning", "a", 3, "b.nowhere_at_all")]
