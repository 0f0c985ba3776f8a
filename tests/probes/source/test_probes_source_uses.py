"""What a line of source is taken for: one row each, with the facts of the use that it ends in."""

import textwrap

import pytest

from envdoctor.probes.project import Project
from envdoctor.probes.source import uses

PRELUDE = """
import functools, multiprocessing as mp, socket, threading, torchrl.envs, zmq
from concurrent.futures import ProcessPoolExecutor
import pandas as pd
import numpy as np
from torchrl.envs import EnvCreator, ParallelEnv, GymEnv
from stable_baselines3.common.vec_env import SubprocVecEnv
class MyEnv:
    pass
class Holder:
    def __init__(self, given=None):
        self.given = given
        self.lock = threading.Lock()
class Careful(Holder):
    def __init__(self):
        self.lock = threading.Lock()
    def __reduce__(self):
        return Careful, ()
def make_env():
    return MyEnv()
def make_maker(given):
    def maker():
        return MyEnv(given)
    return maker
def fetch():
    return unknowable()
def numbers():
    yield 1
"""


def found(source, pattern, **others):
    answer = uses(Project.of({"train.py": textwrap.dedent(source), **others}), pattern)
    assert answer["gaps"] == []
    return answer["found"]


def calls(source, pattern="**.ParallelEnv"):
    return [use for use in found(source, pattern) if use["kind"] == "call"]


def argument(source, pattern="**.ParallelEnv"):
    """The argument called ``env``: second, or by name, of the one call."""
    (use,) = calls(PRELUDE + textwrap.dedent(source), pattern)
    assert len(use["arguments"]) < 3
    return use["keywords"]["env"] if "env" in use["keywords"] else use["arguments"][-1]


