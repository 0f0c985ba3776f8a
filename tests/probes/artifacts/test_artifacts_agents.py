"""Saved agents: zips of the real layout, with functions that real releases of cloudpickle wrote on every Python."""

import base64
import io
import json
import struct
import zipfile

import interpreters
import pytest
from packaging.specifiers import SpecifierSet
from probes.artifacts import artifact_writers

from envdoctor.probes import artifacts

RELEASES = {"3.7": "2.2.1", "3.10": "3.1.1", "3.11": "2.2.1", "3.12": "3.1.1", "3.14": "3.1.1"}
SYSTEM = """- OS: Linux-5.15.0-91-generic-x86_64-with-glibc2.35 # 101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023
- Python: {python}.6
- Stable-Baselines3: 2.2.1
- PyTorch: 2.1.2+cu121
- GPU Enabled: True
- Numpy: 1.26.2
- Cloudpickle: {cloudpickle}
- Gymnasium: 0.29.1
"""
#: What newer releases store instead of functions: their own objects, by reference.
OBJECTS = """
import pickle, sys, types

class ConstantSchedule:
    def __init__(self, val):
        self.val = val

class FloatSchedule:
    def __init__(self, value_schedule):
        self.value_schedule = value_schedule

class LinearSchedule:
    def __init__(self, start, end):
        self.start, self.end = start, end

def elsewhere():
    module = types.ModuleType("stable_baselines3.common.utils")
    sys.modules["stable_baselines3"] = sys.modules["stable_baselines3.common"] = sys.modules[module.__name__] = module
    for made in (ConstantSchedule, FloatSchedule, LinearSchedule):
        made.__module__ = module.__name__
        setattr(module, made.__name__, made)

elsewhere()
for made in (FloatSchedule(ConstantSchedule(3e-4)), FloatSchedule(LinearSchedule(1.0, 0.1)), LinearSchedule(1.0, 0.1)):
    print(pickle.dumps(made).hex())
"""


def entry(pickled):
    return {":type:": "<class 'function'>", ":serialized:": base64.b64encode(pickled).decode()}


def tensors():
    """An archive of tensors as it lies in a saved agent."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00.")
    return packed.getvalue()


def save(path, data, method=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("data", json.dumps(data))
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return str(path)


@pytest.mark.parametrize("version", RELEASES)
def test_functions_are_found_with_the_constant_that_they_return(version, make_environment, tmp_path):
    python = make_environment(interpreters.need(version), f"cloudpickle=={RELEASES[version]}") / "bin" / "python"
    artifact_writers.write(python, artifact_writers.FUNCTIONS, tmp_path / "all", 1)
    with open(tmp_path / "all", "rb") as file:
        parts = [file.read(struct.unpack("<I", head)[0]) for head in iter(lambda: file.read(4), b"")]
    constant_fn, schedule, linear = (entry(part) for part in parts[1:7:2])
    data = {
        "policy_class": entry(b"\x80\x04\x8c\x08policies\x94\x8c\x06Policy\x94\x93\x94."),
        "learning_rate": 0.0003,
        "lr_schedule": schedule,
        "clip_range": constant_fn,
        "exploration_schedule": linear,
        "tensorboard_log": "/home/user/runs",
        "verbose": 1,
    }
    system = SYSTEM.format(python=version, cloudpickle=RELEASES[version])
    members = {"_stable_baselines3_version": "2.2.1\n", "system_info__txt": system, "policy__pth": tensors()}
    path = save(tmp_path / "model.zip", data, **members)
    record = artifacts.artifact_at(path)
    assert record["kind"] == "stable-baselines3"
    assert record["functions"] == {"lr_schedule": 0.0003, "clip_range": 0.2, "exploration_schedule": None}
    assert record["written_by"]["python"] == f"{version}.6"
    assert record["written_by"]["packages"] == {
        "stable-baselines3": "2.2.1", "torch": "2.1.2+cu121", "numpy": "1.26.2", "cloudpickle": RELEASES[version],
        "gymnasium": "0.29.1",
    }  # fmt: skip
    assert record["written_by"]["os"].startswith("Linux-5.15.0")
    assert {"policies.Policy", "torch._utils._rebuild_tensor_v2"} <= set(record["names"])
    assert "/home/user/runs" in record["paths"]
    assert {code["where"] for code in record["code"]} == set(record["functions"])
    names = {code["name"] for code in record["code"] if code["where"] == "clip_range"}
    assert names == {"constant_fn.<locals>.func"}
    assert all(version in SpecifierSet(code["python"]) for code in record["code"])
    assert record["gaps"] == []


def test_schedules_as_objects_are_told_without_bytecode(tmp_path):
    python = interpreters.need("3.11")
    pickled = [bytes.fromhex(line) for line in artifact_writers.write(python, OBJECTS).split()]
    data = dict(zip(("lr_schedule", "clip_range", "exploration_schedule"), map(entry, pickled)))
    record = artifacts.artifact_at(save(tmp_path / "model.zip", data, system_info__txt="Python: 3.11.2\nGym: 0.21.0"))
    assert record["functions"] == {"lr_schedule": 0.0003, "clip_range": None, "exploration_schedule": None}
    assert record["code"] == []
    assert "stable_baselines3.common.utils.FloatSchedule" in record["names"]
    assert record["written_by"] == {"python": "3.11.2", "packages": {"gym": "0.21.0"}}


def test_one_value_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    data = {
        "one": entry(b"\x80\x04\x95"),
        "two": {":serialized:": "é"},
        "three": entry(b"\x80\x04\x8c\x01a\x94\x8c\x01b\x94\x93\x94."),
    }
    path = save(tmp_path / "model.zip", data, zipfile.ZIP_DEFLATED, policy__pth=tensors()[:40], other__pth=tensors())
    record = artifacts.artifact_at(path)
    assert record["names"] == ["a.b", "torch._utils._rebuild_tensor_v2"]
    assert [gap.partition(", ")[0] for gap in record["gaps"]] == [
        f"{path} holds {name}" for name in ("one", "two", "policy.pth")
    ]


def test_agents_of_the_older_library(tmp_path):
    data = {"policy": entry(b"\x80\x04\x8c\x01a\x94\x8c\x01b\x94\x93\x94.")}
    record = artifacts.artifact_at(save(tmp_path / "old.zip", data, parameters=b"", parameter_list=b"[]"))
    assert (record["kind"], record["names"]) == ("stable-baselines", ["a.b"])
