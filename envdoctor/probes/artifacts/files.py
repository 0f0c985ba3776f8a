"""One file -> its kind and its content. The kinds are distinguished by their first bytes, and by what is inside."""

from __future__ import annotations

import io
import os

from envdoctor.probes.artifacts import (
    agent_files,
    code_objects,
    functions,
    keras_files,
    marks,
    numpy_files,
    pickles,
)
from envdoctor.probes.artifacts.pickle_machine import Notes
from envdoctor.probes.artifacts.streams import BoundedReader, BrokenError, Budget, Inflated, StrangeError, open_file
from envdoctor.probes.artifacts.zips import Zip, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.found import Artifact, Code
    from envdoctor.probes.artifacts.streams import ByteSource

_HEAD = 16
#: How a pickle begins since protocol 2, and how older ones may.
_MARK = b"\x80"
_OLD_PICKLE = tuple(bytes((letter,)) for letter in b"(])}cILFSVNKMJGXUTi")
#: Archives of tensors in a saved model that are read, and pickles in an archive of tensors.
_NESTED_LIMIT = 20
_NO_KIND = "is none of the kinds of file that envdoctor reads"


class Examined:
    """The findings about a file while it is read."""

    def __init__(self, name: str, budget: Budget) -> None:
        self.name, self.budget = name, budget
        self.notes = Notes()
        self.kind = "pickle"
        self.system: dict[str, str] = {}
        self.functions: dict[str, float | None] = {}

    def record(self) -> Artifact:
        """The answer, as plain data."""
        notes = self.notes
        return {
            "file": self.name,
            "kind": self.kind,
            "protocol": notes.protocol,
            "names": list(notes.names),
            "written_by": {**self.system, "packages": dict(notes.packages)},  # type: ignore[typeddict-item]
            "code": [_code(where, code, notes) for where, code in notes.codes],
            "paths": list(notes.paths),
            "functions": dict(self.functions),
            "states": notes.attributes(),
            "gaps": [f"{self.name} {reason}" for reason in notes.gaps],
        }


def examine_path(path: str, name: str | None = None, budget: Budget | None = None) -> Artifact:
    """The record of a file on disk. ``StrangeError`` for no artefact, ``BrokenError`` for what cannot be read."""
    with open_file(path) as file:
        return examine(file, os.fstat(file.fileno()).st_size, name or path, budget or Budget())


def examine(file: ByteSource, size: int, name: str, budget: Budget) -> Artifact:
    """The record of an open file."""
    found = Examined(name, budget)
    try:
        _read_by_kind(file, size, found)
    except OSError as error:
        raise BrokenError(f"cannot be read: {error.strerror or error}") from error
    return found.record()


def _code(where: str | None, code: code_objects.Code, notes: Notes) -> Code:
    """One code object, as plain data."""
    function = notes.functions.get(id(code))
    return {
        "where": where,
        "name": (function.qualified if function else None) or code.qualified or code.name,
        "python": code_objects.specifier(code),
        "constant": functions.constant(function) if function else None,
    }


def _read_by_kind(file: ByteSource, size: int, found: Examined) -> None:
    """Determine the kind by the first bytes, and read the content."""
    head = file.read(_HEAD)
    file.seek(0)
    if head.startswith(marks.ZIP_MAGIC):
        _read_zip(Zip(file, size, found.budget), found)
    elif head.startswith(marks.HDF5_MAGIC):
        found.kind = marks.NETWORK_HDF5_KIND
        if not keras_files.read_hdf5(file, size, found.budget, found.notes):
            raise StrangeError("is HDF5 without the marks of a saved model")
    elif head.startswith(marks.LZ4_MAGIC):
        raise BrokenError("is compressed with LZ4, which envdoctor does not unpack")
    elif head.startswith(marks.COMPRESSED_MAGIC):
        _read_stream(BoundedReader(Inflated(file, found.budget), found.budget), found)
    else:
        _read_stream(BoundedReader(file, found.budget, size), found)


