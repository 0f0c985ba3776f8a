"""Programs that write real artefacts with real libraries, each run by an interpreter of an environment made for it."""

import os

from conftest import run

FUNCTIONS = '''
import ast, importlib, os, struct, sys, types, warnings
warnings.simplefilter("ignore")
import cloudpickle

MODULES = """argparse configparser contextlib copy csv difflib fractions functools inspect ipaddress locale shutil
statistics tarfile threading traceback zipfile""".split()


def codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            for inner in codes(constant):
                yield inner


def functions():
    """Functions as the compiler makes them, small and large ones in turn."""
    found = []
    for name in MODULES:
        file = getattr(importlib.import_module(name), "__file__", None) or ""
        if file.endswith(".py"):
            with open(file, encoding="utf-8") as source:
                found += [code for code in codes(compile(source.read(), file, "exec")) if code.co_flags & 3 == 3]
    found.sort(key=lambda code: (len(code.co_code), code.co_name, code.co_firstlineno))
    step = max(1, len(found) // int(sys.argv[2]))
    for code in found[::step]:
        cells = tuple((lambda value: lambda: value)(1).__closure__[0] for _ in code.co_freevars)
        made = types.FunctionType(code, {"__name__": "__main__"}, code.co_name, None, cells)
        made.__module__, made.__qualname__ = "__main__", "gone_" + code.co_name
        yield made


def constant_fn(val):
    def func(_):
        return val

    return func


def get_schedule_fn(value):
    value_schedule = constant_fn(float(value))
    return lambda progress_remaining: float(value_schedule(progress_remaining))


def get_linear_fn(start, end, end_fraction):
    def func(progress_remaining):
        if (1 - progress_remaining) > end_fraction:
            return end
        return start + (1 - progress_remaining) * (end - start) / end_fraction

    return func


def schedules():
    """A schedule, and the number that it always returns."""
    yield constant_fn(0.2), 0.2
    yield get_schedule_fn(3e-4), 3e-4
    yield get_linear_fn(1.0, 0.05, 0.1), None
    yield lambda _: 3e-4, 3e-4
    yield lambda _: 7, 7
    yield lambda progress: progress * 3e-4, None
    yield lambda _: None, None


def write(file, data):
    file.write(struct.pack("<I", len(data)) + data)


with open(sys.argv[1], "wb") as file:
    for schedule, constant in schedules():
        for _ in range(100):  # what the interpreter learns while it runs must not show
            schedule(0.5)
        try:
            pickled = cloudpickle.dumps(schedule)
        except IndexError:
            continue
        write(file, repr(constant).encode())
        write(file, pickled)
    for function in functions():
        try:
            pickled = cloudpickle.dumps(function)
        except IndexError:  # what a release does that does not know this Python
            continue
        write(file, b"?")
        write(file, pickled)
'''

SKLEARN = """
import os, pathlib, pickle, sys
import joblib, numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import sklearn

os.chdir(sys.argv[1])
model = make_pipeline(StandardScaler(), LinearRegression()).fit(np.arange(12.0).reshape(6, 2), np.arange(6.0))
for protocol in range(6):
    with open("model-%d.pkl" % protocol, "wb") as file:
        pickle.dump(model, file, protocol=protocol)
    joblib.dump(model, "model-%d.joblib" % protocol, protocol=protocol)
for method in ("zlib", "gzip", "bz2", "lzma", "xz"):
    joblib.dump(model, "model-%s.joblib" % method, compress=(method, 3))
arrays = {
    "zeros": np.zeros((100, 100)), "objects": np.array([{}, None], dtype=object), "words": np.array(["ab", "cde"]),
    "rows": np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "mixed": np.array([(1, {})], dtype=[("a", "i4"), ("b", "O")]),
    "days": np.array(["2020-01-01"], dtype="M8[D]"), "columns": np.asfortranarray(np.ones((3, 4), dtype=">f4")),
    "truth": np.array([True]), "none": np.zeros((0, 3)), "last": pathlib.Path("/home/user/data"),
}
joblib.dump(arrays, "arrays.joblib")
np.save("plain.npy", np.arange(10))
np.save("objects.npy", np.array([{}, pathlib.Path("/home/user/more")], dtype=object), allow_pickle=True)
np.savez("stored.npz", a=np.arange(3), o=np.array([{1: np.float32(2)}], dtype=object))
np.savez_compressed("packed.npz", a=np.arange(3), o=np.array([{1: np.float32(2)}], dtype=object))
print(sklearn.__version__, np.__version__)
"""

HDF5 = """
import json, sys
import h5py

layers = [{"class_name": "DepthwiseConv2D", "config": {"name": "first", "groups": 1}},
          {"class_name": "Zeros", "config": {}},
          {"class_name": "Dense", "config": {"name": "last" * int(sys.argv[3]), "units": 2}}]
for libver in ("earliest", "latest"):
    with h5py.File(sys.argv[1] + libver + ".h5", "w", libver=libver) as file:
        file.attrs["keras_version"] = sys.argv[2].encode()
        file.attrs["backend"] = b"tensorflow"
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}}).encode()
        file.create_group("model_weights").create_dataset("w", data=[1.0] * 1000)
with h5py.File(sys.argv[1] + "other.h5", "w") as file:
    file.create_dataset("w", data=[1.0])
"""


def environment(folder, python, *requirements):
    """Make an environment; its interpreter."""
    assert run("uv", "venv", "--quiet", "--python", python, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--python", folder, *requirements)
    assert done.returncode == 0, done.stderr
    return os.path.join(folder, "Scripts" if os.name == "nt" else "bin", "python")


def write(python, program, *words):
    """Run one of the programs; what it prints."""
    done = run(python, "-c", program, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout
