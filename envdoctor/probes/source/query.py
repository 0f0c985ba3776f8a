"""The source of one project, scanned for patterns: which files, what they say, and what that is across files."""

from __future__ import annotations

import functools
import re
from fnmatch import fnmatchcase
from itertools import starmap

from envdoctor.file_keys import BESIDE, IMPORTED
from envdoctor.globs_of_names import expression
from envdoctor.probes.project.walk import is_notebook
from envdoctor.probes.source import source_text
from envdoctor.probes.source.abstract_values import PROGRAM, UNWRITTEN
from envdoctor.probes.source.cross_file import Linker
from envdoctor.probes.source.fact_cache import FileFacts, ProjectFacts
from envdoctor.probes.source.parent_state import is_given
from envdoctor.probes.source.prefilter import Prefilter
from envdoctor.probes.source.relevance import end_of, glob_of
from envdoctor.probes.source.source_text import SourceText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.probes.project.tree import Files
    from envdoctor.probes.source.file_uses import Use
    from envdoctor.probes.source.relevance import Asked

    Answer = dict[str, list[Any]]

#: Bytes and files that are scanned at once.
_BATCH = 16 << 20
_FILES = 1024
_GLOB = frozenset("*?[")
_TESTS = re.compile(r"(?:^|/)(?:tests?/|test_|conftest\.py)")
#: Modules that every Python has: who imports them in a ``try`` uses them all the same.
_ALWAYS = frozenset(("multiprocessing", "concurrent"))
_facts = FileFacts()


class ProjectSource:
    """The source of one project; a file is read when a pattern's words are in it."""

    def __init__(self, project: Files) -> None:
        self._project = project
        self._files = project.sources()
        self._answers = ProjectFacts(project)
        self._exports: dict[str, dict[str, Any]] = {}
        self._programs: dict[str, dict[str, Any]] = {}
        #: What files of the project, but its tests, give to modules and classes of elsewhere.
        self._given: set[str] = set()
        self._linker = Linker(self._files, self._exported, self._program)

    @functools.cached_property
    def _prefilter(self) -> Prefilter:
        return Prefilter(self._project)

    def uses(self, pattern: str) -> Answer:
        """The uses that match one pattern, and what could not be scanned."""
        if pattern not in self._answers:
            self.expect([pattern])
        return self._answers[pattern]

    def expect(self, patterns: Sequence[str]) -> None:
        """Scan each file once for several patterns."""
        new = {key: _plain(key).partition(BESIDE)[::2] for key in patterns if key not in self._answers}
        places = {other: {use["file"] for use in self.uses(other)["found"]} for _, other in new.values() if other}
        mentioning = self._mentioning(sorted({pattern for pattern, _ in new.values()}))
        asked: dict[str, set[str]] = {}
        for pattern, other in new.values():
            for file in mentioning[pattern]:
                if not other or file in places[other]:
                    asked.setdefault(file, set()).add(pattern)
        scans = self._scanned(asked, mentioning)
        for key, (pattern, other) in new.items():
            answer = scans[pattern]
            found = [use for use in answer["found"] if not other or use["file"] in places[other]]
            self._answers[key] = {**answer, "found": found}
        _facts.tidy()

    def _scanned(self, asked: Mapping[str, set[str]], patterns: Iterable[str]) -> dict[str, Answer]:
        """The answers to patterns, of the files in which each is asked."""
        scans: dict[str, Answer] = {pattern: {"found": [], "gaps": []} for pattern in patterns}
        for batch in self._batches(sorted(asked)):
            self._scan([_Scan(file, self._text(file), asked[file], self._linker.tops) for file in batch], scans)
        given = frozenset(self._given)
        for answer in scans.values() if given else ():
            answer["found"] = [
                one for one in answer["found"] if one["kind"] == "import" or not is_given(one["name"], given)
            ]
        return scans

    def _mentioning(self, patterns: Iterable[str]) -> dict[str, list[str]]:
        """The files in which each pattern may match."""
        notebooks = [(name, self._text(name).source) for name in self._project.files() if is_notebook(name)]
        found = {}
        for pattern in patterns:
            segments = [one for one in glob_of(pattern).split(".") if one not in UNWRITTEN]
            words = [one for one in segments if _GLOB.isdisjoint(one)]
            files = self._prefilter.files(segments) if words else self._files
            found[pattern] = [*files, *(name for name, text in notebooks if all(word in text for word in words))]
        return found

    def _batches(self, files: Iterable[str]) -> Iterator[list[str]]:
        """Files, as many at a time as fit into memory with their results."""
        batch: list[str] = []
        size = 0
        for file in files:
            batch.append(file)
            size += len(self._project.read(file))
            if size > _BATCH or len(batch) == _FILES:
                yield batch
                batch, size = [], 0
        yield batch

    def _text(self, file: str) -> SourceText:
        data = self._project.read(file)
        try:
            return source_text.decode(file, data) if data else SourceText("")
        except source_text.TextError as error:
            return SourceText("", unreadable=str(error))

    def _scan(self, scans: Sequence[_Scan], answers: dict[str, Answer]) -> None:
        """Add what some files contain to the answers."""
        _facts.prepare([(one.text.source, one.asked) for one in scans if one.text.source])
        names = {(use["name"], scan.file) for scan in scans for use in scan.foreign()}
        other = [self._text(file) for file in sorted(set(filter(None, starmap(self._linker.defined_in, names))))]
        _facts.prepare([(text.source, None) for text in other if text.source])
        self._given.update(*(scan.given() for scan in scans if not _TESTS.search(scan.file)))
        self._programs.update({scan.file: scan.program for scan in scans if scan.program is not None})
        for scan in scans:
            for pattern in scan.asked[0]:
                answers[pattern]["found"] += self._matching(scan, pattern)
                answers[pattern]["gaps"] += scan.gaps

    def _matching(self, scan: _Scan, pattern: str) -> Iterator[dict[str, Any]]:
        """The uses in a file that match a pattern, in order."""
        for use in sorted(scan.ending(pattern), key=lambda use: (use["line"], use["kind"], use["name"])):
            name = self._matched(use, scan.file, pattern)
            if name is not None:
                yield self._full(use, name, scan)

    def _matched(self, use: Use, file: str, pattern: str) -> str | None:
        """The name under which a use matches, following names of the project to where they are defined."""
        name: str = use["name"]
        if use["kind"] == "given" or (pattern.startswith(IMPORTED) and use["kind"] != "import"):
            return None
        meant = expression(glob_of(pattern)).fullmatch
        spared = [one for one in use.get("spared", ()) if one.partition(".")[0] not in _ALWAYS]
        if any(map(meant, spared)) or not all(map(meant, use.get("among", ()))):
            return None  # the code itself provides for the absence of what the pattern means
        if name[0] == "." or not meant(name):
            name = "" if use["kind"] == "import" else self._linker.name(name, file)
        asked = use.get("asks", ()) if meant(name) else ()
        return name if meant(name) and not any(self._linker.is_flag(one, file) for one in asked) else None

    def _exported(self, file: str) -> dict[str, Any]:
        if file not in self._exports:
            text = self._text(file)
            self._exports[file] = _facts.ask(text.source, None).get("value", {}) if text.source else {}
        return self._exports[file]

    def _program(self, file: str) -> dict[str, Any]:
        if file not in self._programs:
            source = self._text(file).source
            self._programs[file] = _facts.ask(source, PROGRAM).get("value", {}) if source else {}
        return self._programs[file]

    def _full(self, use: Use, name: str, scan: _Scan) -> dict[str, Any]:
        """A use with every field of its kind."""
        answer: dict[str, Any] = {
            "kind": use["kind"],
            "name": name,
            "file": scan.file,
            **scan.text.place(use["line"]),
            "guarded": use["guarded"] or scan.text.cells is not None,
            "excused": use.get("excused", False),
            "systems": list(use.get("systems", ())),
            "own": name == use["name"] and self._linker.is_own(name, scan.file),
            "text": use["text"],
            "literals": use.get("literals", []),
        }
        return {**answer, **self._of_call(use, scan)} if use["kind"] == "call" else answer

    def _of_call(self, use: Use, scan: _Scan) -> dict[str, Any]:
        """The fields that a call has besides."""
        argument = self._linker.argument
        given = [argument(one, scan.file) for one in use.get("arguments", ())]
        keywords = {key: argument(one, scan.file) for key, one in use.get("keywords", {}).items()}
        for one in [*given, *keywords.values()] if scan.text.cells is not None else ():
            for made in (*one["carries"], *one.get("lacks", ()), *one.get("results", ())):
                if made["line"] and made.get("file", scan.file) == scan.file:
                    made.update(scan.text.place(made["line"]))
        return {
            "catches": use.get("catches", []),
            "arguments": given,
            "keywords": keywords,
            "open": use.get("open", False),
            "within": self._linker.name(use["within"], scan.file) if use["within"] else "",
            **({"on": argument(use["on"], scan.file)} if "on" in use else {}),
        }


