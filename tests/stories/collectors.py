"""Story 5: in what shapes people give policies to TorchRL's collectors, and which of these copy or pickle them.

The policy holds a handle, as one that asks hardware does. The truth is what the collector of the real TorchRL does up to its
first batch, or up to the moment where a worker has everything that it is given, in each release; parameters are on ``cpu``, so that
``cpu:0`` stands for a device where they are not. Each variation is also run as its remedies would have it.
"""

import itertools
import json
import subprocess
from pathlib import Path

from judging import judged
from stories import found_or_not

NAMES = (
    "Actor, CopyingPolicy, DrivenPolicy, Driver, HardwarePolicy, LatePolicy, LazyPolicy, MadePolicy, PlainPolicy, ReducedPolicy,"
    " StatelessPolicy, make_policy, maker, through"
)
POLICY = """\
import ctypes
import functools
import hashlib
import logging
import multiprocessing
import queue
import re
import socket
import sqlite3
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import torch

LOCK = threading.Lock()


class Actor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 1)

    def forward(self, observation):
        return self.net(observation)


class Driver:
    def __init__(self):
        self.line = threading.Lock()


class PlainPolicy(Actor):
    lock = LOCK

    def forward(self, observation):
        with LOCK:
            return self.net(observation)


class HardwarePolicy(Actor):
    def __init__(self):
        super().__init__()
        self.handle = HANDLE


class DrivenPolicy(Actor):
    def __init__(self):
        super().__init__()
        self.driver = Driver()


class MadePolicy(Actor):
    def __init__(self, handle=None):
        super().__init__()
        self.handle = handle


class LatePolicy(Actor):
    def connect(self):
        self.handle = threading.Lock()
        return self


class LazyPolicy(Actor):
    handle = None

    def forward(self, observation):
        if self.handle is None:
            self.handle = threading.Lock()
        return self.net(observation)


class ReducedPolicy(HardwarePolicy):
    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "handle"}


class CopyingPolicy(HardwarePolicy):
    def __deepcopy__(self, memo):
        return PlainPolicy()


class StatelessPolicy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.handle = threading.Lock()

    def forward(self, observation):
        return torch.zeros(*observation.shape[:-1], 1)


def make_policy():
    return HardwarePolicy()


def maker():
    return lambda: HardwarePolicy()


def through(policy):
    return policy
"""
HANDLE = "threading.Lock()"
#: What a policy holds, by name; its class makes it.
HANDLES = {
    "a condition": "threading.Condition()",
    "a thread's own": "threading.local()",
    "a socket": "socket.socket()",
    "a connection": 'sqlite3.connect(":memory:")',
    "an open file": "open(__file__)",
    "an open file for bytes": 'open(__file__, "rb")',
    "a generator": "(step for step in range(4))",
    "an executor": "ThreadPoolExecutor(1)",
    "a queue": "queue.Queue()",
    "a lock of processes": "multiprocessing.Lock()",
    "a module": "ctypes",
    "a pointer": "ctypes.pointer(ctypes.c_int(1))",
    "a digest": "hashlib.sha256()",
    "a cached tensor": "self.net.weight * 2",
    "a list of locks": "[threading.Lock()]",
    "a weak reference": "weakref.ref(Actor)",
    "weak values": "weakref.WeakValueDictionary()",
    "a lambda": "lambda value: value",
    "a local partial": "functools.partial(lambda value: value, 1)",
    "a match": 're.match("a", "a")',
    "a logger": "logging.getLogger(__name__)",
    "a table": '{"a": 1}',
}
#: How the policy is made: lines before, and what is given.
POLICIES = {
    "a module": ("", "HardwarePolicy()"),
    "by a variable": ("policy = HardwarePolicy()", "policy"),
    "of a function": ("", "make_policy()"),
    "of a maker": ("", "maker()()"),
    "through a function": ("", "through(HardwarePolicy())"),
    "in evaluation mode": ("", "HardwarePolicy().eval()"),
    "moved": ('policy = HardwarePolicy().to("cpu")', "policy"),
    "in a tensor dictionary module": (
        "",
        'TensorDictModule(HardwarePolicy(), in_keys=["observation"], out_keys=["action"])',
    ),
    "in one by a variable": (
        'net = HardwarePolicy()\npolicy = TensorDictModule(module=net, in_keys=["observation"], out_keys=["action"])',
        "policy",
    ),
    "in a sequence": (
        'step = TensorDictModule(HardwarePolicy(), in_keys=["observation"], out_keys=["action"])',
        "TensorDictSequential(step)",
    ),
    "in a torch sequence": (
        'net = torch.nn.Sequential(HardwarePolicy())\npolicy = TensorDictModule(net, ["observation"], ["action"])',
        "policy",
    ),
    "with a driver that holds it": ("", "DrivenPolicy()"),
    "given a lock": ("", "MadePolicy(threading.Lock())"),
    "given a lock by keyword": ("lock = threading.Lock()", "MadePolicy(handle=lock)"),
    "given nothing": ("", "MadePolicy()"),
    "with a late lock": ("policy = Actor()\npolicy.lock = threading.Lock()", "policy"),
    "that connects late": ("policy = LatePolicy()\npolicy.connect()", "policy"),
    "that has not connected": ("policy = LatePolicy()", "policy"),
    "that makes it lazily": ("", "LazyPolicy()"),
    "with a lock of its file": ("", "PlainPolicy()"),
    "that says what is pickled": ("", "ReducedPolicy()"),
    "that says how it is copied": ("", "CopyingPolicy()"),
    "without parameters": ("", "StatelessPolicy()"),
    "that is plain": ("", "Actor()"),
    "whose lock was taken out": ("policy = HardwarePolicy()\ndel policy.handle", "policy"),
}
#: And those that only collectors for several processes take as they are.
LAMBDAS = {
    "by a lambda": (
        'step = TensorDictModule(Actor(), in_keys=["observation"], out_keys=["action"])',
        "lambda data: step(data)",
    ),
    "by a lambda around a lock": (
        'step = TensorDictModule(HardwarePolicy(), in_keys=["observation"], out_keys=["action"])',
        "lambda data: step(data)",
    ),
}
#: What is said of devices.
DEVICES = {
    "no device": "",
    "device": 'device="cpu"',
    "another device": 'device="cpu:0"',
    "policy_device": 'policy_device="cpu"',
    "another policy_device": 'policy_device="cpu:0"',
    "policy_device=None": "policy_device=None",
    "device, but policy_device=None": 'device="cpu", policy_device=None',
    "the devices of the rest": 'env_device="cpu", storing_device="cpu"',
    "a device object": 'device=torch.device("cpu")',
    "whichever device there is": 'device=torch.device("cuda:0" if torch.cuda.is_available() else "cpu")',
    "the policy's device": "device=next(policy.parameters()).device",
}
WORDS = "frames_per_batch=4, total_frames=4"
#: The shapes of the call.
CALLS = {
    "by position": "{cls}({env}, {policy}, {devices}, {words})",
    "by keyword": "{cls}(create_env_fn={env}, policy={policy}, {devices}, {words})",
    "by a dictionary": "{cls}({env}, **{{'policy': {policy}}}, {devices}, {words})",
    "by a partial": "functools.partial({cls}, policy={policy})({env}, {devices}, {words})",
    "by a partial with devices": "functools.partial({cls}, {devices}, {words})({env}, {policy})",
    "by a function": "collect({policy})",
    "by a subclass": "Own({env}, {policy}, {devices}, {words})",
    "by the module": "torchrl.collectors.{cls}({env}, {policy}, {devices}, {words})",
}
ENVIRONMENTS = {
    "an environment": 'GymEnv("Pendulum-v1")',
    "a creator": "EnvCreator(make)",
    "several one after the other": "SerialEnv(2, make)",
}
FACTORIES = {"the class": "HardwarePolicy", "a lambda": "lambda: HardwarePolicy()", "a function": "make_policy"}
MAIN = """\
import functools
import threading

import torch
import torchrl.collectors
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import {cls}
from torchrl.envs import EnvCreator, GymEnv, SerialEnv

from policy import {names}


def make():
    return GymEnv("Pendulum-v1")

{extra}
def main():
{body}

if __name__ == "__main__":
    main()
"""
VERSIONS = ("0.2.1", "0.3.0", "0.5.0", "0.6.0", "0.10.1", "0.14.1")
#: The release that the remedy of the rule for old ones takes.
CURE = "0.6.0"
CURE_OF_SEVERAL = "0.10.1"
#: By release, the companions that it runs with. (``forked.py`` gives old releases what later ones of torch took away, so
#: that torch is not among them.)
COMPANIONS = {
    "0.2.1": {"tensordict": "0.2.1", "gymnasium": "0.29.1"},
    "0.3.0": {"tensordict": "0.3.0", "gymnasium": "0.29.1"},
    "0.5.0": {"tensordict": "0.5.0", "gymnasium": "0.29.1"},
    "0.6.0": {"tensordict": "0.6.0", "gymnasium": "0.29.1"},
    "0.10.1": {"tensordict": "0.10.0", "gymnasium": "1.1.1"},
    "0.14.1": {"tensordict": "0.14.3", "gymnasium": "1.1.1"},
}


