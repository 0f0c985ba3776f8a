"""Whose a name is that a message has without its module: by frames, the history of names, and classes. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.places import code_of, innermost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envdoctor.engine.families import Clue
    from envdoctor.engine.names import Names
    from envdoctor.engine.places import Owner

#: Families whose name may be of a class or function of anybody's.
_OF_ANYBODY = frozenset({"missing-attribute", "signature"})
#: The name of a class of several words.
_WORDS = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")


def guessed(clue: Clue, names: Names, around: Sequence[Owner], seen: Mapping[str, Any]) -> list[str]:
    """The distributions, or ``python``, whose symbol, function or class a message may name without a module.

    What the one that failed is called after may be it too, unless it or another one in the frames has the name.
    """
    place = innermost(around)
    consumer = place.distribution if place else None
    bases = names.bases(consumer) if consumer and clue.family in _OF_ANYBODY else []
    held = [*seen.get("words", {}).get(clue.said, ()), *seen.get("holders", {}).get(clue.said, ())]
    sure = next((one for one in bases if one in held), None) or _near(clue, around, seen)
    if sure:
        return [sure]
    found = _owner(clue, names, around, seen)
    if found in {None, consumer}:  # what a class of the consumer lacks, it may have had from another one
        found = _of_word(clue, names, seen, consumer) or found
    return [one for one in dict.fromkeys([found, *(bases[:1] if found != "python" else ())]) if one]


def _of_word(clue: Clue, names: Names, seen: Mapping[str, Any], consumer: str | None) -> str | None:
    """The one other distribution that has or had anything of the name that a distribution asks for."""
    found = [one for one in seen.get("words", {}).get(clue.said, ()) if one != consumer] if consumer else []
    there = [one for one in map(names.present, found) if one] if names.installed else found
    return there[0] if len(there) == 1 else None


def in_code(names: Names, around: Sequence[Owner], seen: Mapping[str, Any]) -> tuple[str | None, list[str]]:
    """The other distribution that the failing line of a distribution names, and all that its file imports.

    Where nothing is known of its imports, a line names what is read from a known module.
    """
    place = innermost(around)
    if place is None or not place.distribution:
        return None, []
    imported: Mapping[str, str] = seen.get("imports", {}).get(place.module, {})
    there = _others_imported(imported, place.distribution, names)
    words = re.findall(r"(?<![\w.'\"])([A-Za-z_]\w*)\b(\.?)", code_of(place))
    read = {word: _read_from(word, names) for word, dot in words if dot and not imported}
    named = (there.get(word) or read.get(word) for word, _ in words)
    return next((one for one in named if one not in {None, place.distribution}), None), [*dict.fromkeys(there.values())]


def _others_imported(imported: Mapping[str, str], own: str, names: Names) -> dict[str, str]:
    """The installed distribution of each name that a file imports from another than its ``own``."""
    owners = {word: names.distribution(module) for word, module in imported.items()}
    return {word: one for word, one in owners.items() if one and one in names.installed and one != own}


def _read_from(word: str, names: Names) -> str | None:
    """The distribution of a module that something is read from, where its name is none of a variable."""
    known = names.known(word)
    return known if known and (known in names.installed or "_" in word) else None


def _near(clue: Clue, around: Sequence[Owner], seen: Mapping[str, Any]) -> str | None:
    """The only distribution in the frames that has or had what a message names without saying whose it is."""
    found = {one.distribution for one in around if one.distribution in seen.get("holders", {}).get(clue.said, ())}
    return found.pop() if len(found) == 1 else None


def _owner(clue: Clue, names: Names, around: Sequence[Owner], seen: Mapping[str, Any]) -> str | None:
    """The distribution, or ``python``, whose symbol, function or class a message names without a module."""
    said = clue.groups
    symbol = said.get("symbol") or said.get("undeclared")
    if symbol:
        owner = names.symbol(symbol)
        return None if owner == "system" else owner
    ever = _of_history(clue, names, around, seen)
    of_call = ever if "function" in said and said.get("name") else None  # a class of that name may be of many
    kind = _of_type(said, names, seen)
    lost = seen.get("exact", {}).get(clue.said, ())
    if lost and kind not in {*lost, "python"}:
        kind = None  # others lost it from a class of that name, and this one has not
    return of_call or kind or ever


def _of_history(clue: Clue, names: Names, around: Sequence[Owner], seen: Mapping[str, Any]) -> str | None:
    """The one distribution that has or had what a message names without saying whose it is, if it may be installed."""
    held, words = (seen.get(kind, {}).get(clue.said, ()) for kind in ("holders", "words"))
    held = _of_aliases(held, around, names)
    found = [one for one in held if one in words]
    is_own = not found and (place := innermost(around)) is not None and place.own and clue.said in seen.get("words", {})
    if is_own and not _is_rare(clue, names, held):
        return None  # a class of anybody's own may be called so as well
    found = found or [*held]
    there = [name for name in map(names.present, found) if name] if names.installed else found
    return there[0] if len(there) == 1 else None


def _is_rare(clue: Clue, names: Names, held: Sequence[str]) -> bool:
    """Whether a class is hardly anybody's own: one that has it is installed, or its name is of several words."""
    owner = clue.groups.get("owner") or clue.groups.get("function", "").partition(".")[0]
    return any(map(names.present, held)) if names.installed else _WORDS.fullmatch(owner) is not None


def _of_aliases(held: Sequence[str], around: Sequence[Owner], names: Names) -> Sequence[str]:
    """Those of some distributions that are imported under a name which the failing line reads from, if any are."""
    read = re.findall(r"(?<![\w.'\"])([A-Za-z_]\w*)\.", code_of(innermost(around)))
    meant = {one for word in read for one in names.aliases.get(word, ())}
    return [one for one in held if one in meant] or held


def _of_type(said: Mapping[str, str], names: Names, seen: Mapping[str, Any]) -> str | None:
    """The distribution of a class without a module, or of the object that could not be pickled."""
    if "object" in said:
        return _of_object(said["object"], names)
    owner = (said.get("owner") or said.get("function", "").rpartition(".")[0]).rpartition(".")[2]
    name = seen.get("classes", {}).get(owner) or names.classes.get(owner)
    elsewhere = names.installed and "function" in said and name != "python"
    return names.present(name) or (None if elsewhere else name) if name else None


def _of_object(text: str, names: Names) -> str | None:
    """The distribution of what could not be pickled, by the dotted name of its type or its bare name."""
    word = re.search(r"(?:class |function )?'?([A-Za-z_][\w.]*)", text)
    name = word[1] if word else ""
    module = name.rpartition(".")[0]
    if not module:
        return names.known(name)
    return None if module.startswith(("_", "builtins")) or "<locals>" in text else names.distribution(module)
