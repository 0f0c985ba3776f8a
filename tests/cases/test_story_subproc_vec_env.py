"""Founding story 2, on the real software: SubprocVecEnv is given what cannot be pickled.

The ordinary tests run the SubprocVecEnv of the real release up to the point where it fails, which needs no torch: only
``__init__`` files are in the way, and they are passed by. The heavy ones run the whole project.
"""

import functools
import json
import sys
import textwrap

import interpreters
import pytest
from conftest import environment, python_of, run, run_envdoctor

pytest_plugins = ["torch_environment"]

RULE = "sb3-subproc-vec-env-argument-cannot-be-pickled"
RELEASES = ["cloudpickle==3.1.1", "gymnasium==1.1.1"]

#: As in the documentation of Stable-Baselines3: a function that makes a function that makes an environment.
TRAIN = """\
{imports}
from stable_baselines3.common.vec_env import SubprocVecEnv

from farm import WindFarmEnv


def make_env(server, rank):
    def _init():
        env = WindFarmEnv(server)
        env.reset(seed=rank)
        return env

    return _init


def main():
    server = {value}
    venv = SubprocVecEnv([make_env(server, rank) for rank in range(2)])
    print("reset", venv.reset().shape)
    venv.close()


if __name__ == "__main__":
    main()
"""

#: As in the thread: the environment is given keyword arguments, and one of them is a server's.
KEYWORDS = """\
import multiprocessing

import zmq
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from farm import WindFarmEnv

if __name__ == "__main__":
    {before}
    server = {value}
    env_kwargs = {{"server": server}}
    venv = make_vec_env(WindFarmEnv, vec_env_cls={vec_env}, n_envs=2, seed=0, env_kwargs=env_kwargs{more})
    print("reset", venv.reset().shape, type(venv).__name__)
    venv.close()
"""

FARM = """\
import gymnasium
import numpy


class WindFarmEnv(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, server):
        self.server = server

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}
"""

#: What the first remedy says: plain values outside, the connection inside.
MENDED_FARM = FARM.replace("import numpy\n", "import numpy\nimport zmq\n").replace(
    "self.server = server\n",
    "self.server = zmq.Context().socket(zmq.REQ)\n        self.server.linger = 0\n        self.server.connect(server)\n",
)
ADDRESS = '"tcp://127.0.0.1:5555"'

#: The modules of stable-baselines3 without the ``__init__`` files that import torch.
WITHOUT_TORCH = """
import os, sys, types
for name in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env"):
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__ = [os.path.join(os.path.dirname(__file__), *name.split("."))]
package.__getattr__ = lambda name: __import__(package.__name__ + ".subproc_vec_env", fromlist=[name]).SubprocVecEnv
"""


def write(project, **files):
    project.mkdir(exist_ok=True)
    for name, text in files.items():
        (project / f"{name}.py").write_text(text, encoding="utf-8")
    return project


def diagnosed(folder, project, *words):
    """The exit status, and the findings that are more than a note, by rule."""
    done = run_envdoctor("check", "--python", python_of(folder), "-f", "json", *words,
        env=environment(), cwd=project,
    )  # fmt: skip
    findings = json.loads(done.stdout)["findings"]
    return done.returncode, {finding["rule"]: finding for finding in findings if finding["severity"] != "info"}


def explained(text):
    done = run_envdoctor("explain", "-", "--no-target", "-f", "json", input=text, env=environment())
    return [finding["rule"] for finding in json.loads(done.stdout)["findings"]]


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory):
    """Environments with a release of stable-baselines3, but without torch and what else it requires."""

    @functools.cache
    def make(version, *requirements):
        folder = tmp_path_factory.mktemp("environment") / "venv"
        assert run("uv", "venv", "--quiet", "--python", interpreters.need(version), folder).returncode == 0
        for words in ([*RELEASES, *requirements], ["--no-deps", "stable-baselines3==2.6.0"]):
            done = run("uv", "pip", "install", "--quiet", "--python", folder, *words)
            assert done.returncode == 0, done.stderr
        (package,) = folder.rglob("stable_baselines3")
        (package.parent / "without_torch.py").write_text(WITHOUT_TORCH, encoding="utf-8")
        (package.parent / "without_torch.pth").write_text("import without_torch\n", encoding="utf-8")
        return folder

    return make


@pytest.fixture
def with_zeromq(without_torch):
    return without_torch("3.11", "pyzmq==26.4.0")


