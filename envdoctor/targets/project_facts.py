"""The facts of a project's files in a saved snapshot, read back without the files themselves."""

from __future__ import annotations

import typing
from typing import Any

from envdoctor import facts as kinds
from envdoctor import found
from envdoctor.errors import TargetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from envdoctor.facts import Answers

#: The type of what is found, by kind.
_TYPES: Mapping[kinds.Kind[Any, Any], Any] = {
    kinds.CONFIG: found.Setting, kinds.SHADOWS: found.Shadow, kinds.LOCAL_MODULE: found.LocalModule,
    kinds.ARTIFACT: found.Artifact, kinds.SOURCE: found.Use,
}  # fmt: skip
#: Rows are lists of these: what was asked, what was found, and what could not be read.
_ROW = tuple[typing.Union[str, tuple[str, str]], list[Any], list[str]]


def recorded(section: Mapping[str, Any], name: str) -> Answers:
    """The answers in a snapshot's section, as ``renderers.snapshot_document`` writes them.

    Raises :class:`TargetError` where a value is not of the type that it must have.
    """
    tables: dict[kinds.Kind[Any, Any], dict[Any, Any]] = {}
    for kind, row in _TYPES.items():
        rows = section.get(kind.name, [])
        if not _holds(rows, list[_ROW]) or not all(_holds(found, list[row]) for _, found, _ in rows):  # type: ignore[valid-type]
            raise TargetError(f"the snapshot {name}: project.{kind.name} is damaged; write the snapshot again")
        for key, results, gaps in rows:
            answer = (
                kinds.Answer(found=results, gaps=gaps) if kind is not kinds.LOCAL_MODULE else next(iter(results), None)
            )
            tables.setdefault(kind, {})[tuple(key) if isinstance(key, list) else key] = answer
    return {**tables, kinds.PROJECT: {"there": True, "named": section.get("named") is True}} if tables else {}


def _holds(value: Any, expected: Any) -> bool:
    """Whether a value of a JSON document is of a type; a tuple is a list there."""
    origin, parts = typing.get_origin(expected), typing.get_args(expected)
    if origin is typing.Union:
        return any(_holds(value, part) for part in parts)
    if origin in {list, tuple}:
        return isinstance(value, list) and _are_of(value, parts if origin is tuple else parts * len(value))
    if origin is dict or hasattr(expected, "__required_keys__"):
        return isinstance(value, dict) and all(_holds(*pair) for pair in _entries(value, expected, parts))
    return expected is Any or isinstance(value, (int, float) if expected is float else expected)


def _are_of(values: list[Any], types: tuple[Any, ...]) -> bool:
    """Whether there are as many values as types, each of its type."""
    return len(values) == len(types) and all(map(_holds, values, types))


def _entries(value: Mapping[str, Any], expected: Any, parts: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """The values of an object, each with its type; one that is needed and not there is ``None`` of no type."""
    if parts:
        return [(one, parts[1]) for one in value.values()]
    types = typing.get_type_hints(expected)
    missing = [(None, ()) for key in expected.__required_keys__ if key not in value]
    return missing + [(one, types[key]) for key, one in value.items() if key in types]
