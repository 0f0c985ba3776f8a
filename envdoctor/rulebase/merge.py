"""Puts together what several sources of rules declare: they extend each other, and may not contradict."""

from __future__ import annotations

from envdoctor.errors import RuleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def vocabularies(one: Mapping[str, Any], other: Mapping[str, Any], files: tuple[str, str]) -> dict[str, Any]:
    """Two vocabularies as one, which come from these files.

    Raises :class:`RuleError` where they declare the same word differently.
    """
    merged = dict(one)
    for section, words in other.items():
        if section != "pack":
            merged[section] = _merged(one.get(section), words, section, files)
    return merged


#: Sections whose lists are one statement each; lists of the others are added to.
_WHOLE = ("families", "companions", "start_methods", "stands_in")


def _merged(one: Any, other: Any, what: str, files: tuple[str, str]) -> Any:
    if one is None or one == other:
        return other
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{key: _merged(one.get(key), value, f"{what}: {key}", files) for key, value in other.items()}}
    if isinstance(one, list) and isinstance(other, list) and what.partition(":")[0] not in _WHOLE:
        return [*one, *(word for word in other if word not in one)]
    raise RuleError(
        f"{what} is declared differently in {files[0]} and in {files[1]}: leave it out of one of them, or say the same"
    )


def rules(stated: Iterable[Mapping[str, tuple[str, str]]]) -> dict[str, tuple[str, str]]:
    """The files and contents of rules by id, from several sources.

    Raises :class:`RuleError` where two of them have the same id and other contents.
    """
    known: dict[str, tuple[str, str]] = {}
    for source in stated:
        for name, (path, content) in source.items():
            first = known.setdefault(name, (path, content))
            if first[1] != content:
                files = f"{first[0]} and in {path}"
                raise RuleError(f"the rule {name} is stated differently in {files}: rename one of them")
    return known
