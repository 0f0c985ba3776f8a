"""conda's ``environment.yml``, with its ``pip:`` section. A conda name is taken for the distribution of that name."""

from __future__ import annotations

from envdoctor.targets.locks import yamltree
from envdoctor.targets.locks.conda import match_spec, python_of
from envdoctor.targets.locks.contents import Contents, Entry, malformed, note
from envdoctor.targets.locks.requirement_lines import Lines, pinned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Stated, TextFile


def read(source: TextFile, stated: Stated) -> Contents:
    """The distributions of the file. Raises :class:`ProbeError`."""
    data = yamltree.load(source)
    if not isinstance(data, dict) or not isinstance(data.get("dependencies"), list):
        raise malformed(source, "as a conda environment: it has no list of 'dependencies'")
    written = [item for item in data["dependencies"] if isinstance(item, str)]
    python = next(filter(None, map(python_of, written)), None)
    builds, entries, notes = _conda(source, written)
    lines = Lines(stated.replace(python_version=stated.python_version or python).markers())
    notes += _sections(source, data["dependencies"], lines)
    of_pip = lines.entries()
    entries += of_pip
    exported = builds and all(entry.version for entry in entries)
    complete = exported and _only_pip(written)
    return Contents(
        entries=entries,
        python=python,
        of_pip=frozenset(entry.name for entry in of_pip),
        complete=complete,
        target={} if complete else pinned(entries, lines.nameless),
        notes=[*notes, *lines.notes],
    )


def _only_pip(written: list[str]) -> bool:
    """Whether nothing but Python and pip come from conda, whose other names need not be those of distributions."""
    return all((match_spec(item) or ("",))[0] in {"python", "pip"} for item in written)


def _conda(source: TextFile, written: list[Any]) -> tuple[bool, list[Entry], list[UnknownFact]]:
    builds, entries, notes = True, [], []
    for item in written:
        where, found = source.at(item.line), match_spec(item)
        if found is None:
            notes.append(note(f"{where}: {item[:80]!a} is no requirement of conda's, and was left out"))
            continue
        name, version, build = found
        builds = builds and build
        if name == "python":
            continue
        reason = None if version else f"{where}: {item.strip()[:80]} is not pinned"
        entries.append(Entry(name=name, version=version, where=where, reason=reason))
    return builds, entries, notes


def _sections(source: TextFile, listed: list[Any], lines: Lines) -> list[UnknownFact]:
    """Feed the sections of pip's requirements; gives a note for each dependency that is of no known form."""
    notes = []
    for item in listed:
        if isinstance(item, dict):
            _pip(source, item, lines)
        elif not isinstance(item, str):
            notes.append(note(f"{source.path}: a dependency that is neither a text nor 'pip:' was left out"))
    return notes


def _pip(source: TextFile, section: dict[str, Any], lines: Lines) -> None:
    for key, requirements in section.items():
        if key == "pip" and isinstance(requirements, list):
            for one in requirements:
                if isinstance(one, yamltree.Text):
                    lines.feed(source, str(one), one.line)
                else:
                    lines.notes.append(note(f"{source.path}: a requirement under 'pip:' is no text, and was left out"))
        elif requirements:
            lines.notes.append(note(f"{source.path}: the section {key[:40]!a} is not known, and was left out"))
