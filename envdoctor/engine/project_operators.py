"""Operators over facts of a project's files and artefacts. Pure; imported when the first rule asks for one.

Where nothing that was found will do, a gap in an answer leaves the condition undecided.
"""

from __future__ import annotations

from typing import Any

from envdoctor.engine.argument_tests import argument_of, equal, matched, matches_any, may_be_shown, passes, travels
from envdoctor.engine.trace import LESS
from envdoctor.engine.versions import within
from envdoctor.facts import ARTIFACT, CONFIG, MODULE, SHADOWS, SOURCE
from envdoctor.file_keys import IMPORTED, source_key
from envdoctor.model import Location, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from envdoctor.engine.evaluate import Condition, Verdict
    from envdoctor.engine.trace import Trace
    from envdoctor.facts import Answer, Kind
    from envdoctor.found import Artifact, Carried, Use
    from envdoctor.model import Snapshot

    K = TypeVar("K")
    V = TypeVar("V")
    #: Whether an artefact passes a test, what is said of that, and the names that it gives to texts.
    Seen = tuple[Verdict, str, Mapping[str, str]]

#: The most places that a finding names.
MOST_PLACES = 5


def answers(kind: Kind[K, Answer[V]], key: K, snapshot: Snapshot, trace: Trace) -> tuple[Sequence[V], bool]:
    """The answers that were found, and whether these are all; what is not known is noted in the trace."""
    answer = snapshot.facts.ask(kind, key)
    if isinstance(answer, Unknown):
        if answer.asked:
            trace.missed(kind.name, answer.reason)
        return [], False
    for reason in answer.gaps:
        trace.missed(kind.name, reason)
    return answer.found, not answer.gaps


def place_of(found: Mapping[str, object]) -> Location:
    """The file and line of something that was found; of a notebook its cell and the line there."""
    line, cell = found.get("row", found.get("line")), found.get("cell")
    return Location(
        str(found["file"]), line if isinstance(line, int) else None, cell if isinstance(cell, int) else None
    )


def made_at(one: Carried, use: Use) -> Location:
    """Where something that a call is given was made; where that is not known, the call."""
    known = one.get("line") or one.get("row")
    return Location(one.get("file") or use["file"], known, one.get("cell")) if known else place_of(use)


# --- configuration --------------------------------------------------------------------------------------------------


def config(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether some entry of the project's configuration passes a test."""
    _, file, key, test, wanted = condition
    found, whole = answers(CONFIG, (file, key), snapshot, trace)
    shown = 0
    for entry in found:
        value = _TESTS[test](entry["value"], wanted)
        if value is None:
            continue
        shown += 1
        if shown == 1:
            trace.say(file=entry["file"], line=str(entry.get("line") or ""), key=entry["key"])
            trace.entries[file, key] = entry
        if shown <= MOST_PLACES:
            trace.saw(f"config.{entry['key']}", value, place_of(entry))
    return True if shown else False if whole else None


def _entered(value: Any, wanted: Any) -> str | None:
    """As ``equal``; true and false are also written as texts, which some formats have alone, and as numbers."""
    if isinstance(wanted, bool) and not isinstance(value, bool):
        value = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower(), value)
    return equal(value, wanted)


_TESTS: dict[str, Callable[[Any, Any], str | None]] = {
    "equals": _entered,
    "matches": matched,
    "is": lambda *_: "set",
}


# --- source ---------------------------------------------------------------------------------------------------------

_FITTING = {"import": {"import"}, "call": {"call"}, "name": {"import", "name", "call"}}
#: What the text of a use has in place of a literal.
_GAP = "'...'"
_USED = {"import": "imports", "call": "calls", "name": "uses"}


