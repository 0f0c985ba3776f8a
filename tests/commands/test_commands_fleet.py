"""``envdoctor fleet``: equal environments together, the odd ones out, and real clusters on this machine."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile

import jsonschema
import pytest
from conftest import CHECKOUT, environment, run, run_here
from small_environments import wheel

PACKAGES = {"flask": "1.1.2", "werkzeug": "2.0.3", "some-part": "1.0"}
with open(os.path.join(CHECKOUT, "docs", "fleet.schema.json"), encoding="utf-8") as schema:
    SCHEMA = jsonschema.Draft202012Validator(json.load(schema))


def node(folder, name, python="3.9.7", packages=PACKAGES, **facts):
    document = {"python": {"version": python}, "packages": packages, "source": name, **facts}
    (folder / f"{name}.json").write_text(json.dumps(document))


def fleet(*words, **options):
    done = run_here("fleet", *words, "-f", "json", **options)
    told = json.loads(done.stdout)
    SCHEMA.validate(told)
    return done.returncode, told


def names(group):
    return [os.path.basename(name).partition(".")[0] for name in group["names"]]


def changes(group):
    return {one["fact"]: (one["before"], one["after"]) for one in group["differences"]}


def test_equal_environments_are_one_group_and_the_odd_ones_are_named(tmp_path):
    for number in range(6):
        node(tmp_path, f"equal-{number}")
    node(tmp_path, "patch", python="3.9.8")
    node(tmp_path, "release", packages={**PACKAGES, "werkzeug": "3.0.1"})
    (tmp_path / "torn.json").write_text("{")

    status, told = fleet(str(tmp_path))

    assert status == 1
    first, *others = told["groups"]
    assert len(names(first)) == 6
    assert first["findings"] == []
    by_name = {names(one)[0]: one for one in others}
    assert changes(by_name["patch"]) == {"python": ("3.9.7", "3.9.8")}
    assert changes(by_name["release"]) == {"packages.werkzeug": ("2.0.3", "3.0.1")}
    assert [one["rule"] for one in by_name["release"]["findings"]] == ["werkzeug21-helpers-removed"]
    (torn,) = told["silent"]
    assert torn["name"].endswith("torn.json")
    assert "not JSON" in torn["reason"]


def test_who_tells_less_is_equal_and_what_no_rule_knows_does_not_fail(tmp_path):
    node(tmp_path, "whole", platform={"system": "linux", "machine": "x86_64"})
    node(tmp_path, "less")
    node(tmp_path, "other", packages={**PACKAGES, "some-part": "2.0"})

    status, told = fleet(str(tmp_path))

    assert status == 0
    assert sorted(names(told["groups"][0])) == ["less", "whole"]
    assert changes(told["groups"][1]) == {"packages.some-part": ("1.0", "2.0")}
    assert told["groups"][1]["differences"][0]["known"] is False


def test_it_is_said_in_words(tmp_path):
    node(tmp_path, "one")
    node(tmp_path, "two", packages={**PACKAGES, "werkzeug": "3.0.1"})
    done = run_here("fleet", "one.json", "two.json", cwd=tmp_path)
    assert done.stdout.startswith("2 environments in 2 groups\n\n1 environment: one.json\n")
    assert "    werkzeug  2.0.3 -> 3.0.1  known to rules\n" in done.stdout


@pytest.mark.parametrize("words", [[], ["a.json", "--ray", "auto"], ["--ray", "auto", "--dask", "x"]])
def test_one_fleet_is_examined_at_a_time(words):
    assert run_here("fleet", *words).returncode == 2


@pytest.mark.parametrize(("option", "library"), [("ray", "ray"), ("dask", "distributed")])
def test_without_the_library_it_is_said_what_to_install(option, library):
    if importlib.util.find_spec(library):
        pytest.skip(f"{library} is installed")
    done = run_here("fleet", f"--{option}", "127.0.0.1:1")
    assert done.returncode == 2
    assert f"pip install 'pyenvdoctor[{option}]'" in done.stderr


#: Two nodes, and on the second a worker whose `runtime_env` adds a distribution and a variable.
RAY = """\
import sys
import ray
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1, resources={"second": 1})
cluster.wait_for_nodes()
ray.init(address=cluster.address, log_to_driver=False)
@ray.remote(resources={"second": 0.1}, num_cpus=0)
class Odd:
    def there(self):
        return True