@pytest.mark.parametrize(
    ("source", "kinds", "made_by"),
    [
        ("ParallelEnv(2, MyEnv())", ["instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, env=MyEnv())", ["instance"], ["train.MyEnv"]),
        ("env = MyEnv(); ParallelEnv(2, env)", ["instance"], ["train.MyEnv"]),
        ("P = torchrl.envs.ParallelEnv; P(2, env=MyEnv())", ["instance"], ["train.MyEnv"]),
        ("import torchrl as t; t.envs.ParallelEnv(2, GymEnv('x'))", ["instance"], ["torchrl.envs.GymEnv"]),
        ("ParallelEnv(2, [MyEnv() for _ in range(2)])", ["instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, [MyEnv()] * 2)", ["instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, EnvCreator(make_env))", ["instance"], ["torchrl.envs.EnvCreator"]),
        ("ParallelEnv(2, make_env())", ["instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, fetch())", ["result"], ["train.fetch"]),
        ("import gym; ParallelEnv(2, gym.make('x'))", ["result"], ["gym.make"]),
        ("ParallelEnv(2, make_maker(1))", ["local-function"], []),
        ("ParallelEnv(2, make_env)", ["function"], []),
        ("ParallelEnv(2, MyEnv)", ["class"], []),
        ("ParallelEnv(2, lambda: MyEnv())", ["lambda"], []),
        ("ParallelEnv(2, [lambda: MyEnv(), MyEnv])", ["class", "lambda"], []),
        ("env = MyEnv(); ParallelEnv(2, lambda env=env: env)", ["lambda"], []),
        ("ParallelEnv(2, functools.partial(MyEnv, 1))", ["factory"], []),
        ("ParallelEnv(2, numbers())", ["generator"], []),
        ("ParallelEnv(2, (x for x in y))", ["generator"], []),
        ("ParallelEnv(2, list(MyEnv() for _ in y))", ["instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, 'Ant-v4')", ["constant"], []),
        ("ParallelEnv(2, -1)", ["constant"], []),
        ("ParallelEnv(2, MyEnv() if y else make_env)", ["function", "instance"], ["train.MyEnv"]),
        ("ParallelEnv(2, (e := MyEnv()))", ["instance"], ["train.MyEnv"]),
        ("env = MyEnv()\nenv = make_env\nParallelEnv(2, env)", ["function"], []),
        ("env = MyEnv()\nif y:\n  env = make_env\nParallelEnv(2, env)", ["function", "instance"], ["train.MyEnv"]),
        ("if y:\n  env = MyEnv()\nelse:\n  env = make_env\n  ParallelEnv(2, env)", ["function"], []),
        ("if y:\n  env = MyEnv()\nelse:\n  ParallelEnv(2, env)", ["unknown"], []),
        ("if y:\n  if z:\n    env = MyEnv()\n  env = make_env\nParallelEnv(2, env)", ["function"], []),
        (
            "if y:\n  env = make_env\n  if z:\n    env = MyEnv()\nParallelEnv(2, env)",
            ["function", "instance"],
            ["train.MyEnv"],
        ),
        ("envs = []\nenvs.append(MyEnv())\nParallelEnv(2, envs)", ["instance"], ["train.MyEnv"]),
        ("envs = [make_env]\nenvs += [MyEnv()]\nParallelEnv(2, envs)", ["function", "instance"], ["train.MyEnv"]),
        ("a, b = make_env, MyEnv()\nParallelEnv(2, b)", ["instance"], ["train.MyEnv"]),
        ("a, b = y\nParallelEnv(2, b)", ["unknown"], []),
        ("for e in [MyEnv(), make_env]:\n  ParallelEnv(2, e)", ["function", "instance"], ["train.MyEnv"]),
        ("for e in y:\n  ParallelEnv(2, e)", ["unknown"], []),
        ("with MyEnv() as e:\n  ParallelEnv(2, e)", ["instance"], ["train.MyEnv"]),
        ("env = MyEnv()\ndel env\nParallelEnv(2, env)", ["unknown"], []),
        ("env = MyEnv()\ndef f(env):\n  ParallelEnv(2, env)", ["unknown"], []),
        ("def f(env=MyEnv()):\n  ParallelEnv(2, env)", ["instance", "unknown"], ["train.MyEnv"]),
        ("def f(env: MyEnv):\n  ParallelEnv(2, env)", ["unknown"], []),
        ("def f():\n  env = MyEnv()\n  def g():\n    ParallelEnv(2, env)", ["instance"], ["train.MyEnv"]),
        ("def f():\n  def make(): pass\n  ParallelEnv(2, make)", ["local-function"], []),
        ("def f():\n  class Env: pass\n  ParallelEnv(2, Env)", ["local-function"], []),
        ("def f():\n  return ParallelEnv(2, env)\nenv = MyEnv()", ["instance"], ["train.MyEnv"]),
        (
            "class A:\n  def __init__(self):\n    self.e = MyEnv()\n  def f(self):\n    ParallelEnv(2, self.e)",
            ["instance"],
            ["train.MyEnv"],
        ),
        ("class A:\n  e = MyEnv()\n  def f(self):\n    ParallelEnv(2, self.e)", ["instance"], ["train.MyEnv"]),
        ("class A:\n  env = MyEnv()\n  def f(self):\n    ParallelEnv(2, env)", ["unknown"], []),
        ("class A:\n  def f(self):\n    ParallelEnv(2, self)", ["instance"], ["train.A"]),
        ("def f():\n  global env\n  env = MyEnv()\nParallelEnv(2, env)", ["instance"], ["train.MyEnv"]),
        ("env = 1\ndef f():\n  env = MyEnv()\nParallelEnv(2, env)", ["constant"], []),
        (
            "def f():\n  e = 1\n  def g():\n    nonlocal e\n    e = MyEnv()\n  ParallelEnv(2, e)",
            ["constant", "instance"],
            ["train.MyEnv"],
        ),
        ("[e for e in [MyEnv()]]\nParallelEnv(2, e)", ["unknown"], []),
        ("ParallelEnv(2, {'a': MyEnv()}['a'])", ["instance"], ["train.MyEnv"]),
        ("def same(x):\n  return x\nParallelEnv(2, same(MyEnv()))", ["instance"], ["train.MyEnv"]),
        (
            "def maybe():\n  if y:\n    return MyEnv()\n  return lambda: 1\nParallelEnv(2, maybe())",
            ["instance", "lambda"],
            ["train.MyEnv"],
        ),
        ("@decorated\ndef made():\n  return MyEnv()\nParallelEnv(2, made())", ["result"], ["train.made"]),
        ("async def made():\n  return MyEnv()\nParallelEnv(2, made())", ["result"], ["train.made"]),
        ("env = env\nParallelEnv(2, env)", ["unknown"], []),
        ("def f(): return f()\nParallelEnv(2, f())", ["result"], ["train.f"]),
        ("import numpy\nParallelEnv(2, numpy)", ["unknown"], []),
        ("from x import LIMIT\nParallelEnv(2, LIMIT)", ["unknown"], []),
    ],
)
def test_what_is_passed(source, kinds, made_by):
    one = argument(source)
    assert (one["is"], one["made_by"]) == (kinds, made_by)


@pytest.mark.parametrize(
    ("source", "carried"),
    [
        ("ctx = zmq.Context()\nParallelEnv(2, [lambda: MyEnv(ctx) for _ in range(4)])", {"lambda", "zmq.Context"}),
        ("def f():\n  ctx = zmq.Context()\n  ParallelEnv(2, lambda: MyEnv(ctx))", {"lambda", "zmq.Context"}),
        ("ParallelEnv(2, lambda: MyEnv(zmq.Context()))", {"lambda"}),
        ("ctx = zmq.Context()\nParallelEnv(2, {'ctx': ctx})", {"zmq.Context"}),
        ("kw = {}\nkw['ctx'] = zmq.Context()\nParallelEnv(2, kw)", {"zmq.Context"}),
        ("ParallelEnv(2, dict(ctx=zmq.Context()))", {"zmq.Context"}),
        ("sock = socket.socket()\nParallelEnv(2, functools.partial(MyEnv, sock))", {"socket.socket"}),
        ("ParallelEnv(2, functools.partial(lambda: 1))", {"lambda"}),
        ("ParallelEnv(2, (1, threading.Lock()))", {"threading.Lock"}),
        ("ctx = zmq.Context()\nParallelEnv(2, make_maker(ctx))", {"local-function", "zmq.Context"}),
        ("ctx = zmq.Context()\nParallelEnv(2, make_maker(given=ctx))", {"local-function", "zmq.Context"}),
        ("ParallelEnv(2, MyEnv(zmq.Context()))", {"train.MyEnv", "zmq.Context"}),
        ("ParallelEnv(2, GymEnv(zmq.Context()))", {"torchrl.envs.GymEnv"}),
        ("ParallelEnv(2, Holder())", {"train.Holder", "threading.Lock"}),
        ("ParallelEnv(2, Careful())", {"train.Careful"}),
        ("env = MyEnv()\nParallelEnv(2, lambda: env)", {"lambda", "train.MyEnv"}),
        ("env = MyEnv()\nParallelEnv(2, lambda env=env: env)", {"lambda", "train.MyEnv"}),
        ("ParallelEnv(2, (x for x in y))", {"generator"}),
        ("ParallelEnv(2, open('x'))", {"builtins.open", "builtins.open.r"}),
        ("ParallelEnv(2, make_env)", set()),
        ("ParallelEnv(2, MyEnv)", set()),
        ("ParallelEnv(2, lambda x: x)", {"lambda"}),
        (
            "class A:\n  def __init__(self):\n    self.l = threading.Lock()\n  def go(self):\n    ParallelEnv(2, self.run)\n  def run(self): pass",
            {"threading.Lock"},
        ),
        (
            "class A:\n  def __init__(self):\n    self.l = threading.Lock()\n  def go(self):\n    ParallelEnv(2, lambda: self.l)",
            {"lambda", "threading.Lock"},
        ),
        ("def f():\n  class Env: pass\n  ParallelEnv(2, Env())", {"train.f.Env", "local-function"}),
        (
            "import collections\ndef f():\n  Env = collections.namedtuple('Env', 'a')\n  ParallelEnv(2, Env(1))",
            {"collections.namedtuple.__call__", "local-class"},
        ),
        (
            "import collections\nEnv = collections.namedtuple('Env', 'a')\ndef f():\n  ParallelEnv(2, Env(1))",
            {"collections.namedtuple.__call__"},
        ),
        (
            "import collections as c\ndef f():\n  global Env\n  Env = c.namedtuple('Env', 'a')\n  ParallelEnv(2, Env(1))",
            {"collections.namedtuple.__call__"},
        ),
        (
            "lock = threading.Lock()\ndef inner():\n  return lock\nParallelEnv(2, lambda: inner())",
            {"lambda", "threading.Lock"},
        ),
        ("def go(env):\n  ParallelEnv(2, env)\ngo(threading.Lock())", {"threading.Lock"}),
        ("class A(Holder): pass\nParallelEnv(2, A())", {"train.A", "threading.Lock"}),
        ("given = {}\ngiven.update(a=threading.Lock())\nParallelEnv(2, given)", {"threading.Lock"}),
        ("given = {}\ngiven.update({'a': threading.Lock()})\nParallelEnv(2, given)", {"threading.Lock"}),
        ("ours, theirs = socket.socketpair()\nParallelEnv(2, theirs)", {"socket.socketpair"}),
        ("import json\nParallelEnv(2, json)", {"types.ModuleType"}),
        (
            "import joblib\nParallelEnv(2, joblib.delayed(f)(threading.Lock()))",
            {"joblib.delayed", "joblib.delayed.__call__", "threading.Lock"},
        ),
        ("ParallelEnv(2, open('x', mode))", {"builtins.open"}),
        ("ParallelEnv(2, open('x', 'ab'))", {"builtins.open", "builtins.open.wb"}),
    ],
)
def test_what_travels_with_it(source, carried):
    assert {one["name"] for one in argument(source)["carries"] if "kept_by" not in one} == carried


@pytest.mark.parametrize(
    ("source", "carried"),
    [
        ("class A:\n  lock = threading.Lock()\nParallelEnv(2, A)", {"threading.Lock"}),
        ("class A:\n  lock = threading.Lock()\nParallelEnv(2, A())", {"threading.Lock"}),
        ("lock = threading.Lock()\ndef make():\n  return lock\nParallelEnv(2, make)", {"threading.Lock"}),
        ("lock = threading.Lock()\ndef make():\n  return 1\nParallelEnv(2, make)", set()),
    ],
)
def test_what_travels_by_value_alone(source, carried):
    assert {one["name"] for one in argument(source)["carries"] if one.get("by_value")} == carried


def test_a_call_in_a_function_is_told_for_each_caller():
    source = "def go(kind, env):\n  ParallelEnv(kind, env)\ngo(1, threading.Lock())\ngo(2, 3)"
    given = [use["arguments"] for use in calls(PRELUDE + source)]
    told = [[one.get("value"), *two["made_by"]] for one, two in given]
    assert told == [[1, "threading.Lock"], [2]]


WORKS = "import multiprocessing, settings\ntable = {}\ndef work():\n  return table, name, settings.size\n"


@pytest.mark.parametrize(
    ("source", "lacks"),
    [
        ("name = 1\nmultiprocessing.Process(target=work)", []),
        ("if __name__ == '__main__':\n  name = 1\n  multiprocessing.Process(target=work)", [("name", 6)]),
        ("def main():\n  table['a'] = 1\n  multiprocessing.Process(target=work)\nif __name__ == '__main__':\n  main()", [("table", 6)]),
        ("def main():\n  table['a'] = 1\nmain()\nmultiprocessing.Process(target=work)", []),
        ("def main():\n  settings.size = 1\n  multiprocessing.Process(target=work)\nif __name__ == '__main__':\n  main()", [("settings.size", 6)]),
        ("def fill():\n  table['a'] = 1\nif __name__ == '__main__':\n  fill()\n  multiprocessing.Pool(1, fill)\n  multiprocessing.Process(target=work)", []),
        ("def main():\n  table.update({1: 2})\n  multiprocessing.Process(target=work)\nif __name__ == '__main__':\n  main()", [("table", 6)]),
        ("def run(rows):\n  global name\n  name = rows\n  multiprocessing.Process(target=work)", [("name", 7)]),
        ("def fill():\n  table['a'] = 1\ndef run():\n  fill()\n  multiprocessing.Process(target=work)", [("table", 6)]),
        ("def run(rows):\n  global name\n  name = rows\n  multiprocessing.Process(target=work)\nrun(1)", []),
        ("def other(rows):\n  table[1] = rows\ndef run():\n  multiprocessing.Process(target=work)", []),
        ("def run(rows):\n  table = {}\n  table.update({1: rows})\n  multiprocessing.Process(target=work)", []),
    ],
)  # fmt: skip
def test_what_a_function_lacks_in_a_process_of_its_own(source, lacks):
    (use,) = calls(WORKS + source, "multiprocessing.Process")
    assert [(one["name"], one["line"]) for one in use["keywords"]["target"].get("lacks", ())] == lacks


def test_what_a_method_is_called_on_is_told_with_its_constants():
    (use,) = calls("import multiprocessing as mp\nmp.get_context('spawn').Pool(2).map(f, y)", "**.map")
    made = use["on"]["maker"]
    assert made["name"] == "multiprocessing.get_context.Pool"
    assert made["on"] == {"name": "multiprocessing.get_context", "arguments": [{"value": "spawn"}]}


@pytest.mark.parametrize(
    ("source", "pattern", "names"),
    [
        ("import pandas as pd\npd.DataFrame(1).append(2)", "pandas.**.append", ["pandas.DataFrame.append"]),
        (
            "import pandas as pd\nd = pd.DataFrame()\nfor x in y:\n  d = d.append(x)",
            "pandas.**.append",
            ["pandas.DataFrame.append"],
        ),
        (
            "import pandas as pd\ndef f(d: pd.DataFrame):\n  d.append(1)",
            "pandas.**.append",
            ["pandas.DataFrame.append"],
        ),
        (
            "import pandas as pd\ndef load():\n  return pd.read_csv('x')\nload().append(1)",
            "pandas.**.append",
            ["pandas.read_csv.append"],
        ),
        ("import multiprocessing as mp\nmp.Pool().map(f, y)", "multiprocessing.Pool.map", ["multiprocessing.Pool.map"]),
        (
            "from multiprocessing import Pool\nwith Pool() as p:\n  p.map(f, y)",
            "multiprocessing.Pool.map",
            ["multiprocessing.Pool.map"],
        ),
        (
            "import multiprocessing as mp\nmp.get_context('spawn').Process()",
            "multiprocessing.**.Process",
            ["multiprocessing.get_context.Process"],
        ),
        (
            "from concurrent.futures import ProcessPoolExecutor as E\nwith E() as e:\n  e.submit(f)",
            "**.submit",
            ["concurrent.futures.ProcessPoolExecutor.submit"],
        ),
        (
            "try:\n  import gymnasium as gym\nexcept ImportError:\n  import gym\ngym.make('x')",
            "gym*.make",
            ["gym.make", "gymnasium.make"],
        ),
        ("def f():\n  from a import b\n  b()\nb()", "a.b", ["a.b"]),
        ("from a import *\nb()", "a.b", ["a.b"]),
        ("from a import *\nfrom c import *\nb()", "a.b", []),
        ("import a.b\na.c.d()", "a.c.d", ["a.c.d"]),
        ("import a.b as c\nc.d()", "a.b.d", ["a.b.d"]),
        ("import a\na = None\na.b()", "a.b", []),
        ("import a\ndef f(a):\n  a.b()", "a.b", []),
        ("import a\n[a.b() for a in y]", "a.b", []),
        ("import a\n[a.b() for x in y]", "a.b", ["a.b"]),
        ("import a\nclass A:\n  a = 1\n  def f(self):\n    a.b()", "a.b", ["a.b"]),
        ("import a\nlambda a: a.b()", "a.b", []),
        (
            "class P:\n  def __init__(self):\n    import a\n    self.x = a.B()\n  def f(self):\n    self.x.c()",
            "a.B.c",
            ["a.B.c"],
        ),
        ("from a import B as C, D\nfor E in (C, D):\n  E()", "a.*", ["a.B", "a.D"]),
        ("import a\nif a.__version__ < '2':\n  a.b()", "a.b", []),
        ("import a\nif hasattr(a, 'b'):\n  a.b()", "a.b", []),
        ("import a\ntry:\n  a.b()\nexcept AttributeError:\n  pass", "a.b", []),
        ("import a\ntry:\n  a.b()\nexcept RuntimeError:\n  pass", "a.b", ["a.b"]),
        ("import a\nx = getattr(a, 'b')()", "a.b", ["a.b"]),
        ("import a\nx = getattr(a, 'b', None)()", "a.b", []),
        ("import a\nx = getattr(a.B(), 'c')()", "a.B.c", ["a.B.c"]),
        ("import importlib\nimportlib.import_module('a').b()", "a.b", ["a.b"]),
        ("from importlib import import_module\nm = import_module('a.c')\nm.b()", "a.c.b", ["a.c.b"]),
        ("__import__('a.c').b()", "a.b", ["a.b"]),
        ("import importlib\nimportlib.import_module('.a', 'c').b()", "a.b", []),
        ("import a\nx = a if y else z\nx.b()", "a.b", ["a.b"]),
        ("import a\nclass C:\n  x = a\n\n  def f(self):\n    self.x.b()", "a.b", ["a.b"]),
        ("import a\ndef f(x):\n  x.b()\nf(a)", "a.b", ["a.b"]),
        ("import a\nclass C(a.B):\n  def c(self):\n    super().c()", "a.B.c", ["a.B.c"]),
        ("import a\nclass B(a.B):\n  def c(self): ...\nclass C(B):\n  def f(self):\n    super().c()", "a.B.c", []),
        ("import a\nclass C:\n  @property\n  def b(self):\n    return a.B()\nC().b.c()", "a.B.c", ["a.B.c"]),
        ("import a\nclass C:\n  @property\n  def b(self):\n    return a.B()\nC.b.c()", "a.B.c", []),
        ("import a\nasync def f():\n  b = await a.B()\n  b.c()", "a.B.c", ["a.B.c"]),
        ("import a\nasync def g():\n  return a.B()\nasync def f():\n  (await g()).c()", "a.B.c", ["a.B.c"]),
        ("import a, copy\ncopy.deepcopy(a.B()).c()\na.B().copy().c()", "a.B.c", ["a.B.c", "a.B.c"]),
        ("import a\ntype(a.B()).c(1)", "a.B.c", ["a.B.c"]),
        ("import a\nx, *y = a.B(), 1\nx.c()", "a.B.c", ["a.B.c"]),
        ("import a\ndef f():\n  return 1, a.B()\nx, y = f()\ny.c()", "a.B.c", ["a.B.c"]),
        ("import a\ndef f():\n  return 1, a.B()\nx, y = f()\nx.c()", "a.B.c", []),
        ("import a\na.b.c.d(e)", "a.**.d", ["a.b.c.d"]),
        ("import a\na.d(e)", "a.**.d", ["a.d"]),
        ("import a\na.b.d(e)", "a.*", []),
        ("import a\nx = a.b\nx.c()", "a.b.c", ["a.b.c"]),
        ("import functools, a\nfunctools.partial(a.b, 1)().c()", "a.b.c", ["a.b.c"]),
    ],
)
def test_the_names_of_calls(source, pattern, names):
    assert sorted(use["name"] for use in calls(source, pattern)) == names


VERSION = "import a\nfrom packaging.version import Version as V, parse\nfrom importlib.metadata import version as v\n"


@pytest.mark.parametrize(
    "source",
    [
        "old = a.__version__ < '2'\ndef f():\n  if old:\n    a.b()",
        "def f():\n  if a.__version__ >= '2':\n    return a.c()\n  return a.b()",
        "for x in y:\n  if a.__version__ >= '2':\n    continue\n  a.b()",
        "import sys\nif a.__version__ >= '2':\n  sys.exit('too new')\na.b()",
        "assert parse(a.__version__) < parse('2'), 'too new'\na.b()",
        "if a.__version_info__[:2] < (2, 0):\n  a.b()",
        "if a.version_tuple[0] < 2:\n  a.b()",
        "major, minor = map(int, a.__version__.split('.')[:2])\nif (major, minor) < (2, 0):\n  a.b()",
        "def is_new():\n  return int(a.__version__.split('.')[0]) >= 2\na.c() if is_new() else a.b()",
        "if v('a') < '2':\n  a.b()",
        "import importlib.metadata\nmajor = int(importlib.metadata.version('a').split('.')[0])\nif major == 1:\n  a.b()",
        "from importlib import metadata\nold = metadata.version('a').startswith('1.')\nif old:\n  a.b()",
        "class A:\n  old = parse(a.__version__) < parse('2')\n  def f(self):\n    if self.old:\n      a.b()",
        "import pytest\n@pytest.mark.skipif(a.__version__ >= '2', reason='too new')\ndef test():\n  a.b()",
        "import inspect\nparameters = inspect.signature(a.b).parameters\nif 'old' in parameters:\n  a.b()",
        "def f():\n  if hasattr(a, 'c'):\n    return a.c()\n  return a.b()",
        "def f():\n  if hasattr(a, 'c'):\n    return a.c()\n  return _old()\ndef _old():\n  return a.b()",
        "if values['lib_pre_1_0']:\n  a.b()",
        "if is_there('lib>=1.6'):\n  a.c()\nelse:\n  a.b()",
        "try:\n  a.c(new=1)\nexcept TypeError:\n  a.b()",
        "from ._compat import is_new\nif not is_new:\n  a.b()",
        "from lib.releases import is_a_v2\nif not is_a_v2():\n  a.b()",
        "x = not A_GE_2 and a.b()",
        "x = A_GE_2 or a.b()",
        "x = getattr(a, 'c', None) or a.b",
        "import sys\nif 'a' in sys.modules:\n  a.b()",
        "import pytest\nwith pytest.raises(AttributeError):\n  a.b()",
        "try:\n  x = a.b()\nexcept Exception:\n  x = 1",
        "try:\n  a.b()\nexcept:\n  pass",
        "import contextlib\nwith contextlib.suppress(Exception):\n  a.b()",
        "if 'b' in dir(a):\n  a.b()",
        "if 'c' not in a.__dict__:\n  a.b()",
        "old = tuple(int(x) for x in a.__version__.split('.')) < (2,)\nif old:\n  a.b()",
        "old = parse(a.version.version) < parse('2')\nif old:\n  a.b()",
        "found = V(a.__version__)\nif found < V('2'):\n  a.b()",
        "import importlib.metadata as m\nif m.version('a').startswith('1.'):\n  a.b()",
        "if False:\n  a.b()",
        "x = [a.b() for _ in y if hasattr(a, 'b')]",
        "def f():\n  if not hasattr(a, 'b'):\n    return 1\n  return a.b()",
        "assert hasattr(a, 'b')\na.b()",
    ],
)
def test_a_call_for_the_releases_that_have_it_is_none(source):
    assert [use["line"] for use in calls(VERSION + source, "a.b")] == []


@pytest.mark.parametrize(
    "source",
    [
        "a.b()\nif a.__version__ >= '2':\n  raise SystemExit",
        "if a.__version__ >= '2':\n  print('new')\na.b()",
        "old = f(a.__version__)\nif old:\n  a.b()",
        "if x:\n  raise SystemExit\na.b()",
        "args = parser.parse_args()\nif args.old:\n  a.b()",
        "import pytest\nwith pytest.raises(OSError):\n  a.b()",
        "x = a.b() and not A_GE_2",
        "if save_2:\n  a.b()",
        "if values['step_1']:\n  a.b()",
        "if is_there('lib'):\n  a.b()",
        "def f():\n  return a.c() if hasattr(a, 'c') else _old()\ndef _old():\n  return a.b()\n_old()",
        "def f():\n  return a.c() if hasattr(a, 'c') else old()\ndef old():\n  return a.b()",
        "if v1 < v2:\n  a.b()",
        "if getattr(args, 'c', None):\n  a.b()",
        "import sys\nif sys.version_info < (3, 8):\n  sys.exit('too old')\na.b()",
        "assert parse(a.__version__) >= parse('1'), 'too old'\na.b()",
        "if not hasattr(a, 'c'):\n  raise SystemExit\na.b()",
        "import sys\nif (3, 8) > sys.version_info:\n  raise SystemExit\na.b()",
        "app = App(version=a.__version__)\nif app:\n  a.b()",
        "import pytest\n@pytest.mark.skipif(slow, reason='slow')\ndef test():\n  a.b()",
        "try:\n  a.b()\n  x = 1\n  y = 2\n  z = 3\nexcept Exception:\n  pass",
        "try:\n  for x in y:\n    a.b()\nexcept Exception:\n  pass",
        "try:\n  a.b()\nexcept Exception as error:\n  print(error)",
        "try:\n  a.b()\nexcept Exception:\n  raise SystemExit",
        "import sys\ntry:\n  a.b()\nexcept Exception:\n  sys.exit(1)",
        "if False:\n  pass\nelse:\n  a.b()",
        "if 'b' in a.names:\n  a.b()",
        "x = [a.b() for _ in y if z]",
    ],
)
def test_a_call_that_no_version_stands_before_is_one(source):
    assert [use["name"] for use in calls(VERSION + source, "a.b")] == ["a.b"]


@pytest.mark.parametrize(
    ("source", "excused"),
    [
        ("if 'x' in a.style.available:\n  a.b('x')", True),
        ("if 'x' in a.get_available_styles():\n  a.b('x')", True),
        ("for x in ('x', 'y'):\n  if x in a.available:\n    a.b(x)", True),
        ("if 'x' in a.styles:\n  a.b('x')", False),
        ("if a.unavailable:\n  a.b('x')", False),
        ("if 'x' in a.available:\n  pass\na.b('x')", False),
    ],
)
def test_a_call_of_what_a_library_was_asked_for_is_excused(source, excused):
    assert [use["excused"] for use in calls(f"import a\n{source}", "a.b")] == [excused]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(x: Driver): x.find(1)", [3]),
        ("def f(x: 'lib.Driver'): x.find(1)", [3]),
        ("def f(x: Optional[Driver] = None): x.find(1)", [3]),
        ("def f(x: typing.Union[int, 'Driver']): x.find(1)", [3]),
        ("def f(x: Driver | None): x.find(1)", [3]),
        ("def f(x: Annotated[Driver, 3]): x.find(1)", [3]),
        ("x: Driver = unknown()\nx.find(1)", [4]),
        ("class A:\n  def __init__(self, x): self.x: Driver = x\n  def f(self): self.x.find(1)", [5]),
        ("class A:\n  x: Driver\n  def f(self): self.x.find(1)", [5]),
        ("def f() -> Driver: return unknown()\nf().find(1)", [4]),
        ("def f(x: list[Driver]): x.find(1)", []),
        ("def f(x: typing.Union[Driver, Other]): x.find(1)", []),
        ("class Own: ...\ndef f(x: Driver | Own): x.find(1)", []),
        ("def f(x: 'no annotation at all'): x.find(1)", []),
        ("def f(x: Other): x.find(1)", []),
        ("class Driver: ...\ndef f(x: Driver): x.find(1)", []),
        ("x: Driver = lib.Other()\nx.find(1)", []),  # what it is counts, whatever is written beside it
        ("def f() -> Driver: return lib.Other()\nf().find(1)", []),
    ],
)
def test_an_object_is_of_the_class_that_its_annotation_names(source, lines):
    text = f"import lib, typing\nfrom lib import Driver, Other\n{source}"
    assert [use["line"] for use in calls(text, "lib.Driver.find")] == lines


@pytest.mark.parametrize(
    ("source", "pattern", "expected"),
    [
        ("import a.b", "a.b", [("import", 1)]),
        ("import a.b", "a", []),
        ("from a.b import c as d", "a.b.c", [("import", 1)]),
        ("from a.b import c as d", "a.b", [("import", 1)]),
        ("from a.b import *", "a.b", [("import", 1)]),
        ("import numpy as np\nx = np.float", "numpy.float", [("name", 2)]),
        ("import numpy as np\nx: np.float = 1", "numpy.float", [("name", 2)]),
        ("import numpy as np\ndef f(x: np.float): ...", "numpy.float", [("name", 2)]),
        ("from __future__ import annotations\nimport numpy as np\ndef f(x: np.float): ...", "numpy.float", []),
        ("import numpy as np\nx = np.float(1)", "numpy.float", [("call", 2)]),
        ("import numpy as np\nx = np.float.y", "numpy.float", [("name", 2)]),
        ("import numpy as np\nx = np.float.y.z(1)", "numpy.float", [("name", 2)]),
        ("import numpy as np\nx = np.float.y.z(1)", "numpy.float.y", [("name", 2)]),
        ("import numpy as np\nx = np.float_.y", "numpy.float", []),
        ("import numpy as np\nnp.float.y = 1", "numpy.float", [("name", 2)]),
        ("import numpy as np\nnp.float = 1", "numpy.float", []),
        ("import a.b\na.b.c += 1", "a.b.c", [("name", 2)]),
        ("import a.b\na.b.c = 1", "a.b.c", []),
        ("try:\n  import a\nexcept ImportError:\n  import b", "a", []),
        ("try:\n  import a\nexcept ImportError:\n  import b", "b", []),
        ("try:\n  import a\nexcept OSError:\n  pass", "a", [("import", 2)]),
        ("import sys\nif sys.version_info < (3, 8):\n  import a", "a", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import a", "a", []),
        ("if args.version:\n  import a", "a", [("import", 2)]),
        ("if NUMPY_GE_200:\n  import b\nelse:\n  import a", "a", []),
        ("if _version_predates(lib, '2'):\n  import a", "a", []),
        ("import a\nwith assert_raises(AttributeError):\n  a.b", "a.b", []),
        ("import a\nwith assert_raises(OSError):\n  a.b", "a.b", [("name", 3)]),
        ("try:\n  from a.x import f\nexcept ImportError:\n  from a import f\nf(1)", "a.f", []),
        ("try:\n  from a.x import f\nexcept ImportError:\n  from a import f\nf(1)", "a.**.f", []),
        ("try:\n  from a import f\nexcept ImportError:\n  f = None\nf(1)", "a.f", []),
        ("try:\n  from a import f\nexcept ImportError:\n  def f(): ...\nf(1)", "a.f", []),
        ("try:\n  import a as b\nexcept ImportError:\n  import b\nb.f(1)", "a.f", []),
        ("try:\n  import a as b\nexcept ImportError:\n  import b\nb.f(1)", "b.f", []),
        ("try:\n  import a as b\nexcept ImportError:\n  import b\nb.f(1)", "*.f", [("call", 5)] * 2),
        ("try:\n  import a\nexcept ImportError:\n  a = None\na.f(1)", "a.f", [("call", 5)]),
        ("try:\n  import a\nexcept ImportError:\n  a = None\na.f(1)", "a.**", []),
        ("import a\ntry:\n  g = a.f\nexcept AttributeError:\n  g = a.h\ng(1)", "a.h", []),
        ("import a\ng = a.f if hasattr(a, 'f') else a.h\ng(1)", "a.h", []),
        ("import a\ntry:\n  from a import f\nexcept ImportError:\n  f = a.h\nf(1)", "a.h", []),
        ("import a\nif a.VERSION > (1,):\n  g = a.f\nelse:\n  g = a.h\ng(1)", "a.h", []),
        ("import a\nclass C:\n  if hasattr(a, 'f'):\n    g = a.f\n  def m(self):\n    self.g(1)", "a.f", []),
        ("import a\nif a.VERSION > (1,):\n  g = a.f\nelse:\n  g = a.h\ng.x(1)", "a.h.x", []),
    ],
)
def test_imports_and_references(source, pattern, expected):
    assert [(use["kind"], use["line"]) for use in found(source, pattern)] == expected


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        ("a.b()", False),
        ("if __name__ == '__main__':\n  a.b()", True),
        ("if '__main__' == __name__ and y:\n  a.b()", True),
        ("if __name__ != '__main__':\n  pass\nelse:\n  a.b()", True),
        ("if y:\n  a.b()", False),
        ("def f():\n  a.b()", True),
        ("def f():\n  a.b()\nf()", False),
        ("def f():\n  a.b()\ndef g():\n  f()\ng()", False),
        ("def f():\n  a.b()\nif __name__ == '__main__':\n  f()", True),
        ("def f():\n  a.b()\ndef g():\n  if __name__ == '__main__':\n    f()\ng()", True),
        ("class A:\n  a.b()", False),
        ("class A:\n  def f(self):\n    a.b()\nA().f()", False),
        ("class A:\n  def __init__(self):\n    a.b()\nA()", False),
        ("class A:\n  def __init__(self):\n    self.g()\n  def g(self):\n    a.b()\nA()", False),
        ("[a.b() for _ in y]", False),
        ("f = lambda: a.b()", True),
        ("def f():\n  a.b()\napp.run(f)", True),
    ],
)
def test_what_importing_the_file_reaches(source, guarded):
    (use,) = calls("import a\n" + source, "a.b")
    assert use["guarded"] is guarded


@pytest.mark.parametrize(
    ("given", "entries", "more"),
    [
        ("[{'host': 'h', 'port': 1}]", ["host", "port"], None),
        ("[{'host': 'h'}, {'scheme': 'http'}]", ["host", "scheme"], None),
        ("hosts", ["host"], None),
        ("[{'host': 'h'}, other()]", ["host"], True),
        ("[{'host': 'h', **more}]", ["host"], True),
    ],
)
def test_entries_of_the_dictionaries_in_a_list(given, entries, more):
    (use,) = calls(f"import a\nhosts = [dict(host='h')] if a.x else [{{'host': 'i'}}]\na.b({given})\n", "a.b")
    (argument,) = use["arguments"]
    assert sorted(argument["entries"]) == entries
    assert argument.get("open") == more


def test_a_call_with_everything():
    source = "import a\nn = 4\na.b(1,\n    *rest, k={'x': 'y', **z}, n=n, s=[1, 2], **more)\n"
    (use,) = calls(source, "a.b")
    assert use["text"] == "a.b(1, *rest, k={'...': '...', **z}, n=n, s=[1, 2], **more)"
    assert use["literals"] == ["x", "y"]
    assert use["open"]
    assert [one["value"] for one in use["arguments"]] == [1]
    assert use["keywords"]["k"]["entries"]["x"]["value"] == "y"
    assert use["keywords"]["k"]["open"]
    assert use["keywords"]["n"]["value"] == 4
    assert "value" not in use["keywords"]["s"]


def test_carried_values_say_where_they_were_made_and_how_they_got_in():
    source = """\
        import zmq
        from stable_baselines3.common.env_util import make_vec_env
        ctx = zmq.Context()
        make_vec_env("x", env_kwargs={"ctx": ctx})
        """
    (use,) = calls(source, "**.make_vec_env")
    assert use["keywords"]["env_kwargs"]["carries"] == [{"name": "zmq.Context", "line": 3, "via": "env_kwargs['ctx']"}]


def test_the_text_of_an_import_is_its_line_without_comments():
    (use,) = found("if y:\n  from a.b import c as d  # why", "a.b.c")
    assert use["text"] == "from a.b import c as d"


def test_a_local_process_target():
    source = """\
        import multiprocessing
        def main():
            def work(): pass
            process = multiprocessing.Process(target=work, args=(multiprocessing.Lock(),))
            process.start()
        if __name__ == "__main__":
            main()
        """
    (use,) = calls(source, "multiprocessing.Process")
    assert use["keywords"]["target"]["is"] == ["local-function"]
    assert use["keywords"]["target"]["names"] == ["train.main.work"]
    assert use["keywords"]["args"]["made_by"] == ["multiprocessing.Lock"]
    assert use["guarded"]


def test_a_long_text_is_cut():
    (use,) = calls(f"import a\na.b({'x' * 200})", "a.b")
    assert len(use["text"]) == 80


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("a.b('hunter2', b'hunter2', rb'hunter2')", "a.b('...', '...', '...')"),
        ("a.b(f'{x}hunter2', 'hunter' '2', x)", "a.b('...', '...', x)"),
        ('a.b("""hunter2\n  hunter2""", x, # hunter2\n  y)', "a.b('...', x, y)"),
        ("a.b(x, # it's hunter2\n  y='hunter2')", "a.b(x, y='...')"),
        ("a.b(12345678, 3.5, 0x7fffffff, True, None)", "a.b(..., 3.5, ..., True, None)"),
        ("a.b(lambda key='hunter2': key['hunter2'] if 'hunter2' in key else {'hunter2': 1}[key])",
         "a.b(lambda key='...': key['...'] if '...' in key else {'...': 1}[key])"),
        ("a.b(*['hunter2' for _ in x if 'hunter2'], **{'hunter2': 'hunter2'})",
         "a.b(*['...' for _ in x if '...'], **{'...': '...'})"),
        ("a.b(x" + ", 'hunter2'" * 40 + ")", "a.b(x" + ", '...'" * 10 + ", ..."),
        ("a.b(x" + ", x" * 500 + ")", ""),
    ],
)  # fmt: skip
def test_no_literal_is_in_the_text_of_a_use(call, text):
    (use,) = calls(f"import a\n{call}\n", "a.b")
    assert use["text"] == text
    assert len(use["literals"]) <= use["text"].count("'...'")
    one_line = calls(f"import a; password = 'hunter2'; {call}\n", "a")
    assert "hunter2" not in str([use["text"] for use in one_line])


