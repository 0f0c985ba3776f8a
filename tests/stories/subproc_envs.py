"""Story 2: in what shapes people give objects to Stable-Baselines3's ``SubprocVecEnv``, and which of them reach the workers.

The truth is what the real library does up to the first reset of two workers. What fails is also run as each remedy that is
printed would have it: made inside the environment, in one process, forked.
"""

import json
import subprocess
from pathlib import Path

from judging import judged
from stories import found_or_not

FARM = """\
{imports}
import gymnasium

SITE = "none"


class FarmEnv(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, server=None):
        self.server = {server}

    def reset(self, *, seed=None, options=None):
        return int(SITE == "north"), {{}}

    def step(self, action):
        return 0, 0.0, False, False, {{}}


class FarmWrapper(gymnasium.Wrapper):
    def __init__(self, env, server=None):
        super().__init__(env)
        self.server = {server}


def make_farm(server=None):
    return FarmEnv(server)
"""
MAIN = """\
import functools
import multiprocessing
import threading
{imports}
import gymnasium
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import farm
from farm import FarmEnv, FarmWrapper, make_farm
{top}

def main():
{body}
    venv.reset()
    venv.close()


if __name__ == "__main__":
    main()
"""
PLAIN = '"tcp://localhost:5555"'
#: The objects, by name: imports, and what makes one.
OBJECTS = {
    "a lock": ("import threading", "threading.Lock()"),
    "a lock of _thread": ("import _thread", "_thread.allocate_lock()"),
    "a condition": ("import threading", "threading.Condition()"),
    "a thread's own": ("import threading", "threading.local()"),
    "a timer": ("from threading import Timer", "Timer(1, print)"),
    "a file for writing": ("import os", 'open(os.devnull, "w")'),
    "a file for bytes": ("", 'open(__file__, "rb")'),
    "a file for appending": ("import os", 'open(os.devnull, mode="a")'),
    "a file for reading": ("", "open(__file__)"),
    "a file of a path for writing": ("import os\nfrom pathlib import Path", 'Path(os.devnull).open("w")'),
    "a file of a path for bytes": ("from pathlib import Path", 'Path(__file__).open("rb")'),
    "a file of a path for reading": ("from pathlib import Path", "Path(__file__).open()"),
    "a path": ("from pathlib import Path", "Path(__file__)"),
    "a temporary file": ("import tempfile", "tempfile.NamedTemporaryFile()"),
    "a compressed file": ("import gzip\nimport os", 'gzip.open(os.devnull, "wb")'),
    "an archive": ("import io\nimport zipfile", 'zipfile.ZipFile(io.BytesIO(), "w")'),
    "a file in memory": ("import io", "io.StringIO()"),
    "bytes in memory": ("import io", "io.BytesIO()"),
    "a memory map": ("import mmap", "mmap.mmap(-1, 8)"),
    "a socket": ("import socket", "socket.socket()"),
    "one of a pair of sockets": ("import socket", "socket.socketpair()[0]"),
    "an address": ("", '("localhost", 5555)'),
    "a TLS context": ("import ssl", "ssl.create_default_context()"),
    "a selector": ("import selectors", "selectors.DefaultSelector()"),
    "a database": ("import sqlite3", 'sqlite3.connect(":memory:")'),
    "a database by its other name": ("from sqlite3 import dbapi2", 'dbapi2.connect(":memory:")'),
    "a cursor": ("import sqlite3", 'sqlite3.connect(":memory:").cursor()'),
    "rows of a database": ("import sqlite3", 'sqlite3.connect(":memory:").execute("select 1").fetchall()'),
    "a ZeroMQ context": ("import zmq", "zmq.Context()"),
    "a ZeroMQ socket": ("import zmq", "zmq.Context().socket(zmq.REQ)"),
    "an element of lxml": ("from lxml import etree", 'etree.fromstring("<a/>")'),
    "an element": ("from xml.etree import ElementTree", 'ElementTree.fromstring("<a/>")'),
    "a log file's handler": ("import logging\nimport os", "logging.FileHandler(os.devnull)"),
    "a stream's handler": ("import logging", "logging.StreamHandler()"),
    "a logger": ("import logging", 'logging.getLogger("farm")'),
    "a manager": ("import multiprocessing", "multiprocessing.Manager()"),
    "a managed dictionary": ("import multiprocessing", "multiprocessing.Manager().dict()"),
    "a pool of threads": ("from concurrent.futures import ThreadPoolExecutor", "ThreadPoolExecutor(1)"),
    "a future": ("from concurrent.futures import Future", "Future()"),
    "a queue of threads": ("import queue", "queue.Queue()"),
    "a csv writer": ("import csv\nimport io", "csv.writer(io.StringIO())"),
    "a csv reader of rows": ("import csv", 'csv.DictReader(["a", "1"])'),
    "a list of csv rows": ("import csv", 'list(csv.DictReader(["a", "1"]))'),
    "a pointer": ("import ctypes", "ctypes.pointer(ctypes.c_int(1))"),
    "a C string": ("import ctypes", 'ctypes.c_char_p(b"a")'),
    "a C number": ("import ctypes", "ctypes.c_int(1)"),
    "weak values": ("import weakref", "weakref.WeakValueDictionary()"),
    "weak keys": ("import weakref", "weakref.WeakKeyDictionary()"),
    "a weak reference": ("import weakref", "weakref.ref(FarmEnv)"),
    "a generator": ("", "(n for n in range(3))"),
    "a list": ("", "[n for n in range(3)]"),
    "a process of a command": ("import subprocess", 'subprocess.Popen(["true"])'),
    "what a command ended with": ("import subprocess", 'subprocess.run(["true"])'),
    "an event loop": ("import asyncio", "asyncio.new_event_loop()"),
    "a context variable": ("from contextvars import ContextVar", 'ContextVar("server")'),
    "a digest": ("import hashlib", "hashlib.sha256()"),
    "the text of a digest": ("import hashlib", "hashlib.sha256().hexdigest()"),
    "a match": ("import re", 're.match("a", "a")'),
    "a pattern": ("import re", 're.compile("a")'),
    "a lambda": ("", "lambda: 1"),
    "a partial": ("import functools", "functools.partial(print, 1)"),
    "a module": ("import json", "json"),
    "random numbers": ("import random", "random.Random(1)"),
    "the system's random numbers": ("import random", "random.SystemRandom()"),
    "a generator of numpy": ("import numpy", "numpy.random.default_rng(1)"),
    "an array": ("import numpy", "numpy.zeros(3)"),
    "a layer": ("import torch", "torch.nn.Linear(2, 1)"),
    "a lock of the forkserver": ("import multiprocessing", 'multiprocessing.get_context("forkserver").Lock()'),
    "a list with a lock": ("import threading", "[threading.Lock()]"),
    "a dictionary with a lock": ("import threading", '{"lock": threading.Lock()}'),
    "a lock's class": ("import threading", "threading.Lock"),
}
LOCK = OBJECTS["a lock"]
DOCUMENTED = (
    "",
    """\
    def make_env(server, rank):
        def _init():
            env = FarmEnv(server)
            env.reset(seed=rank)
            return env

        return _init

    server = VALUE
    venv = SubprocVecEnv([make_env(server, rank) for rank in range(2)]METHOD)""",
)
HOLDER = """\


class Server:
    def __init__(self):
        self.line = VALUE
"""
TRAINER = """\


class Trainer:
    def __init__(self):
        self.server = VALUE

    def make(self):
        return FarmEnv(PASSED)
{more}"""
#: The ways, by name: what is at the top of the file, and in ``main``; each once with a lock and once with an address.
WAYS = {
    "by the documented closure": DOCUMENTED,
    "by a lambda": ("", "    server = VALUE\n    venv = SubprocVecEnv([lambda: FarmEnv(server)] * 2METHOD)"),
    "by a lambda's default": ("", "    server = VALUE\n    venv = SubprocVecEnv([lambda s=server: FarmEnv(s) for _ in range(2)]METHOD)"),
    "by a partial": ("", "    server = VALUE\n    venv = SubprocVecEnv([functools.partial(FarmEnv, server)] * 2METHOD)"),
    "by a partial's keyword": ("", "    venv = SubprocVecEnv(env_fns=[functools.partial(make_farm, server=VALUE)]METHOD)"),
    "appended in a loop": (
        "",
        "    server = VALUE\n    makers = []\n    for _ in range(2):\n        makers.append(functools.partial(FarmEnv, server))\n    venv = SubprocVecEnv(makersMETHOD)",
    ),
    "by a function's default": (
        "",
        "    server = VALUE\n\n    def make(server=server):\n        return FarmEnv(server)\n\n    venv = SubprocVecEnv([make, make]METHOD)",
    ),
    "by env_kwargs": ("", '    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs={"server": VALUE}KWARGS)'),
    "by env_kwargs in a variable": (
        "",
        "    env_kwargs = dict(server=VALUE)\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=env_kwargsKWARGS)",
    ),
    "by env_kwargs that are updated": (
        "",
        '    env_kwargs = {}\n    env_kwargs.update({"server": VALUE})\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=env_kwargsKWARGS)',
    ),
    "by env_kwargs that are updated by keyword": (
        "",
        "    env_kwargs = {}\n    env_kwargs.update(server=VALUE)\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=env_kwargsKWARGS)",
    ),
    "by env_kwargs that are set": (
        "",
        '    env_kwargs = {}\n    env_kwargs["server"] = VALUE\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=env_kwargsKWARGS)',
    ),
    "by env_kwargs that are joined": (
        "",
        '    usual = {"server": None}\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs={**usual, "server": VALUE}KWARGS)',
    ),
    "by env_kwargs of a function": (
        '\n\ndef keywords():\n    return {"server": VALUE}\n',
        "    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=keywords()KWARGS)",
    ),
    "by the keywords of the call": (
        "",
        '    words = {"vec_env_cls": SubprocVecEnv, "env_kwargs": {"server": VALUE}}\n    venv = make_vec_env(FarmEnv, 2, **wordsKWARGS)',
    ),
    "by position": ("", '    venv = make_vec_env(FarmEnv, 2, None, 0, None, None, {"server": VALUE}, SubprocVecEnvKWARGS)'),
    "by wrapper_kwargs": (
        "",
        '    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, wrapper_class=FarmWrapper, wrapper_kwargs={"server": VALUE}KWARGS)',
    ),
    "by a wrapper's lambda": (
        "",
        "    server = VALUE\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, wrapper_class=lambda env: FarmWrapper(env, server)KWARGS)",
    ),
    "by a lambda for make_vec_env": ("", "    server = VALUE\n    venv = make_vec_env(lambda: FarmEnv(server), 2, vec_env_cls=SubprocVecEnvKWARGS)"),
    "by a parameter": (
        "\n\ndef start(server):\n    return SubprocVecEnv([functools.partial(FarmEnv, server)] * 2METHOD)\n",
        "    venv = start(VALUE)",
    ),
    "by a parameter, by keyword": (
        '\n\ndef start(n, *, server=None):\n    return make_vec_env(FarmEnv, n, vec_env_cls=SubprocVecEnv, env_kwargs={"server": server}KWARGS)\n',
        "    venv = start(2, server=VALUE)",
    ),
    "with the class by a parameter": (
        '\n\ndef start(kind, server):\n    return make_vec_env(FarmEnv, 2, vec_env_cls=kind, env_kwargs={"server": server}KWARGS)\n',
        "    venv = start(SubprocVecEnv, VALUE)",
    ),
    "with the class chosen": (
        "",
        '    several = 2\n    kind = SubprocVecEnv if several > 1 else DummyVecEnv\n    venv = make_vec_env(FarmEnv, several, vec_env_cls=kind, env_kwargs={"server": VALUE}KWARGS)',
    ),
    "with a class of it": (
        "\n\nclass Several(SubprocVecEnv):\n    pass\n",
        "    venv = Several([functools.partial(FarmEnv, VALUE)]METHOD)",
    ),
    "in an object": (HOLDER, "    server = Server()\n    venv = SubprocVecEnv([lambda: FarmEnv(server)] * 2METHOD)"),
    "in an object that drops it": (
        HOLDER + '\n    def __getstate__(self):\n        return {"line": None}\n',
        "    server = Server()\n    venv = SubprocVecEnv([lambda: FarmEnv(server)] * 2METHOD)",
    ),
    "in an object of the program": (
        TRAINER.format(more="\n    def run(self):\n        return SubprocVecEnv([self.make] * 2METHOD)\n").replace("PASSED", "self.server"),
        "    venv = Trainer().run()",
    ),
    "in an object whose static method makes it": (
        TRAINER.format(more="\n    @staticmethod\n    def build():\n        return FarmEnv()\n").replace("PASSED", "self.server"),
        "    trainer = Trainer()\n    venv = SubprocVecEnv([trainer.build] * 2METHOD)",
    ),
    "in the environment": ("", "    env = FarmEnv(VALUE)\n    venv = SubprocVecEnv([lambda: env]METHOD)"),
    "in an environment that was closed": ("", "    probe = FarmEnv(VALUE)\n    probe.close()\n    venv = SubprocVecEnv([FarmEnv] * 2METHOD)"),
    "in a list": ("", '    servers = [VALUE]\n    venv = SubprocVecEnv([functools.partial(FarmEnv, {"all": servers})]METHOD)'),
    "by a global of the file": (
        "\nserver = VALUE\n\n\ndef make():\n    return FarmEnv(server)\n",
        "    venv = SubprocVecEnv([make, make]METHOD)",
    ),
    "by a global that main sets": (
        "\n\ndef make():\n    return FarmEnv(server)\n",
        "    global server\n    server = VALUE\n    venv = SubprocVecEnv([make, make]METHOD)",
    ),
    "by an attribute of a class of the file": (
        "\n\nclass OwnEnv(FarmEnv):\n    line = VALUE\n",
        "    venv = SubprocVecEnv([OwnEnv, OwnEnv]METHOD)",
    ),
    "by a method of a class of the file": (
        "\n\nserver = VALUE\n\n\nclass OwnEnv(FarmEnv):\n    def reset(self, *, seed=None, options=None):\n        print(server)\n        return 0, {}\n",
        "    venv = SubprocVecEnv([OwnEnv, OwnEnv]METHOD)",
    ),
    "and was replaced": ("", "    server = VALUE\n    server = None\n    venv = SubprocVecEnv([lambda: FarmEnv(server)]METHOD)"),
    "and is not taken along": ("", "    server = VALUE\n    print(server)\n    venv = SubprocVecEnv([lambda: FarmEnv()]METHOD)"),
    "in one process": ("", "    server = VALUE\n    venv = DummyVecEnv([lambda: FarmEnv(server)] * 2)"),
    "in one process by make_vec_env": ("", '    venv = make_vec_env(FarmEnv, 2, vec_env_cls=DummyVecEnv, env_kwargs={"server": VALUE})'),
    "in the default kind of make_vec_env": ("", '    venv = make_vec_env(FarmEnv, 2, env_kwargs={"server": VALUE})'),
    "after multiprocessing is told to fork": (
        "",
        '    multiprocessing.set_start_method("fork")\n    server = VALUE\n    venv = SubprocVecEnv([lambda: FarmEnv(server)] * 2METHOD)',
    ),
}  # fmt: skip
#: What the first remedy makes of ``main`` where that is more than other words for the object.
INSIDE = {"in the environment": "    venv = SubprocVecEnv([lambda: FarmEnv()]METHOD)"}
#: With what is in another file of the program.
ELSEWHERE = {
    "of another module": ("server = VALUE\n", "    import shared\n\n    venv = SubprocVecEnv([functools.partial(FarmEnv, shared.server)]METHOD)"),
    "of another module, by name": ("server = VALUE\n", "    from shared import server\n\n    venv = SubprocVecEnv([lambda: FarmEnv(server)]METHOD)"),
    "of another module's function": ("def connect():\n    return VALUE\n", "    import shared\n\n    server = shared.connect()\n    venv = SubprocVecEnv([lambda: FarmEnv(server)]METHOD)"),
    "of another module's class": (
        "class Server:\n    def __init__(self):\n        self.line = VALUE\n",
        "    from shared import Server\n\n    venv = make_vec_env(FarmEnv, 2, vec_env_cls=SubprocVecEnv, env_kwargs=dict(server=Server())KWARGS)",
    ),
    "that another module's function takes itself": (
        "from farm import FarmEnv\n\nserver = VALUE\n\n\ndef make():\n    return FarmEnv(server)\n",
        "    import shared\n\n    venv = SubprocVecEnv([shared.make] * 2METHOD)",
    ),
    "sent by another module's function": (
        "import functools\n\nfrom stable_baselines3.common.vec_env import SubprocVecEnv\n\nfrom farm import FarmEnv\n\n\ndef start(server):\n    return SubprocVecEnv([functools.partial(FarmEnv, server)] * 2METHOD)\n",
        "    import shared\n\n    venv = shared.start(VALUE)",
    ),
}  # fmt: skip
#: The start method that a call states.
METHODS = ("forkserver", "spawn", "fork")
STATED = {
    "by a partial": "server",
    "by env_kwargs": "vec_env_kwargs",
    "by env_kwargs in a variable": "vec_env_kwargs",
}
#: What workers do without, whatever can be pickled: top, body, and both as the remedy has it.
LACKING = {
    "a module's setting changed in main": (
        ("", '    farm.SITE = "north"\n    venv = SubprocVecEnv([FarmEnv] * 2METHOD)\n    assert venv.reset()[0] == 1'),
        (
            "\n\ndef make(site):\n    farm.SITE = site\n    return FarmEnv()\n",
            '    farm.SITE = "north"\n    venv = SubprocVecEnv([functools.partial(make, farm.SITE)] * 2METHOD)\n    assert venv.reset()[0] == 1',
        ),
    ),
    "a module's setting changed at import": (
        ('\nfarm.SITE = "north"\n', "    venv = SubprocVecEnv([FarmEnv] * 2METHOD)\n    assert venv.reset()[0] == 1"),
        None,
    ),
    "an environment registered at import": (
        ('\ngymnasium.register("Farm-v0", FarmEnv)\n', '    venv = make_vec_env("Farm-v0", 2, vec_env_cls=SubprocVecEnvKWARGS)'),
        None,
    ),
    "a global of the file that main sets": (
        (
            "\nsite = None\n\n\ndef make():\n    assert site\n    return FarmEnv()\n",
            '    global site\n    site = "north"\n    venv = SubprocVecEnv([make] * 2METHOD)',
        ),
        None,
    ),
}  # fmt: skip