REFUSED = {
    "zmq": ("import zmq", "zmq.Context()", "self.handle cannot be converted to a Python object for pickling"),
    "lock": ("import threading", "threading.Lock()", "cannot pickle '_thread.lock' object"),
    "generator": ("import os", "(number for number in range(3))", "cannot pickle 'generator' object"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="spawn is the start method of Windows")
@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.trials
def test_what_cannot_be_pickled_is_found_in_the_source_and_by_the_traceback(what, with_zeromq, tmp_path):
    imports, value, message = REFUSED[what]
    project = write(tmp_path / "project", train=TRAIN.format(imports=imports, value=value), farm=FARM)

    broken = run(python_of(with_zeromq), "train.py", cwd=project)
    assert f"TypeError: {message}" in broken.stderr
    assert explained(broken.stderr)[0] == RULE

    status, findings = diagnosed(with_zeromq, project)
    assert status == 1
    finding = findings[RULE]
    assert finding["severity"] == "error"
    assert {"packages", "source"} <= set(finding["facts"])
    evidence = {item["fact"]: (item["value"], item["source"]) for item in finding["evidence"]}
    assert evidence["start_method.stable-baselines3"][0] == "forkserver"
    (call,) = (item for fact, item in evidence.items() if fact.endswith(".SubprocVecEnv"))
    assert any(said.startswith("server holds ") for said, _ in evidence.values()), evidence
    lines = (project / "train.py").read_text(encoding="utf-8").splitlines()
    (line,) = (number for number, text in enumerate(lines, start=1) if "venv = SubprocVecEnv" in text)
    assert call == ("SubprocVecEnv([make_env(server, rank) for rank in range(2)])", f"train.py:{line}")


@pytest.mark.trials
def test_the_older_message_of_zeromq_leads_to_the_rule(without_torch, tmp_path):
    imports, value, _ = REFUSED["zmq"]
    folder = without_torch("3.11", "pyzmq==25.1.2")
    project = write(tmp_path / "project", train=TRAIN.format(imports=imports, value=value), farm=FARM)

    broken = run(python_of(folder), "train.py", cwd=project)

    assert "TypeError: no default __reduce__ due to non-trivial __cinit__" in broken.stderr
    assert explained(broken.stderr)[0] == RULE


@pytest.mark.trials
@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_other_pythons_refuse_the_same(version, without_torch, tmp_path):
    imports, value, message = REFUSED["lock"]
    folder = without_torch(version)
    project = write(tmp_path / "project", train=TRAIN.format(imports=imports, value=value), farm=FARM)

    assert f"TypeError: {message}" in run(python_of(folder), "train.py", cwd=project).stderr
    assert RULE in diagnosed(folder, project)[1]


@pytest.mark.trials
def test_made_inside_the_environment_it_can_be_sent_and_envdoctor_is_silent(with_zeromq, tmp_path):
    broken = TRAIN.format(imports="import zmq", value="zmq.Context()")
    project = write(tmp_path / "project", train=broken, farm=FARM)
    send = f"import cloudpickle, train; cloudpickle.loads(cloudpickle.dumps(train.make_env({ADDRESS}, 0)))().reset()"
    assert RULE in diagnosed(with_zeromq, project)[1]

    write(project, train=TRAIN.format(imports="", value=ADDRESS), farm=MENDED_FARM)

    done = run(python_of(with_zeromq), "-c", send, cwd=project)
    assert done.returncode == 0, done.stderr
    assert RULE not in diagnosed(with_zeromq, project)[1]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        pytest.param({}, True, id="thread"),
        pytest.param({"before": 'multiprocessing.set_start_method("fork")'}, True, id="set-start-method"),
        pytest.param({"vec_env": "DummyVecEnv"}, False, id="dummy"),
        pytest.param({"more": ', vec_env_kwargs=dict(start_method="fork")'}, False, id="fork"),
        pytest.param({"more": ', vec_env_kwargs={"start_method": "fork"}'}, False, id="fork-literal"),
        pytest.param({"value": '"tcp://127.0.0.1:5555"'}, False, id="address"),
        pytest.param({"value": "multiprocessing.cpu_count()"}, False, id="number"),
    ],
)
@pytest.mark.trials
def test_keyword_arguments_of_environments(fields, found, with_zeromq, tmp_path):
    usual = {"before": "pass", "value": "zmq.Context()", "vec_env": "SubprocVecEnv", "more": ""}
    project = write(tmp_path / "project", train=KEYWORDS.format(**{**usual, **fields}), farm=FARM)

    assert (RULE in diagnosed(with_zeromq, project)[1]) is found


@pytest.mark.parametrize(
    "text",
    [
        "context = zmq.Context()\nSubprocVecEnv([lambda: WindFarmEnv(context), lambda: WindFarmEnv(context)])",
        "class Env(WindFarmEnv):\n    pass\n\ncontext = zmq.Context()\nenv = Env(context)\nSubprocVecEnv([lambda: env])",
        "context = zmq.Context()\nmake_vec_env(lambda: WindFarmEnv(context), 2, vec_env_cls=SubprocVecEnv)",
        "Vec = SubprocVecEnv\nserver = zmq.Context.instance()\nVec(env_fns=[functools.partial(WindFarmEnv, server)] * 2)",
        "make_vec_env(WindFarmEnv, 2, None, 0, None, None, dict(server=zmq.Context()), SubprocVecEnv)",
    ],
    ids=["lambda", "instance", "callable", "partial", "positions"],
)
@pytest.mark.trials
def test_other_ways_to_write_it(text, with_zeromq, tmp_path):
    head = """\
        import functools

        import zmq
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import SubprocVecEnv
        from farm import WindFarmEnv

        """
    project = write(tmp_path / "project", train=textwrap.dedent(head) + text, farm=FARM)

    assert RULE in diagnosed(with_zeromq, project)[1]


