"""Saved networks: a zip with two JSON files, or an HDF5 file with the same as attributes.

HDF5 is not read as such: the two attributes are found by their names, and their values behind them or in the heap that
they point into, as the format's specification (version 3.0, IV.A.2.m and III.E) lays them out.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from envdoctor.probes.artifacts import marks
from envdoctor.probes.artifacts.streams import BrokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.probes.artifacts.pickle_machine import Notes
    from envdoctor.probes.artifacts.streams import Budget, ByteSource
    from envdoctor.probes.artifacts.zips import Zip

JSON_LIMIT, SEARCH_LIMIT, LAYER_LIMIT = 1 << 24, 1 << 28, 20_000
_CHUNK, _MESSAGE_LIMIT, _VERSION_LIMIT = 1 << 20, 1 << 16, 40
_VERSION = re.compile(r"\d+(\.\w+)*[\w.+-]*")
_STRING_CLASS, _VARIABLE_CLASS = 3, 9
_HEAP = b"GCOL"


def read_archive(archive: Zip, notes: Notes) -> None:
    """The release that wrote it, and the layers with the keys of their configuration."""
    metadata = _parsed(archive.content(marks.NETWORK_METADATA, JSON_LIMIT))
    if isinstance(metadata, dict):
        _note_version(metadata.get(marks.NETWORK_VERSION), notes)
    _note_layers(_parsed(archive.content(marks.NETWORK_CONFIG, JSON_LIMIT)), notes)


def read_hdf5(file: ByteSource, size: int, budget: Budget, notes: Notes) -> bool:
    """The same from an HDF5 file; ``False`` where it holds neither, and so is something else."""
    found = _attributes(file, size, (marks.NETWORK_VERSION, marks.NETWORK_MODEL), budget)
    version, model = found.get(marks.NETWORK_VERSION), found.get(marks.NETWORK_MODEL)
    if version is None and model is None:
        return False
    _note_version(version.decode("utf-8", "replace") if version else None, notes)
    if model is None:
        notes.gap("is HDF5 with weights but without a readable model configuration: its layers are not known")
    else:
        _note_layers(_parsed(model), notes)
    return True


def _note_version(version: object, notes: Notes) -> None:
    if isinstance(version, str) and len(version) < _VERSION_LIMIT and _VERSION.fullmatch(version):
        notes.packages[marks.NETWORK_PACKAGE] = version
    else:
        notes.gap("does not tell which release wrote it")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.rstrip(b"\0").decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise BrokenError("is a saved model whose configuration is not readable JSON") from error


def _note_layers(config: Any, notes: Notes) -> None:
    """Name every class in a configuration, and the keys that it is configured with: ``LAYERS.CLASS.KEY``."""
    todo, count = [config], 0
    while todo and count < LAYER_LIMIT:
        count += 1
        part = todo.pop()
        if isinstance(part, list):
            todo += reversed(part)
        if not isinstance(part, dict):
            continue
        name, inner = part.get("class_name"), part.get("config")
        if isinstance(name, str) and name == marks.FUNCTION_CLASS:
            notes.gap("holds a function as bytecode in a layer: for which Python it is, is not known")
        elif isinstance(name, str) and _is_layer(part, inner):
            notes.name(f"{marks.NETWORK_LAYERS}.{name}")
            for key in inner if isinstance(inner, dict) else ():
                notes.name(f"{marks.NETWORK_LAYERS}.{name}.{key}")
        todo += reversed(list(part.values()))
    if todo:
        notes.gap("has more layers than are looked at")


def _is_layer(part: dict[str, Any], inner: Any) -> bool:
    """Whether a class in a configuration is a layer or model: newer ones say their module, older ones have a name."""
    module = part.get("module")
    if isinstance(module, str):
        return module.startswith(marks.NETWORK_MODULES)
    return isinstance(inner, list) or (isinstance(inner, dict) and ("name" in inner or "layers" in inner))


def _attributes(file: ByteSource, size: int, names: tuple[str, ...], budget: Budget) -> dict[str, bytes]:
    """The values of those attributes that are texts, by their names."""
    found: dict[str, bytes] = {}
    for at, name in _places(file, min(size, SEARCH_LIMIT), names, budget):
        if name in found:
            continue
        file.seek(max(0, at - 9))
        data = file.read(_MESSAGE_LIMIT)
        value = _value(file, data[min(at, 9) - 8 :], len(name) + 1, padded=True)
        if value is None and at >= 9:  # noqa: PLR2004
            value = _value(file, data, len(name) + 1, padded=False)
        if value is not None:
            found[name] = value
        if len(found) == len(names):
            break
    return found


def _places(file: ByteSource, size: int, names: tuple[str, ...], budget: Budget) -> Iterator[tuple[int, str]]:
    """The places of some names in a file, each with the zero that ends it."""
    wanted = re.compile(b"|".join(name.encode() + b"\0" for name in names))
    at, before, overlap = 0, b"", max(map(len, names))
    while at < size:
        if budget.late():
            raise BrokenError("takes too long to read: it is not read further")
        file.seek(at)
        data = before + file.read(_CHUNK)
        for match in wanted.finditer(data):
            yield at - len(before) + match.start(), match.group()[:-1].decode()
        at += _CHUNK
        before = data[-overlap:]


def _value(file: ByteSource, message: bytes, length: int, *, padded: bool) -> bytes | None:
    """The value in an attribute's message: version 1, whose parts fill up to eight bytes, or versions 2 and 3."""
    header = 8 if padded else 9
    if len(message) < header or message[0] not in ((1,) if padded else (3,)):
        return None
    name, kind, space = struct.unpack_from("<HHH", message, 2)
    if name != length:
        return None
    unit = 8 if padded else 1
    at = header + _filled(name, unit)
    described, start = message[at : at + kind], at + _filled(kind, unit) + _filled(space, unit)
    if len(described) < 8:  # noqa: PLR2004
        return None
    if described[0] & 15 == _STRING_CLASS:
        return message[start : start + struct.unpack_from("<I", described, 4)[0]].rstrip(b"\0 ")
    if described[0] & 15 == _VARIABLE_CLASS and len(message) >= start + 16:
        return _from_heap(file, *struct.unpack_from("<IQI", message, start))
    return None


def _filled(count: int, unit: int) -> int:
    """A number of bytes, filled up to whole units."""
    return -(-count // unit) * unit


def _from_heap(file: ByteSource, length: int, address: int, index: int) -> bytes | None:
    """A value of variable length, from the heap that holds it."""
    if length > JSON_LIMIT or address >= 1 << 62:
        return None
    file.seek(address)
    head = file.read(16)
    if len(head) < 16 or not head.startswith(_HEAP):  # noqa: PLR2004
        return None
    at, end = address + 16, address + struct.unpack_from("<Q", head, 8)[0]
    for _ in range(LAYER_LIMIT):
        file.seek(at)
        item = file.read(16)
        if at >= end or len(item) < 16:  # noqa: PLR2004
            return None
        number, size = struct.unpack_from("<H", item)[0], struct.unpack_from("<Q", item, 8)[0]
        if number == index:
            return file.read(min(length, size, JSON_LIMIT))
        at += 16 + _filled(size, 8)
    return None