def test_an_import_is_shown_without_its_neighbours():
    (use,) = found("import os; password = 'hunter2'; import a.b\n", "a.b")
    assert use["text"] == "import os; import a.b"


@pytest.mark.parametrize(
    "source",
    [
        "functools.partial(ParallelEnv, 2)(env=threading.Lock())",
        "functools.partial(ParallelEnv, env=threading.Lock())(2)",
        "ParallelEnv(2, **{'env': threading.Lock()})",
        "class Own(ParallelEnv): pass\nOwn(2, env=threading.Lock())",
        "thing = fetch()\nthing.lock = threading.Lock()\nParallelEnv(2, env=thing)",
    ],
)
def test_a_call_is_seen_in_other_ways_of_writing_it(source):
    assert "threading.Lock" in {one["name"] for one in argument(source)["carries"]}


@pytest.mark.parametrize(
    ("source", "there"),
    [
        ("ParallelEnv(2, env=Late())", False),
        ("late = Late()\nlate.open()\nParallelEnv(2, env=late)", True),
        ("early = Early()\nParallelEnv(2, env=early)", True),
        ("early = Early()\ndel early.lock\nParallelEnv(2, env=early)", False),
    ],
)
def test_what_a_method_would_have_to_make_first_is_not_there_yet(source, there):
    classes = """
        class Late:
            def open(self):
                self.lock = threading.Lock()
        class Early:
            def __init__(self):
                self._open()
            def _open(self):
                self.lock = threading.Lock()
    """
    carried = argument(textwrap.dedent(classes) + source)["carries"]
    assert ("threading.Lock" in {one["name"] for one in carried}) is there


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a.B()['c'].d()", ["a.B.__getitem__.d"]),
        ("b = a.B()\nc = b['c']\nc['d'].d()", ["a.B.__getitem__.__getitem__.d"]),
        ("a.B().loc[x, 'c'].d()", ["a.B.loc.__getitem__.d"]),
        ("a.B()[0].d()", ["a.B.d"]),
        ("a.B()['c'][0].d()", []),
        ("b = {'c': a.B()}\nb['c'].d()", ["a.B.d"]),
        ("b = [a.B()]\nb[x].d()", ["a.B.d"]),
        ("a.B['c'].d()", []),
        ("a.B().c[0].d()", ["a.B.c.__getitem__.d"]),
        ("for b in a.B().c:\n  b.d()", ["a.B.c.__getitem__.d"]),
        ("[b.d() for b in a.B().c]", ["a.B.c.__getitem__.d"]),
        ("for b in a.B():\n  b.d()", ["a.B.__iter__.d"]),
        ("for b, c in a.B():\n  c.d()", ["a.B.__iter__.d"]),
        ("[c.d() for b in a.B() for c in [b]]", ["a.B.__iter__.d"]),
        ("for b in a.B():\n  b", []),
        ("for b, c in a.B:\n  c.d()", []),
        ("a.B().f[0, 'c'].d()", []),
    ],
)
def test_what_a_subscript_of_an_object_from_elsewhere_gives(source, names):
    assert [use["name"] for use in calls("import a\n" + source, "a.**.d")] == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("b = a.B()\nb['c']", ["a.B.__getitem__"]),
        ("b = a.B()\n[b[c] for c in d]", ["a.B.__getitem__"]),
        ("b = a.B()\nb['c'] = 1", []),
        ("b = {'c': a.B()}\nb['c']", []),
        ("b, c = a.B().d()", ["a.B.d.__unpack__"]),
        ("b = a.B().d()\nc, d = b", ["a.B.d.__unpack__"]),
        ("b, c = a.B(), a.D()", []),
        ("b = a.B().d()", []),
        ("b = a.B()\nif c in b:\n  d()", ["a.B.__contains__"]),
        ("d = [c for c in e if c not in a.B()]", ["a.B.__contains__"]),
        ("b = a.B()\nc in b.d", ["a.B.d.__contains__"]),
        ("b = a.B()\nc in [b], b == c, b in c", []),
    ],
)
def test_a_subscript_an_unpacked_result_and_a_question_for_a_member_are_uses(source, names):
    asked = ("a.**.__getitem__", "a.**.__unpack__", "a.**.__contains__")

    assert [use["name"] for pattern in asked for use in found("import a\n" + source, pattern)] == names


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("for x in [b]: x.d()", True),
        ("for i, x in enumerate([b]): x.d()", True),
        ("for i, x in enumerate([b]): i.d()", False),
        ("for x, y in zip([1], [b]): y.d()", True),
        ("for x, y in zip([1], [b]): x.d()", False),
        ("for i, (x, y) in enumerate(zip([b], [1])): x.d()", True),
        ("for x in {'k': b}.values(): x.d()", True),
        ("for k, x in {'k': b}.items(): x.d()", True),
        ("for k, x in sorted({'k': b}.items()): x.d()", True),
        ("for k, x in {'k': [b]}.items(): x.d()", False),
        ("for x in map(a.B, [1]): x.d()", True),
        ("for x in filter(None, [b]): x.d()", True),
        ("next(iter([b])).d()", True),
        ("def f():\n  yield b\nfor x in f(): x.d()", True),
        ("{'k': b}.get('k').d()", True),
        ("{'k': b}.get('l').d()", False),
        ("{'k': b}.pop('k', None).d()", True),
        ("{'k': b}[k].d()", True),
        ("{k: b}['k'].d()", True),
        ("s = {}\ns[k] = b\ns['k'].d()", True),
        ("s = {**{'k': b}}\ns['k'].d()", True),
        ("dict({'k': b}, l=1)['k'].d()", True),
        ("{'k': b, 'l': 1}['l'].d()", False),
    ],
)
def test_what_is_in_a_list_or_dictionary(source, found):
    assert bool(calls(f"import a\nb = a.B()\n{source}", "a.B.d")) is found


