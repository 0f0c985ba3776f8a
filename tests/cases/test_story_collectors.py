"""Founding story 5, on the real software: TorchRL's collectors and a policy that cannot be copied.

The ordinary tests hold the source of a project against snapshots of releases. The heavy ones run it: they need torch, and
build what they need (see ``torch_environment.py``). torchrl 0.3 to 0.5 cannot be imported with the torch of those tests, so
their copies are found in source and in a traceback alone.
"""

import json
import os
import subprocess
import threading

import pytest
from conftest import environment, run_envdoctor

pytest_plugins = ["torch_environment"]

COPIES = "torchrl-collector-copies-policy"
TO_DEVICE = "torchrl-collector-copies-policy-to-device"
PICKLES = "torchrl-multi-collector-pickles-policy"
ENVIRONMENTS = "torchrl-multi-collector-pickles-environments"
NAMES = "torchrl013-data-collector-names-removed"
OURS = {COPIES, TO_DEVICE, PICKLES, ENVIRONMENTS, NAMES}

#: As in the thread: a policy that is tied to a piece of hardware.
POLICY = """\
import threading

import torch
from tensordict.nn import TensorDictModuleBase


class HardwarePolicy(TensorDictModuleBase):
    def __init__(self):
        super().__init__()
        self.in_keys = ["observation"]
        self.out_keys = ["action"]
        self.net = torch.nn.Linear(3, 1)
        self.device_lock = threading.Lock()

    def forward(self, tensordict):
        with self.device_lock:
            return tensordict.set("action", self.net(tensordict.get("observation")))
"""

TRAIN = """\
from torchrl.collectors import {collector}
from torchrl.envs import GymEnv

from policy import HardwarePolicy


def make_env():
    return GymEnv("Pendulum-v1")


if __name__ == "__main__":
    policy = HardwarePolicy()
    collector = {collector}({given}, frames_per_batch=8, total_frames=8)
    for data in collector:
        print("collected", data.numel())
    collector.shutdown()
"""
LINE = 13


def check(project, *words, env=None):
    """The findings of this story, by rule."""
    words = ["check", "-f", "json", *words]
    told = run_envdoctor(*words, env=env or environment(), cwd=project)
    assert told.stdout, told.stderr
    return {one["rule"]: one for one in json.loads(told.stdout)["findings"] if one["rule"] in OURS}


