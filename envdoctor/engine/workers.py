"""What the workers that a project's source starts are given, and what they lack, in whatever way they are started.

The vocabulary says which calls start workers or send them tasks, and where in a call what travels stands. A start
method decides whether that is pickled: what the call is given, else the library's own, else what the program sets, else
the default of the interpreter. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envdoctor.engine.project_operators import answers, argument_of, made_at, matches_any, place_of, text_of
from envdoctor.engine.start_method import asked as asked_of_start_method
from envdoctor.engine.start_method import in_use
from envdoctor.facts import SOURCE
from envdoctor.model import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.engine.evaluate import Condition, Trace, Verdict
    from envdoctor.facts import Kind
    from envdoctor.found import Argument, Carried, Lack, Use
    from envdoctor.model import Snapshot

    Entry = Mapping[str, Any]
    Seen = tuple[str, object, str]
    #: The evidence of one finding, and what its texts may name.
    Case = tuple[list[Seen], dict[str, str]]

METHODS = ("fork", "spawn", "forkserver")
_FUNCTIONS = ("lambda", "local-function")
#: Refused only by what starts anew.
_OF_NOTEBOOK = ("notebook-definition",)
_CONTEXT = ".get_context"


def worker(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether some worker is given, or lacks, what a rule is about; every call that does so makes a finding."""
    _, about, entries, words = condition
    cases: dict[str, Case] = {}
    whole = True
    for entry in entries:
        for name in entry["calls"]:
            found, complete = answers(SOURCE, name, snapshot, trace)
            whole = whole and complete
            for use in found:
                judged = _ABOUT[about](_Start(use, entry, words, snapshot)) if _takes_part(use, entry) else None
                if judged is not None:
                    cases.setdefault(place_of(use), judged)
    for seen, names in cases.values():
        trace.split(seen, names)
    return True if cases else False if whole else None


def asked(condition: Condition, snapshot: Snapshot) -> Iterator[tuple[Kind[Any, Any], str]]:
    """The uses of names that decide it; of a function that starts workers also who calls it, once that is known."""
    _, about, entries, words = condition
    for entry in entries:
        yield from ((SOURCE, name) for name in entry["calls"])
        yield from asked_of_start_method(snapshot, *_library(entry, words))
        if about == "started-at-import" and entry.get("starts"):
            yield from ((SOURCE, name) for name in _starters(entry, snapshot))
        elif about != "started-at-import":
            yield from ((SOURCE, name) for name in _handing_on(entry, snapshot))
    if about == "lacks":
        yield from ((SOURCE, name) for one in words["state"] for part in ("set", "read") for name in one[part])


def _takes_part(use: Use, entry: Entry) -> bool:
    """Whether a use is a call that starts workers, as far as an argument decides."""
    if use["kind"] != "call":
        return False
    for test in entry.get("when", ()):
        argument = _of_maker(use, test) if "on" in test else argument_of(use, test)
        if argument is None and "absent" not in test:
            return False
        if argument is not None and not _passes(argument, test):
            return False
    return True


def _of_maker(use: Use, test: Mapping[str, Any]) -> Argument | None:
    """An argument of the call that made what a use is called on."""
    maker = _maker_of(use) or {}
    given: Sequence[Argument] = maker.get("arguments", ())
    found: Argument | None = maker.get("keywords", {}).get(test["on"])
    return given[test["at"]] if found is None and test.get("at", len(given)) < len(given) else found


def _maker_of(use: Use) -> Mapping[str, Any] | None:
    """The call that made what a use is called on."""
    return use["on"].get("maker") if "on" in use else None


def _passes(argument: Argument, test: Mapping[str, Any]) -> bool:
    if "made-by" in test:
        return any(matches_any(name, test["made-by"]) for name in argument["made_by"])
    if "names" in test:
        return any(matches_any(name, test["names"]) for name in argument["names"])
    return "value" not in argument or argument["value"] not in test["differs"]


def _library(entry: Entry, words: Mapping[str, Any]) -> tuple[str | None, Any]:
    library = entry.get("library")
    return library, words["start_methods"].get(library)


