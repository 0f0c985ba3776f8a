"""What the files of a machine tell about its GPU, its driver, and the wheels that were built for others."""

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import environment, run_envdoctor
from gpu_trees import TREES, laid_out, torch
from images import elf

from envdoctor import diagnose, examine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the trees are file systems of Linux")


@pytest.mark.parametrize("name", TREES)
def test_a_tree_has_what_is_wrong_with_it_and_nothing_else(tmp_path, name):
    found = diagnose(examine("root", str(laid_out(tmp_path / "root", name)), python="/opt/venv/bin/python"))

    assert {one.rule for one in found if one.severity != "info"} == TREES[name]["holds"]


@pytest.fixture
def environment_with(tmp_path, make_environment):
    """A function from distributions and their files to an environment of this Python that has them."""

    def make(distributions, files):
        prefix = make_environment(sys.executable)
        site = next(Path(prefix).glob("lib/python*/site-packages"))
        for name, version in distributions.items():
            info = site / f"{name}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        for place, content in files.items():
            path = site / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return prefix

    return make


def rules(prefix, **variables):
    done = run_envdoctor("--python", prefix, "-f", "json", env=environment(**variables))
    return {one["rule"]: one for one in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize(
    ("release", "holds"), [("12.1.105", True), ("12.4.127", False), ("12.6.85", False), ("11.8.89", False)]
)
def test_an_older_library_that_the_loader_is_told_to_take_first(tmp_path, environment_with, release, holds):
    toolkit = tmp_path / "cuda" / "lib64"
    toolkit.mkdir(parents=True)
    (toolkit / f"libnvJitLink.so.{release}").write_bytes(elf())
    (toolkit / "libnvJitLink.so.12").symlink_to(f"libnvJitLink.so.{release}")
    prefix = environment_with({"nvidia-nvjitlink-cu12": "12.4.127"}, {})

    found = rules(prefix, LD_LIBRARY_PATH=f"/nowhere:{toolkit}/:")

    assert ("older-system-nvjitlink-before-wheel" in found) is holds
    if holds:
        assert f"{toolkit}/libnvJitLink.so.12.1.105" in json.dumps(found["older-system-nvjitlink-before-wheel"])
    assert not rules(prefix, LD_LIBRARY_PATH="").keys() & {"older-system-nvjitlink-before-wheel"}


def test_a_binary_is_wanted_for_the_cuda_of_torch_unless_a_variable_names_another(environment_with):
    files = {**torch("2.8.0+cu129", "12.9"), "bitsandbytes/libbitsandbytes_cuda126.so": elf()}
    prefix = environment_with({"torch": "2.8.0", "bitsandbytes": "0.46.0"}, files)
    rule = "bitsandbytes-without-binary-for-cuda"

    assert "12.9, there are 126" in rules(prefix)[rule]["title"]
    assert rule not in rules(prefix, BNB_CUDA_VERSION="126")
