"""Saved models of agents: a zip with a JSON of pickled values, a description of the system, and tensors."""

from __future__ import annotations

import base64
import binascii
import io
import json

from envdoctor.probes.artifacts import functions, marks, pickles
from envdoctor.probes.artifacts.streams import BoundedReader, BrokenError
from envdoctor.probes.artifacts.zips import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.probes.artifacts.pickle_machine import Notes
    from envdoctor.probes.artifacts.zips import Zip

DATA_LIMIT, TEXT_LIMIT, KEY_LIMIT = 1 << 24, 1 << 16, 500


def kind(archive: Zip) -> str | None:
    """Which of the two kinds a zip is, if it is one."""
    if marks.AGENT_DATA not in archive.members:
        return None
    known = (marks.AGENT_VERSION, marks.AGENT_SYSTEM, *marks.AGENT_MEMBERS)
    if any(name in archive.members for name in known):
        return marks.AGENT_KIND
    start = archive.content(marks.AGENT_DATA, DATA_LIMIT)
    return marks.OLD_AGENT_KIND if marks.SERIALIZED.encode() in start else None


def read_archive(archive: Zip, notes: Notes) -> tuple[dict[str, str], dict[str, float | None]]:
    """The system that wrote it, and the entries that hold functions, with the number that each always returns."""
    found: dict[str, float | None] = {}
    for key, value in _data(archive).items():
        notes.path(value)
        text = value.get(marks.SERIALIZED) if isinstance(value, dict) else None
        if not isinstance(text, str):
            continue
        notes.where = key
        try:
            held = _walked(text, archive, notes)
        except BrokenError as error:
            notes.gap(f"holds {shown(key)}, whose value {error}")
            continue
        if functions.is_called(held):
            found[key] = functions.constant(held)
        elif any(where == key for where, _ in notes.codes):  # an object, or a class, that holds functions
            found[key] = None
    notes.where = None
    return _system(archive, notes), found


def _walked(text: str, archive: Zip, notes: Notes) -> object:
    """The value that one entry holds."""
    try:
        data = base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        raise BrokenError("is not written in base64") from error
    return pickles.walk(BoundedReader(io.BytesIO(data), archive.budget, len(data)), archive.budget, notes).value


def _data(archive: Zip) -> dict[str, object]:
    """The JSON of the model."""
    try:
        found = json.loads(archive.content(marks.AGENT_DATA, DATA_LIMIT))
    except (ValueError, RecursionError) as error:
        raise BrokenError("is a saved model whose data is not readable JSON") from error
    if not isinstance(found, dict):
        raise BrokenError("is a saved model whose data is not readable JSON")
    return {key: found[key] for key in list(found)[:KEY_LIMIT]}


def _system(archive: Zip, notes: Notes) -> dict[str, str]:
    """Python and the operating system that wrote it; the releases go into the notes."""
    found = {}
    if marks.AGENT_VERSION in archive.members:
        notes.packages[marks.AGENT_PACKAGE] = _text(archive, marks.AGENT_VERSION).strip()[:40]
    if marks.AGENT_SYSTEM in archive.members:
        for line in _text(archive, marks.AGENT_SYSTEM).splitlines():
            label, _, value = line.lstrip("- ").partition(":")
            label, value = label.strip().lower(), value.strip()
            if label in ("python", "os") and value:
                found[label] = value
            elif label in marks.SYSTEM_LABELS and value[:1].isdigit():
                notes.packages.setdefault(marks.SYSTEM_LABELS[label], value)
    return found


def _text(archive: Zip, name: str) -> str:
    """A short member as text."""
    return archive.content(name, TEXT_LIMIT).decode("utf-8", "replace")
