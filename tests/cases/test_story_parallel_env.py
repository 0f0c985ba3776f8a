"""Founding story 4, on the real software: TorchRL's ParallelEnv is given an environment, not a function that makes one.

The ordinary tests hold the source of a project against a snapshot of an environment, in every spelling. The heavy ones
run the project: they need torch, and build what they need (see ``torch_environment.py``).
"""

import json
import os
import textwrap

import pytest
from conftest import environment, python_of, run_envdoctor

pytest_plugins = ["torch_environment"]

RULE = "torchrl-parallel-env-given-an-instance"
ALONG = "torchrl-parallel-env-function-takes-a-handle-along"

#: An environment that holds an engine of a compiled library, as Melting Pot's does; it leaves the name to the engine.
SUBSTRATE = """\
import sqlite3

import torch
from tensordict import TensorDict
from torchrl.data import Bounded, Composite, Unbounded
from torchrl.envs import EnvBase


class SubstrateEnv(EnvBase):
    def __init__(self, name):
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
"""

#: As in the thread, with its environment exchanged for one that needs no assets.
TRAIN = """\
from torchrl.envs import ParallelEnv

from substrate import SubstrateEnv

if __name__ == "__main__":
    env = ParallelEnv(2, SubstrateEnv("commons_harvest__open"))
    obs = env.reset()
    print("reset", tuple(obs["observation"].shape))
    env.close()
"""
LINE = 6
#: As the message of TorchRL proposes it.
PROPOSED = """\
if __name__ == "__main__":
    from torchrl.envs import ParallelEnv

    made = SubstrateEnv("commons_harvest__open")
    env = ParallelEnv(2, lambda env=made: env)
    env.reset()
"""


def check(project, *words, env=None):
    """The errors and warnings, by rule."""
    words = ["check", "-f", "json", *words]
    told = run_envdoctor(*words, env=env or environment(), cwd=project)
    assert told.stdout, told.stderr
    return {one["rule"]: one for one in json.loads(told.stdout)["findings"] if one["severity"] != "info"}


