"""What the workers that a project's source starts are given, and what they lack, in whatever way they are started.

The vocabulary says which calls start workers or send them tasks, and which argument of a call is sent. A start
method decides whether that is pickled: what the call is given, else the library's own, else what the program sets, else
the default of the interpreter. Pure.
"""

from __future__ import annotations

from typing import Any

from envdoctor.engine.argument_tests import argument_of, matches_any
from envdoctor.engine.project_operators import answers, made_at, place_of, text_of
from envdoctor.engine.start_method import asked as asked_of_start_method
from envdoctor.engine.worker_start import Start, calls_of, library_of, maker_of, object_name, of_maker
from envdoctor.facts import SOURCE
from envdoctor.file_keys import BESIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envdoctor.engine.evaluate import Condition, Verdict
    from envdoctor.engine.trace import Trace
    from envdoctor.engine.worker_start import Case, Entry, Seen
    from envdoctor.facts import Kind
    from envdoctor.found import Argument, Lack, Use
    from envdoctor.model import Snapshot

_FUNCTIONS = ("lambda", "local-function", "local-class")
_EXCEPTION = "an exception whose class takes more than it passes on to its base, so that it cannot be made again"
#: The start methods that start workers anew.
_ANEW = frozenset(("spawn", "forkserver"))
#: Refused only by what starts anew.
_OF_NOTEBOOK = ("notebook-definition",)


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
                judged = _ABOUT[about](Start(use, entry, words, snapshot)) if _takes_part(use, entry) else None
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
        yield from asked_of_start_method(snapshot, *library_of(entry, words))
        if about == "started-at-import" and entry.get("starts"):
            yield from ((SOURCE, name) for name in _starters(entry, snapshot))
        elif about != "started-at-import":
            yield from ((SOURCE, name) for name in _passing_on(entry, snapshot))
    if about == "lacks":
        yield from ((SOURCE, name) for name in _of_state(entries, words, snapshot))


def _of_state(entries: Iterable[Entry], words: Any, snapshot: Snapshot) -> Iterator[str]:
    """What sets the states of processes that workers of the project may lack; where a program does, what reads one."""
    found = [Start(use, one, words, snapshot) for one in entries for use in _calls(one, snapshot)]
    methods = [(start.method()[0], start) for start in found]
    for one in words["state"]:
        starts = [start for method, start in methods if method in _ANEW or (method and one.get("always"))]
        yield from dict.fromkeys(name for start in starts for name in _setters(one["set"], start))
        if _is_set(one["set"], starts):
            yield from one["read"]


def _setters(setters: Sequence[str], start: Start) -> Iterator[str]:
    """The keys of what sets a state, in the files alone in which workers are started as by this start."""
    return (f"{name}{BESIDE}{glob}" for name in setters for glob in start.globs)


def _is_set(setters: Sequence[str], starts: Iterable[Start]) -> bool:
    """Whether what starts workers, or the program that does, calls one of the functions that set a state."""
    return any(_initializers(start.use) & set(setters) or any(_by_program(start, setters)) for start in starts)


def _calls(entry: Entry, snapshot: Snapshot) -> Iterator[Use]:
    """The calls that start workers, as far as they are known."""
    return (use for use in calls_of(entry["calls"], snapshot) if _takes_part(use, entry))


def _takes_part(use: Use, entry: Entry) -> bool:
    """Whether a use is a call that starts workers, as far as an argument decides."""
    if use["kind"] != "call":
        return False
    for test in entry.get("when", ()):
        argument = of_maker(use, test) if "on" in test else argument_of(use, test)
        if argument is None and "absent" not in test:
            return False
        if argument is not None and not _passes(argument, test):
            return False
    return True


def _passes(argument: Argument, test: Mapping[str, Any]) -> bool:
    if "made-by" in test:
        return any(matches_any(name, test["made-by"]) for name in argument["made_by"])
    if "names" in test:
        return any(matches_any(name, test["names"]) for name in argument["names"])
    return "value" not in argument or argument["value"] not in test["differs"]


def _refused(start: Start, names: Iterable[str], *, shared: bool = False, anew: bool = False) -> Case | None:
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
        if not by_method or method in _ANEW:
            evidence, words = start.held(parts[0], start_method=method or "every start method")
            return [*evidence, *seen], words
    return None


def _object(start: Start) -> Case | None:
    words = start.words["calls"]
    return _refused(start, words["unpicklable" if start.by_value else "bound-to-process"]) or _result(start)


def _result(start: Start) -> Case | None:
    """The first thing that a function gives back which runs in a worker, and that no pickle takes."""
    for argument, test in start.travelling(at_start=False):
        for one in argument.get("results", ()) if test.get("runs") else ():
            always = one["name"] in {"generator", "exception", *start.words["calls"]["unpicklable"]}
            if always or (not start.by_value and one["name"] in {"lambda", *start.words["calls"]["bound-to-process"]}):
                what = _EXCEPTION if one["name"] == "exception" else object_name(one["name"])
                seen: Seen = (f"source.{one['name']}", f"its result is {what}", made_at(one, start.use))
                words = {"given": f"{what} as a result", "object": f"a function whose result is {what}"}
                return start.case([seen], **words, start_method="every start method")
    return None


def _function(start: Start) -> Case | None:
    return None if start.by_value else _refused(start, _FUNCTIONS) or _refused(start, _OF_NOTEBOOK, anew=True)


def _shared(start: Start) -> Case | None:
    return _refused(start, start.words["calls"]["shared-by-inheritance"], shared=True)


