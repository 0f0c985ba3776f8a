"""A diagnosis without a rule: what a text says, who its frames name, and what the environment has of both. Pure.

Derived findings have the status ``derived``, are warnings at most, and nobody has proven them. Those that only tell
where something happened are information.
"""

from __future__ import annotations

import re
from typing import Any

from envdoctor.engine.asks import ask
from envdoctor.engine.derived_case import MOST_SAID, VAGUE, Case, filled
from envdoctor.engine.derived_cures import remedies
from envdoctor.engine.installed_requirements import parse
from envdoctor.engine.metadata_conflicts import Requirements, required_by
from envdoctor.engine.suspects import parties
from envdoctor.engine.symptoms import short
from envdoctor.model import Evidence, Finding, Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from envdoctor.engine.asks import Ask
    from envdoctor.engine.families import Clue
    from envdoctor.engine.names import Names
    from envdoctor.engine.suspects import Parties
    from envdoctor.model import Snapshot

    Held = Mapping[str, Sequence[str]]

STATUS = "derived"
MOST_FINDINGS, _MOST_FRAMES, _MOST_LINKS = 2, 3, 2
_CONSTRUCTORS = frozenset({"__init__", "__new__"})
#: A word of more characters than this, with the mark before it, is of few distributions.
_DISTINCT = 6
_OFFERED = {
    "gone": "the installed release has no such name in this file",
    "there": "the installed release has it in this file",
    "submodule": "it is a separate module",
    "no-module": "the installed release has no such module",
}


def modules(clues: Sequence[Clue], error_text: Any) -> list[str]:
    """The dotted names of which it matters whose they are: of every frame, and what the messages name."""
    found = {frame.module: None for failure in error_text.failures for frame in failure.frames}
    for clue in clues:
        said = clue.groups
        path = said.get("path", "").replace("\\", "/").rpartition("-packages/")[2]
        exception = clue.failure.exception or "" if clue.failure is not None else ""
        named = [said.get("module"), said.get("distribution"), *re.findall(r"[A-Za-z_]\w*", path)]
        named += [name.rpartition(".")[0] for name in (said.get("owner", ""), said.get("object", ""), exception)]
        found.update(dict.fromkeys(named))
    return [name for name in found if name]


def endings(clues: Sequence[Clue]) -> dict[str, str]:
    """The ends of names that messages name without a module, by what they say: ``Class.name``, ``function:name``.

    Of a class that lacks no name, ``Class.``.
    """
    found = {}
    for clue in clues[:MOST_FINDINGS]:
        said = clue.groups
        owner, function, name = said.get("owner", ""), said.get("function", ""), said.get("name", "")
        if said.get("module") or "." in owner:
            continue
        if function in _CONSTRUCTORS and (made := _made(clue)):
            found[clue.said] = f"{made}.__init__:{name}"
        elif owner or (function and name):
            found[clue.said] = f"{owner}.{name}" if owner else f"{function}:{name}"
        elif "." in function:
            found[clue.said] = function.removesuffix("__init__")
    return found


def _made(clue: Clue) -> str:
    """The class that the failing line makes an object of; empty where none is seen."""
    frames = clue.failure.frames if clue.failure is not None else ()
    found = re.findall(r"\b([A-Z]\w+)\(", frames[-1].code or "") if frames else []
    return found[-1] if found else ""


def held(clues: Sequence[Clue], holders: Callable[[list[str]], Sequence[Held]]) -> dict[str, Held]:
    """The distributions that have or had what messages name without a module, by what they say.

    ``holders`` are those of the name with its class or function, or where it is not known whose the name is, those of
    the class; ``exact`` are the former alone; ``words`` those of the last part of the name in any class.
    """
    ends = endings(clues)
    last = {said: one[re.search(r"[.:]?\w*$", one).start() :] for said, one in ends.items()}  # type: ignore[union-attr]
    long = {said: word for said, word in last.items() if len(word) > _DISTINCT}
    exact, of_class = holders([*{*ends.values(), *long.values()}])
    by_said = {"exact": (ends, exact), "holders": (ends, {**exact, **of_class}), "words": (long, {**exact, **of_class})}
    return {kind: {said: found.get(one, ()) for said, one in some.items()} for kind, (some, found) in by_said.items()}


