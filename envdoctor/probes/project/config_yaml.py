"""YAML as entries with lines. Read event by event: no object is built, no tag obeyed, and nothing recurses.

The nodes of a document are not composed, as composing deeply nested ones ends the process. An alias repeats the entries
of its anchor, so that a document which multiplies itself meets the limit of entries and takes no memory.
Scalars have the types that the safe loader of PyYAML gives them, but for dates, which are text.
"""

from __future__ import annotations

import time
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.probes.project.config_text import Contents, Entry

#: What one stream may hold: values, events of the parser, and levels.
MOST_ENTRIES = 100_000
MOST_EVENTS = 250_000
DEEPEST = 100
SECONDS = 5.0
_SENTINEL = "envdoctor-1"
#: A longer scalar is text: numbers take time that grows faster than they do.
_LONGEST = 100
_TAG = "tag:yaml.org,2002:"
_RESOLVER = Resolver()
_CONSTRUCTOR = SafeConstructor()
_TYPES = {
    _TAG + "null": _CONSTRUCTOR.construct_yaml_null,
    _TAG + "bool": _CONSTRUCTOR.construct_yaml_bool,
    _TAG + "int": _CONSTRUCTOR.construct_yaml_int,
    _TAG + "float": _CONSTRUCTOR.construct_yaml_float,
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
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return f"{'' if mark is None else f'line {mark.line + 1}: '}it is not valid YAML: {problem}"


class _Frame:
    """A collection that is being read: the path to it, and the key or position of what comes next."""

    def __init__(self, path: str, *, mapping: bool, anchor: str | None, silent: bool) -> None:
        self.path = path
        self.mapping = mapping
        self.anchor = anchor
        self.silent = silent  # a key: what it contains is no entry
        self.key: str | None = None
        self.mark: Any = None
        self.position = 0
        self.start = 0

    def expects_key(self) -> bool:
        return self.mapping and self.key is None

    def child(self) -> str:
        name = self.key if self.mapping else str(self.position)
        return f"{self.path}.{name}" if self.path else str(name)

    def done(self) -> None:
        self.key = None
        self.position += 1


class _Documents:
    def __init__(self) -> None:
        self._events = 0
        self._deadline = time.process_time() + SECONDS
        self._done: list[Entry] = []
        self._entries: list[Entry] = []
        self._frames: list[_Frame] = []
        #: By anchor, its path and the places of its entries; no places while it is not complete.
        self._anchors: dict[str, tuple[str, int, int | None]] = {}
        #: Where that is wanted: by path, the places of its key, of the beginning and of the end of its value.
        self.marks: dict[str, tuple[Any, Any, Any]] | None = None
        #: What no loader takes, though it is well-formed.
        self.refused = ""

    def take_all(self, data: bytes) -> None:
        """Take the events of a stream. Raises what the parser raises."""
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            self.take(event)

    def entries(self) -> list[Entry]:
        """The entries that were read so far; in one document the last of two entries with the same path counts."""
        self._finish()
        return self._done

    def complete(self) -> list[Entry]:
        """The entries of the documents that are complete."""
        return self._done

    def _finish(self) -> None:
        self._done += {entry[0]: entry for entry in self._entries}.values()
        self._entries, self._frames, self._anchors = [], [], {}

    def take(self, event: Any) -> None:
        """Take the next event of the stream."""
        self._events += 1
        if self._events > MOST_EVENTS:
            raise _LimitError(f"it has more than {MOST_EVENTS} parts")
        if self._events & 63 == 1 and time.process_time() > self._deadline:  # not of the clock, whatever else is busy
            raise _LimitError(f"reading it took longer than {SECONDS:g} s")
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.DocumentEndEvent):
            self._finish()

    def _path(self) -> str:
        return self._frames[-1].child() if self._frames else ""

    def _add(self, entry: Entry) -> None:
        if len(self._done) + len(self._entries) >= MOST_ENTRIES:
            raise _LimitError(f"it has more than {MOST_ENTRIES} values, with those that its aliases repeat")
        self._entries.append(entry)

    def _next(self) -> None:
        if self._frames:
            self._frames[-1].done()

    def _silent(self) -> bool:
        return bool(self._frames) and (self._frames[-1].silent or self._frames[-1].expects_key())

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        frame = self._frames[-1] if self._frames else None
        start = len(self._entries)
        if frame and frame.expects_key():
            frame.key, frame.mark = event.value, event.start_mark
        else:
            if not self._silent():
                self._mark(event)
                self._add((self._path(), _value(event), _line(event)))
            path = self._path()
            self._next()
            if event.anchor:
                self._anchors[event.anchor] = (path, start, len(self._entries))

    def _mark(self, event: yaml.Event) -> None:
        if self.marks is not None and self._frames:
            self.marks[self._path()] = (self._frames[-1].mark or event.start_mark, event.start_mark, event.end_mark)

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._frames) >= DEEPEST:
            raise _LimitError(f"line {_line(event)}: it is nested deeper than {DEEPEST} levels")
        silent = self._silent()
        path = "?" if silent else self._path()
        mapping = isinstance(event, yaml.MappingStartEvent)
        if mapping and self._frames and self._frames[-1].expects_key():
            self.refused = self.refused or f"line {_line(event)}: a mapping is the key of another, as in a template"
        frame = _Frame(path, mapping=mapping, anchor=event.anchor, silent=silent)
        frame.start = len(self._entries)
        if event.anchor:
            self._anchors[event.anchor] = (path, frame.start, None)
        self._frames.append(frame)

    def _end(self) -> None:
        frame = self._frames.pop()
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.path, frame.start, len(self._entries))
        if self._frames and self._frames[-1].expects_key():
            self._frames[-1].key = "?"
        else:
            self._next()

    def _alias(self, event: yaml.AliasEvent) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame and frame.expects_key():
            frame.key = f"*{event.anchor}"
            return None
        path, start, end = self._anchors.get(event.anchor or "", ("", 0, 0))
        if event.anchor not in self._anchors:
            self.refused = (
                self.refused or f"line {_line(event)}: it is not valid YAML: nothing is called {event.anchor}"
            )
        if end is None:
            raise _LimitError(f"line {_line(event)}: *{event.anchor} contains itself")
        if not self._silent():
            self._repeat(event, path, self._entries[start:end])
        return self._next()

    def _repeat(self, event: yaml.AliasEvent, path: str, entries: list[Entry]) -> None:
        """Add the entries below an anchor once more, where its alias is."""
        here, merged = self._merging()
        if [path] == [entry[0] for entry in entries]:  # a scalar: it is stated here
            self._mark(event)
            self._add((here, entries[0][1], _line(event)))
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
        frame, here = self._frames[-1] if self._frames else None, self._path()
        for end in ("<<", "<<.0", "<<.1", "<<.2"):
            if frame is not None and (here == end or here.endswith(f".{end}")):
                return here[: -len(end)].rstrip("."), True
        return here, False


def _line(event: yaml.Event) -> int:
    """The line that an event begins in; the parser gives every one of them a mark."""
    return event.start_mark.line + 1  # type: ignore[union-attr]


def _value(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar by the safe loader; text where that makes a date of it or fails."""
    text: str = event.value
    tag = event.tag or "!"
    if tag == "!":
        if not event.implicit[0]:
            return text
        tag = str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]
    if tag not in _TYPES or len(text) > _LONGEST:
        return text
    try:
        return _TYPES[tag](yaml.ScalarNode(tag, text))
    except (ValueError, KeyError, IndexError, yaml.YAMLError):
        return text
