"""The arrays that one pickling library writes as they are, into the middle of its pickles."""

from __future__ import annotations

import re

from envdoctor.probes.artifacts import marks
from envdoctor.probes.artifacts.pickled_values import Made, Pairs, short
from envdoctor.probes.artifacts.streams import BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.streams import BoundedReader

_SIMPLE = re.compile(r"[<>|=]?([?bBhHiIlLqQfdgFDGeSUVOmMcua])(\d{0,9})")
_NATIVE = {
    "?": 1,
    "b": 1,
    "B": 1,
    "h": 2,
    "H": 2,
    "i": 4,
    "I": 4,
    "q": 8,
    "Q": 8,
    "f": 4,
    "d": 8,
    "e": 2,
    "F": 8,
    "D": 16,
}
_OBJECTS = object()
_DIMENSIONS = 64


def skip(reader: BoundedReader, state: object) -> bool:
    """Skip the bytes of an array in the stream; ``True`` where there is a pickle instead."""
    if not isinstance(state, Pairs):
        raise BrokenError("holds an array whose description cannot be read")
    size = _item_size(state.get(marks.ARRAY_ELEMENT))
    if size is _OBJECTS:
        return True
    shape = state.get(marks.ARRAY_SHAPE)
    count = 1
    if not isinstance(shape, tuple) or len(shape) > _DIMENSIONS or not isinstance(size, int):
        raise BrokenError("holds an array whose description cannot be read")
    for length in shape:
        if not isinstance(length, int) or length < 0:
            raise BrokenError("holds an array whose description cannot be read")
        count *= length
    if isinstance(state.get(marks.ARRAY_ALIGNMENT), int):
        reader.skip(reader.read(1)[0])
    reader.skip(count * size)
    return False


def _item_size(kind: object) -> object:
    """The bytes of one element, ``_OBJECTS`` for pickled ones, or ``None`` where the file does not say."""
    if not isinstance(kind, Made) or short(kind.name) != marks.ELEMENT_TYPE or not kind.arguments:
        return None
    text = kind.arguments[0]
    match = _SIMPLE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    letter, digits = match.groups()
    if letter == "O" or _holds_objects(kind.state):
        return _OBJECTS
    size = int(digits) if digits else _NATIVE.get(letter)
    return size * 4 if letter == "U" and size is not None else size


def _holds_objects(state: object) -> bool:
    """Whether a structured kind of element has a field of objects: the eighth part of its state are its flags."""
    flags = state[7] if isinstance(state, tuple) and len(state) > 7 else 0  # noqa: PLR2004
    return isinstance(flags, int) and bool(flags & 1)