@pytest.mark.parametrize(
    "source",
    [
        "list(x)",
        "[*x]",
        "tuple(x)",
        "sorted(x)",
        "list(sorted(x))",
        "set(x)",
        "[y for y in x]",
        "list(reversed(list(x)))",
    ],
)
@pytest.mark.parametrize("view", ["d.values()", "d.items()", "zip(d, d)"])
def test_what_is_made_of_a_view_holds_its_elements_and_not_the_view(view, source):
    (use,) = calls(f"import a\nd = {{'k': 1}}\nx = {view}\na.b({source})", "a.b")
    (own,) = calls("import a\nd = {'k': 1}\na.b(d.values())", "a.b")

    assert [one["name"] for one in use["arguments"][0]["carries"] if one["name"].startswith("builtins.")] == []
    assert [one["name"] for one in own["arguments"][0]["carries"]] == ["builtins.dict.values"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if isinstance(x, a.B): x.c()", True),
        ("if isinstance(x, list): x.c()\nf(a.B())", False),
        ("if not isinstance(x, a.B): return\n  x.c()", True),
        ("if isinstance(x, a.B): return\n  x.c()\nf(a.B())", False),
        ("if isinstance(x, a.B): pass\n  else: x.c()\nf(a.B())", False),
        ("assert isinstance(x, a.B)\n  x.c()", True),
        ("return isinstance(x, a.B) and x.c()", True),
        ("return x.c() if isinstance(x, a.B) else 1", True),
        ("return 1 if isinstance(x, a.B) else x.c()\nf(a.B())", False),
        ("if isinstance(x, a.B): x = [x]\n  x.c()\nf(a.B())", False),
        ("if type(x) is list: x.c()\nf(a.B())", False),
        ("if type(x) != list: x.c()\nf(a.B())", True),
        ("if isinstance(x, (a.B, a.D)): x.c()", False),
        ("if isinstance(x, a.B) or y: x.c()", False),
        ("if isinstance(x, list): x = a.B(); x.c()", True),
        ("if isinstance(x, a.Base): x.c()\nf(a.B())", True),
    ],
)
def test_a_condition_that_asks_for_a_class(source, found):
    assert bool(calls(f"import a\ndef f(x):\n  {source}", "a.B.c")) is found