class _Scan:
    """One file with the patterns that are asked of it."""

    def __init__(self, file: str, text: SourceText, patterns: Iterable[str], own: frozenset[str]) -> None:
        self.file = file
        self.text = text
        self.asked: Asked = (frozenset(patterns), own)
        self._uses: dict[str, list[Use]] | None = None
        self._program: dict[str, Any] | None = None
        self._gap: list[str] = []

    @property
    def uses(self) -> dict[str, list[Use]]:
        """The uses by the last segments of their names."""
        if self._uses is None:
            answer = _facts.ask(self.text.source, self.asked) if self.text.source else {}
            if "reason" in answer:
                place = f"{self.file}:{answer['line']}" if answer["line"] else self.file
                self._gap = [f"{place} is not scanned: {answer['reason']}"]
            self._uses, self._program = answer.get("value", {}), answer.get("program")
        return self._uses

    @property
    def program(self) -> dict[str, Any] | None:
        """What the file does as a program, where its uses tell."""
        return self._program if self.uses else None

    @property
    def gaps(self) -> list[str]:
        """What of the file could not be scanned, a line each."""
        if self.text.unreadable:
            return [f"{self.file} is not scanned: {self.text.unreadable}"]
        return [*(f"{self.file}, {gap}" for gap in self.text.gaps), *([] if self.uses else self._gap)]

    def foreign(self) -> Iterator[Use]:
        """The uses that are no imports."""
        return (use for uses in self.uses.values() for use in uses if use["kind"] != "import")

    def given(self) -> Iterator[str]:
        """What the file gives to others."""
        return (use["name"] for uses in self.uses.values() for use in uses if use["kind"] == "given")

    def ending(self, pattern: str) -> Iterator[Use]:
        """The uses whose last segment is that of a pattern."""
        wanted = end_of(pattern)
        ends = [wanted] if wanted in self.uses else [one for one in self.uses if fnmatchcase(one, wanted)]
        return (use for end in ends for use in self.uses[end])


def _plain(pattern: str) -> str:
    while "**.**" in pattern:
        pattern = pattern.replace("**.**", "**")
    return pattern
