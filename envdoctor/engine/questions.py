"""What compiled rules will ask of a target, by their conditions: it is answered before they are evaluated. Pure."""

from __future__ import annotations

from envdoctor import facts as kinds
from envdoctor.engine.evaluate import LOCAL, OF_MACHINE, Trace, holds
from envdoctor.engine.markers import VARIABLES
from envdoctor.engine.metadata_conflicts import asked as asked_of_metadata
from envdoctor.engine.start_method import asked as asked_of_start_method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from envdoctor.engine.evaluate import Condition
    from envdoctor.facts import Kind, Questions
    from envdoctor.model import Snapshot

    Question = tuple[Kind[Any, Any], Any]


def questions(rules: Sequence[Mapping[str, Any]], snapshot: Snapshot) -> Questions:
    """What compiled rules ask that neither the snapshot nor what it makes false decides, by kind of fact.

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
    """What a condition asks that is not known, as far as its parts before leave it open."""
    if condition[0] not in _LOGIC:
        questions_of = _ASKED.get(condition[0])
        yield from questions_of(condition, snapshot) if questions_of else ()
        return
    for part in condition[1:]:
        asked = list(_asked(part, snapshot))
        yield from asked
        if condition[0] == "all" and not _is_open(asked, snapshot) and holds(part, snapshot, Trace()) is False:
            return


def _module(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
    if condition[2] == LOCAL:
        yield kinds.LOCAL_MODULE, condition[1]
    yield kinds.MODULE, condition[1]


def _of_project(kind: Kind[Any, Any], keys: Callable[[Condition], Iterable[Any]]) -> Callable[..., Iterator[Question]]:
    def asked(condition: Condition, snapshot: Snapshot) -> Iterator[Question]:
        yield kinds.PROJECT, "there"
        if snapshot.facts.ask(kinds.PROJECT, "there") is not False:
            yield from ((kind, key) for key in keys(condition))

    return asked


_LOGIC = frozenset(("all", "any", "not"))
#: What each operator asks, by its arguments.
_ASKED: Mapping[str, Callable[[Condition, Snapshot], Iterator[Question]]] = {
    "marker": lambda condition, _: ((kinds.MARKER, name) for name in VARIABLES if name in condition[1]),
    "env": lambda condition, _: iter([(kinds.ENV, condition[1])]),
    "module": _module,
    **dict.fromkeys(OF_MACHINE, lambda condition, _: iter([(OF_MACHINE[condition[0]], condition[1])])),
    "start_method": lambda condition, snapshot: asked_of_start_method(snapshot, *condition[2:]),
    "config": _of_project(kinds.CONFIG, lambda condition: [(condition[1], condition[2])]),
    "source": _of_project(kinds.SOURCE, lambda condition: condition[2]),
    "artifact": _of_project(kinds.ARTIFACT, lambda _: [""]),
    "shadowed": _of_project(kinds.SHADOWS, lambda condition: [condition[1]]),
}
