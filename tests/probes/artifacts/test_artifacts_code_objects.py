"""For which Python a function is, and what it returns: on functions of every Python, pickled by every kind of release."""

import collections
import io
import struct
import subprocess
import sys

import interpreters
import pytest
from conftest import untraced
from packaging.specifiers import SpecifierSet
from probes.artifacts import artifact_writers, opcode_tables_generator

from envdoctor.probes.artifacts import bytecode, code_objects, functions
from envdoctor.probes.artifacts.pickle_machine import Notes
from envdoctor.probes.artifacts.pickled_values import Function
from envdoctor.probes.artifacts.pickles import walk
from envdoctor.probes.artifacts.streams import BoundedReader, Budget

#: Releases of cloudpickle that run on a Python; the first of some does not know it and writes its code in an old shape.
RELEASES = {
    "3.6": ("1.2.2", "2.2.1"),
    "3.7": ("1.2.2", "2.2.1"),
    "3.8": ("1.6.0", "3.1.1"),
    "3.9": ("1.6.0", "3.1.1"),
    "3.10": ("1.6.0", "2.0.0", "3.1.1"),
    "3.11": ("1.6.0", "3.1.1"),
    "3.12": ("1.6.0", "3.1.1"),
    "3.13": ("1.6.0", "3.1.1"),
    "3.14": ("3.1.1",),
}
CELLS = [(version, release) for version, releases in RELEASES.items() for release in releases]
COUNT = 150
#: The least share of functions for which no other minor version is possible, measured; see the comment of each.
CERTAIN = {
    "3.6": 0.15,  # 3.7 only added an instruction for calling methods
    "3.7": 0.4,
    "3.8": 0.2,  # 3.8 and 3.9 differ in `try`, `with`, `in` and `is`
    "3.9": 0.2,
    "3.10": 0.3,  # all of them where the line table is that of 3.10, which old releases did not write
    "3.11": 0.7,  # without a global, an attribute or a call it is the code of 3.12
    "3.12": 0.9,
    "3.13": 1.0,
    "3.14": 1.0,
}


def pickled(path):
    """Pairs of the expected constant and the pickle."""
    with open(path, "rb") as file:
        parts = []
        while head := file.read(4):
            parts.append(file.read(struct.unpack("<I", head)[0]))
    return list(zip(parts[::2], parts[1::2]))


def walked(data):
    budget, notes = Budget(), Notes()
    with untraced():
        made = walk(BoundedReader(io.BytesIO(data), budget, len(data)), budget, notes).value
    assert isinstance(made, Function)
    return made, notes


@pytest.mark.trials
@pytest.mark.parametrize(("version", "release"), CELLS)
def test_the_python_that_wrote_a_function_is_never_ruled_out(version, release, make_environment, tmp_path):
    python = make_environment(interpreters.need(version), f"cloudpickle=={release}") / "bin" / "python"
    artifact_writers.write(
        python, artifact_writers.FUNCTIONS, tmp_path / "all", COUNT if release != "1.6.0" else 2 * COUNT
    )
    pairs = pickled(tmp_path / "all")
    assert len(pairs) >= 100
    answers = collections.Counter()
    for expected, data in pairs:
        made, notes = walked(data)
        for _, code in notes.codes:
            assert version in SpecifierSet(code_objects.specifier(code)), (made.qualified, code.code)
        answers[code_objects.specifier(made.code)] += 1
        if expected != b"?":
            assert repr(functions.constant(made)).encode() == expected, made.qualified
    minor = int(version.partition(".")[2])
    alone = f">=3.{minor},<3.{minor + 1}" if version != "3.14" else ">=3.14"
    assert answers[alone] >= CERTAIN[version] * len(pairs), answers


@pytest.mark.parametrize("version", interpreters.VERSIONS)
def test_the_tables_are_what_the_interpreters_say(version):
    words = opcode_tables_generator.words(interpreters.need(version))
    assert sorted(bytecode.words(int(version.partition(".")[2]))) == sorted(words)


@pytest.mark.parametrize("code", [b"", b"\x01", bytes(range(256)), b"\x90\xff" * 500, b"\xff" * 4000, bytes(4000)])
@pytest.mark.parametrize("minor", bytecode.MINORS)
def test_bytes_that_are_no_code_fit_no_python(code, minor):
    assert not bytecode.is_possible(code, bytecode.Sizes(1, 1, 1, 1), minor)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the code object has its newest shape since 3.11")
def test_what_no_known_python_can_have_written_is_said_of_the_family():
    code = test_what_no_known_python_can_have_written_is_said_of_the_family.__code__
    arguments = [
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_nlocals, code.co_stacksize, code.co_flags,
        b"\xff\x00" * 4, code.co_consts, code.co_names, code.co_varnames, code.co_filename, code.co_name, code.co_qualname,
        code.co_firstlineno, b"", b"", (), (),
    ]  # fmt: skip
    made = code_objects.of_arguments(arguments)
    assert (made.minors, code_objects.specifier(made)) == (frozenset(), ">=3.11")
    assert code_objects.of_arguments(arguments[1:]) is None
    assert code_objects.of_arguments([b"", *arguments]).code == made.code


def test_an_interpreter_of_this_machine_agrees_with_itself(tmp_path):
    """Every function of the standard library fits the Python that runs this."""
    minor = sys.version_info[1]
    if minor not in bytecode.MINORS:
        pytest.skip("the tables do not know this Python")

    def fits(code):
        sizes = bytecode.Sizes(
            len(code.co_consts),
            len(code.co_names),
            len(code.co_varnames),
            len(code.co_cellvars) + len(code.co_freevars),
        )
        return bytecode.is_possible(code.co_code, sizes, minor)

    for module in (collections, subprocess, io, struct):
        for name, value in vars(module).items():
            if hasattr(value, "__code__"):
                assert fits(value.__code__), name
