"""Tests of what a call is given, and of values. Pure."""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.evaluate import LONGEST_VALUE
from envdoctor.globs_of_names import expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from envdoctor.engine.evaluate import Verdict
    from envdoctor.found import Argument, Carried, Use


#: The tests that an argument does not pass whose value the code chooses by the release that there is.
_OF_RELEASES = {"made-by", "not-made-by", "names", "equals", "matches", "differs"}
#: In the place of an entry: each of them.
_EVERY = "*"
#: In the place of what follows a beginning: no expression matches the end of the text before it.
_REST = "\0"


def equal(value: Any, wanted: Any) -> str | None:
    """A value as text, where it is the one that is wanted; a truth value is no number."""
    same = value == wanted and isinstance(value, bool) is isinstance(wanted, bool)
    return None if not same else str(value).lower() if isinstance(value, bool) else str(value)


def matched(value: Any, wanted: str) -> str | None:
    """The part that an expression matches, and no more: the rest of a value may be a secret."""
    match = re.search(wanted, value[:LONGEST_VALUE]) if isinstance(value, str) else None
    return match[0] or "matches" if match else None


def passes(use: Use, tests: Mapping[str, Any]) -> Verdict:
    """Whether a call passes the tests; unknown where ``*`` or an unseen dictionary may hold what is asked for."""
    if (tests.get("unguarded") and use["guarded"]) or (tests.get("uncaught") and use.get("excused")):
        return False
    if not {*use.get("catches", ())}.isdisjoint(tests.get("raises", ())):
        return False
    given = [_given(use, word) for word in tests.get("without", ())]
    if True in given:
        return False
    verdict: Verdict = None if None in given else True
    for test in tests.get("arguments", ()):
        arguments = arguments_of(use, test)
        if not arguments:
            if not use.get("open"):
                return False
            verdict = None
        elif not any(_fits(one, test) for one in arguments):
            return False
    return verdict


def _given(use: Use, wanted: Mapping[str, Any]) -> Verdict:
    """Whether an argument is given; ``options.method`` is an entry of a dictionary that is given as ``options``."""
    name, _, entry = wanted["name"].partition(".")
    argument = argument_of(use, {**wanted, "name": name})
    if argument is None:
        return None if use.get("open") else False
    if not entry:
        return True
    entries = argument.get("entries")
    if entries is None:
        return False if "value" in argument else None
    return True if entry in entries else None if argument.get("open") else False


def argument_of(use: Use, test: Mapping[str, Any]) -> Argument | None:
    """The argument of a call that a test names by its keyword, or position ``at``; ``hosts.port`` is an entry of it."""
    name, _, entry = test.get("name", "").partition(".")
    at = test.get("at")
    found = use["keywords"].get(name) or (
        use["arguments"][at] if at is not None and at < len(use["arguments"]) else None
    )
    return found.get("entries", {}).get(entry) if found and entry else found


def arguments_of(use: Use, test: Mapping[str, Any]) -> Sequence[Argument]:
    """The argument that a test names, or each entry of a dictionary: ``mapping.*``."""
    name, _, entry = test.get("name", "").partition(".")
    if entry == _EVERY:
        whole = argument_of(use, {**test, "name": name})
        return [*whole.get("entries", {}).values()] if whole else []
    found = argument_of(use, test)
    return [found] if found else []


def _fits(argument: Argument, test: Mapping[str, Any]) -> bool:
    if "carries" in test and not _carries(argument, test):
        return False
    if argument.get("provided") and not _OF_RELEASES.isdisjoint(test):
        return False
    return all(_ARGUMENT[word](argument, wanted) for word, wanted in test.items() if word in _ARGUMENT)


def travels(one: Carried, test: Mapping[str, Any]) -> bool:
    """Whether what an argument carries counts: what it was given to must keep it."""
    return not one.get("by_value") and all(
        matches_any(kept, test.get("through", ())) for kept in one.get("kept_by", ())
    )


def _same(argument: Argument, wanted: Any) -> bool:
    return "value" in argument and any(equal(argument["value"], one) is not None for one in _listed(wanted))


def _matches(argument: Argument, wanted: str) -> bool:
    """Whether the text matches an expression, or one of those in a list, or what is known of its beginning."""
    values = [argument["value"]] if "value" in argument else [*argument.get("values", ())]
    values += [begin + _REST for begin in argument.get("begins", ())]
    return any(matched(one, wanted) is not None for one in values)


def _listed(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def may_be_shown(literal: Any, tests: Mapping[str, Any]) -> bool:
    """Whether a literal may be shown: the rule names it, or all of it is what an expression of the rule matches."""
    for test in tests.get("arguments", ()):
        named = "equals" in test and literal in _listed(test["equals"])
        if literal is not None and (named or ("matches" in test and matched(literal, test["matches"]) == literal)):
            return True
    return False


def _carries(argument: Argument, test: Mapping[str, Any]) -> bool:
    carried = [one["name"] for one in argument["carries"] if travels(one, test)]
    return _any([*carried, *argument["made_by"]], test["carries"])


_ARGUMENT: dict[str, Callable[[Argument, Any], bool]] = {
    "is": lambda argument, wanted: not set(wanted).isdisjoint([*argument["is"], *argument.get("form", ())]),
    "made-by": lambda argument, wanted: _any(argument["made_by"], wanted),
    "not-made-by": lambda argument, wanted: not _any(argument["made_by"], wanted),
    "names": lambda argument, wanted: _any(argument["names"], wanted),
    "equals": _same,
    "matches": _matches,
    "differs": lambda argument, wanted: not _same(argument, wanted),
}


def _any(names: Iterable[str], globs: Sequence[str]) -> bool:
    return any(matches_any(name, globs) for name in names)


def matches_any(name: str, globs: Sequence[str]) -> bool:
    """Whether a dotted name is one of some globs: ``*`` within one segment, ``**`` for any number of segments."""
    return any(expression(glob).fullmatch(name) for glob in globs)