class Variation:
    """A program with an object, and what each remedy would make of it."""

    def __init__(self, way, made=LOCK, *, method=None, elsewhere=None, mended=None, inside=None, guarded=True):
        self.top, self.body = way
        self.imports, self.value = made
        self.method, self.elsewhere, self.mended, self.guarded = method, elsewhere, mended, guarded
        self.inside = inside or self.body

    def files(self, *, inside=False, kind="SubprocVecEnv", method=None):
        """The files of the program, with the object made inside the environment, of a kind, with a start method."""
        method = method or self.method
        stated = f'start_method="{method}"' if method and kind == "SubprocVecEnv" else ""
        words = {
            "VALUE": PLAIN if inside else self.value,
            "METHOD": stated and f", {stated}",
            "KWARGS": stated and f", vec_env_kwargs=dict({stated})",
        }
        files = self._made_inside() if inside else self._made_outside()
        return {name: _filled(text, words, kind) for name, text in files.items()}

    def _made_outside(self):
        """The files of the program as it is: the object is made where the environments are started."""
        text = MAIN.format(imports=self.imports, top=self.top, body=self.body)
        if not self.guarded:
            text = text.replace('if __name__ == "__main__":\n    main()', "main()")
        files = {"main.py": text, "farm.py": _farm()}
        return {**files, "shared.py": f"{self.imports}\n{self.elsewhere}"} if self.elsewhere else files

    def _made_inside(self):
        """The files of the program with the object made by the environment itself, or otherwise mended."""
        top, body = self.mended or (self.top, self.inside)
        files = {
            "main.py": MAIN.format(imports="", top=top, body=body),
            "farm.py": _farm(self.imports, "server" if self.mended else self.value),
        }
        return {**files, "shared.py": f"\n{self.elsewhere}"} if self.elsewhere else files

    def cures(self):
        """By remedy, the files that it makes."""
        made = {"inside": self.files(inside=True)}
        if self.guarded and not self.mended:
            made |= {"one process": self.files(kind="DummyVecEnv"), "fork": self.files(method="fork")}
        return made


