"""The lines of pip's requirements files, as the documentation of pip gives them; also the ``pip:`` section of conda."""

from __future__ import annotations

import os
import re

from packaging.requirements import Requirement

from envdoctor.errors import ProbeError
from envdoctor.targets.locks.choose import choose
from envdoctor.targets.locks.contents import Contents, Entry, load, name_of, note, version_in_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envdoctor.model import UnknownFact
    from envdoctor.targets.locks.contents import Stated, TextFile
    from envdoctor.targets.marker_environment import Markers

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")
_NESTED = re.compile(r"(-r|-c|--requirements?|--constraints?)(?:\s*=\s*|\s+|(?<=-[rc]))(.+)")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=\s*|\s+)(.+)")
_OPTIONS = re.compile(r"\s-{1,2}[A-Za-z]")
_LOCATION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|git\+|\.{0,2}[/\\]|[A-Za-z]:[/\\]|file:|~/")
_ARCHIVE = re.compile(r"\S+\.(?:whl|zip|tar\.gz|tgz|tar\.bz2|tar\.xz)(?:\[[^\]]*\])?(?=\s|;|$)")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")
_START = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_LOCKERS = re.compile(r"\b(?:pip-compile|pip-tools|uv|rye|pdm|hatch)\b")
#: More lines than any environment has requirements, while reading them takes seconds.
LINES = 20_000
_SHOWN, _LONGEST_PATH = 100, 1_000


def read(source: TextFile, stated: Stated) -> Contents:
    """The requirements of a file and of those it names. Raises :class:`ProbeError`."""
    lines = Lines(stated.markers())
    lines.file(source)
    if lines.refused and not lines.read:
        raise ProbeError(
            f"{source.path} could not be read as a requirements file, no line of it is a requirement: "
            "give a requirements or lock file",
        )
    entries = lines.entries()
    target = {} if lines.complete else pinned(entries, lines.nameless)
    return Contents(entries=entries, complete=lines.complete, target=target, notes=lines.notes)