class Variation:
    """A program, the release it is for, and what its remedies would make of it."""

    def __init__(self, version, policy=("", "HardwarePolicy()"), devices="", **more):
        self.version = version
        self.before, self.policy = policy
        self.devices = devices
        self.cls = more.pop("cls", "Collector" if version == "0.14.1" else "SyncDataCollector")
        self.call = more.pop("call", CALLS["by position"])
        self.env = more.pop("env", "make")
        self.handle = more.pop("handle", HANDLE)
        self.more = more

    def but(self, **changed):
        """The same with something else."""
        same = {name: getattr(self, name) for name in ("devices", "cls", "call", "env", "handle")}
        return Variation(self.version, (self.before, self.policy), **{**same, **changed})

    def files(self):
        """The files of the program."""
        env = f"[{self.env}]" if "Multi" in self.cls else self.env
        words = {"cls": self.cls, "env": env, "policy": self.policy, "devices": self.devices, "words": WORDS}
        extra = ""
        if self.call == CALLS["by a function"]:
            inner = CALLS["by position"].format(**{**words, "policy": "policy"}).replace(" ,", "")
            extra = f"\ndef collect(policy):\n    return {inner}\n"
        if self.call == CALLS["by a subclass"]:
            extra = f"\nclass Own({self.cls}):\n    pass\n"
        call = self.call.format(**words).replace(" ,", "")
        body = [*self.before.splitlines(), f"collector = {call}", "next(iter(collector))", "collector.shutdown()"]
        inner = "".join(f"    {line}\n" for line in body)
        text = MAIN.format(cls=self.cls, names=NAMES, extra=extra, body=inner)
        return {"main.py": text, "policy.py": POLICY.replace("HANDLE", self.handle)}

    def mended(self):
        """By kind of remedy, the release and the program that it makes."""
        if self.cls not in ("SyncDataCollector", "Collector"):
            makes = {"0.5.0": CURE_OF_SEVERAL}.get(self.version, self.version)
            inner = "".join(f"\n    {line}" for line in self.before.splitlines())
            same = Variation(
                makes, (f"def build():{inner}\n    return {self.policy}", "policy_factory=build"), cls=self.cls
            )
            same.handle = self.handle
            return {"factory": (makes, same)}
        rest = self.but(devices=DEVICES["the devices of the rest"] if self.version != "0.2.1" else "")
        return {"devices": (self.version, rest), **({"upgrade": (CURE, self)} if "0.3" <= self.version < "0.6" else {})}