def source(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether the project's source uses one of some names, in a way that passes the tests."""
    uses, undecided, whole = _uses(condition, snapshot, trace)
    if uses:
        _tell_uses(uses, condition[3], trace)
        return True
    if undecided is not None:
        trace.missed("source", f"{place_of(undecided)} does not tell what is given to {undecided['name']}")
    return False if whole and undecided is None else None


def _uses(condition: Condition, snapshot: Snapshot, trace: Trace) -> tuple[Sequence[Use], Use | None, bool]:
    """The uses that pass, one for each place; the first of which that is not known; and whether all were found."""
    _, kind, names, _ = condition
    uses: dict[tuple[str, str], Use] = {}
    undecided: Use | None = None
    whole = True
    for name in names:
        found, complete = answers(SOURCE, source_key(kind, name), snapshot, trace)
        whole = whole and complete
        for use in found:
            verdict = _passes(use, condition, snapshot)
            if verdict:
                uses.setdefault((place_of(use), use["name"] if kind == "call" else ""), use)
            elif verdict is None:
                undecided = undecided or use
    return list(uses.values()), undecided, whole


def _passes(use: Use, condition: Condition, snapshot: Snapshot) -> bool | None:
    """Whether a use is what a condition asks for."""
    _, kind, _, tests = condition
    verdict = use["kind"] in _FITTING[kind] and not use.get("own") and _runs_on(use, snapshot) and passes(use, tests)
    if verdict is not False and tests.get("unguarded") and _is_imported_late(use["file"], snapshot):
        return False
    return verdict


def _runs_on(use: Use, snapshot: Snapshot) -> bool:
    """Whether the code asks for no other system than the target's."""
    system = snapshot.platform.get("system")
    return system is None or all((name == system) is same for name, same in use.get("systems", ()))


def _is_imported_late(file: str, snapshot: Snapshot) -> bool:
    """Whether the project imports a file, and nowhere so that importing the importer does."""
    answer = snapshot.facts.ask(SOURCE, imports_of(file))
    found = () if isinstance(answer, Unknown) else answer.found
    imports = [one for one in found if one["kind"] == "import" and one["file"] != file]
    return bool(imports) and all(one["guarded"] for one in imports)


def _tell_uses(uses: Sequence[Use], tests: Mapping[str, Any], trace: Trace) -> None:
    first = uses[0]
    trace.say(file=first["file"], line=str(first["line"] or ""), call=text_of(first, tests), name=first["name"])
    for use in uses[:MOST_PLACES]:
        _say_carried(use, tests, trace)
        trace.saw(f"source.{use['name']}", text_of(use, tests) or f"{_USED[use['kind']]} {use['name']}", place_of(use))
    if len(uses) > MOST_PLACES:
        trace.saw("source.more", f"and {len(uses) - MOST_PLACES} more places", "the project")


def text_of(use: Use, tests: Mapping[str, Any]) -> str:
    """The text of a use, with those literals only that the rule itself names."""
    pieces = str(use.get("text", "")).split(_GAP)
    literals = [*use.get("literals", ()), *[None] * len(pieces)]
    shown = [repr(one) if may_be_shown(one, tests) else _GAP for one in literals[: len(pieces) - 1]]
    return "".join(part for pair in zip(pieces, [*shown, ""]) for part in pair)


def _say_carried(use: Use, tests: Mapping[str, Any], trace: Trace) -> None:
    """Show what an argument carries, and where that was made."""
    for test in tests.get("arguments", ()):
        argument = argument_of(use, test) if "carries" in test else None
        carried = argument["carries"] if argument else ()
        held = [one for one in carried if travels(one, test) and matches_any(one["name"], test["carries"])]
        for one in held[:1]:
            said = f"{one['via']} holds what {one['name']} made" if one.get("via") else f"made by {one['name']}"
            trace.saw(f"source.{one['name']}", said, made_at(one, use))


# --- artefacts and shadows: a finding for each file -----------------------------------------------------------------


def artifact(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether some artefact passes the tests; every one that does makes a finding."""
    test = condition[1]
    found, whole = answers(ARTIFACT, "", snapshot, trace)
    hit = False
    for one in found:
        seen = list(_artifact_seen(one, test, snapshot))
        verdicts = [verdict for verdict, _, _ in seen]
        if False in verdicts:
            continue
        if None in verdicts:
            trace.missed("artifact", f"{one['file']} does not tell {next(said for ok, said, _ in seen if ok is None)}")
            whole = False
            continue
        hit = True
        _tell_artifact(one, seen, trace)
    return True if hit else False if whole else None


def _tell_artifact(one: Artifact, seen: Sequence[Seen], trace: Trace) -> None:
    said = "; ".join(said for _, said, _ in seen if said) or one["kind"]
    more = next((names for _, _, names in seen if names), {})
    trace.split([("artifact." + one["kind"], said, place_of(one))], _artifact_names(one, more))


def _artifact_names(one: Artifact, more: Mapping[str, str]) -> dict[str, str]:
    names = {"file": one["file"], "artifact": one["kind"], "functions": replacement(one.get("functions") or {}), **more}
    writer = one.get("written_by") or {}
    names["writer"] = ", ".join(
        [
            *([f"Python {writer['python']}"] if writer.get("python") else []),
            *map(" ".join, (writer.get("packages") or {}).items()),
        ]
    )
    return names


def replacement(functions: Mapping[str, Any]) -> str:
    """The dictionary to write in place of the functions in a file: numbers where the file has them.

    A number is saved as a number again, where a function would be saved as bytecode.
    """
    entries = [
        f'"{key}": {"..." if constant is None else repr(constant)}' for key, constant in sorted(functions.items())
    ]
    return "{" + ", ".join(entries) + "}"


def _artifact_seen(one: Artifact, test: Mapping[str, Any], snapshot: Snapshot) -> Iterator[Seen]:
    """For each test, whether the artefact passes it, and the evidence."""
    if "kind" in test:
        yield one["kind"] in test["kind"], "", {}
    if "names" in test:
        yield _referred(one, test["names"])
    if "protocol" in test:
        protocol = one.get("protocol")
        verdict = None if protocol is None else within(str(protocol), *test["protocol"])
        yield verdict, f"pickle protocol {protocol}" if verdict else "its protocol", {}
    writer = one.get("written_by") or {}
    if "python" in test:
        yield _written(writer.get("python"), test["python"], "Python")
    for name, *bounds in test.get("packages", ()):
        yield _written((writer.get("packages") or {}).get(name), bounds, name)
    if "code" in test:
        yield _code(one, test, snapshot)


def _referred(one: Artifact, globs: Sequence[str]) -> Seen:
    name = next((name for name in one["names"] if matches_any(name, globs)), None)
    return (False, "", {}) if name is None else (True, f"refers to {name}", {"name": name})


def _written(version: str | None, bounds: Sequence[Any], name: str) -> Seen:
    if version is None:
        return None, f"which {name} wrote it", {}
    return within(version, *bounds), f"written by {name} {version}", {}


def _code(one: Artifact, test: Mapping[str, Any], snapshot: Snapshot) -> Seen:
    """Whether it holds functions as bytecode, and where ``foreign`` is wanted, that of another Python."""
    version = snapshot.python.get("version")
    verdict: Verdict = False
    for where, python in _held(one, test.get("where")):
        said = f"{where} a function in the bytecode of Python {python or 'unknown'}"
        if test["code"] == "any":
            return True, said, {"python": python}
        own = within(version, python) if version and python else None
        if own is False:
            return True, f"{said}, this is {version}", {"python": python}
        verdict = None if own is None else verdict
    return verdict, "which Python its functions are for" if verdict is None else "", {}


def _held(one: Artifact, places: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """Where bytecode is held, at some places or any, and the Python that it is for, empty where that is not known."""
    for held in one.get("code") or ():
        where = held.get("where")
        if places is None or (f"!{where}" not in places if places[0][:1] == "!" else where in places):
            yield f"{where} is" if where else "it holds", held["python"] or ""


def shadowed(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether files of the project hide modules; each makes a finding, a lesser one where no name is known to lack."""
    answered, whole = answers(SHADOWS, condition[1], snapshot, trace)
    found = [one for one in answered if not one.get("varies") or _is_a_file(one["module"], snapshot)]
    for one in found:
        name, lacks = one["module"], one.get("lacks")
        said = f"{one['file']} of the project" + (f", without {', '.join(lacks[:3])}" if lacks else "")
        names = {"module": name, "file": one["file"], **({} if lacks else {LESS: "nothing is known to be missed"})}
        trace.split([(f"module.{name}", said, Location(one["file"]))], names)
    return True if found else False if whole else None


def _is_a_file(module: str, snapshot: Snapshot) -> bool:
    """Whether the interpreter imports a module of its library from a file."""
    known = snapshot.facts.ask(MODULE, module)
    return isinstance(known, dict) and known["kind"] == "standard-library" and bool(known.get("origin"))


def imports_of(file: str) -> str:
    """The key of :data:`~envdoctor.facts.SOURCE` that imports of a file of the project answer."""
    stem = file.removesuffix(".py").removesuffix("/__init__")
    return f"{IMPORTED}**.{stem.rpartition('/')[2]}"