@pytest.mark.parametrize(
    ("parameter", "found"),
    [("x", True), ("x: a.D", False), ("x: 'a.D | a.E'", False), ("x: a.B", True), ("x: int | None = None", False)],
)
def test_an_annotation_says_more_than_what_calls_give(parameter, found):
    assert bool(calls(f"import a\ndef f({parameter}):\n  x.c()\nf(a.B())", "a.B.c")) is found


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("k = {'old': 1}", True),
        ("k = {}\nk['old'] = 1", True),
        ("k = {'x': 1}\nk.update(old=1)", True),
        ("k = {**dict(old=1), 'x': 2}", True),
        ("k = {'old': 1} if y else {}", True),
        ("k = {'old': 1}.copy()", True),
        ("k = {'old': 1}\nk.pop('old')", None),
        ("k = {'old': 1}\nk.pop('old', None)", None),
        ("k = {'old': 1}\ndel k['old']", None),
        ("k = {}\nif a.__version__ < '2':\n  k['old'] = 1", None),
        ("k = {'old': 1} if a.__version__ < '2' else {}", None),
        ("k = {'old': 1}\nif hasattr(a, 'new'):\n  k = {}", None),
        ("k = unknown()", None),
        ("k = {'x': 1}", False),
    ],
)
def test_the_entries_of_what_is_spread_over_keywords(source, given):
    (use,) = calls(f"import a\n{source}\na.b(**k)", "a.b")
    assert ("old" in use["keywords"] or (None if use["open"] else False)) is given