class _Start:
    """One call that starts workers, or sends them a task."""

    def __init__(self, use: Use, entry: Entry, words: Mapping[str, Any], snapshot: Snapshot) -> None:
        self.use, self.entry, self.words, self.snapshot = use, entry, words, snapshot
        self.by_value = entry.get("pickler") == "cloudpickle"

    def method(self) -> tuple[str | None, list[Seen]]:
        """The start method that holds for the call, with the evidence; ``None`` where that is not known."""
        stated = self._stated()
        if stated is None:
            return in_use(self.snapshot, *_library(self.entry, self.words))
        return (stated or None), [("start_method", stated, place_of(self.use))]

    def _stated(self) -> str | None:
        """The method that the call is given, empty where that is not known; ``None`` where it is given none."""
        for test in self.entry.get("context", ()):
            argument = _of_maker(self.use, test) if "on" in test else argument_of(self.use, test)
            if argument is not None and "entry" in test:
                argument = argument.get("entries", {}).get(test["entry"])
            if argument is not None and ("value" not in argument or argument["value"] is not None):
                return _method_of(argument) or ""
        found = _context_of(_maker_of(self.use))
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
            itself = gives and (one["name"] == "generator" or one["name"] in argument.get("itself", ()))
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
        words = {"file": use["file"], "line": _line_of(use), "call": text_of(use, {}), "name": use["name"]}
        return [first, *seen], {**words, **names}

    def held(self, one: Carried, **names: str) -> Case:
        """A finding about something that travels, with where that was made."""
        via, what = one.get("via", "").replace("each of ", ""), _said(one["name"])
        seen: Seen = (f"source.{one['name']}", f"{via} holds {what}" if via else what, made_at(one, self.use))
        return self.case([seen], given=via or "it", object=what, **names)


_SAID = {
    "lambda": "a lambda",
    "local-function": "a function inside a function",
    "generator": "a generator",
    "notebook-definition": "what the notebook defines",
}


def _said(name: str) -> str:
    """What something is called that a worker is given."""
    return _SAID.get(name) or ("a module" if name.endswith("ModuleType") else f"what {name} made")


def _given_elsewhere(argument: Argument, snapshot: Snapshot) -> Iterator[Argument]:
    """What the calls of a function, in other files too, give a parameter of it that it passes on."""
    parameter = argument.get("parameter", {})
    for use in _calls([parameter["of"]] if parameter else (), snapshot):
        given = argument_of(use, parameter)
        if given is not None:
            yield {**given, "carries": [{"file": use["file"], **one} for one in given["carries"]]}


def _line_of(use: Use) -> str:
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


def _refused(start: _Start, names: Iterable[str], *, shared: bool = False, anew: bool = False) -> Case | None:
    """The first thing of some names that is pickled for a worker: with a task, or at its start by such a method.

    ``shared`` is refused with a task only, ``anew`` only where the method starts workers anew.
    """
    wanted = frozenset(names)
    for at_start in (False,) if shared else (True, False):
        parts = [
            one
            for argument, test in start.travelling(at_start=at_start)
            for one in start.carried(argument, test)
            if one["name"] in wanted
        ]
        if not parts:
            continue
        by_method = at_start or anew
        method, seen = start.method() if by_method else ("", [])
        if not by_method or method in {"spawn", "forkserver"}:
            evidence, words = start.held(parts[0], start_method=method or "every start method")
            return [*evidence, *seen], words
    return None


def _object(start: _Start) -> Case | None:
    words = start.words["calls"]
    return _refused(start, words["unpicklable" if start.by_value else "bound-to-process"]) or _result(start)


def _result(start: _Start) -> Case | None:
    """The first thing that a function gives back which runs in a worker, and that no pickle takes."""
    for argument, test in start.travelling(at_start=False):
        for one in argument.get("results", ()) if test.get("runs") else ():
            if one["name"] == "generator" or not start.by_value:
                what = _said(one["name"])
                seen: Seen = (f"source.{one['name']}", f"its result is {what}", made_at(one, start.use))
                words = {"given": f"{what} as a result", "object": f"a function whose result is {what}"}
                return start.case([seen], **words, start_method="every start method")
    return None


def _function(start: _Start) -> Case | None:
    return None if start.by_value else _refused(start, _FUNCTIONS) or _refused(start, _OF_NOTEBOOK, anew=True)


def _shared(start: _Start) -> Case | None:
    return _refused(start, start.words["calls"]["shared-by-inheritance"], shared=True)


