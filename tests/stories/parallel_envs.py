"""Story 4: in what shapes people give environments to TorchRL's ``ParallelEnv``, and which of them get to the workers.

The environment holds an engine of a compiled library, as Melting Pot's does. The truth is what ``ParallelEnv`` of the real
TorchRL does at its first reset, up to the moment where a worker has everything that it is given.
"""

import itertools
import json
import subprocess
import textwrap
from pathlib import Path

from judging import judged
from stories import found_or_not

HEAD = "import functools\nimport sqlite3\n\nfrom torchrl.envs import ParallelEnv, StepCounter, TransformedEnv\n\n"
IMPORT = "from substrate import SubstrateEnv\n"
SUBSTRATE = """\
import sqlite3

import torch
from tensordict import TensorDict
from torchrl.data import Bounded, Composite, Unbounded
from torchrl.envs import EnvBase


class SubstrateEnv(EnvBase):
    def __init__(self, name="commons", engine=None):
        super().__init__(device="cpu", batch_size=torch.Size([]))
        self.observation_spec = Composite(observation=Unbounded(shape=(3,)), shape=())
        self.action_spec = Bounded(-torch.ones(2), torch.ones(2), shape=(2,))
        self.reward_spec = Unbounded(shape=(1,))
        self.engine = sqlite3.connect(":memory:")

    def _reset(self, tensordict=None, **options):
        over = torch.zeros(1, dtype=torch.bool)
        return TensorDict({"observation": torch.zeros(3), "done": over, "terminated": over.clone()}, [])

    def _step(self, tensordict):
        over = torch.zeros(1, dtype=torch.bool)
        told = {"observation": torch.ones(3), "reward": torch.ones(1), "done": over, "terminated": over.clone()}
        return TensorDict(told, [])

    def _set_seed(self, seed):
        return seed


class Factory:
    def __init__(self, name="commons"):
        self.name = name

    def __call__(self):
        return SubstrateEnv(self.name)

    def make(self):
        return SubstrateEnv(self.name)

    @staticmethod
    def build():
        return SubstrateEnv()

    @classmethod
    def create(cls):
        return SubstrateEnv()


class Commons:
    def __call__(self):
        return SubstrateEnv()


class HoldingCommons(Commons):
    def __init__(self):
        self.connection = sqlite3.connect(":memory:")


class HoldingFactory:
    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def __call__(self):
        return SubstrateEnv()


class LateFactory:
    def open(self):
        self.connection = sqlite3.connect(":memory:")

    def __call__(self):
        return SubstrateEnv()


def make_env(name="commons"):
    return SubstrateEnv(name)


def maker(name="commons"):
    def make():
        return SubstrateEnv(name)

    return make


def wrapped(env):
    return env


default = SubstrateEnv
factory = Factory()
"""
#: By name: what is given, and the lines before; all are one program each.
INSTANCES = {
    "an environment": ("", "SubstrateEnv()"),
    "a variable": ("env = SubstrateEnv()", "env"),
    "a function's result": ("", "make_env()"),
    "a maker's result, called": ("", "maker()()"),
    "a factory's result": ("", "Factory()()"),
    "a factory's method's result": ("", "Factory().make()"),
    "a static method's result": ("", "Factory.build()"),
    "a class method's result": ("", "Factory.create()"),
    "moved to a device": ("", 'SubstrateEnv().to("cpu")'),
    "moved, by a variable": ('env = SubstrateEnv()\nenv = env.to("cpu")', "env"),
    "with a transform appended": ("", "TransformedEnv(SubstrateEnv()).append_transform(StepCounter())"),
    "an environment with a transform appended": ("", "SubstrateEnv().append_transform(StepCounter())"),
    "with a transform": ("", "TransformedEnv(SubstrateEnv(), StepCounter())"),
    "a transform by a variable": ("base = SubstrateEnv()\nenv = TransformedEnv(base, StepCounter())", "env"),
    "after a late transform": ("env = TransformedEnv(SubstrateEnv())\nenv.append_transform(StepCounter())", "env"),
    "in evaluation mode": ("", "SubstrateEnv().eval()"),
    "through a function": ("", "wrapped(SubstrateEnv())"),
    "one of a dictionary": ('envs = {"a": SubstrateEnv()}', 'envs["a"]'),
    "one of a list": ("envs = [SubstrateEnv()]", "envs[0]"),
    "either of two": ("import os", "SubstrateEnv() if os.sep else make_env()"),
    "by an assignment expression": ("", "(env := SubstrateEnv())"),
}
CALLABLES = {
    "the class": ("", "SubstrateEnv"),
    "a function": ("", "make_env"),
    "a lambda": ("", "lambda: SubstrateEnv()"),
    "a lambda of a function": ("", "lambda: make_env()"),
    "a partial of the class": ("", 'functools.partial(SubstrateEnv, "commons")'),
    "a partial of a function": ("", 'functools.partial(make_env, "commons")'),
    "a maker's result": ("", "maker()"),
    "a factory": ("", "Factory()"),
    "a factory by a variable": ("make = Factory()", "make"),
    "an object that makes it": ("", "Commons()"),
    "a factory's method": ("", "Factory().make"),
    "a static method": ("", "Factory.build"),
    "a class method": ("", "Factory.create"),
    "a class by another name": ("Env = SubstrateEnv", "Env"),
    "a function through a function": ("", "wrapped(make_env)"),
    "one of a dictionary of makers": ('makers = {"a": make_env}', 'makers["a"]'),
    "a lambda with a default name": ('name = "commons"', "lambda name=name: SubstrateEnv(name)"),
}
HOLDING = {
    "a lambda with the environment": ("env = SubstrateEnv()", "lambda env=env: env"),
    "a lambda around the environment": ("env = SubstrateEnv()", "lambda: env"),
    "a partial with a connection": (
        'connection = sqlite3.connect(":memory:")',
        "functools.partial(SubstrateEnv, engine=connection)",
    ),
    "a lambda with a connection": (
        'connection = sqlite3.connect(":memory:")',
        "lambda: SubstrateEnv(engine=connection)",
    ),
    "a factory that holds a connection": ("", "HoldingFactory()"),
    "an object that makes it and holds a connection": ("", "HoldingCommons()"),
    "a factory with a late connection": ("make = Factory()\nmake.connection = sqlite3.connect(':memory:')", "make"),
    "a factory that opens one": ("make = LateFactory()\nmake.open()", "make"),
    "a lambda around a holding factory": ("make = HoldingFactory()", "lambda: make()"),
    "a function of the environment": ("env = SubstrateEnv()\n\ndef make():\n    return env\n", "make"),
}
GUARD = 'if __name__ == "__main__":\n'
CALLS = {
    "": "ParallelEnv(1, {0}METHOD)",
    "in a list": "ParallelEnv(1, [{0}]METHOD)",
    "by keyword": "ParallelEnv(num_workers=1, create_env_fn={0}METHOD)",
}


