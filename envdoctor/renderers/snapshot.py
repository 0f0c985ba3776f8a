"""A snapshot as a redacted JSON document, which ``--snapshot`` reads back (``docs/snapshot.schema.json``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor._version import __version__
from envdoctor.model import Unknown, unknown_lookup
from envdoctor.renderers.json import dump, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.model import Distribution, Snapshot
    from envdoctor.renderers.redaction import Redactor

#: The kinds of fact that a snapshot reads when asked, and the section of the document that holds them.
SECTIONS = {
    "requirements": "requirements",
    "requires_python": "requires_python",
    "tags": "tags",
    "env": "env",
    "module": "modules",
    "system": "system",
    "library": "libraries",
    "process": "process",
    "marker": "marker",
    "installer": "installer",
    "installed": "installed",
}
_ABSENT = unknown_lookup("", "").reason
_OF_EACH_PACKAGE = ("requirements", "requires_python", "tags", "installer")
_OF_A_PROCESS = ("openmp-runtimes", "threads", "children", "forked-with-threads", "shared-memory-full")
_DEFECTS = ("leftover", "unreadable")


def render(snapshot: Snapshot, wanted: Mapping[str, Sequence[str]], redactor: Redactor) -> str:
    """Write what is known of a target, ending in a newline.

    ``wanted`` says for each kind of fact (:data:`SECTIONS`) which keys to ask for; for those that belong to a
    distribution the default is every one of them. What the snapshot cannot tell is listed under ``unknown``.
    """
    names = sorted(snapshot.packages)
    redactor.keep(names)
    usual: dict[str, Sequence[str]] = {**dict.fromkeys(_OF_EACH_PACKAGE, names), "installed": _DEFECTS}
    if snapshot.target.get("kind") == "process":
        usual["process"] = _OF_A_PROCESS
    asked = {kind: wanted.get(kind, usual.get(kind, ())) for kind in SECTIONS}
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
        **_answers(snapshot, asked),
        "notes": [{"fact": note.fact, "reason": note.reason} for note in snapshot.notes],
    }
    redacted = redactor.data(plain(document))
    return dump({**redacted, "redactions": redactor.count})


def _distribution(distribution: Distribution) -> dict[str, Any]:
    """Where it stands, and where a lock file has several versions of it, each of them."""
    several = [{"version": one.version, **_places(one)} for one in distribution.candidates]
    return {**_places(distribution), **({"candidates": several} if several else {})}


def _places(distribution: Distribution) -> dict[str, str]:
    places = {"location": distribution.location, "path": distribution.path}
    return {name: place for name, place in places.items() if place is not None}


def _answers(snapshot: Snapshot, asked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Ask for every fact; the answers by section, and the facts without one."""
    sections: dict[str, Any] = {section: {} for section in SECTIONS.values()}
    unknown = []
    for kind, section in SECTIONS.items():
        for key in asked[kind]:
            value = snapshot.lookup(kind, key)
            if not isinstance(value, Unknown):
                sections[section][key] = value
            elif value.reason != _ABSENT:  # what a reader of the document would say anyway
                unknown.append({"fact": f"{kind}.{key}", "reason": value.reason})
    return {**sections, "unknown": unknown}
