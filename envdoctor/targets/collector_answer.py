"""The answer of an interpreter, validated against the collector's format before it is used."""

from __future__ import annotations

import json
import re

from envdoctor.errors import TargetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def decoded(path: str, framed: bytes) -> dict[str, Any]:
    """The facts in an answer. Raises :class:`TargetError` where it is none of the collector."""
    try:
        facts: dict[str, Any] = json.loads(framed)
    except (ValueError, RecursionError) as error:
        raise TargetError(f"{path} gave an answer that is not readable ({error}). Try another interpreter.") from error
    if not isinstance(facts, dict):
        raise TargetError(_strange(path, "all of it"))
    if "too_old" in facts:
        raise TargetError(
            f"{path} is Python {facts['too_old']}; envdoctor examines Python 3.6 and later. "
            "Give the interpreter of a newer environment."
        )
    for name, holds in _SHAPES.items():
        if not (holds(facts[name]) if name in facts else name not in _NEEDED):
            raise TargetError(_strange(path, name))
    return facts


def _strange(path: str, part: str) -> str:
    return f"{path} gave an answer that no Python gives ({part} is not as it should be). Give another interpreter."


def _texts(value: Any) -> bool:
    """Whether something is a list of texts that may be paths."""
    return isinstance(value, list) and all(isinstance(one, str) and "\0" not in one for one in value)


def _table(*kinds: type) -> Callable[[Any], bool]:
    """A test for a mapping whose values are of some types."""
    return lambda value: isinstance(value, dict) and all(isinstance(one, kinds) for one in value.values())


def _is_python(value: Any) -> bool:
    if not _table(str, bool, type(None))(value) or not re.match(r"\d{1,3}\.\d{1,4}", str(value.get("version"))):
        return False
    flags = [value.get(name, False) for name in ("free_threaded", "debug")]
    words = [value.get(name) for name in ("version", "implementation", "prefix")]
    executable = value.get("executable")
    return (
        all(isinstance(one, bool) for one in flags)
        and all(isinstance(one, str) and "\0" not in one for one in words)
        and (executable is None or (isinstance(executable, str) and "\0" not in executable))
    )


def _is_unknown(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and {*one} == {"fact", "reason"} and _table(str)(one) for one in value
    )


def _is_modules(value: Any) -> bool:
    return _table(dict)(value) and all(
        isinstance(one.get("kind"), str) and isinstance(one.get("origin"), (str, type(None))) for one in value.values()
    )


#: What the parts of an answer must be; those of ``_NEEDED`` may not be missing.
_NEEDED = frozenset(("python", "paths", "unknown", "env", "modules", "system", "libraries", "programs"))
_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "python": _is_python,
    "paths": _texts,
    "unknown": _is_unknown,
    "env": _table(str),
    "modules": _is_modules,
    "system": _table(str, bool, int, type(None)),
    "libraries": _table(str),
    "programs": _table(str),
    "platform": _table(str),
    "marker": _table(str),
    "start_method": _table(str),
    "stdlib": lambda value: isinstance(value, str),
    "user_site": lambda value: value is None or isinstance(value, str),
}
