"""Trials on a real Ray cluster of two nodes on this machine, with hermetic wheels. Skipped where ray is not installed."""

import importlib.util
import json
import subprocess
import sys
import zipfile

import pytest
from conftest import environment, run

from envdoctor.cli import main

PYTHON = "{}.{}".format(*sys.version_info[:2])
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="ray cannot be imported: pip install 'pyenvdoctor[ray]'"
)
#: Two nodes with a processor each; it prints its address and lives until its standard input ends.
CLUSTER = """\
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
print("address", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
RULE = """\
id: lib-name-removed
title: lib 2.0 lacks a name
severity: error
impact: crash
when: {packages: {lib: ">=2.0"}}
why: It was removed.
symptoms: [{raises: AttributeError, message: "module 'lib' has no attribute 'name'"}]
remedies: [{downgrade: lib<2}]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: |
    import lib
    lib.name()
  bad:
    - {python: "PYTHON", packages: {lib: "2.0"}}
    - {python: "3.1", packages: {lib: "2.0"}}
  good: [{python: "PYTHON", packages: {lib: "1.0"}}]
""".replace("PYTHON", PYTHON)


def wheel(folder, version, text):
    info = f"lib-{version}.dist-info"
    with zipfile.ZipFile(folder / f"lib-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("lib.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: lib\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def lab(tmp_path):
    wheel(tmp_path, "1.0", "def name(): return 1\n")
    wheel(tmp_path, "2.0", "")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "vocabulary.yaml").write_text("families: {}\n")
    (tmp_path / "rules" / "lib-name-removed.yaml").write_text(RULE)
    return tmp_path


def variables(lab, **changes):
    found = {"UV_FIND_LINKS": str(lab), "UV_OFFLINE": "1", "ENVDOCTOR_PYTHONS": sys.executable}
    return environment(**found, RAY_USAGE_STATS_ENABLED="0", XDG_CACHE_HOME=str(lab / "cache"), **changes)


@needs_ray
def test_two_nodes_prove_what_one_machine_proves(lab):
    proof = lab / "rules" / "lib-name-removed.proof.json"
    words = [sys.executable, "-m", "envdoctor", "rules", "verify", "--again"]
    env = variables(lab)
    alone = run(*words, cwd=lab, env=env)
    assert alone.returncode == 0, alone.stderr
    by_itself = json.loads(proof.read_text())
    proof.unlink()

    cluster = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        address = next(line.split()[1] for line in cluster.stdout if line.startswith("address"))
        done = run(*words, "--ray", address, cwd=lab, env=env)
    finally:
        cluster.communicate("", timeout=300)

    assert done.returncode == 0, done.stderr
    assert done.stdout == alone.stdout
    assert json.loads(proof.read_text()) == by_itself
    assert "on 2 nodes of the cluster" in done.stderr
    assert "no Python 3.1 was found" in proof.read_text()  # what a node lacks is unproven, and says so


@needs_ray
def test_a_cluster_that_is_not_there_is_said(lab):
    done = run(
        *[sys.executable, "-m", "envdoctor", "rules", "verify", "--ray", "127.0.0.1:1"], cwd=lab, env=variables(lab)
    )
    assert done.returncode == 2
    assert "no Ray cluster answers at 127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_the_library_it_is_said_what_to_install(lab, monkeypatch, capsys):
    monkeypatch.chdir(lab)
    monkeypatch.setenv("XDG_CACHE_HOME", str(lab / "cache"))
    monkeypatch.setenv("ENVDOCTOR_PYTHONS", sys.executable)
    assert main(["rules", "verify", "--ray", "auto"]) != 0
    assert "pip install 'pyenvdoctor[ray]'" in capsys.readouterr().err