def _started(start: Start) -> Case | None:
    """A start where importing a file gets to it: by itself, or by a call in another file of the project."""
    if not start.entry.get("starts"):
        return None
    callers = [] if not start.use["guarded"] else list(_importing(start))
    if start.use["guarded"] and not callers:
        return None
    method, seen = start.method()
    if method not in _ANEW:
        return None
    if not callers:
        return start.case(seen, start_method=str(method))
    first = callers[0]
    called: Seen = (f"source.{first['name']}", text_of(first, {}), place_of(first))
    evidence, names = start.case([called, *seen], start_method=str(method))
    return evidence, {**names, "file": first["file"], "line": str(first["line"] or ""), "call": text_of(first, {})}


def _importing(start: Start) -> Iterator[Use]:
    """The calls of the function around a start that importing their file gets to."""
    name = start.use.get("within")
    for use in calls_of([name] if name else (), start.snapshot):
        if not use["guarded"] and use["file"] != start.use["file"]:
            yield use


def _starters(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    """The functions that start workers, once they are known."""
    for use in calls_of(entry["calls"], snapshot):
        if use["guarded"] and "." in use["within"]:
            yield use["within"]


def _passing_on(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    """The functions that pass a parameter of theirs on to workers, once they are known."""
    for use in calls_of(entry["calls"], snapshot):
        for one in (*use["arguments"], *use["keywords"].values()):
            if "parameter" in one:
                yield one["parameter"]["of"]


def _lacks(start: Start) -> Case | None:
    """A function for a worker that reads what only the program has set."""
    travelling = (*start.travelling(at_start=True), *start.travelling(at_start=False))
    run = [argument for argument, test in travelling if test.get("runs")]
    functions = {name for argument in run for name in (*argument["names"], *argument.get("runs", ()))}
    method, seen = start.method()
    anew = method in _ANEW
    found = [one for one in _set_by_program(start, run) if anew or "lost" in one]
    found += _state(start, functions, anew=anew) if method else ()
    if not found:
        return None
    first = found[0]
    lines = {one["name"]: (f"source.{one['name']}", _lacking(one), place_of(one)) for one in found}
    more = {"object": " and ".join(lines), "given": run[0]["text"], "start_method": str(method)}
    return start.case([*lines.values(), *seen], **more, where=place_of(first))


def _set_by_program(start: Start, run: Iterable[Argument]) -> Iterator[Lack]:
    """What the functions that workers run read, and only the program sets: no initializer of the workers does."""
    makers = (None, *start.words["calls"]["exchanging"])
    inits = {name.rpartition(".")[2] for name in _initializers(start.use)}
    for one in (lack for argument in run for lack in argument.get("lacks", ())):
        travels = start.by_value and "." not in one["name"]  # what is the program's own is pickled by value
        if not travels and one.get("made_by") in makers and one.get("by") not in inits:
            yield one


def _lacking(one: Lack) -> str:
    """What is shown of something that a worker lacks."""
    if "lost" in one:
        return f"{one['name']} is changed here, in the worker's own copy: the program's stays as it was"
    if "copied" in one:
        return f"{one['name']} is a method of an object: each worker is given a copy of that, and calls its method"
    return (
        f"{one['name']} is {'made here, in each worker anew' if 'made_by' in one else 'set here, which no worker runs'}"
    )


def _state(start: Start, functions: set[str], *, anew: bool) -> Iterator[Lack]:
    """What the program sets of a module of elsewhere, and a function that a worker runs depends on."""
    inits = _initializers(start.use)
    run = functions | {name.rpartition(".")[2] for name in inits}
    for one in start.words["state"]:
        reading = _within(calls_of(one["read"], start.snapshot))
        if not (anew or one.get("always")) or not any(_is_of(name, functions) for name in reading):
            continue
        by_init = inits & set(one["set"])
        if not by_init:
            yield from _set_elsewhere(start, one["set"], run)
        elif one.get("method-of-object") and anew:
            yield {"name": min(by_init), "file": start.use["file"], "line": start.use["line"], "copied": True}


def _set_elsewhere(start: Start, setters: Sequence[str], run: set[str]) -> Iterator[Lack]:
    """The first call by which the program sets a state, where none is in a function that workers run."""
    setting = list(_by_program(start, setters))
    within = _within(setting)
    if setting and run.isdisjoint(within | {name.rpartition(".")[2] for name in within}):
        yield {"name": setting[0]["name"], "file": setting[0]["file"], "line": setting[0]["line"] or 0}


def _is_of(name: str, functions: set[str]) -> bool:
    """Whether a name is that of a function, or of a method of a class, among some."""
    return name in functions or name.rpartition(".")[0] in functions


def _within(uses: Iterable[Use]) -> set[str]:
    """The functions that the uses are in."""
    return {use["within"] for use in uses}


def _by_program(start: Start, setters: Sequence[str]) -> Iterator[Use]:
    """The calls of setters that the program makes which starts workers, and not where its file is imported."""
    for use in calls_of(_setters(setters, start), start.snapshot):
        if use["guarded"] and use["file"] == start.use["file"]:
            yield use


def _initializers(use: Use) -> set[str]:
    """The functions that a pool is given, which its workers run when they start."""
    maker = maker_of(use) or {}
    given = [*maker.get("arguments", ()), *maker.get("keywords", {}).values()]
    return {name.lstrip("@") for one in given for name in one.get("names", ())}


_ABOUT = {
    "given-object": _object,
    "given-function": _function,
    "given-shared": _shared,
    "started-at-import": _started,
    "lacks": _lacks,
}