class Lines:
    """Collects what requirement lines say, following the files they name."""

    def __init__(self, markers: Markers) -> None:
        self.notes: list[UnknownFact] = []
        self.complete = True
        self.read = self.refused = self.nameless = self._fed = 0
        self._markers = markers
        self._required: list[Entry] = []
        self._constraints: list[Entry] = []
        self._visited: set[tuple[str, bool]] = set()

    def file(self, source: TextFile, *, constraint: bool = False) -> None:
        """Take in a file and those it names. Raises :class:`ProbeError` where one cannot be read."""
        pending = [(source, constraint)]
        while pending:
            source, constraint = pending.pop()
            key = (os.path.realpath(source.path), constraint)
            if key in self._visited:
                continue
            self._visited.add(key)
            locked = constraint or _is_locked(source.text)
            for number, line in logical_lines(source.text):
                nested = _NESTED.fullmatch(line)
                if nested:
                    pending += self._nested(
                        source, number, nested[2].strip(" \"'"), constraint=constraint or "c" in nested[1]
                    )
                else:
                    self.feed(source, line, number, constraint=constraint, locked=locked)

    def _nested(self, source: TextFile, number: int, name: str, *, constraint: bool) -> Iterator[tuple[TextFile, bool]]:
        where = source.at(number)
        if "://" in name or "\0" in name or len(name) > _LONGEST_PATH:
            self.complete = False
            self.notes.append(note(f"{where}: {_public(name)} is not on this machine, and was not read"))
        else:
            yield load(os.path.join(os.path.dirname(source.path), name), f"{where} names another file: "), constraint

    def feed(self, source: TextFile, line: str, number: int, *, constraint: bool = False, locked: bool = False) -> None:
        """Take in one line. Raises :class:`ProbeError` where there are too many."""
        self._fed += 1
        if self._fed > LINES:
            raise ProbeError(
                f"{source.path} has more than {LINES:,} lines, which no environment needs: give another file"
            )
        editable, where = _EDITABLE.fullmatch(line), source.at(number)
        if editable:
            entry = self._located(editable[1].strip("\"'"), where, complete=locked)
            self._take(entry, constraint=constraint, complete=locked)
        elif not line.startswith("-"):
            options = _OPTIONS.search(line)
            written, rest = (line[: options.start()], line[options.start() :]) if options else (line, "")
            entry = self._entry(written, where)
            exact = entry is not None and entry.version is not None
            self._take(entry, constraint=constraint, complete=exact and (locked or "--hash" in rest))

    def _take(self, entry: Entry | None, *, constraint: bool, complete: bool) -> None:
        """Keep an entry that the markers allow; ``complete`` says that with it all of its requirements are stated."""
        if entry is None:
            self.nameless += not constraint
        elif entry.verdict.holds is not False:
            (self._constraints if constraint else self._required).append(entry)
            self.complete = self.complete and (complete or constraint)

    def _entry(self, line: str, where: str) -> Entry | None:
        written = line.strip().strip("\"'") if line[:1] in "\"'" else line.strip()
        if _LOCATION.match(written) or _ARCHIVE.match(written):
            return self._located(written, where, complete=False)
        try:
            requirement = Requirement(written)
            specifier, marker = str(requirement.specifier), str(requirement.marker or "")
        except (ValueError, RecursionError):  # invalid, a number too long for Python, brackets without end
            return self._unread(written, where)
        self.read += 1
        name = name_of(requirement.name) or ""
        if requirement.url:
            named = version_in_name(requirement.url)
            version = named[1] if named and named[0] == name else None
            said = f"{name[:_SHOWN]} comes from an address that states no version"
        else:
            version = _pin(requirement)
            said = f"{requirement.name}{specifier}"[:_SHOWN] + " is not pinned"
        reason = None if version else f"{where}: {said}"
        return Entry(name=name, version=version, where=where, verdict=self._markers.holds(marker), reason=reason)

    def _located(self, written: str, where: str, *, complete: bool) -> Entry | None:
        """A line that is an address or a path: the file's name or ``#egg=`` says what it is.

        ``complete`` says that the file has the requirements of the nameless one too.
        """
        self.read += 1
        location, _, marker = written.partition(" ;")
        egg, named = _EGG.search(location), version_in_name(re.sub(r"\[[^\]]*\]$", "", location.strip()))
        name = named[0] if named else name_of(egg[1]) if egg else None
        if name is None:
            self.complete = self.complete and complete
            self.notes.append(note(f"{where}: {_public(location)} does not say which distribution it is"))
            return None
        reason = None if named else f"{where}: {name} comes from an address that states no version"
        verdict = self._markers.holds(marker)
        return Entry(name=name, version=named[1] if named else None, where=where, verdict=verdict, reason=reason)

    def _unread(self, written: str, where: str) -> Entry | None:
        """A line that is no requirement: an entry where it has a name at least, which then does not count as absent."""
        start, self.complete = _START.match(written), False
        self.refused += 1
        reason = f"{where}: {_public(written)} could not be read as a requirement"
        rest = written[start.end() :].lstrip()[:1] if start else " "
        name = name_of(start[0]) if start and rest in "[=<>!~;@$" else None
        if name is None:
            self.notes.append(note(reason))
            return None
        return Entry(name=name, version=None, where=where, reason=reason)

    def entries(self) -> list[Entry]:
        """The entries that are required, with the versions that constraints pin them to."""
        pinned = choose(self._constraints)[0]
        found = []
        for entry in self._required:
            constraint = pinned.get(entry.name)
            if entry.version is None and constraint is not None and constraint.version is not None:
                found.append(entry.replace(version=constraint.version, where=constraint.path))
            else:
                found.append(entry)
        return found


def pinned(entries: Sequence[Entry], nameless: int = 0) -> dict[str, int]:
    """How many requirements there are, and how many of them say which version would be installed."""
    known = sum(entry.version is not None for entry in entries)
    return {"requirements": len(entries) + nameless, "pinned": known}


def _is_locked(written: str) -> bool:
    """Whether a comment says that a tool which pins everything made the file."""
    comments = (line.lower().partition("generated by") for line in written.split("\n") if line.startswith("#"))
    return any(said and _LOCKERS.search(rest) for _, said, rest in comments)


def logical_lines(written: str) -> Iterator[tuple[int, str]]:
    """The lines without comments, continued ones joined, each with the number of its first line."""
    first = 1
    parts: list[str] = []
    for number, line in enumerate(written.split("\n"), 1):
        comment = line.lstrip().startswith("#")
        if not parts:
            first = number
        if line.endswith("\\") and not comment:
            parts.append(line[:-1])
            continue
        joined = _COMMENT.sub("", "".join([*parts, " " if comment else "", line])).strip()
        parts = []
        if joined:
            yield first, joined
    joined = _COMMENT.sub("", "".join(parts)).strip()
    if joined:
        yield first, joined


def _pin(requirement: Requirement) -> str | None:
    """The one version that a requirement allows."""
    pins = {
        part.version
        for part in requirement.specifier
        if part.operator in {"==", "==="} and not part.version.endswith(".*")
    }
    return pins.pop() if len(pins) == 1 else None


def _public(location: str) -> str:
    """A line as it may be shown: without the name and password that an address in it may carry."""
    return ascii(re.sub(r"//[^/\s]*@", "//", location.strip())[:_SHOWN])