def _program(before, given, call=CALLS[""], *, imports="from substrate import *\n", head=HEAD):
    """A program that makes it in ``main``, and resets."""
    body = [
        *before.splitlines(),
        f"env_of_all = {call.format(given)}",
        "env_of_all.reset()",
        "env_of_all.close(raise_if_closed=False)",
    ]
    inner = "".join(f"    {line}\n" if line else "\n" for line in body)
    return f"{head}{imports}\n\ndef main():\n{inner}\n\n{GUARD}    main()\n"


def _here(before, given):
    return {"main.py": _program(before, given, imports="", head=HEAD + SUBSTRATE + "\n")}


def _star(before, given):
    return {"main.py": _program(before, given), "substrate.py": SUBSTRATE}


def _stars(before, given):
    head = "import functools\nimport sqlite3\n\nfrom torchrl.envs import *\n\n"
    return {"main.py": _program(before, given, head=head), "substrate.py": SUBSTRATE}


def _by_parameter(before, given):
    lines = "".join(f"    {line}\n" for line in [*before.splitlines(), f"several({given})"])
    return {"main.py": f"{HEAD}{PLAIN}{SEVERAL}\n\n{GUARD}{lines}", "substrate.py": SUBSTRATE}


def _called(call):
    return lambda before, given: {"main.py": _program(before, given, call, imports=PLAIN), "substrate.py": SUBSTRATE}


