"""One call that starts workers, or sends them a task: its start method, and what of its arguments is pickled. Pure."""

from __future__ import annotations

import functools
from typing import Any

from envdoctor.engine.argument_tests import argument_of
from envdoctor.engine.project_operators import made_at, place_of, text_of
from envdoctor.engine.start_method import in_use
from envdoctor.facts import SOURCE
from envdoctor.model import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.found import Argument, Carried, Use
    from envdoctor.model import Snapshot

    Entry = Mapping[str, Any]
    Seen = tuple[str, object, str]
    #: The evidence of one finding, and what its texts may name.
    Case = tuple[list[Seen], dict[str, str]]

METHODS = ("fork", "spawn", "forkserver")
_CONTEXT = ".get_context"


def of_maker(use: Use, test: Mapping[str, Any]) -> Argument | None:
    """An argument of the call that made what a use is called on."""
    maker = maker_of(use) or {}
    given: Sequence[Argument] = maker.get("arguments", ())
    found: Argument | None = maker.get("keywords", {}).get(test["on"])
    return given[test["at"]] if found is None and test.get("at", len(given)) < len(given) else found


def maker_of(use: Use) -> Mapping[str, Any] | None:
    """The call that made what a use is called on."""
    return use["on"].get("maker") if "on" in use else None


def library_of(entry: Entry, words: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The library that chooses the start method of a call, and how it does."""
    library = entry.get("library")
    return library, words["start_methods"].get(library)


class Start:
    """One call that starts workers, or sends them a task."""

    def __init__(self, use: Use, entry: Entry, words: Mapping[str, Any], snapshot: Snapshot) -> None:
        self.use, self.entry, self.words, self.snapshot = use, entry, words, snapshot
        self.by_value = entry.get("pickler") == "cloudpickle"

    @functools.cached_property
    def globs(self) -> list[str]:
        """Those of its entry's globs that are called at all."""
        return [glob for glob in self.entry["calls"] if any(calls_of([glob], self.snapshot))]

    def method(self) -> tuple[str | None, list[Seen]]:
        """The start method that holds for the call, with the evidence; ``None`` where that is not known."""
        stated = self._stated()
        if stated is None and "method" in self.entry:
            own = self.entry["method"]
            return own, [("start_method", own, "as good as this, whatever the program sets")]
        if stated is None:
            return in_use(self.snapshot, *library_of(self.entry, self.words))
        return (stated or None), [("start_method", stated, place_of(self.use))]

    def _stated(self) -> str | None:
        """The method that the call is given, empty where that is not known; ``None`` where it is given none."""
        for test in self.entry.get("context", ()):
            argument = of_maker(self.use, test) if "on" in test else argument_of(self.use, test)
            if argument is not None and "entry" in test:
                argument = argument.get("entries", {}).get(test["entry"])
            if argument is not None and ("value" not in argument or argument["value"] is not None):
                return _method_of(argument) or ""
        found = _context_of(maker_of(self.use))
        if found is not None:
            return _method_of(found) or ""
        return "" if _CONTEXT + "." in self.use["name"] else None

    def travelling(self, *, at_start: bool) -> Iterator[tuple[Argument, Mapping[str, Any]]]:
        """The arguments that are pickled, and how each is written in the call: when workers start, or with a task."""
        for test in self.entry.get("at-start" if at_start else "with-task", ()):
            if test.get("on"):
                found = [self.use["on"]] if "on" in self.use else []
            elif "rest" in test:
                found = [*self.use["arguments"][test["rest"] :], *self.use["keywords"].values()]
            else:
                argument = argument_of(self.use, test)
                found = [] if argument is None else [argument]
            found = [one for each in found for one in (each, *_given_elsewhere(each, self.snapshot))]
            yield from ((one, test) for one in found)

    def carried(self, argument: Argument, test: Mapping[str, Any]) -> Iterator[Carried]:
        """What is pickled of an argument: not an iterable itself that the parent takes the tasks from."""
        for one in argument["carries"]:
            gives = test.get("each") and not one.get("via", "").startswith("each of ")
            made = {one["name"], one["name"].rpartition(".")[0]}  # of a file also how it is opened
            itself = gives and (one["name"] == "generator" or not made.isdisjoint(argument.get("itself", ())))
            kept = self.words["calls"]["keeping"]
            if (
                not itself
                and all(by in kept for by in one.get("kept_by", ()))
                and (self.by_value or not one.get("by_value"))
            ):
                yield one

    def case(self, seen: Sequence[Seen], **names: str) -> Case:
        """A finding about this call."""
        use = self.use
        first: Seen = (f"source.{use['name']}", text_of(use, {}), place_of(use))
        words = {"file": use["file"], "line": line_of(use), "call": text_of(use, {}), "name": use["name"]}
        return [first, *seen], {**words, **names}

    def held(self, one: Carried, **names: str) -> Case:
        """A finding about something that travels, with where that was made."""
        via, what = one.get("via", "").replace("each of ", ""), object_name(one["name"])
        seen: Seen = (f"source.{one['name']}", f"{via} holds {what}" if via else what, made_at(one, self.use))
        return self.case([seen], given=via or "it", object=what, **names)


_SAID = {
    "local-class": "an object of a class that has no name to be imported by",
    "lambda": "a lambda",
    "local-function": "a function inside a function",
    "generator": "a generator",
    "notebook-definition": "what the notebook defines",
}


def object_name(name: str) -> str:
    """What something is called that a worker is given."""
    return _SAID.get(name) or ("a module" if name.endswith("ModuleType") else f"what {name} made")


def _given_elsewhere(argument: Argument, snapshot: Snapshot) -> Iterator[Argument]:
    """What the calls of a function, in other files too, give a parameter of it that it passes on."""
    parameter = argument.get("parameter", {})
    for use in calls_of([parameter["of"]] if parameter else (), snapshot):
        given = argument_of(use, parameter)
        if given is not None:
            yield {**given, "carries": [{"file": use["file"], **one} for one in given["carries"]]}


def line_of(use: Use) -> str:
    """The line of a use; of a notebook that of its cell."""
    return f"{use['row']} of cell {use['cell']}" if "cell" in use else str(use["line"] or "")


def _context_of(maker: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The context that something was made with: by its method, or by what it was given."""
    while maker is not None:
        if maker["name"].endswith(_CONTEXT):
            return {"maker": maker}
        named = maker.get("keywords", {})
        plain: Sequence[Mapping[str, Any]] = maker.get("arguments", ())
        given = [one for one in plain if one.get("maker", maker)["name"].endswith(_CONTEXT)]
        given += [named[name] for name in ("mp_context", "context") if name in named]
        if given:
            return given[0]
        if "max_tasks_per_child" in named:  # which fork does not allow
            return {"value": "spawn"}
        maker = maker.get("on")
    return None


def _method_of(argument: Mapping[str, Any]) -> str | None:
    """The method that a context, or its name, means."""
    maker = argument.get("maker")
    if maker is not None:
        given = [*maker.get("arguments", ()), *maker.get("keywords", {}).values()]
        argument = given[0] if given else {}
    value = argument.get("value")
    return value if value in METHODS else None


def calls_of(names: Iterable[str], snapshot: Snapshot) -> Iterator[Use]:
    """The calls of some names in the project, as far as they are known."""
    for name in names:
        answer = snapshot.facts.ask(SOURCE, name)
        if not isinstance(answer, Unknown):
            yield from (use for use in answer.found if use["kind"] == "call")
