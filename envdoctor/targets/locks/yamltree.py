"""YAML as plain values, every scalar as the text that was written, with the line of each mapping; bounded.

Neither nesting nor aliases can grow beyond the file's own size.
"""

from __future__ import annotations

import yaml

from envdoctor.errors import ProbeError
from envdoctor.yaml_events import Begun, EventReader, events, first_line, mistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from envdoctor.targets.locks.contents import TextFile

LARGEST = 16 * 1024 * 1024
_DEPTH = 50
_VALUES = 1_000_000


class Mapping(dict):  # type: ignore[type-arg]
    """A mapping that knows its line."""

    line: int | None = None


class Text(str):
    """A scalar that knows its line."""

    __slots__ = ("line",)

    line: int


def load(source: TextFile) -> Any:
    """The first document of a file, ``None`` for an empty one. Raises :class:`ProbeError`."""
    if len(source.text) > LARGEST:
        raise _refusal(source, f"has more than {LARGEST // 2**20} MiB")
    values = _Values(source)
    try:
        for event in events(source.text):
            if values.documents:
                break
            values.take(event)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line, cause = mistake(error)
        place = source.at(line and min(line, source.text.rstrip("\n").count("\n") + 1))
        raise ProbeError(
            f"{place} could not be read as YAML ({cause}): mend that line, or write the file anew"
        ) from None
    return values.documents[0] if values.documents else None


def _refusal(source: TextFile, what: str) -> ProbeError:
    return ProbeError(f"{source.path} {what}, which no environment needs: give another file")


class _Values(EventReader):
    def __init__(self, source: TextFile) -> None:
        super().__init__(_DEPTH)
        self._source = source
        #: By anchor, its value, and how many values that consists of.
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def scalar(self, event: Any) -> Text:
        self._count(1)
        done = Text(event.value)
        done.line = first_line(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = done, 0
        return done

    key = scalar

    def begin(self, event: Any) -> int:
        self._count(1)
        return self._values

    def end(self, done: Begun) -> Any:
        value = _mapping(done) if done.mapping else done.items
        if done.event.anchor is not None:
            self._anchors[done.event.anchor] = value, self._values - done.where
        return value

    def alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise ValueError(f"the alias {event.anchor[:40]!a} has no anchor before it")
        done, size = self._anchors[event.anchor]
        self._count(size + 1)
        return done

    def too_deep(self, event: Any) -> NoReturn:
        raise _refusal(self._source, f"is nested more than {_DEPTH} deep")

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > _VALUES:
            raise _refusal(self._source, f"has, with its aliases, more than {_VALUES:,} values")


def _mapping(done: Begun) -> Mapping:
    """A mapping with its line; keys that are no text are left out."""
    items = zip(done.items[::2], done.items[1::2])
    found = Mapping((key, value) for key, value in items if isinstance(key, str))
    found.line = first_line(done.event)
    return found