UNGUARDED = """\
from stable_baselines3.common.vec_env import SubprocVecEnv

from farm import WindFarmEnv

venv = SubprocVecEnv([lambda: WindFarmEnv("tcp://127.0.0.1:5555")])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="spawn is the start method of Windows")
@pytest.mark.trials
def test_without_a_guard_the_workers_start_workers(with_zeromq, tmp_path):
    project = write(tmp_path / "project", train=UNGUARDED, farm=FARM)
    broken = run(python_of(with_zeromq), "train.py", cwd=project)
    assert "An attempt has been made to start a new process before the" in broken.stderr
    assert explained(broken.stderr)[0] == "sb3-subproc-vec-env-without-main-guard"

    finding = diagnosed(with_zeromq, project)[1]["sb3-subproc-vec-env-without-main-guard"]
    assert finding["remedies"][0]["text"].startswith("Put what train.py does on line 5 and after under `if __name__")

    *imports, call = UNGUARDED.splitlines()
    write(project, train="\n".join([*imports, 'if __name__ == "__main__":', f"    {call}", ""]))
    assert "An attempt has been made" not in run(python_of(with_zeromq), "train.py", cwd=project).stderr
    assert not [rule for rule in diagnosed(with_zeromq, project)[1] if rule.startswith("sb3-")]


@pytest.mark.skipif(sys.platform != "linux", reason="fork is the default of multiprocessing on Linux alone")
@pytest.mark.trials
def test_locks_of_multiprocessing_are_made_for_one_start_method(without_torch, tmp_path):
    folder = without_torch("3.12")  # early releases of 3.11 do not tell yet
    rule = "sb3-subproc-vec-env-lock-of-another-context"
    broken = TRAIN.format(imports="import multiprocessing", value="multiprocessing.Lock()")
    project = write(tmp_path / "project", train=broken, farm=FARM)
    done = run(python_of(folder), "train.py", cwd=project)
    assert "RuntimeError: A SemLock created in a fork context is being shared" in done.stderr
    assert explained(done.stderr)[0] == rule

    finding = diagnosed(folder, project)[1][rule]
    assert 'multiprocessing.get_context("forkserver").Lock()' in finding["remedies"][0]["text"]

    write(project, train=broken.replace("multiprocessing.Lock()", 'multiprocessing.get_context("forkserver").Lock()'))
    assert "A SemLock created in" not in run(python_of(folder), "train.py", cwd=project).stderr
    assert not [rule for rule in diagnosed(folder, project)[1] if rule.startswith("sb3-")]


# --- the whole project, with torch ----------------------------------------------------------------------------------

USUAL = {"before": "pass", "value": "zmq.Context()", "vec_env": "SubprocVecEnv", "more": ""}
WORKED = "reset (2, 2) "


@pytest.fixture
def with_torch(make_torch_environment, in_environment, tmp_path):
    """The project of the thread in an environment that can run it: ``folder, project, train(**fields)``."""
    folder = make_torch_environment("stable-baselines3==2.6.0", "pyzmq==26.4.0")
    project = write(tmp_path / "project", farm=FARM)

    def train(**fields):
        write(project, train=KEYWORDS.format(**{**USUAL, **fields}))
        return in_environment(folder, "train.py", cwd=project)

    return folder, project, train


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_the_thread_from_failure_to_cure(with_torch):
    folder, project, train = with_torch
    broken = train()
    assert "TypeError: self.handle cannot be converted to a Python object for pickling" in broken.stderr
    assert explained(broken.stderr)[0] == RULE

    status, findings = diagnosed(folder, project, "--fail-on", "warning")
    assert status == 1
    assert list(findings) == [RULE]
    first, second, third = (remedy["text"] for remedy in findings[RULE]["remedies"])
    assert first.startswith("Make it inside the environment. In train.py, line ")
    assert second.startswith("Use DummyVecEnv in place of SubprocVecEnv.")
    assert third.startswith("Fork the workers:")
    words = [sys.executable, "-m", "envdoctor", "check", "--python", python_of(folder)]
    printed = run(*words, env=environment(), cwd=project).stdout
    assert printed.index("Make it inside") < printed.index("Use DummyVecEnv") < printed.index("Fork the workers")

    write(project, farm=MENDED_FARM)
    cured = train(value=ADDRESS)
    assert WORKED + "SubprocVecEnv" in cured.stdout, cured.stderr
    assert diagnosed(folder, project, "--fail-on", "warning") == (0, {})


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_the_published_cure_does_nothing_and_the_other_remedies_work(with_torch):
    folder, project, train = with_torch

    assert "cannot be converted to a Python object" in train(before='multiprocessing.set_start_method("fork")').stderr
    assert RULE in diagnosed(folder, project)[1]

    assert WORKED + "DummyVecEnv" in train(vec_env="DummyVecEnv").stdout
    assert diagnosed(folder, project, "--fail-on", "warning") == (0, {})

    assert WORKED + "SubprocVecEnv" in train(more=', vec_env_kwargs=dict(start_method="fork")').stdout
    assert diagnosed(folder, project, "--fail-on", "warning") == (0, {})