def _single():
    """The collector for one process."""
    for version, (name, devices) in itertools.product(VERSIONS, DEVICES.items()):
        before = ("policy = HardwarePolicy()", "policy")
        if version == "0.2.1" and ("policy_" in devices or "env_" in devices):
            continue
        yield f"torchrl {version}: {name}", Variation(version, before, devices)
    failing = {"0.5.0": DEVICES["device"], "0.14.1": DEVICES["another device"]}
    for version, devices in failing.items():
        for name, handle in HANDLES.items():
            yield f"torchrl {version}: a policy with {name}", Variation(version, devices=devices, handle=handle)
        for name, policy in POLICIES.items():
            yield f"torchrl {version}: a policy {name}", Variation(version, policy, devices)
        for name, call in CALLS.items():
            yield f"torchrl {version}: given {name}", Variation(version, devices=devices, call=call)
        for name, env in ENVIRONMENTS.items():
            yield f"torchrl {version}: with {name}", Variation(version, devices=devices, env=env)
    for version, (name, factory) in itertools.product(VERSIONS[4:], FACTORIES.items()):
        call = CALLS["by position"].replace("{policy}", f"policy_factory={factory}")
        yield f"torchrl {version}: policy_factory, {name}", Variation(version, devices=DEVICES["device"], call=call)