def _farm(imports="", server="server"):
    return FARM.format(imports=imports, server=server).replace("FarmEnv)", "gymnasium.Env)")


def _filled(text, words, kind):
    for word, given in words.items():
        text = text.replace(word, given)
    return text.replace("SubprocVecEnv", kind).replace("import DummyVecEnv, DummyVecEnv", "import DummyVecEnv")


def variations():
    """By name, the variation."""
    made = {name: Variation(DOCUMENTED, one) for name, one in OBJECTS.items()}
    for name, way in WAYS.items():
        for what, one in {"a lock": LOCK, "an address": ("", PLAIN)}.items():
            made[f"{what} {name}"] = Variation(way, one, inside=INSIDE.get(name))
    for name, (shared, body) in ELSEWHERE.items():
        for what, one in {"a lock": LOCK, "an address": ("", PLAIN)}.items():
            made[f"{what} {name}"] = Variation(("", body), one, elsewhere=shared)
    for name in STATED:
        for method in METHODS:
            made[f"a lock {name}, {method} stated"] = Variation(WAYS[name], method=method)
    for name, (way, mended) in LACKING.items():
        made[name] = Variation(way, ("", PLAIN), mended=mended)
    for name in ("by the documented closure", "by env_kwargs"):
        made[f"an address {name}, without a guard"] = Variation(WAYS[name], ("", PLAIN), guarded=False)
    return made


