"""The questions of compiled rules to a target, by their conditions: answered before these are evaluated. Pure."""

from __future__ import annotations

from envdoctor import facts as kinds
from envdoctor.engine.evaluate import LOCAL, holds
from envdoctor.engine.markers import VARIABLES
from envdoctor.engine.metadata_conflicts import asked as asked_of_metadata
from envdoctor.engine.start_method import asked as asked_of_start_method
from envdoctor.engine.trace import Trace
from envdoctor.model import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.evaluate import Condition
    from envdoctor.facts import Kind, Questions
    from envdoctor.model import Snapshot

    Question = tuple[Kind[Any, Any], Any]


def questions(rules: Sequence[Mapping[str, Any]], snapshot: Snapshot) -> Questions:
    """The keys that compiled rules still need to know, by kind of fact: not what the snapshot knows or decides.

    A rule asks for its condition first, and for those of its remedies once that is known not to be false.
    """
    defects = {compiled["installed"] for compiled in rules if "installed" in compiled}
    wanted: dict[Kind[Any, Any], dict[Any, None]] = asked_of_metadata(defects, snapshot)
    for compiled in rules:
        if "asks" in compiled:
            asked = list(_asked(compiled["when"], snapshot))
            if not _is_open(asked, snapshot):
                asked += [one for more in compiled["asks"] for one in _asked(["all", compiled["when"], more], snapshot)]
            for kind, key in asked:
                wanted.setdefault(kind, {})[key] = None
    return wanted


def _is_open(asked: Iterable[Question], snapshot: Snapshot) -> bool:
    """Whether any of some questions has not been answered yet."""
    return any(not snapshot.facts.has(*question) for question in asked)


def _asked(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The unknown facts that a condition asks for, as far as its parts before leave it open."""
    if condition[0] not in _LOGIC:
        yield from _of_leaf(condition, snapshot)
        return
    for part in condition[1:]:
        asked = list(_asked(part, snapshot))
        yield from asked
        if condition[0] == "all" and not _is_open(asked, snapshot) and holds(part, snapshot, Trace()) is False:
            return


def _of_leaf(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The facts that one condition asks for; of a project first whether there is one."""
    kind = kinds.OPERATORS[condition[0]]
    if kind.under == kinds.OF_PROJECT:
        yield kinds.PROJECT, "there"
        if snapshot.facts.ask(kinds.PROJECT, "there") is False:
            return
    if kind.asks:
        yield from kind.function("asks")(condition, snapshot)


def by_name(condition: Condition, _: Snapshot) -> Iterator[Question]:
    """The one fact that a condition names."""
    yield kinds.OPERATORS[condition[0]], condition[1]


def marker(condition: Condition, _: Snapshot) -> Iterator[Question]:
    """The variables of a marker."""
    return ((kinds.MARKER, name) for name in VARIABLES if name in condition[1])


def module(condition: Condition, _: Snapshot) -> Iterator[Question]:
    """Where a module is, and whether the project hides it."""
    if condition[2] == LOCAL:
        yield kinds.LOCAL_MODULE, condition[1]
    yield kinds.MODULE, condition[1]


def start_method(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The facts that decide the start method."""
    return asked_of_start_method(snapshot, *condition[2:])


def config(condition: Condition, _: Snapshot) -> Iterator[Question]:
    """The entries of configuration."""
    yield kinds.CONFIG, (condition[1], condition[2])


def source(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The uses of names; and where importing a file makes a call, who imports it."""
    from envdoctor.file_keys import source_key

    for name in condition[2]:
        key = source_key(condition[1], name)
        yield kinds.SOURCE, key
        answer = snapshot.facts.ask(kinds.SOURCE, key) if condition[3].get("unguarded") else None
        for use in answer.found if answer is not None and not isinstance(answer, Unknown) else ():
            if not use["guarded"]:
                from envdoctor.engine.project_operators import imports_of

                yield kinds.SOURCE, imports_of(use["file"])


def shadows(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The files that hide modules; and whether the interpreter has a file of those that some have built in."""
    yield kinds.SHADOWS, condition[1]
    answer = snapshot.facts.ask(kinds.SHADOWS, condition[1])
    for one in () if answer is None or isinstance(answer, Unknown) else answer.found:
        if one.get("varies"):
            yield kinds.MODULE, one["module"]


def worker(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    """The calls that start workers."""
    from envdoctor.engine.workers import asked

    return asked(condition, snapshot)


def artifact(_condition: Condition, _: Snapshot) -> Iterator[Question]:
    """All artefacts."""
    yield kinds.ARTIFACT, ""


_LOGIC = frozenset(("all", "any", "not"))
