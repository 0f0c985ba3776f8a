"""The rules whose conditions have the name that a text says is gone. Pure.

What Python says where a name, a member of a class or an argument is gone follows from the name that a rule asks a
project's source for, so that its symptoms need not have each of them.
"""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine import symptoms
from envdoctor.engine.families import clues
from envdoctor.engine.frames import failed_in
from envdoctor.engine.symptoms import MOST_TEXT, SymptomMatch
from envdoctor.globs_of_names import expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.engine.families import Clue

    Rules = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]

#: Exceptions of which a rule has a symptom where its names are gone, and not only of another meaning.
_GONE = {"AttributeError", "ImportError", "ModuleNotFoundError"}
#: How much a match counts that leaves open whose the name is; nothing where no word of the text is what imports it.
_LOOSE = 0.5


def having_lost(rules: Rules, error_text: Any) -> Iterator[SymptomMatch]:
    """The rules, as pairs of their texts and what was compiled, that ask source for what a text says is gone.

    Rules about a project's own code are not meant where what failed is that of another package.
    """
    said = [clue for clue in clues(error_text) if clue.family in _MATCHED]
    weights = symptoms.weights_of(error_text.failures)
    words = set(re.findall(r"\w+", error_text.text[:MOST_TEXT])) if said else set()
    for texts, compiled in rules if said else ():
        leaves = list(_leaves(compiled["when"]))
        names = [name for leaf in leaves if leaf[1] != "call" for name in leaf[2]] if _is_about_names(texts) else []
        calls = [leaf for leaf in leaves if leaf[1] == "call"] if _is_about_arguments(texts) else []
        if not (names or calls) or failed_in(error_text, compiled):
            continue
        loose = _LOOSE if any(name.partition(".")[0] in words for leaf in leaves for name in leaf[2]) else 0.0
        for clue in said:
            if share := _MATCHED[clue.family](clue, names, calls, loose):
                score = symptoms.worth(clue.said) * share * weights.get(id(clue.failure), symptoms.OF_A_LINE)
                matched = (f'message "{symptoms.short(clue.said)}"',)
                yield SymptomMatch(rule=texts["id"], consumer=None, score=round(score, 3), matched=matched)


def _is_about_names(texts: Mapping[str, Any]) -> bool:
    return any(str(one.get("raises")).rpartition(".")[2] in _GONE for one in texts["symptoms"])


def _is_about_arguments(texts: Mapping[str, Any]) -> bool:
    return any(one.get("raises") in {"TypeError", *_GONE} for one in texts["symptoms"])


def _leaves(condition: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The uses of source that a compiled condition asks for; not those that it excludes."""
    if condition[0] in {"all", "any"}:
        for part in condition[1:]:
            yield from _leaves(part)
    elif condition[0] == "source":
        yield condition


# -- what each family of messages says is gone: how sure it is that some of the names, or calls, are meant ------------


def _of_module(clue: Clue, names: Iterable[str], _calls: Any, _loose: float) -> float:
    """A name of a module, or a module; all of a distribution, ``root.**``, says nothing of a name in it."""
    if "module" not in clue.groups:
        return 0.0
    path = ".".join(filter(None, (clue.groups["module"], clue.groups.get("name"))))
    root = path.partition(".")[0]
    below = (one for one in names if one.partition(".")[0] == root and one != f"{root}.**")
    return float(any(expression(one).fullmatch(path) for one in below))


def _of_class(clue: Clue, names: Iterable[str], _calls: Any, loose: float) -> float:
    """A member of a class, of which a text gives the last part alone, as a rule."""
    owner, name = clue.groups["owner"].rpartition(".")[2], clue.groups.get("name")
    members = (one.split(".") for one in names if name)
    return max((_share_of_member(one, owner, str(name), loose) for one in members), default=0.0)


def _share_of_member(parts: Sequence[str], owner: str, name: str, loose: float) -> float:
    if name not in parts[-2:]:
        return 0.0
    if owner in parts:
        above = [one for one in parts[: parts.index(owner)] if "*" not in one]
        return float(expression(".".join(parts)).fullmatch(".".join([*above, owner, name])) is not None)
    any_class = parts[-2] == "**" and parts[-1] == name and not any(one[:1].isupper() for one in parts)
    return loose if any_class else 0.0


def _of_call(clue: Clue, _names: Any, calls: Iterable[Sequence[Any]], loose: float) -> float:
    """An argument of a function, whose class a text names or not: one too many, or one that is missing."""
    above, _, last = clue.groups.get("function", "").rpartition(".")
    made = last in {"__init__", "__new__"}
    target = above.rpartition(".")[2] if made else last
    wanted = [leaf for leaf in calls if _is_asked(leaf[3], clue)]
    called = [name.rpartition(".")[2] for leaf in wanted for name in leaf[2]]
    if target and target in called:
        return 1.0
    return loose if made and not target and any(one[:1].isupper() for one in called) else 0.0


def _is_asked(rest: Mapping[str, Any], clue: Clue) -> bool:
    """Whether an argument is asked for, whatever it is, that a message says is not taken, or is missing."""
    name = clue.groups.get("name")
    if "() missing " in clue.said:
        return name in {one.get("name") if isinstance(one, dict) else one for one in rest.get("without", ())} - {None}
    given = [one for one in rest.get("arguments", ()) if not one.keys() - {"at", "name"}]
    return any(one.get("name") == name if name else "at" in one for one in given)


_MATCHED = {
    "missing-name": _of_module,
    "missing-module": _of_module,
    "missing-attribute": _of_class,
    "signature": _of_call,
}