def _several():
    """The collectors for several processes."""
    old = ("MultiSyncDataCollector", "MultiaSyncDataCollector", "aSyncDataCollector")
    new = ("MultiSyncCollector", "MultiAsyncCollector", "AsyncCollector")
    for version, names in {"0.5.0": old, "0.10.1": old, "0.14.1": new}.items():
        for cls in names:
            yield f"torchrl {version}: {cls}", Variation(version, cls=cls)
        first = names[0]
        for name in (
            *list(POLICIES)[7:9],
            "given a lock",
            "that is plain",
            "that says what is pickled",
            "without parameters",
            *LAMBDAS,
        ):
            policy = {**POLICIES, **LAMBDAS}[name]
            yield f"torchrl {version}: {first}, a policy {name}", Variation(version, policy, cls=first)
        for name in ("a weak reference", "a lambda", "a match", "a logger"):
            handle = HANDLES[name]
            yield f"torchrl {version}: {first}, a policy with {name}", Variation(version, handle=handle, cls=first)
        none = Variation(version, devices=DEVICES["policy_device=None"], cls=first)
        yield f"torchrl {version}: {first}, policy_device=None", none
        if version != "0.5.0":
            call = CALLS["by position"].replace("{policy}", "policy_factory=HardwarePolicy")
            yield f"torchrl {version}: {first}, policy_factory", Variation(version, cls=first, call=call)


def variations():
    """By name, the variation."""
    return {**dict(_single()), **dict(_several())}


def runs(python):
    """How each variation ends, and each as its remedies would have it; ``python`` has ``{}`` for the release."""
    every = variations()
    jobs = {version: {} for version in VERSIONS}
    for name, one in every.items():
        jobs[one.version][name] = one.files()
        for kind, (version, mended) in one.mended().items():
            jobs[version][f"{name} / {kind}"] = mended.files()
    runner = Path(__file__).with_name("forked.py")
    ends = {}
    for version, programs in jobs.items():
        words = [python.format(version), runner]
        done = subprocess.run(words, input=json.dumps(programs), capture_output=True, text=True, check=True)
        ends.update(json.loads(done.stdout.splitlines()[-1]))
    return {
        name: {"said": ends[name], "cures": {kind: ends[f"{name} / {kind}"] for kind in one.mended()}}
        for name, one in every.items()
    }


def outcome(variation, truth):
    """What envdoctor makes of it, and whether all that is printed and was tried ends it."""
    findings = judged(variation.files(), {"torchrl": variation.version, **COMPANIONS[variation.version]})
    told = found_or_not(findings, truth["said"])
    kinds = [one.kind for finding in findings.values() for one in finding.remedies]
    tried = [end for kind, end in truth["cures"].items() if kind != "upgrade" or "upgrade" in kinds]
    return told if told != "found" else "cured" if tried == ["works"] * len(tried) else "not cured"