def questions(clues: Sequence[Clue], names: Names, snapshot: Snapshot, seen: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What is to be looked for in files, by kind: see ``probes.providers.answers``; ``seen`` has ``holders``."""
    asked: dict[str, dict[Any, None]] = {"offers": {}, "imports": {}, "classes": {}, "askers": {}, "trackers": {}}
    for clue in clues[:MOST_FINDINGS]:
        for kind, question in _asked(clue, names, snapshot, seen):
            asked[kind][question] = None
    return {kind: list(found) for kind, found in asked.items()}


def _asked(clue: Clue, names: Names, snapshot: Snapshot, seen: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    who, said = parties(clue, names, seen), clue.groups
    module, name = said.get("module", ""), said.get("name", "")
    if who.provider and module:
        yield "offers", (who.provider, module, name)
    if who.provider and name and not who.seen:
        yield "askers", (module, name, tuple(_requiring(who.provider, snapshot)))
    for party in (who.consumer, who.provider):
        if party:
            yield "trackers", party
    for place in who.seen[:1]:
        if place.distribution and who.provider in {None, place.distribution}:
            yield "imports", (place.distribution, place.module)
    if who.consumer and {"owner", "function"} & said.keys():
        yield from _asked_of_types(who, said, snapshot)


def _asked_of_types(who: Parties, said: Mapping[str, str], snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    """Where the class or function comes from that a message names without its module."""
    around = [place for place in who.seen if place.distribution]
    required = _required_by(who.consumer or "", snapshot)
    for place in around[:1]:
        yield "imports", (place.distribution, place.module)
    owner = said.get("owner", "").rpartition(".")[2]
    if owner:
        yield "classes", (owner, tuple(dict.fromkeys([*(place.distribution for place in around), *required])))
    if not who.provider:
        yield from (("trackers", name) for name in required)


def _required_by(name: str, snapshot: Snapshot) -> list[str]:
    lines = required_by(snapshot.packages[name], snapshot) if name in snapshot.packages else ()
    return [one[0] for one in map(parse, lines) if one and one[0] in snapshot.packages]


def _requiring(name: str, snapshot: Snapshot) -> list[str]:
    return [other for other in snapshot.packages if name in _required_by(other, snapshot)]


def asks(clues: Sequence[Clue], names: Names, snapshot: Snapshot, seen: Mapping[str, Any]) -> dict[str, Ask]:
    """What releases are to be asked, by what the message says, for each finding that :func:`derive` would give."""
    found = {case.clue.said: ask(case) for case in _cases(clues, names, snapshot, seen)}
    return {said: one for said, one in found.items() if one is not None}


def derive(clues: Sequence[Clue], names: Names, snapshot: Snapshot, seen: Mapping[str, Any]) -> list[Finding]:
    """The findings that follow from the most telling clues of a text, each about other distributions than the first.

    ``seen`` is what was found in files: ``offers`` by (module, name), ``imports`` by module, ``classes`` by name,
    ``askers`` by (module, name), ``trackers`` by distribution, ``history`` by (module, name), and ``edges`` by what
    the message says; what was not found is not in it.
    """
    return [_finding(case, seen.get("trackers", {})) for case in _cases(clues, names, snapshot, seen)]


def _cases(clues: Sequence[Clue], names: Names, snapshot: Snapshot, seen: Mapping[str, Any]) -> list[Case]:
    found: list[Case] = []
    requirements = Requirements(snapshot)
    for clue in clues:
        case = Case(clue, names, snapshot, seen, requirements)
        if case.tells() and not any({*case.packages()} <= {*one.packages()} for one in found):
            found.append(case)
        if len(found) == MOST_FINDINGS:
            break
    return found


def _finding(case: Case, trackers: Mapping[str, str]) -> Finding:
    words, fields, left = case.words, case.fields(), case.who.left
    why = filled(words.why, fields)
    history = [one.said() for one in (case.life, case.asking) if one]
    why += f" {'; '.join(history)}." if history else ""
    if left:
        why += f" Of what is installed besides, only {' and '.join(map(case.release, left))} can be the other side."
    links = [_search(case, trackers[name]) for name in case.packages() if name in trackers]
    if case.who.alike:
        why += f" An import name of what is named here is that of {' and '.join(case.who.alike)} as well."
    return Finding(
        rule=words.rule,
        severity="info" if words.rule in VAGUE else "warning",
        impact=words.impact,
        title=filled(words.title, fields),
        why=why,
        packages=case.packages(),
        facts=_facts(case),
        evidence=list(_evidence(case)),
        remedies=remedies(case),
        references=links[:_MOST_LINKS],
        status=STATUS,
        consumer=case.who.consumer,
        matched=[short(case.clue.said, MOST_SAID)],
    )


def _facts(case: Case) -> list[str]:
    who = case.who
    shown = {"python": who.python, "source": who.own is not None, "artifact": who.loading}
    return list(dict.fromkeys([*case.words.facts, *(fact for fact, there in shown.items() if there)]))


def _evidence(case: Case) -> Iterator[Evidence]:
    """The message, the innermost frame of each party, their releases, what files say, and what metadata asks for."""
    snapshot = case.snapshot
    yield Evidence(fact="text", value=short(case.clue.said, MOST_SAID), source="the text")
    yield from _frames(case)
    yield from _releases(case)
    if case.offer and case.offer[0] in _OFFERED:
        verdict, file = case.offer
        yield Evidence(fact=f"offers.{case.said['module']}", value=_OFFERED[verdict], source=Location(file))
    for history in (case.life, case.asking):
        if history:
            yield Evidence(
                fact=f"history.{history.distribution}", value=history.said(), source="its releases, as they were read"
            )
    for owner, line, required in case.unmet():
        there = case.release(required) if required in snapshot.packages else "not installed"
        value = f"{case.release(owner.name)} → {line.partition(';')[0].strip()} (there is: {there})"
        yield Evidence(fact=f"requirements.{owner.name}", value=value, source=snapshot.says(owner))


def _releases(case: Case) -> Iterator[Evidence]:
    """Which release of each party is installed, and which Python."""
    snapshot = case.snapshot
    for name in case.packages():
        have = snapshot.packages.get(name)
        if have is not None:
            yield Evidence(fact=f"packages.{name}", value=have.version or "unknown", source=snapshot.says(have))
        elif snapshot.complete and snapshot.packages:
            yield Evidence(fact=f"packages.{name}", value="not installed", source=snapshot.source)
    if case.python and "python" in _facts(case):
        yield Evidence(fact="python", value=case.python, source=snapshot.source)


def _frames(case: Case) -> Iterator[Evidence]:
    innermost: dict[str, Any] = {}
    for place in case.who.seen:
        if not place.standard:
            innermost.setdefault(place.distribution or "own", place.frame)
    for owner, frame in list(innermost.items())[:_MOST_FRAMES]:
        line = f", line {frame.line}" if frame.line else ""
        code = f": {short(frame.code, MOST_SAID)}" if frame.code else ""
        yield Evidence(fact=f"frames.{owner}", value=f"{frame.file}{line}{code}", source="the text")


def _search(case: Case, tracker: str) -> str:
    """The address of a tracker, asked for the exception and the names in the message; nothing else of the text."""
    said, failure = case.said, case.clue.failure
    exception = (failure.exception or "") if failure is not None else ""
    words = [exception, *(said.get(key, "") for key in ("module", "owner", "function", "name", "symbol"))]
    last = [word.rpartition(".")[2] for word in words]
    query = "+".join(dict.fromkeys(word for word in last if re.fullmatch(r"[A-Za-z_]\w{2,60}", word)))
    return f"{tracker}?q={query}" if query and tracker.endswith("/issues") else tracker
