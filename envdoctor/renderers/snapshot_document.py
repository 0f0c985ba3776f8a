"""A snapshot as a redacted JSON document, which ``--snapshot`` reads back (``docs/snapshot.schema.json``)."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from envdoctor._version import __version__
from envdoctor.facts import (
    ARTIFACT,
    CONFIG,
    INSTALLED,
    INSTALLER,
    LOCAL_MODULE,
    METADATA,
    NOT_RECORDED,
    OF_METADATA,
    PROCESS,
    PROJECT,
    RECORDED,
    SHADOWS,
    SOURCE,
    Answer,
    Unknown,
)
from envdoctor.renderers.json import dump, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.facts import Kind, Questions
    from envdoctor.model import Distribution, Snapshot
    from envdoctor.renderers.redaction import Redactor

#: What unfolds a document that is embedded in a page, and how one begins that is packed.
SUMMARY = "Snapshot: envdoctor check --snapshot reads it out of this file"
PACKED = "zlib, base64:"
_LINE = 160
_OF_A_PROCESS = ("openmp-runtimes", "threads", "children", "forked-with-threads", "shared-memory-full")
_OF_FILES = (CONFIG, SHADOWS, LOCAL_MODULE, ARTIFACT, SOURCE)
_DEFECTS = ("leftover", "unreadable")


def asked(snapshot: Snapshot, wanted: Mapping[str, Sequence[str]]) -> Questions:
    """Everything that a document records of a snapshot; ``wanted`` says by kind which keys rules ask for."""
    usual: dict[Kind[str, Any], Sequence[str]] = {INSTALLER: sorted(snapshot.packages), INSTALLED: _DEFECTS}
    if snapshot.target.get("kind") == "process":
        usual[PROCESS] = _OF_A_PROCESS
    releases = [(name, snapshot.packages[name].version) for name in sorted(snapshot.packages)]
    return {**{kind: wanted.get(kind.name, usual.get(kind, ())) for kind in RECORDED}, METADATA: releases}


def render(
    snapshot: Snapshot, wanted: Mapping[str, Sequence[str]], redactor: Redactor, of_files: Questions | None = None
) -> str:
    """Write what is known of a target, ending in a newline. What is not is listed under ``unknown``.

    Of a project's files the answers to ``of_files`` are recorded.
    """
    names = sorted(snapshot.packages)
    redactor.keep(names)
    document: dict[str, Any] = {
        "schema": 1,
        "envdoctor": __version__,
        "python": snapshot.python,
        "platform": snapshot.platform,
        "start_method": snapshot.start_method,
        "packages": {name: snapshot.packages[name].version for name in names},
        "distributions": {name: _distribution(snapshot.packages[name]) for name in names},
        "duplicates": [{"name": item.name, "version": item.version, **_places(item)} for item in snapshot.duplicates],
        "complete": snapshot.complete,
        "target": snapshot.target,
        "source": snapshot.source,
        **_answers(snapshot, asked(snapshot, wanted)),
        **_project(snapshot, of_files or {}),
        "notes": [{"fact": note.fact, "reason": note.reason} for note in snapshot.notes],
    }
    redacted = redactor.data(plain(document))
    return dump({**redacted, "redactions": redactor.count})


def packed(document: str) -> list[str]:
    """A document in a fifth of its length, as lines of letters and digits."""
    plain_text = json.dumps(json.loads(document), separators=(",", ":")).encode()
    letters = base64.b64encode(zlib.compress(plain_text, 9)).decode()
    return [PACKED, *(letters[at : at + _LINE] for at in range(0, len(letters), _LINE))]


def _distribution(distribution: Distribution) -> dict[str, Any]:
    """A distribution with its paths, and where a lock file has several versions of it, each of them."""
    several = [{"version": one.version, **_places(one)} for one in distribution.candidates]
    return {**_places(distribution), **({"candidates": several} if several else {})}


def _places(distribution: Distribution) -> dict[str, str]:
    places = {"location": distribution.location, "path": distribution.path}
    return {name: place for name, place in places.items() if place is not None}


def _answers(snapshot: Snapshot, questions: Questions) -> dict[str, Any]:
    """The answers by section, and the facts without one."""
    sections: dict[str, Any] = {section: {} for section in (*OF_METADATA, *(kind.section for kind in RECORDED))}
    unknown = []

    def record(section: str, kind: str, key: str, value: Any) -> None:
        if not isinstance(value, Unknown):
            sections[section][key] = value
        elif value.reason != NOT_RECORDED:  # what a reader of the document would say anyway
            unknown.append({"fact": f"{kind}.{key}", "reason": value.reason})

    for name, version in questions[METADATA]:
        found = snapshot.facts.metadata(name, version)
        for section, (field, *_) in OF_METADATA.items():
            record(section, section, name, getattr(found, field))
    for one in RECORDED:
        for key in questions[one]:
            record(one.section, one.name, key, snapshot.facts.ask(one, key))
    return {**sections, "unknown": unknown}


def _project(snapshot: Snapshot, questions: Questions) -> dict[str, Any]:
    """The section of a project's files, if any was asked for: by kind rows of what was asked, found, and not read."""
    tables = {}
    for kind in _OF_FILES:
        answers = {key: snapshot.facts.ask(kind, key) for key in questions.get(kind, ())}
        rows = [[key, *_parts(one)] for key, one in answers.items() if not isinstance(one, Unknown)]
        tables.update({kind.name: rows} if rows else {})
    named = snapshot.facts.ask(PROJECT, "named") is True
    return {"project": {**tables, "named": named}} if tables else {}


def _parts(answer: Any) -> tuple[list[Any], list[str]]:
    """What was found and what could not be read."""
    if isinstance(answer, Answer):
        return list(answer.found), list(answer.gaps)
    return [] if answer is None else [answer], []