def _started(start: _Start) -> Case | None:
    """A start where importing a file gets to it: by itself, or by a call in another file of the project."""
    if not start.entry.get("starts"):
        return None
    callers = [] if not start.use["guarded"] else list(_importing(start))
    if start.use["guarded"] and not callers:
        return None
    method, seen = start.method()
    if method not in {"spawn", "forkserver"}:
        return None
    if not callers:
        return start.case(seen, start_method=str(method))
    first = callers[0]
    called: Seen = (f"source.{first['name']}", text_of(first, {}), place_of(first))
    evidence, names = start.case([called, *seen], start_method=str(method))
    return evidence, {**names, "file": first["file"], "line": str(first["line"] or ""), "call": text_of(first, {})}


def _importing(start: _Start) -> Iterator[Use]:
    """The calls of the function around a start that importing their file gets to."""
    name = start.use.get("within")
    for use in _calls([name] if name else (), start.snapshot):
        if not use["guarded"] and use["file"] != start.use["file"]:
            yield use


def _starters(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    """The functions that start workers, once they are known."""
    for use in _calls(entry["calls"], snapshot):
        if use["guarded"] and "." in use["within"]:
            yield use["within"]


def _handing_on(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    """The functions that pass a parameter of theirs on to workers, once they are known."""
    for use in _calls(entry["calls"], snapshot):
        for one in (*use["arguments"], *use["keywords"].values()):
            if "parameter" in one:
                yield one["parameter"]["of"]


def _lacks(start: _Start) -> Case | None:
    """A function for a worker that reads what only the program has set."""
    travelling = (*start.travelling(at_start=True), *start.travelling(at_start=False))
    run = [argument for argument, test in travelling if test.get("runs")]
    makers = (None, *start.words["calls"]["exchanging"])
    missing = [one for argument in run for one in argument.get("lacks", ()) if one.get("made_by") in makers]
    functions = {name for argument in run for name in argument["names"]}
    method, seen = start.method()
    anew = method in {"spawn", "forkserver"}
    found = [*(missing if anew else []), *(_state(start, functions, anew=anew) if method else ())]
    if not found:
        return None
    first = found[0]
    lines = {one["name"]: (f"source.{one['name']}", _lacking(one), place_of(one)) for one in found}
    more = {"object": " and ".join(lines), "given": run[0]["text"], "start_method": str(method)}
    return start.case([*lines.values(), *seen], **more, where=place_of(first))


def _lacking(one: Lack) -> str:
    """What is shown of something that a worker lacks."""
    return (
        f"{one['name']} is {'made here, in each worker anew' if 'made_by' in one else 'set here, which no worker runs'}"
    )


def _state(start: _Start, functions: set[str], *, anew: bool) -> Iterator[Lack]:
    """What the program sets of a module of elsewhere, and a function that a worker runs depends on."""
    run = functions | _initializers(start)
    for one in start.words["state"]:
        if not (anew or one.get("always")) or functions.isdisjoint(_within(_calls(one["read"], start.snapshot))):
            continue
        setting = [use for use in _calls(one["set"], start.snapshot) if _by_program(use, start)]
        within = _within(setting)
        if setting and run.isdisjoint(within | {name.rpartition(".")[2] for name in within}):
            yield {"name": setting[0]["name"], "file": setting[0]["file"], "line": setting[0]["line"] or 0}


def _within(uses: Iterable[Use]) -> set[str]:
    """The functions that the uses are in."""
    return {use["within"] for use in uses}


def _by_program(use: Use, start: _Start) -> bool:
    """Whether a call is made by the same program, and not where its file is imported."""
    return use["guarded"] and use["file"] == start.use["file"]


def _initializers(start: _Start) -> set[str]:
    """The last segments of the functions that a pool is given, which its workers run when they start."""
    maker = _maker_of(start.use) or {}
    given = [*maker.get("arguments", ()), *maker.get("keywords", {}).values()]
    return {name.lstrip("@").rpartition(".")[2] for one in given for name in one.get("names", ())}


def _calls(names: Iterable[str], snapshot: Snapshot) -> Iterator[Use]:
    for name in names:
        answer = snapshot.facts.ask(SOURCE, name)
        if not isinstance(answer, Unknown):
            yield from (use for use in answer.found if use["kind"] == "call")


_ABOUT = {
    "given-object": _object,
    "given-function": _function,
    "given-shared": _shared,
    "started-at-import": _started,
    "lacks": _lacks,
}