around = {"uv": {"packages": [sys.argv[1]], "uv_check": False}, "env_vars": {"MUJOCO_GL": "egl"}}
odd = Odd.options(runtime_env=around).remote()
ray.get(odd.there.remote())
print("address", cluster.address, flush=True)
sys.stdin.read()
"""
#: A scheduler and two workers, each in a separate process.
DASK = """\
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print("pids", *[worker.process.process.pid for worker in cluster.workers.values()], flush=True)
        print("address", cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def started(tmp_path, program, *words, **variables):
    """A cluster, which lives until its input ends, and what it has printed."""
    (tmp_path / "cluster.py").write_text(program)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "cluster.py", *words], env=environment(**variables), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    printed = {}
    for line in process.stdout:
        printed.update([line.strip().partition(" ")[::2]])
        if "address" in printed:
            break
    return process, printed


def cluster_fleet(*words, **variables):
    """A program: the libraries of clusters do not bear a fork of this process."""
    done = run(sys.executable, "-m", "envdoctor", "fleet", *words, "-f", "json", env=environment(**variables))
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    SCHEMA.validate(told)
    return told


@pytest.fixture
def sessions():
    """Where Ray keeps its sessions, with environments of half a gigabyte: a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        yield folder


@pytest.mark.heavy
def test_nodes_and_workers_of_ray_are_compared_with_the_driver(tmp_path, sessions):
    pytest.importorskip("ray")
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "150", "RAY_TMPDIR": sessions}
    wheel(tmp_path, "some_part", "2.0", {})
    name = str(tmp_path / "some_part-2.0-py3-none-any.whl")

    process, printed = started(tmp_path, RAY, name, **quiet)
    try:
        told = cluster_fleet("--ray", printed["address"], "--python", sys.executable, **quiet)
    finally:
        process.communicate("", timeout=300)

    assert told["silent"] == []
    first, *others = told["groups"]
    assert first["names"][0] == "driver"
    assert sum(name.startswith("head ") for name in first["names"]) == 1
    assert sum(name.startswith("node ") for name in first["names"]) == 1
    (odd,) = [one for one in others if "packages.some-part" in changes(one)]
    assert changes(odd)["packages.some-part"] == (None, "2.0")
    assert changes(odd)["env.MUJOCO_GL"] == (None, "egl")
    assert [name.startswith("worker ") and " of node " in name for name in odd["names"]] == [True]


@pytest.mark.heavy
def test_workers_of_dask_are_compared_and_one_that_does_not_answer_is_said(tmp_path):
    pytest.importorskip("distributed")
    process, printed = started(tmp_path, DASK, MUJOCO_GL="egl")
    pids = [int(pid) for pid in printed["pids"].split()]
    try:
        told = cluster_fleet("--dask", printed["address"], "--python", sys.executable)
        os.kill(pids[0], signal.SIGSTOP)
        late = cluster_fleet("--dask", printed["address"], "--python", sys.executable, "--wait", "15")
    finally:
        os.kill(pids[0], signal.SIGCONT)
        process.communicate("", timeout=300)

    driver, cluster = told["groups"]
    assert driver["names"] == ["driver"]
    assert [name.partition(" ")[0] for name in cluster["names"]] == ["scheduler", "worker", "worker"]
    assert changes(cluster)["env.MUJOCO_GL"] == (None, "egl")
    (silent,) = late["silent"]
    assert silent["name"].startswith("worker tcp://")
    assert silent["reason"] == "no answer within 15 seconds"
