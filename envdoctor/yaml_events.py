"""The events of a YAML parser as values with their places: no object is built, no tag obeyed, and nothing recurses.

What a place is, which values are wanted, and how many, is for the readers of each kind of file to say.
"""

from __future__ import annotations

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent
from yaml.resolver import Resolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

TAG = "tag:yaml.org,2002:"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER = Resolver()


def events(source: str | bytes) -> Iterator[Any]:
    """The events of a stream. Raises what the parser raises."""
    return iter(yaml.parse(source, Loader=_LOADER))


class Begun:
    """A list or a mapping that is being read: its ``items`` so far, of a mapping the keys and values in turn.

    ``where`` is what the reader said of its place when it began.
    """

    __slots__ = ("event", "items", "mapping", "where")

    def __init__(self, event: Any, where: Any) -> None:
        self.event = event
        self.where = where
        self.items: list[Any] = []
        self.mapping = type(event) is MappingStartEvent


class EventReader:
    """Takes the events of a stream one by one; ``open`` are the documents, and the collections around the next one.

    Who reads a kind of file says what the value of a ``scalar``, of a ``key`` and of an ``alias`` is, where a
    collection is that may ``begin``, and of what value it is at its ``end``. All of them may raise.
    """

    scalar: Callable[[Any], Any]
    key: Callable[[Any], Any]
    alias: Callable[[Any], Any]
    begin: Callable[[Any], Any]
    end: Callable[[Begun], Any]
    too_deep: Callable[[Any], NoReturn]

    def __init__(self, deepest: int, where: Any = None) -> None:
        self._deepest = deepest
        self.open = [Begun(None, where)]
        self.documents = self.open[0].items

    def take(self, event: Any) -> None:
        """Take the next event."""
        kind = type(event)
        if kind is ScalarEvent:
            around = self.open[-1]
            at_key = around.mapping and not len(around.items) & 1
            around.items.append(self.key(event) if at_key else self.scalar(event))
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(self.open) > self._deepest:
                self.too_deep(event)
            self.open.append(Begun(event, self.begin(event)))
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            done = self.end(self.open.pop())
            self.open[-1].items.append(done)
        elif kind is AliasEvent:
            self.open[-1].items.append(self.alias(event))

    def at_key(self) -> bool:
        """Whether the next value is the key of a mapping."""
        around = self.open[-1]
        return around.mapping and not len(around.items) & 1


def first_line(event: Any) -> int:
    """The line that an event begins in."""
    line: int = event.start_mark.line
    return line + 1


def tag_of(text: str) -> str:
    """The tag of a scalar without quotes, as YAML 1.1 resolves it."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]


def mistake(error: Exception) -> tuple[int | None, str]:
    """The line that the parser stumbled in, where it says so, and what it says."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = [getattr(error, name, None) for name in ("problem", "context", "reason")]
    return mark.line + 1 if mark else None, next(filter(None, words), str(error).partition("\n")[0][:200])
