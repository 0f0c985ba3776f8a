"""YAML as plain values, every scalar as the text that was written, with the line of each mapping; bounded.

Built from the parser's events, so that neither nesting nor aliases can grow beyond the file's own size.
"""

from __future__ import annotations

import yaml

from envdoctor.errors import ProbeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

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
    """The first document of a file. Raises :class:`ProbeError`."""
    if len(source.text) > LARGEST:
        raise _refusal(source, f"has more than {LARGEST // 2**20} MiB")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(source).build(yaml.parse(source.text, Loader=loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        cause = getattr(error, "problem", None) or str(error).partition("\n")[0][:200]
        place = source.at(min(mark.line, source.text.rstrip("\n").count("\n")) + 1 if mark else None)
        raise ProbeError(
            f"{place} could not be read as YAML ({cause}): mend that line, or write the file anew"
        ) from None


def _refusal(source: TextFile, what: str) -> ProbeError:
    return ProbeError(f"{source.path} {what}, which no environment needs: give another file")


class _Builder:
    def __init__(self, source: TextFile) -> None:
        self._source = source
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def build(self, events: Iterable[Any]) -> Any:
        """The value of the first document, ``None`` for an empty one."""
        open_values: list[tuple[Any, str | None, int]] = []
        result: list[Any] = []
        for event in events:
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                value, anchor, before = open_values.pop()
                done = _mapping(value) if isinstance(event, yaml.MappingEndEvent) else value[1:]
                self._name(anchor, done, self._values - before)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._count(1)
                open_values.append(([getattr(event.start_mark, "line", 0) + 1], event.anchor, self._values))
                if len(open_values) > _DEPTH:
                    raise _refusal(self._source, f"is nested more than {_DEPTH} deep")
                continue
            elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
                done = self._leaf(event)
            else:
                continue
            (open_values[-1][0] if open_values else result).append(done)
        return result[0] if result else None

    def _leaf(self, event: Any) -> Any:
        if isinstance(event, yaml.AliasEvent):
            anchor = event.anchor or ""
            if anchor not in self._anchors:
                raise ValueError(f"the alias {anchor[:40]!a} has no anchor before it")
            done, size = self._anchors[anchor]
            self._count(size + 1)
            return done
        self._count(1)
        done = Text(event.value)
        done.line = getattr(event.start_mark, "line", 0) + 1
        self._name(event.anchor, done, 0)
        return done

    def _name(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > _VALUES:
            raise _refusal(self._source, f"has, with its aliases, more than {_VALUES:,} values")


def _mapping(items: list[Any]) -> Mapping:
    """A mapping from its line, keys and values; keys that are no text are left out."""
    found = Mapping((key, value) for key, value in zip(items[1::2], items[2::2]) if isinstance(key, str))
    found.line = items[0]
    return found
