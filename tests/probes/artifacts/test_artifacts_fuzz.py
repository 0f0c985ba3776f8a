"""Whatever an artefact holds, it is a record of plain data or an error that speaks to the user."""

import base64
import bz2
import gzip
import io
import json
import pathlib
import pickle
import random
import zipfile

from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.probes.artifacts import code_objects, files
from envdoctor.probes.artifacts.streams import BrokenError, Budget, StrangeError

NAMES = ["model.pkl", "model.joblib", "model.zip", "model.npz", "model"]


def function(number):
    """A code object in pieces, as a pickle has it."""
    code = function.__code__
    pieces = [
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_nlocals, code.co_stacksize, code.co_flags,
        code.co_code, tuple(map(repr, code.co_consts)), code.co_names, code.co_varnames, code.co_filename, code.co_name,
        code.co_name, code.co_firstlineno, b"", b"", code.co_freevars, code.co_cellvars,
    ]  # fmt: skip
    return tuple(pieces[:number])


class Called:
    """Pickled as a call of ``print``."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return print, self.arguments, {"_sklearn_version": "1.0", "shape": (3,), "dtype": None}


def packed(method, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return file.getvalue()


VALUE = [
    Called(*function(18)),
    {1: "two", "path": pathlib.PurePosixPath("/home/user")},
    2**80,
    1.5,
    {3},
    b"x" * 300,
    "é" * 300,
]
PICKLES = [pickle.dumps(VALUE, protocol=protocol) for protocol in range(6)]
AGENT = json.dumps({"lr_schedule": {":serialized:": base64.b64encode(PICKLES[4]).decode()}, "n": 1}).encode()
HEADER = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
ARRAY = b"\x93NUMPY\x01\x00" + bytes((len(HEADER), 0)) + HEADER + PICKLES[3]
LAYER = {"module": "keras.layers", "class_name": "Dense", "config": {"name": "d", "units": 2}}
SEEDS = [
    *PICKLES,
    PICKLES[4] * 2,
    gzip.compress(PICKLES[4]),
    bz2.compress(PICKLES[2]),
    ARRAY,
    packed(
        zipfile.ZIP_STORED,
        data=AGENT,
        system_info_dot_txt=b"Python: 3.9.1",
        policy_dot_pth=packed(0, a__data_dot_pkl=PICKLES[2]),
    ),
    packed(zipfile.ZIP_DEFLATED, data=AGENT, policy_dot_pth=PICKLES[2]),
    packed(zipfile.ZIP_DEFLATED, a__data_dot_pkl=PICKLES[2]),
    packed(zipfile.ZIP_DEFLATED, a_dot_npy=ARRAY, b_dot_npy=ARRAY),
    packed(zipfile.ZIP_STORED, metadata_dot_json=b'{"keras_version": "3.5.0"}', config_dot_json=json.dumps(LAYER)),
]


def survive(data, name):
    """Read a file; the record is plain data, or the error has one line."""
    record, said = None, ""
    try:
        record = files.in_memory(data, name, Budget(5.0))
    except (BrokenError, StrangeError) as error:
        said = str(error)
    if record is None:
        assert said
        assert "\n" not in said
        return None
    json.dumps(record)
    assert record["file"] == name
    return record


@st.composite
def mutated(draw):
    """A real file with some bytes changed, left out, doubled or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    chance = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(1, 6))):
        at, way = chance.randrange(len(data) + 1), chance.randrange(5)
        if way == 0:
            data[at : at + 1] = bytes((chance.randrange(256),))
        elif way == 1:
            del data[at : at + chance.randrange(1, 9)]
        elif way == 2:
            data[at:at] = data[at : at + chance.randrange(1, 40)]
        elif way == 3:
            data[at : at + 4] = chance.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"])
        else:
            data = data[:at] + bytearray(draw(st.sampled_from(SEEDS)))[at:]
    return bytes(data)


def test_the_seeds_are_what_they_say():
    kinds = [record and record["kind"] for record in (survive(data, "model.pkl") for data in SEEDS)]
    agents = ["stable-baselines3", "stable-baselines3"]
    assert kinds == ["pickle"] * 9 + ["npy", *agents, "torch", "npz", "keras"]


@given(data=mutated(), name=st.sampled_from(NAMES))
def test_mutated_files(data, name):
    survive(data, name)


@given(data=st.binary(max_size=400), name=st.sampled_from(NAMES))
@example(data=b"\x80\x04(", name="model.pkl")
@example(data=b"PK\x05\x06" + b"\xff" * 18, name="model.zip")
def test_any_bytes(data, name):
    survive(data, name)
    survive(b"\x80\x04" + data, name)


@given(
    st.lists(
        st.sampled_from(
            b"().0123NIFVUXBC]}{tealdrsuboibhjgpqc\x80\x81\x85\x86\x87\x88\x89\x8a\x8c\x8f\x90\x91\x92\x93\x94\x95\x97\x98\nR\x00\x01"
        ),
        max_size=60,
    )
)
def test_instructions_in_any_order(numbers):
    survive(b"\x80\x04" + bytes(numbers) + b".", "model.pkl")


@given(code=st.binary(max_size=60), count=st.sampled_from([15, 16, 18]), lines=st.binary(max_size=8))
def test_any_bytecode(code, count, lines):
    integers = [1] * (5 if count == 15 else 6)
    last = ["name", "qualified", 1, lines, b""] if count == 18 else ["name", 1, lines]
    made = code_objects.of_arguments([*integers, code, (1.5, None), ("a",), ("b",), "/a/file", *last, (), ("c",)])
    assert made is not None
    assert code_objects.specifier(made).startswith(">=3.")
    code_objects.constant(made, [0.5])