RELEASES = {"stable-baselines3": "2.6.0", "gymnasium": "1.1.1", "cloudpickle": "3.1.1", "torch": "2.13.0"}


def runs(python):
    """How each program ends, by name, and each that fails as its remedies would have it."""
    every = variations()
    ends = _ends(python, {name: one.files() for name, one in every.items()})
    failing = {name: every[name] for name, end in ends.items() if end != "works"}
    cured = _ends(
        python, {f"{name} / {kind}": files for name, one in failing.items() for kind, files in one.cures().items()}
    )
    return {
        name: {
            "said": ends[name],
            "cures": {kind: cured[f"{name} / {kind}"] for kind in one.cures()} if name in failing else {},
        }
        for name, one in every.items()
    }


def _ends(python, programs):
    runner = Path(__file__).with_name("served.py")
    done = subprocess.run([python, runner], input=json.dumps(programs), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def outcome(variation, truth):
    """What envdoctor makes of it, and whether all that is printed ends it."""
    files = variation.files()
    findings = judged(files, RELEASES)
    told = found_or_not(findings, truth["said"])
    if told != "found":
        return told
    printed = " ".join(one.text for finding in findings.values() for one in finding.remedies)
    tried = {"inside": True, "one process": "Use DummyVecEnv" in printed, "fork": "Fork the workers" in printed}
    return "cured" if all(end == "works" for kind, end in truth["cures"].items() if tried[kind]) else "not cured"