@pytest.fixture
def project(tmp_path):
    """Write the project, with a collector and what it is given: ``project("Collector", "make_env, policy")``."""

    def write(collector, given, policy=POLICY):
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        (folder / "policy.py").write_text(policy, encoding="utf-8")
        (folder / "train.py").write_text(TRAIN.format(collector=collector, given=given), encoding="utf-8")
        return folder

    return write


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A snapshot of an environment with a release of torchrl, made by ``envdoctor snapshot``: ``facts("0.14.1")``."""
    made = {}

    def snapshot(release):
        if release not in made:
            folder = tmp_path_factory.mktemp("facts")
            (folder / "requirements.txt").write_text(f"torchrl=={release}\n", encoding="utf-8")
            options = ["-r", "requirements.txt", "--python-version", "3.11", "--platform", "linux"]
            done = run_envdoctor("snapshot", *options, env=environment(), cwd=folder)
            assert done.returncode == 0, done.stderr
            made[release] = folder / "facts.json"
            made[release].write_text(done.stdout, encoding="utf-8")
        return made[release]

    return snapshot


# -- by version, from source ------------------------------------------------------------------------------------------

#: What each release does with a policy that it cannot copy, as measured: the collector, what it is given, the finding.
MEASURED = [
    ("0.2.1", "SyncDataCollector", 'make_env, policy, device="cpu"', None),
    ("0.3.0", "SyncDataCollector", "make_env, policy", None),
    ("0.3.0", "SyncDataCollector", 'make_env, policy, device="cpu"', COPIES),
    ("0.3.0", "SyncDataCollector", 'make_env, policy=policy, policy_device="cpu"', COPIES),
    ("0.5.0", "SyncDataCollector", 'make_env, policy, device="cpu"', COPIES),
    ("0.5.0", "SyncDataCollector", "make_env, HardwarePolicy(), device=torch.device(0)", COPIES),
    ("0.5.0", "SyncDataCollector", "make_env, policy, policy_device=None", None),
    ("0.5.0", "SyncDataCollector", 'make_env, policy, env_device="cpu", storing_device="cpu"', None),
    ("0.6.0", "SyncDataCollector", 'make_env, policy, device="cpu"', None),
    ("0.6.0", "SyncDataCollector", 'make_env, policy, policy_device="cpu"', None),
    ("0.6.0", "SyncDataCollector", 'make_env, policy, policy_device="cuda"', TO_DEVICE),
    ("0.12.0", "SyncDataCollector", 'make_env, policy, device="cuda:0"', TO_DEVICE),
    ("0.14.1", "Collector", 'make_env, policy=policy, policy_device="cuda"', TO_DEVICE),
    ("0.14.1", "Collector", 'make_env, policy, device="cpu"', None),
    ("0.14.1", "Collector", "make_env, policy", None),
    ("0.14.1", "Collector", 'make_env, policy_factory=HardwarePolicy, device="cuda"', None),
    ("0.2.1", "MultiSyncDataCollector", "[make_env], policy", PICKLES),
    ("0.5.0", "MultiaSyncDataCollector", "[make_env], policy, policy_device=None", PICKLES),
    ("0.6.0", "aSyncDataCollector", "make_env, policy", PICKLES),
    ("0.10.1", "MultiSyncDataCollector", "create_env_fn=[make_env], policy=policy", PICKLES),
    ("0.14.1", "MultiSyncCollector", "[make_env], policy", PICKLES),
    ("0.14.1", "MultiAsyncCollector", "[make_env], policy", PICKLES),
    ("0.8.0", "MultiSyncDataCollector", "[make_env], policy_factory=HardwarePolicy", None),
    ("0.14.1", "MultiSyncCollector", "[make_env], policy_factory=HardwarePolicy", None),
    ("0.12.0", "MultiSyncDataCollector", "[make_env], policy_factory=HardwarePolicy", None),
    ("0.13.1", "MultiSyncDataCollector", "[make_env], policy_factory=HardwarePolicy", NAMES),
]


@pytest.mark.parametrize(
    ("release", "collector", "given", "expected"), MEASURED, ids=[" ".join(map(str, case[:3])) for case in MEASURED]
)
def test_each_release_does_what_was_measured(project, facts, release, collector, given, expected):
    folder = project(collector, given)

    findings = check(folder, "--project", ".", "--snapshot", facts(release))

    assert list(findings) == [expected] * (expected is not None)
    if expected not in {None, NAMES}:
        proven = findings[expected]["proven"]
        assert findings[expected]["severity"] == ("error" if proven and expected != TO_DEVICE else "warning")
        assert f"train.py:{LINE}" in {one["source"] for one in findings[expected]["evidence"]}


@pytest.mark.parametrize(
    ("collector", "given", "release"),
    [
        ("SyncDataCollector", 'make_env, policy, device="cpu"', "0.4.0"),
        ("MultiSyncDataCollector", "[make_env], policy", "0.10.1"),
    ],
)
def test_a_policy_that_can_be_copied_passes(project, facts, collector, given, release):
    folder = project(collector, given, POLICY.replace("threading.Lock()", '"/dev/robot0"'))
    assert check(folder, "--project", ".", "--snapshot", facts(release)) == {}


def test_the_factory_comes_first_where_the_release_has_one(project, facts):
    folder = project("MultiSyncDataCollector", "[make_env], policy")

    def first(release):
        findings = check(folder, "--project", ".", "--snapshot", facts(release))
        return findings[PICKLES]["remedies"][0]["text"]

    assert first("0.10.1").startswith(f"In train.py, line {LINE}, give MultiSyncDataCollector(")
    assert first("0.7.2").startswith("Upgrade to torchrl>=0.8, then in train.py")


def test_the_upgrade_comes_first_where_a_release_mended_it(project, facts):
    folder = project("SyncDataCollector", 'make_env, policy, device="cpu"')
    findings = check(folder, "--project", ".", "--snapshot", facts("0.4.0"))
    assert [one["kind"] for one in findings[COPIES]["remedies"]] == ["upgrade", "change"]
    assert findings[COPIES]["remedies"][0]["requirement"] == "torchrl>=0.6,<0.13"


# -- by traceback -----------------------------------------------------------------------------------------------------

#: As torchrl 0.4.0 prints it, and 0.14.1.
COPIED = """
Traceback (most recent call last):
  File "train.py", line 13, in <module>
    collector = SyncDataCollector(make_env, policy, device="cpu", frames_per_batch=8, total_frames=8)
  File "/opt/venv/lib/python3.11/site-packages/torchrl/collectors/collectors.py", line 625, in __init__
    self.policy, self.get_weights_fn = self._get_policy_and_device(
  File "/opt/venv/lib/python3.11/site-packages/torchrl/collectors/collectors.py", line 178, in _get_policy_and_device
    policy = deepcopy(policy)
  File "/opt/python3.11/lib/python3.11/copy.py", line 161, in deepcopy
    rv = reductor(4)
TypeError: cannot pickle '_thread.lock' object
"""
SENT = """
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torchrl/collectors/_multi_base.py", line 1187, in _run_processes
    proc.start()
TypeError: cannot pickle '_thread.lock' object

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "train.py", line 13, in <module>
    collector = MultiSyncCollector([make_env], policy, frames_per_batch=8, total_frames=8)
  File "/opt/venv/lib/python3.11/site-packages/torchrl/collectors/_multi_base.py", line 1189, in _run_processes
    raise RuntimeError(
RuntimeError: A non-serializable object was passed to the collector workers.
"""


@pytest.mark.parametrize(
    ("text", "release", "code", "expected"),
    [
        (COPIED, "0.4.0", ("SyncDataCollector", 'make_env, policy, device="cpu"'), COPIES),
        (SENT, "0.14.1", ("MultiSyncCollector", "[make_env], policy"), PICKLES),
    ],
    ids=["copied", "sent"],
)
def test_the_traceback_and_the_project_lead_to_the_rule(project, facts, text, release, code, expected):
    folder = project(*code)
    words = ["explain", "-", "--snapshot", facts(release), "--project", ".", "-f", "json"]
    done = run_envdoctor(*words, input=text, env=environment(), cwd=folder)

    first = json.loads(done.stdout)["findings"][0]
    assert first["rule"] == expected
    assert first["confirmed"] is True


# -- on the real software ---------------------------------------------------------------------------------------------


def active(folder):
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    return environment(VIRTUAL_ENV=str(folder), PATH=f"{scripts}{os.pathsep}{os.environ['PATH']}")


def change(file, *changes):
    """Change the line that envdoctor names, and nothing else."""
    lines = file.read_text(encoding="utf-8").splitlines()
    for before, after in changes:
        assert before in lines[LINE - 1]
        lines[LINE - 1] = lines[LINE - 1].replace(before, after)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.heavy
def test_collectors_of_the_newest_release_are_found_and_cured(make_torch_environment, in_environment, project):
    folder = make_torch_environment("torchrl==0.14.1", "tensordict==0.14.3", "gymnasium==1.1.1")
    in_processes(
        folder, in_environment, project("MultiSyncCollector", "[make_env], policy"), "RuntimeError: A non-serial"
    )
    to_another_device(folder, in_environment, project("Collector", 'make_env, policy, policy_device="cpu:0"'))
    by_its_old_name(folder, in_environment, project("SyncDataCollector", "make_env, policy"))


@pytest.mark.heavy
def test_collectors_by_their_old_names_are_found_and_cured(make_torch_environment, in_environment, project):
    folder = make_torch_environment("torchrl==0.10.1", "tensordict==0.10.0", "gymnasium==1.1.1")
    code = project("MultiSyncDataCollector", "[make_env], policy, policy_device=None")
    in_processes(folder, in_environment, code, "TypeError: cannot pickle '_thread.lock' object")
    to_another_device(folder, in_environment, project("SyncDataCollector", 'make_env, policy, policy_device="cpu:0"'))
    for passing in ("make_env, policy", 'make_env, policy, device="cpu"', "make_env, policy, policy_device=None"):
        code = project("SyncDataCollector", passing)
        assert "collected 8" in in_environment(folder, "train.py", cwd=code).stdout
        assert check(code, env=active(folder)) == {}


def in_processes(folder, in_environment, code, message):
    findings = fails(folder, code, message, PICKLES)
    assert findings["severity"] == "error"
    assert [one["safety"] for one in findings["remedies"]] == ["manual", "workaround"]
    assert "as `policy_factory=`, and leave `policy` out" in findings["remedies"][0]["text"]
    change(code / "train.py", (", policy,", ", policy_factory=HardwarePolicy,"))
    passes(folder, in_environment, code)


def to_another_device(folder, in_environment, code):
    findings = fails(folder, code, "TypeError: cannot pickle '_thread.lock' object", TO_DEVICE)
    assert findings["severity"] == "warning"
    assert "with policy.to(...), and name the devices of the rest alone" in findings["remedies"][0]["text"]
    given = 'policy.to("cpu"), env_device="cpu", storing_device="cpu"'
    change(code / "train.py", ('policy, policy_device="cpu:0"', given))
    passes(folder, in_environment, code)


def by_its_old_name(folder, in_environment, code):
    broken = in_environment(folder, "train.py", cwd=code)
    assert "ImportError: cannot import name 'SyncDataCollector' from 'torchrl.collectors'" in broken.stderr
    findings = check(code, env=active(folder))
    assert "train.py, line 1: Collector for SyncDataCollector" in findings[NAMES]["remedies"][0]["text"]
    train = code / "train.py"
    train.write_text(train.read_text(encoding="utf-8").replace("SyncDataCollector", "Collector"), encoding="utf-8")
    passes(folder, in_environment, code)


def failure(folder, code, message):
    """What the program prints up to a message. From torchrl 0.11 on it may then wait for its workers without end."""
    python = os.path.join(folder, "Scripts/python.exe" if os.name == "nt" else "bin/python")
    variables = {**active(folder), "OMP_NUM_THREADS": "1"}
    printed = []
    with subprocess.Popen([python, "train.py"], cwd=code, env=variables, stderr=subprocess.PIPE, text=True) as program:
        watch = threading.Timer(240, program.kill)
        watch.start()
        for line in program.stderr:
            printed.append(line)
            if line.startswith(message):
                break
        watch.cancel()
        program.kill()
    return "".join(printed)


def fails(folder, code, message, rule):
    """The finding about a project that really fails; the traceback leads to it too."""
    broken = failure(folder, code, message)
    assert message in broken
    findings = check(code, env=active(folder))
    printed = run_envdoctor(env=active(folder), cwd=code).stdout
    assert list(findings) == [rule]
    assert f"train.py:{LINE}" in {one["source"] for one in findings[rule]["evidence"]}
    assert " ".join(findings[rule]["remedies"][0]["text"].split())[:40] in " ".join(printed.split())
    words = ["explain", "-", "-f", "json"]
    told = run_envdoctor(*words, input=broken, env=active(folder), cwd=code)
    assert json.loads(told.stdout)["findings"][0]["rule"] == rule
    return findings[rule]


def passes(folder, in_environment, code):
    cured = in_environment(folder, "train.py", cwd=code)
    assert "collected 8" in cured.stdout, cured.stderr
    assert check(code, env=active(folder)) == {}
