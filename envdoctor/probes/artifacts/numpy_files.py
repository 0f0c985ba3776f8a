"""Files of one array or several: the header in words, then the elements, which are a pickle where they are objects."""

from __future__ import annotations

import ast
import struct
import warnings

from envdoctor.probes.artifacts import marks, pickles
from envdoctor.probes.artifacts.streams import BoundedReader, BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.pickle_machine import Notes
    from envdoctor.probes.artifacts.streams import Budget
    from envdoctor.probes.artifacts.zips import Zip

#: Characters of a header, and how deep the description of its elements may nest.
HEADER_LIMIT, NESTING_LIMIT = 1 << 16, 20
MEMBER_LIMIT = 2_000
_LENGTHS = {1: "<H", 2: "<I", 3: "<I"}


def read_array(reader: BoundedReader, budget: Budget, notes: Notes) -> None:
    """One array. ``BrokenError`` where its header cannot be read."""
    if reader.read(len(marks.ARRAY_MAGIC)) != marks.ARRAY_MAGIC:
        raise BrokenError("is not an array file")
    form = _LENGTHS.get(reader.read(2)[0])
    if form is None:
        raise BrokenError("is an array file of a version that is not known")
    length = struct.unpack(form, reader.read(struct.calcsize(form)))[0]
    if length > HEADER_LIMIT:
        raise BrokenError(f"is an array file with a header of {length} bytes: it is not read")
    kind = _description(reader.read(length).decode("latin-1")).get("descr")
    if holds_objects(kind):
        pickles.walk(reader, budget, notes)


def read_archive(archive: Zip, notes: Notes) -> None:
    """All arrays of a zip; what cannot be read of one does not hide the others."""
    for number, name in enumerate(archive.ending(marks.ARRAY_SUFFIX)):
        if number >= MEMBER_LIMIT:
            notes.gap(f"holds more than {MEMBER_LIMIT} arrays: the others are not looked at")
            break
        source, size = archive.source(name)
        read_array(BoundedReader(source, archive.budget, size), archive.budget, notes)


def _description(text: str) -> dict[object, object]:
    """The header, which is a dictionary as Python writes one."""
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    try:
        with warnings.catch_warnings():  # about the file's text, and not about this program
            warnings.simplefilter("ignore")
            found = ast.literal_eval(text.strip()) if deepest <= NESTING_LIMIT else None
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise BrokenError("is an array file whose header cannot be read") from error
    if not isinstance(found, dict):
        raise BrokenError("is an array file whose header cannot be read")
    return found


def holds_objects(kind: object) -> bool:
    """Whether a description of elements names objects, itself or in one of its fields."""
    if isinstance(kind, str):
        return kind.lstrip("<>|=").startswith("O")
    if isinstance(kind, tuple):
        return bool(kind) and holds_objects(kind[0])
    if isinstance(kind, list):
        return any(isinstance(field, tuple) and len(field) > 1 and holds_objects(field[1]) for field in kind)
    return False
