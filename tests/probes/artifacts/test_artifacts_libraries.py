"""Files that real libraries wrote, of every protocol and compression."""

import json
import os
import sys
import zipfile

import interpreters
import pytest
from probes.artifacts import artifact_writers

from envdoctor.errors import ProbeError
from envdoctor.probes import artifacts

pytestmark = pytest.mark.trials

KEYS = {"file", "kind", "protocol", "names", "written_by", "code", "paths", "functions", "states", "gaps"}


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Models and arrays, and the releases that wrote them."""
    folder = tmp_path_factory.mktemp("learned")
    requirements = ("scikit-learn==1.3.2", "numpy==1.26.4", "joblib==1.3.2")
    python = artifact_writers.environment(folder / "venv", interpreters.need("3.11"), *requirements)
    artifact_writers.write(python, artifact_writers.SKLEARN, folder)
    return folder


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", ["pkl", "joblib"])
def test_a_learned_model_tells_what_wrote_it(learned, protocol, kind):
    record = artifacts.artifact_at(str(learned / f"model-{protocol}.{kind}"))
    assert record.keys() == KEYS
    assert record["kind"] == {"pkl": "pickle", "joblib": "joblib"}[kind]
    assert record["protocol"] == protocol
    assert record["written_by"] == {"packages": {"scikit-learn": "1.3.2"}}
    assert {"sklearn.pipeline.Pipeline", "sklearn.linear_model._base.LinearRegression"} <= set(record["names"])
    assert (record["code"], record["paths"], record["functions"], record["gaps"]) == ([], [], {}, [])
    assert {"memory", "steps", "verbose"} <= set(record["states"]["sklearn.pipeline.Pipeline"])


@pytest.mark.parametrize("method", ["zlib", "gzip", "bz2", "lzma", "xz"])
def test_a_compressed_model_is_read_as_well(learned, method):
    record = artifacts.artifact_at(str(learned / f"model-{method}.joblib"))
    assert record["written_by"]["packages"] == {"scikit-learn": "1.3.2"}
    assert "sklearn.preprocessing._data.StandardScaler" in record["names"]


def test_arrays_of_every_kind_are_stepped_over(learned):
    record = artifacts.artifact_at(str(learned / "arrays.joblib"))
    assert (record["kind"], record["gaps"]) == ("joblib", [])
    assert "numpy.core.multiarray._reconstruct" in record["names"]
    assert record["names"][-1].endswith("PosixPath")
    assert record["paths"] == ["/home/user/data"]


def test_arrays_in_files_of_their_own(learned):
    plain = artifacts.artifact_at(str(learned / "plain.npy"))
    assert (plain["kind"], plain["protocol"], plain["names"]) == ("npy", None, [])
    objects = artifacts.artifact_at(str(learned / "objects.npy"))
    assert (objects["kind"], objects["paths"]) == ("npy", ["/home/user/more"])
    assert "numpy.core.multiarray._reconstruct" in objects["names"]
    for name in ("stored.npz", "packed.npz"):
        record = artifacts.artifact_at(str(learned / name))
        assert (record["kind"], record["protocol"]) == ("npz", 3)
        assert "numpy.core.multiarray.scalar" in record["names"]


@pytest.mark.parametrize("letters", [1, 5_000])
def test_a_network_in_hdf5(letters, tmp_path):
    python = artifact_writers.environment(tmp_path / "venv", interpreters.need("3.11"), "h5py==3.11.0", "numpy==1.26.4")
    artifact_writers.write(python, artifact_writers.HDF5, str(tmp_path) + os.sep, "2.15.0", letters)
    for libver in ("earliest", "latest"):
        record = artifacts.artifact_at(str(tmp_path / f"{libver}.h5"))
        assert (record["kind"], record["gaps"]) == ("keras-h5", [])
        assert record["written_by"] == {"packages": {"keras": "2.15.0"}}
        layers = [name for name in record["names"] if name.count(".") == 2]
        assert layers == ["keras.layers.Sequential", "keras.layers.DepthwiseConv2D", "keras.layers.Dense"]
        assert "keras.layers.DepthwiseConv2D.groups" in record["names"]
    with pytest.raises(ProbeError, match="HDF5 without the marks"):
        artifacts.artifact_at(str(tmp_path / "other.h5"))


def test_a_network_in_a_zip(tmp_path):
    """The layout is that of release 3.5."""
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    layer = {
        "module": "keras.layers",
        "class_name": "DepthwiseConv2D",
        "config": {"name": "d", "strides": [1, 1], "dtype": policy},
    }
    own = {"module": "my.layers", "class_name": "Mine", "config": {"name": "m"}, "registered_name": "Custom>Mine"}
    function = {"class_name": "__lambda__", "config": {"code": "4wEAAAA=", "defaults": None, "closure": None}}
    applied = {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "l", "function": function}}
    config = {"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": [layer, own, applied]}}
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.5.0", "date_saved": "2024-09-01@10:00:00"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n")
    record = artifacts.artifact_at(str(path))
    assert (record["kind"], record["written_by"]) == ("keras", {"packages": {"keras": "3.5.0"}})
    layers = [name for name in record["names"] if name.count(".") == 2]
    assert layers == ["keras.layers.DepthwiseConv2D", "keras.layers.Lambda"]
    assert "keras.layers.DepthwiseConv2D.strides" in record["names"]
    assert "holds a function as bytecode in a layer" in record["gaps"][0]


TENSORS = """
import collections, pickle, struct, sys, zipfile

class Storage:  # stands for a tensor's storage, which is named by a persistent id
    pass

class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        return ("storage", collections.OrderedDict, "0", "cpu", 4) if isinstance(value, Storage) else None

def dump(file, value):
    Pickler(file, 2).dump(value)

value = collections.OrderedDict(weight=Storage(), path="/home/user/data")
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    with archive.open("archive/data.pkl", "w") as file:
        dump(file, value)
    archive.writestr("archive/data/0", b"0" * 16)
    archive.writestr("archive/version", "3")
with open(sys.argv[2], "wb") as file:
    for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001}, value, ["0"]):
        dump(file, part)
    file.write(struct.pack("<q", 4) + b"\\x80\\x02not a pickle any more")
"""


def test_tensors_of_both_layouts(tmp_path):
    for_zip, for_old = tmp_path / "tensors.pt", tmp_path / "tensors.pth"
    artifact_writers.write(sys.executable, TENSORS, for_zip, for_old)
    for path in (for_zip, for_old):
        record = artifacts.artifact_at(str(path))
        assert (record["kind"], record["protocol"], record["gaps"]) == ("torch", 2, [])
        assert (record["names"], record["paths"]) == (["collections.OrderedDict"], ["/home/user/data"])