@pytest.mark.parametrize(
    ("kinds", "names"),
    [("a.Error", ["a.Error.d"]), ("(a.Error, a.Late)", []), ("ValueError", [])],
)
def test_a_caught_exception_is_of_the_class_that_is_caught(kinds, names):
    source = f"import a\ntry:\n  b()\nexcept {kinds} as error:\n  error.d()\n"

    assert [use["name"] for use in calls(source, "a.**.d")] == names


def test_a_decorator_without_brackets_is_a_call_with_what_it_decorates():
    source = "import a\nclass C:\n  @a.b\n  def f(self): ...\n  @a.b(pre=True)\n  def g(self): ...\n"

    bare, called = calls(source, "a.b")

    assert (bare["line"], len(bare["arguments"]), bare.get("keywords", {})) == (3, 1, {})
    assert (called["line"], list(called["keywords"])) == (5, ["pre"])


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("@a.group()\ndef f(): ...\nf.gone()", ["a.group.__call__.gone"]),
        ("@a.group\ndef f(): ...\nf.gone()", ["a.group.gone"]),
        (
            "@a.group()\n@a.option()\ndef f(): ...\n@f.group()\ndef g(): ...\n@g.gone()\ndef h(): ...",
            ["a.group.__call__.group.__call__.gone"],
        ),
        ("def own(f): ...\n@own\ndef f(): ...\nf.gone()", []),
        ("def f(): ...\nf.gone()", []),
    ],
)
def test_a_decorator_of_elsewhere_makes_what_the_name_of_its_function_means(source, names):
    assert [use["name"] for use in calls(f"import a\n{source}\n", "a.**.gone")] == names


@pytest.mark.parametrize(
    ("test", "names"),
    [
        ("True", ["a.B.c"]),
        ("isinstance(x, Own)", []),
        ("y and isinstance(x, Own)", []),
        ("isinstance(y, Own)", ["a.B.c"]),
    ],
)
def test_an_attribute_of_what_is_given_where_no_other_class_is_asked_for(test, names):
    source = f"import a\ndef f(x, y):\n  if {test}:\n    return x.c\nf(a.B(), 1)"
    assert [use["name"] for use in found(source, "a.B.c")] == names


@pytest.mark.parametrize(
    ("started", "names"),
    [
        ("Process(target=f, args=(a.B(), 1))", ["a.B.c"]),
        ("Thread(target=f, args=[a.B()])", ["a.B.c"]),
        ("Process(target=f, args=(1, a.B()))", []),
        ("Process(target=g, args=(a.B(),))", []),
        ("Process(target=f, args=rest)", []),
    ],
)
def test_what_a_process_is_started_with_is_given_to_its_function(started, names):
    source = f"import a\ndef f(x, y=0):\n  x.c()\n{started}\n"
    assert [use["name"] for use in calls(source, "a.B.c")] == names