def _read_stream(reader: BoundedReader, found: Examined) -> None:
    """An array or pickles, whether they were compressed or not."""
    head = reader.peek(_HEAD)
    if head.startswith(marks.ARRAY_MAGIC):
        found.kind = marks.ARRAY_KIND
        numpy_files.read_array(reader, found.budget, found.notes)
    elif head.startswith(_MARK) and head[1:2] <= bytes((9,)):
        _pickles(reader, found)
    elif head.startswith(_OLD_PICKLE) and found.name.lower().endswith(marks.SUFFIXES):
        _old_pickles(reader, found)
    else:
        raise StrangeError(_NO_KIND if head else "is empty")


def _old_pickles(reader: BoundedReader, found: Examined) -> None:
    """Pickles without a mark at their beginning; what goes wrong at once is no pickle."""
    try:
        _pickles(reader, found)
    except BrokenError as error:
        if found.notes.names:
            raise
        raise StrangeError(_NO_KIND) from error


def _pickles(reader: BoundedReader, found: Examined) -> None:
    """One pickle or several."""
    first = pickles.walk(reader, found.budget, found.notes)
    found.kind = next((kind for end, kind in marks.KIND_OF_SUFFIX.items() if end in found.name.lower()), "pickle")
    most = 100
    if first.whole and first.value == marks.TENSOR_MAGIC:
        found.kind, most = marks.TENSOR_KIND, marks.TENSOR_PICKLES
    if first.whole and pickles.another(reader):
        try:
            pickles.stream(reader, found.budget, found.notes, most)
        except BrokenError as error:
            found.notes.gap(f"goes on behind its first pickle, and there {error}")
    if found.notes.arrays:
        found.kind = marks.ARRAY_STANDIN_KIND


def _read_zip(archive: Zip, found: Examined) -> None:
    """A saved model, tensors, arrays, or something else."""
    kind = agent_files.kind(archive)
    if kind is not None:
        found.kind = kind
        found.system, found.functions = agent_files.read_archive(archive, found.notes)
        for name in archive.ending(marks.TENSOR_FILE)[:_NESTED_LIMIT]:
            _nested(archive, name, found)
    elif {marks.NETWORK_METADATA, marks.NETWORK_CONFIG} <= archive.members.keys():
        found.kind = marks.NETWORK_KIND
        keras_files.read_archive(archive, found.notes)
    elif archive.ending(marks.TENSOR_MEMBER):
        found.kind = marks.TENSOR_KIND
        _tensors(archive, found)
    elif archive.members and len(archive.ending(marks.ARRAY_SUFFIX)) == len(archive.members):
        found.kind = marks.ARRAYS_KIND
        numpy_files.read_archive(archive, found.notes)
    else:
        raise StrangeError("is a zip without the marks of a saved model")


def _nested(archive: Zip, name: str, found: Examined) -> None:
    """Tensors inside a saved model: a zip in a zip, or pickles. Nothing inside those is opened in turn."""
    try:
        source, size = archive.nested(name)
        if source.read(4).startswith(marks.ZIP_MAGIC):
            _tensors(Zip(source, size, found.budget), found)
        else:
            source.seek(0)
            pickles.stream(
                BoundedReader(source, found.budget, size), found.budget, found.notes, marks.TENSOR_PICKLES + 1
            )
    except BrokenError as error:
        found.notes.gap(f"holds {shown(name)}, which {error}")


def _tensors(archive: Zip, found: Examined) -> None:
    """The pickle of an archive of tensors."""
    for name in archive.ending(marks.TENSOR_MEMBER)[:_NESTED_LIMIT]:
        source, size = archive.source(name)
        reader = BoundedReader(source, found.budget, size)
        if not reader.peek(1).startswith(_MARK):
            raise BrokenError(f"holds {shown(name)}, which is not a pickle")
        pickles.walk(reader, found.budget, found.notes)


def in_memory(data: bytes, name: str, budget: Budget | None = None) -> Artifact:
    """The record of a file that is not on disk."""
    return examine(io.BytesIO(data), len(data), name, budget or Budget())
