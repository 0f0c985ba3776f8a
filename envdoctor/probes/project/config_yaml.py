"""YAML as entries with lines, read event by event.

The nodes of a document are not composed, as composing deeply nested ones ends the process. An alias repeats the entries
of its anchor, so that a document which multiplies itself meets the limit of entries and takes no memory.
Scalars have the types that the safe loader of PyYAML gives them, but for dates, which are text.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import yaml
from yaml.constructor import SafeConstructor

from envdoctor.yaml_events import TAG, Begun, EventReader, events, first_line, mistake, tag_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from envdoctor.probes.project.config_text import Contents, Entry

#: What one stream may hold: values, events of the parser, and levels.
MOST_ENTRIES = 100_000
MOST_EVENTS = 250_000
DEEPEST = 100
SECONDS = 5.0
_SENTINEL = "envdoctor-1"
#: A longer scalar is text: numbers take time that grows faster than they do.
_LONGEST = 100
_CONSTRUCTOR = SafeConstructor()
_TYPES = {
    TAG + "null": _CONSTRUCTOR.construct_yaml_null,
    TAG + "bool": _CONSTRUCTOR.construct_yaml_bool,
    TAG + "int": _CONSTRUCTOR.construct_yaml_int,
    TAG + "float": _CONSTRUCTOR.construct_yaml_float,
}


class _LimitError(Exception):
    """The stream is larger than it may be."""


def read(data: bytes) -> Contents:
    """The scalars of all documents of a stream, and what of it could not be read."""
    documents = _Documents()
    try:
        documents.take_all(data)
    except yaml.YAMLError as error:
        return documents.complete(), _reason(error)  # no program reads a part of one
    except _LimitError as error:
        return documents.entries(), f"{error}; the rest was not read"
    return ((), documents.refused) if documents.refused else (documents.entries(), None)


def written(data: bytes, path: str) -> tuple[str, str, bool] | None:
    """What of its line states an entry: the text up to its value, its value, and whether that is the whole line.

    ``None`` where no other scalar can be written there without a change of anything but entries of the same key.
    """
    documents = _Documents()
    documents.marks = {}
    try:
        documents.take_all(data)
        before = documents.entries()
        lines = data.decode("utf-8-sig").splitlines(keepends=True)
        key, start, end = documents.marks[path]
        line = lines[start.line]
    except (yaml.YAMLError, _LimitError, UnicodeDecodeError, LookupError):
        return None
    if start.line != end.line:
        return None
    begins, anchor = _head(line, key, start, end)
    head, value = line[begins : start.column + anchor], line[start.column + anchor : end.column]
    made = [*lines[: start.line], line[:begins] + head + _SENTINEL + line[end.column :], *lines[start.line + 1 :]]
    if not _is_only(before, "".join(made).encode(), path):
        return None
    return head, value, bool(head) and line.strip() == head + value


def _head(line: str, key: yaml.Mark, start: yaml.Mark, end: yaml.Mark) -> tuple[int, int]:
    """The column where the text up to a value begins, and how long an anchor before the value is."""
    value, anchor = line[start.column : end.column], 0
    if value.startswith("&"):
        anchor = len(value) - len(value.partition(" ")[2].lstrip())
    begins = key.column if key.line == start.line and not line[: key.column].rstrip().endswith("?") else start.column
    if line.find(line[begins : end.column]) < begins:  # the same is before it
        begins = len(line) - len(line.lstrip())
    return begins, anchor


def _is_only(before: Sequence[Entry], document: bytes, path: str) -> bool:
    """Whether a document differs in the entry of a path, and in others of the same key at most."""
    after, gap = read(document)
    changed = [old[0] for old, new in zip(before, after) if old[:2] != new[:2]]
    same = [old[0] for old in before] == [new[0] for new in after] and path in changed
    return not gap and same and {one.rpartition(".")[2] for one in changed} == {path.rpartition(".")[2]}


def _reason(error: yaml.YAMLError) -> str:
    line, problem = mistake(error)
    return f"{f'line {line}: ' if line else ''}it is not valid YAML: {problem}"


class _Key(str):
    """A key that knows where it begins."""

    __slots__ = ("mark",)

    mark: Any


class _Place(NamedTuple):
    """The path to a collection, how many entries are before it, and whether it is a key, and contains no entry."""

    path: str
    start: int
    silent: bool


class _Documents(EventReader):
    def __init__(self) -> None:
        super().__init__(DEEPEST, _Place("", 0, silent=False))
        self._events = 0
        self._deadline = time.process_time() + SECONDS
        self._done: list[Entry] = []
        self._entries: list[Entry] = []
        #: By anchor, its path and the places of its entries; no places while it is not complete.
        self._anchors: dict[str, tuple[str, int, int | None]] = {}
        #: Where that is wanted: by path, the places of its key, of the beginning and of the end of its value.
        self.marks: dict[str, tuple[Any, Any, Any]] | None = None
        #: What no loader takes, though it is well-formed.
        self.refused = ""

    def take_all(self, data: bytes) -> None:
        """Take the events of a stream. Raises what the parser raises."""
        for event in events(data):
            self._events += 1
            if self._events > MOST_EVENTS:
                raise _LimitError(f"it has more than {MOST_EVENTS} parts")
            if self._events & 63 == 1 and time.process_time() > self._deadline:  # not of the clock, which others use
                raise _LimitError(f"reading it took longer than {SECONDS:g} s")
            self.take(event)
            if isinstance(event, yaml.DocumentEndEvent):
                self._finish()

    def entries(self) -> list[Entry]:
        """The entries that were read so far; in one document the last of two entries with the same path counts."""
        self._finish()
        return self._done

    def complete(self) -> list[Entry]:
        """The entries of the documents that are complete."""
        return self._done

    def _finish(self) -> None:
        self._done += {entry[0]: entry for entry in self._entries}.values()
        self._entries, self._anchors = [], {}

    def _path(self) -> str:
        around = self.open[-1]
        step = around.items[-1] if around.mapping else len(around.items) if len(self.open) > 1 else ""
        return f"{around.where.path}.{step}" if around.where.path else str(step)

    def _add(self, entry: Entry) -> None:
        if len(self._done) + len(self._entries) >= MOST_ENTRIES:
            raise _LimitError(f"it has more than {MOST_ENTRIES} values, with those that its aliases repeat")
        self._entries.append(entry)

    def _silent(self) -> bool:
        return self.open[-1].where.silent or self.at_key()

    def key(self, event: yaml.ScalarEvent) -> _Key:
        key = _Key(event.value)
        key.mark = event.start_mark
        return key

    def scalar(self, event: yaml.ScalarEvent) -> None:
        path, start = self._path(), len(self._entries)
        if not self._silent():
            self._mark(event)
            self._add((path, _value(event), first_line(event)))
        if event.anchor:
            self._anchors[event.anchor] = (path, start, len(self._entries))

    def _mark(self, event: yaml.Event) -> None:
        if self.marks is not None and len(self.open) > 1:
            key = getattr((self.open[-1].items or [None])[-1], "mark", event.start_mark)
            self.marks[self._path()] = (key, event.start_mark, event.end_mark)

    def too_deep(self, event: yaml.CollectionStartEvent) -> NoReturn:
        raise _LimitError(f"line {first_line(event)}: it is nested deeper than {DEEPEST} levels")

    def begin(self, event: yaml.CollectionStartEvent) -> _Place:
        silent = self._silent()
        place = _Place("?" if silent else self._path(), len(self._entries), silent)
        if isinstance(event, yaml.MappingStartEvent) and self.at_key():
            self._refuse(event, "a mapping is the key of another, as in a template")
        if event.anchor:
            self._anchors[event.anchor] = (place.path, place.start, None)
        return place

    def end(self, done: Begun) -> str:
        """What a collection is called where it is a key."""
        if done.event.anchor:
            self._anchors[done.event.anchor] = (done.where.path, done.where.start, len(self._entries))
        return "?"

    def _refuse(self, event: yaml.Event, why: str) -> None:
        self.refused = self.refused or f"line {first_line(event)}: {why}"

    def alias(self, event: yaml.AliasEvent) -> str | None:
        if self.at_key():
            return f"*{event.anchor}"
        path, start, end = self._anchors.get(event.anchor or "", ("", 0, 0))
        if event.anchor not in self._anchors:
            self._refuse(event, f"it is not valid YAML: nothing is called {event.anchor}")
        if end is None:
            raise _LimitError(f"line {first_line(event)}: *{event.anchor} contains itself")
        if not self._silent():
            self._repeat(event, path, self._entries[start:end])
        return None

    def _repeat(self, event: yaml.AliasEvent, path: str, entries: list[Entry]) -> None:
        """Add the entries below an anchor once more, where its alias is."""
        here, merged = self._merging()
        if [path] == [entry[0] for entry in entries]:  # a scalar: it is stated here
            self._mark(event)
            self._add((here, entries[0][1], first_line(event)))
            return
        known = {entry[0] for entry in self._entries} if merged else ()
        for dotted, value, line in entries:
            name = (here + dotted[len(path) :] if path else f"{here}.{dotted}").removeprefix(".")
            if name not in known:
                self._add((name, value, line))
                if self.marks is not None and dotted in self.marks:
                    self.marks[name] = self.marks[dotted]

    def _merging(self) -> tuple[str, bool]:
        """The path that an alias is repeated at, and whether it is merged: then what is stated there comes first."""
        here = self._path()
        for end in ("<<", "<<.0", "<<.1", "<<.2"):
            if here == end or here.endswith(f".{end}"):
                return here[: -len(end)].rstrip("."), True
        return here, False


def _value(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar by the safe loader; text where that makes a date of it or fails."""
    text: str = event.value
    tag = event.tag or "!"
    if tag == "!":
        if not event.implicit[0]:
            return text
        tag = tag_of(text)
    if tag not in _TYPES or len(text) > _LONGEST:
        return text
    try:
        return _TYPES[tag](yaml.ScalarNode(tag, text))
    except (ValueError, KeyError, IndexError, yaml.YAMLError):
        return text
