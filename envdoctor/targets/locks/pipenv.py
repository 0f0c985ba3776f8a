"""``Pipfile.lock``."""

from __future__ import annotations

import json
import re

from envdoctor.targets.locks.contents import Contents, Entry, malformed, name_of, note, table, text, version_in_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_KNOWN_SPEC = 6
_KEY = re.compile(r'[ \t]*"([^"\\]+)"[ \t]*:[ \t]*\{')


def read(source: TextFile, stated: Stated) -> Contents:
    """The packages of all categories. Raises :class:`ProbeError`."""
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise malformed(source, f"as JSON ({str(error)[:200]})", getattr(error, "lineno", None)) from None
    if not isinstance(data, dict) or not isinstance(data.get("_meta", {}), dict):
        raise malformed(source, "as Pipfile.lock: it is not an object with '_meta'")
    if not {"_meta", "default", "develop"} & set(data):
        raise malformed(source, "as Pipfile.lock: it has neither '_meta' nor 'default'")
    meta = table(data.get("_meta"))
    requires = table(meta.get("requires"))
    python = _python(requires)
    markers = stated.replace(python_version=stated.python_version or python).markers()
    lines, entries, notes = _lines(source.text), [], []
    for category, packages in data.items():
        if category == "_meta":
            continue
        if not isinstance(packages, dict):
            raise malformed(source, f"because {category[:40]!a} is not a table of packages")
        for written, locked in packages.items():
            where = source.at(lines.get((category, written)))
            name = name_of(written)
            if name is None or not isinstance(locked, dict):
                notes.append(
                    note(f"{where}: {written[:80]!a} in {category[:40]!a} is no locked package, and was left out")
                )
            else:
                entries.append(_entry(name, locked, where, markers).replace(optional=category != "default"))
    notes += _spec_note(source, meta)
    return Contents(entries=entries, python=python, target={"lock_version": meta.get("pipfile-spec")}, notes=notes)


def _python(requires: Mapping[str, Any]) -> str | None:
    for key in ("python_full_version", "python_version"):
        stated = text(requires.get(key))
        if stated and re.fullmatch(r"[23]\.[0-9]{1,3}(\.[0-9]{1,3})?", stated):
            return stated
    return None


def _spec_note(source: TextFile, meta: Mapping[str, Any]) -> list[UnknownFact]:
    spec = meta.get("pipfile-spec", _KNOWN_SPEC)
    if spec == _KNOWN_SPEC:
        return []
    return [note(f"{source.path}: pipfile-spec {str(spec)[:40]!a} is not known; it was read as {_KNOWN_SPEC}")]


def _entry(name: str, locked: Mapping[str, Any], where: str, markers: Markers) -> Entry:
    stated = text(locked.get("version")) or ""
    version, reason = None, None
    match = re.fullmatch(r"={2,3}\s*([^\s*,]+)", stated)
    named = version_in_name(text(locked.get("file")) or text(locked.get("path")) or "")
    if match:
        version = match[1]
    elif named and named[0] == name:
        version = named[1]
    else:
        origin = next((key for key in ("git", "hg", "svn", "bzr", "path", "file") if key in locked), None)
        reason = (
            f"{where}: {name} {stated[:80]} is not pinned" if origin is None else f"{where}: {name} comes from {origin}"
        )
    return Entry(
        name=name, version=version, where=where, verdict=markers.holds(text(locked.get("markers"))), reason=reason
    )


def _lines(written: str) -> dict[tuple[str, str], int]:
    """The line of each package of each category, for a file with one key on a line, as pipenv writes it."""
    found: dict[tuple[str, str], int] = {}
    category, depth = "", 0
    for number, line in enumerate(written.split("\n"), 1):
        match = _KEY.match(line)
        if match and depth == 1:
            category = match[1]
        elif match and depth == 2:  # noqa: PLR2004 - file, category, package
            found.setdefault((category, match[1]), number)
        depth += line.count("{") - line.count("}")
    return found