@pytest.fixture
def project(tmp_path):
    """Write the files of a project, given by their names without ``.py``: ``project(train="...")``."""

    def write(**files):
        folder = tmp_path / "project"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        return folder

    return write


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A snapshot of an environment, made by ``envdoctor snapshot`` from its requirements: ``facts("name==1.0", ...)``."""

    def snapshot(*requirements):
        folder = tmp_path_factory.mktemp("facts")
        (folder / "requirements.txt").write_text("\n".join(requirements), encoding="utf-8")
        options = ["-r", "requirements.txt", "--python-version", "3.11", "--platform", "linux"]
        done = run_envdoctor("snapshot", *options, env=environment(), cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "facts.json").write_text(done.stdout, encoding="utf-8")
        return folder / "facts.json"

    return snapshot


# -- in every spelling ------------------------------------------------------------------------------------------------

GIVEN_AN_INSTANCE = {
    "direct": """
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(4, GymEnv("CartPole-v1"))
    """,
    "through a variable": """
        from torchrl.envs import GymEnv, ParallelEnv
        env = GymEnv("CartPole-v1")
        workers = 4
        parallel = ParallelEnv(workers, env)
    """,
    "through an alias of the class": """
        from torchrl.envs import GymEnv, ParallelEnv
        Several = ParallelEnv
        Several(4, GymEnv("CartPole-v1"))
    """,
    "through an alias of the import": """
        from torchrl.envs.batched_envs import ParallelEnv as Several
        from torchrl.envs.libs.gym import GymEnv
        Several(4, GymEnv("CartPole-v1"))
    """,
    "through an alias of the module": """
        import torchrl.envs as rl
        rl.ParallelEnv(4, rl.GymEnv("CartPole-v1"))
    """,
    "by its whole name": """
        import torchrl.envs
        torchrl.envs.ParallelEnv(4, torchrl.envs.GymEnv("CartPole-v1"))
    """,
    "as keyword": """
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(num_workers=4, create_env_fn=GymEnv("CartPole-v1"))
    """,
    "in a list": """
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(4, [GymEnv("CartPole-v1") for _ in range(4)])
    """,
    "made by a function of the project": """
        from torchrl.envs import GymEnv, ParallelEnv

        def make(name):
            return GymEnv(name)

        ParallelEnv(4, make("CartPole-v1"))
    """,
    "with a transform around it": """
        from torchrl.envs import GymEnv, ParallelEnv, StepCounter, TransformedEnv
        ParallelEnv(4, TransformedEnv(GymEnv("CartPole-v1"), StepCounter()))
    """,
    "of a class of the project": """
        from torchrl.envs import EnvBase, ParallelEnv

        class FarmEnv(EnvBase):
            pass

        def main():
            env = FarmEnv()
            return ParallelEnv(4, env)
    """,
    "to SerialEnv": """
        from torchrl.envs import GymEnv, SerialEnv
        SerialEnv(4, GymEnv("CartPole-v1"))
    """,
}

GIVEN_A_FUNCTION = {
    "lambda": """
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(4, lambda: GymEnv("CartPole-v1"))
    """,
    "lambda in a variable": """
        from torchrl.envs import GymEnv, ParallelEnv
        make = lambda: GymEnv("CartPole-v1")
        ParallelEnv(4, create_env_fn=make)
    """,
    "list of lambdas": """
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(2, [lambda: GymEnv("CartPole-v1"), lambda: GymEnv("Pendulum-v1")])
    """,
    "lambda that was given a picklable environment": """
        from torchrl.envs import GymEnv, ParallelEnv
        env = GymEnv("CartPole-v1")
        ParallelEnv(4, lambda env=env: env)
    """,
    "function": """
        from torchrl.envs import GymEnv, ParallelEnv

        def make():
            return GymEnv("CartPole-v1")

        ParallelEnv(4, make)
    """,
    "function that a function made": """
        from torchrl.envs import GymEnv, ParallelEnv

        def maker(name):
            def make():
                return GymEnv(name)

            return make

        ParallelEnv(4, maker("CartPole-v1"))
    """,
    "class": """
        from torchrl.envs import EnvBase, ParallelEnv

        class FarmEnv(EnvBase):
            pass

        ParallelEnv(4, FarmEnv)
    """,
    "partial": """
        import functools
        from torchrl.envs import GymEnv, ParallelEnv
        ParallelEnv(4, functools.partial(GymEnv, "CartPole-v1"))
    """,
    "EnvCreator": """
        from torchrl.envs import EnvCreator, GymEnv, ParallelEnv
        ParallelEnv(4, EnvCreator(lambda: GymEnv("CartPole-v1")))
    """,
    "EnvCreator in a variable": """
        from torchrl.envs import EnvCreator, GymEnv, ParallelEnv
        create = EnvCreator(lambda: GymEnv("CartPole-v1"))
        ParallelEnv(4, create_env_fn=create)
    """,
    "parameter of a function": """
        from torchrl.envs import ParallelEnv

        def several(make):
            return ParallelEnv(4, make)
    """,
    "ParallelEnv of another library": """
        from pettingzoo import ParallelEnv
        from torchrl.envs import GymEnv
        ParallelEnv(4, GymEnv("CartPole-v1"))
    """,
}

TAKES_A_HANDLE_ALONG = {
    "the environment as default": """
        from torchrl.envs import ParallelEnv
        from torchrl.envs.libs.meltingpot import MeltingpotEnv
        env = MeltingpotEnv("commons_harvest__open")
        ParallelEnv(4, lambda env=env: env)
    """,
    "the environment from around": """
        from torchrl.envs import ParallelEnv
        from torchrl.envs.libs.meltingpot import MeltingpotEnv

        def main():
            env = MeltingpotEnv("commons_harvest__open")

            def make():
                return env

            return ParallelEnv(4, make)
    """,
    "a connection in a partial": """
        import functools
        import sqlite3
        from torchrl.envs import ParallelEnv
        from farm import FarmEnv
        ParallelEnv(4, functools.partial(FarmEnv, sqlite3.connect("farm.db")))
    """,
}


@pytest.fixture(scope="module")
def newest(facts):
    return facts("torchrl==0.14.1", "tensordict==0.14.3", "torch==2.13.0")


@pytest.mark.parametrize("spelling", GIVEN_AN_INSTANCE)
def test_an_environment_is_found_in_every_spelling(project, newest, spelling):
    folder = project(train=GIVEN_AN_INSTANCE[spelling])

    findings = check(folder, "--project", ".", "--snapshot", newest)

    assert list(findings) == [RULE]
    (evidence,) = (one for one in findings[RULE]["evidence"] if one["fact"].startswith("source."))
    file, _, line = evidence["source"].partition(":")
    assert file == "train.py"
    shown = (folder / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert evidence["value"] in shown.replace('"CartPole-v1"', "'...'"), "literals of the source are not shown"
    assert f"In train.py, line {line}, write a function" in findings[RULE]["remedies"][0]["text"]


@pytest.mark.parametrize("spelling", GIVEN_A_FUNCTION)
def test_what_makes_an_environment_passes(project, newest, spelling):
    folder = project(train=GIVEN_A_FUNCTION[spelling])
    assert check(folder, "--project", ".", "--snapshot", newest) == {}


@pytest.mark.parametrize("spelling", TAKES_A_HANDLE_ALONG)
def test_a_function_that_takes_a_handle_along_is_another_finding(project, newest, spelling):
    folder = project(train=TAKES_A_HANDLE_ALONG[spelling])
    assert list(check(folder, "--project", ".", "--snapshot", newest)) == [ALONG]


@pytest.mark.parametrize("release", ["0.2.1", "0.6.0", "0.14.1"])
def test_no_release_takes_an_environment(project, facts, release):
    folder = project(train=GIVEN_AN_INSTANCE["direct"])
    found = check(folder, "--project", ".", "--snapshot", facts(f"torchrl=={release}"))
    assert RULE in found


def test_without_torchrl_nothing_is_said(project, facts):
    folder = project(train=GIVEN_AN_INSTANCE["direct"])
    assert check(folder, "--project", ".", "--snapshot", facts("numpy==2.2.0")) == {}


def test_the_traceback_of_the_thread_leads_to_the_rule(newest):
    text = textwrap.dedent("""
        Traceback (most recent call last):
          File "<stdin>", line 1, in <module>
          File "/opt/venv/lib/python3.11/site-packages/torchrl/envs/common.py", line 2120, in reset
            tensordict_reset = self._reset(tensordict, **kwargs)
          File "/opt/venv/lib/python3.11/site-packages/torchrl/envs/batched_envs.py", line 1275, in _start_workers
            process.start()
          File "/opt/python3.11/lib/python3.11/multiprocessing/reduction.py", line 60, in dump
            ForkingPickler(file, protocol).dump(obj)
        TypeError: cannot pickle 'dmlab2d.dmlab2d_pybind.Lab2d' object
    """)
    words = ["explain", "-", "--snapshot", newest, "-f", "json"]
    done = run_envdoctor(*words, input=text, env=environment())

    assert json.loads(done.stdout)["findings"][0]["rule"] == RULE


# -- on the real software ---------------------------------------------------------------------------------------------


def active(folder):
    return environment(VIRTUAL_ENV=str(folder), PATH=f"{python_of(folder).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.heavy
@pytest.mark.parametrize("releases", [("0.14.1", "0.14.3"), ("0.6.0", "0.6.2")], ids=lambda pair: f"torchrl-{pair[0]}")
def test_parallel_env_with_an_environment_is_found_and_cured(make_torch_environment, in_environment, project, releases):
    torchrl, tensordict = releases
    folder = make_torch_environment(f"torchrl=={torchrl}", f"tensordict=={tensordict}")
    code = project(train=TRAIN, substrate=SUBSTRATE)

    broken = in_environment(folder, "train.py", cwd=code)
    assert broken.returncode != 0
    assert "TypeError: cannot pickle 'sqlite3.Connection' object" in broken.stderr

    findings = check(code, env=active(folder))
    printed = run_envdoctor(env=active(folder), cwd=code).stdout
    assert findings[RULE]["severity"] == "error"
    sources = {one["source"] for one in findings[RULE]["evidence"]}
    assert f"train.py:{LINE}" in sources
    assert [one["kind"] for one in findings[RULE]["remedies"]] == ["change"] * 3
    assert [one["safety"] for one in findings[RULE]["remedies"]] == ["manual", "manual", "workaround"]
    told = run_envdoctor("explain", "-", "-f", "json",
        input=broken.stderr, env=active(folder), cwd=code,
    )  # fmt: skip
    assert json.loads(told.stdout)["findings"][0]["rule"] == RULE

    first = findings[RULE]["remedies"][0]["text"]
    assert first.startswith(f"In train.py, line {LINE}, write a function in place of the environment")
    assert " ".join(first.split())[:60] in " ".join(printed.split())
    change(code / "train.py", 'SubstrateEnv("commons', 'lambda: SubstrateEnv("commons')

    cured = in_environment(folder, "train.py", cwd=code)
    assert "reset (2, 3)" in cured.stdout, cured.stderr
    assert not check(code, env=active(folder)).keys() & {RULE, ALONG}


@pytest.mark.heavy
def test_what_the_message_of_torchrl_proposes_fails_the_same_way(make_torch_environment, in_environment, project):
    folder = make_torch_environment("torchrl==0.14.1", "tensordict==0.14.3")
    code = project(train=f"{SUBSTRATE}\n\n{PROPOSED}")

    assert "cannot pickle 'sqlite3.Connection' object" in in_environment(folder, "train.py", cwd=code).stderr
    findings = check(code, env=active(folder))
    assert ALONG in findings
    assert RULE not in findings


def change(file, before, after):
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert before in lines[LINE - 1]
    lines[LINE - 1] = lines[LINE - 1].replace(before, after)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