NAMES = "SubstrateEnv, Commons, Factory, HoldingCommons, HoldingFactory, LateFactory, make_env, maker, wrapped"
PLAIN = f"from substrate import {NAMES}\n"
SEVERAL = """

def several(make):
    found = ParallelEnv(1, makeMETHOD)
    found.reset()
    found.close(raise_if_closed=False)
"""
#: The shapes of a whole program.
SHAPES = {
    "imported with a star": _star, "all in one file": _here, "everything with a star": _stars,
    "by a parameter": _by_parameter,
}  # fmt: skip


class Variation:
    """A program, and what each remedy that is printed for its kind would make of it."""

    def __init__(self, kind, name, shape):
        self.kind, self.shape = kind, shape
        self.before, self.given = {"instance": INSTANCES, "callable": CALLABLES, "holding": HOLDING}[kind][name]

    def files(self, method=""):
        """The files of the program."""
        return _filled(self.shape(self.before, self.given), method)

    def cures(self):
        """By remedy, the files that it makes: an environment is made in a function, and so is all that it holds."""
        made = self.given if self.kind == "instance" else f"({self.given})()"
        build = f"def build():\n{textwrap.indent(self.before, '    ')}\n    return {made}\n"
        cures = {"a function": _filled(self.shape(build, "build"), "")}
        if self.kind == "holding":
            return {**cures, "fork": self.files(', mp_start_method="fork"')}
        creator = _filled(self.shape("from torchrl.envs import EnvCreator\n" + build, "EnvCreator(build)"), "")
        return {**cures, "a creator": creator}


def _filled(files, method):
    return {name: text.replace("METHOD", method) for name, text in files.items()}


def variations():
    """By name, the variation."""
    plain = _called(CALLS[""])
    tables = {"instance": INSTANCES, "callable": CALLABLES, "holding": HOLDING}
    made = {f"{kind}: {name}": Variation(kind, name, plain) for kind, table in tables.items() for name in table}
    some = [
        ("instance", "an environment"),
        ("callable", "a lambda"),
        ("callable", "a factory"),
        ("callable", "an object that makes it"),
        ("holding", "a lambda with the environment"),
        ("holding", "an object that makes it and holds a connection"),
    ]
    for (kind, name), call in itertools.product(some, ("in a list", "by keyword")):
        made[f"{kind}: {name}, {call}"] = Variation(kind, name, _called(CALLS[call]))
    more = (*some, ("instance", "a function's result"), ("callable", "a function"))
    for (kind, name), (shape, program) in itertools.product(more, SHAPES.items()):
        made[f"{kind}: {name}, {shape}"] = Variation(kind, name, program)
    return made


RELEASES = {"torchrl": "0.14.1", "tensordict": "0.14.3", "torch": "2.13.0", "gymnasium": "1.1.1"}


def runs(python):
    """How each program ends, by name, and each that fails as its remedies would have it."""
    every = variations()
    ends = _ends(python, {name: one.files() for name, one in every.items()})
    cures = {name: every[name].cures() if end != "works" else {} for name, end in ends.items()}
    cured = _ends(python, {f"{name} / {kind}": one for name, made in cures.items() for kind, one in made.items()})
    return {
        name: {"said": end, "cures": {kind: cured[f"{name} / {kind}"] for kind in cures[name]}}
        for name, end in ends.items()
    }


def _ends(python, programs):
    runner = Path(__file__).with_name("forked.py")
    words = [python, runner, "working"]
    done = subprocess.run(words, input=json.dumps(programs), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def outcome(variation, truth):
    """What envdoctor makes of it, and whether all that is printed ends it."""
    told = found_or_not(judged(variation.files(), RELEASES), truth["said"])
    return told if told != "found" else "cured" if {*truth["cures"].values()} == {"works"} else "not cured"
