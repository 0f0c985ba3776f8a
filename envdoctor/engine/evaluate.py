"""Evaluates compiled conditions against a snapshot, three-valued: true, false, or unknown (``None``).

A compiled condition is a list: the name of an operator and its arguments, as ``rulebase.compile`` writes it. Nothing
here knows a rule, a package or YAML.
"""

from __future__ import annotations

from envdoctor.engine import markers, metadata_conflicts
from envdoctor.engine.trace import Match, Trace, evidence_of
from envdoctor.engine.versions import covers, within
from envdoctor.facts import LOCAL_MODULE, MODULE, OF_PROJECT, PROCESS, PROJECT, SOURCE
from envdoctor.facts import OPERATORS as _ROWS
from envdoctor.model import Evidence, Location, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Optional

    from envdoctor.engine.versions import Interval
    from envdoctor.facts import Kind
    from envdoctor.model import Distribution, Snapshot

    Verdict = Optional[bool]
    Condition = list[Any]
    Operator = Callable[[Condition, "Snapshot", "Trace"], Verdict]


#: The characters of a value that a rule's expression may see at most: a search cannot be stopped.
LONGEST_VALUE = 4_000
#: A specifier of Pythons that is longer is not one that anybody wrote.
_LONGEST_SPECIFIER = 200


def matches(
    compiled: Mapping[str, Any],
    snapshot: Snapshot,
    trace: Trace | None = None,
    requirements: metadata_conflicts.Requirements | None = None,
) -> list[Match]:
    """Every way in which a compiled rule holds in a snapshot, empty where it does not.

    A rule without consumers has at most one match, one with them a match for each that is installed in its bad range.
    ``trace`` collects what was unknown where the rule could not be decided; ``requirements`` are those of the snapshot,
    read once for all rules.
    """
    trace, own = trace or Trace(), Trace()
    verdict = holds(compiled["when"], snapshot, own)
    if verdict is None:
        trace.unknown += own.unknown
    if not verdict:
        return []
    if "installed" in compiled:
        return [
            Match(evidence=[*own.evidence(), *evidence], consumer=name, names=names)
            for name, evidence, names in metadata_conflicts.defects(compiled["installed"], snapshot, requirements)
        ]
    if "consumers" in compiled:
        return _consumer_matches(compiled, snapshot, own, trace)
    if own.cases:
        return [
            Match(evidence=evidence_of([*own.seen, *seen]), names={**own.names, **names}) for seen, names in own.cases
        ]
    return [Match(evidence=own.evidence() or [_always(snapshot)], names=own.names)]


def _always(snapshot: Snapshot) -> Evidence:
    return Evidence(fact="python", value=str(snapshot.python.get("version")), source=snapshot.source)


def _consumer_matches(compiled: Mapping[str, Any], snapshot: Snapshot, cause: Trace, trace: Trace) -> list[Match]:
    found = []
    for name, consumer in compiled["consumers"].items():
        if name not in snapshot.packages:
            continue
        own = Trace()
        verdict = holds(["packages", [name], consumer["bad"], consumer["intervals"]], snapshot, own)
        if verdict:
            names = {**cause.names, "consumer": name, "works": consumer["works"] or "", "module": consumer["module"]}
            found.append(Match(evidence=[*own.evidence(), *cause.evidence()], consumer=name, names=names))
        elif verdict is None:
            trace.unknown += own.unknown
    return found


def holds(condition: Condition, snapshot: Snapshot, trace: Trace) -> bool | None:
    """Evaluate one compiled condition."""
    return _OPERATORS[condition[0]](condition, snapshot, trace)


def every(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """All of some conditions."""
    verdict: Verdict = True
    for part in condition[1:]:
        one = _OPERATORS[part[0]](part, snapshot, trace)
        if one is False:
            return False
        if one is None:
            verdict = None
    return verdict


def some(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """One of some conditions; of those about source, each is evidence; of those about files each finding counts."""
    verdict: Verdict = False
    for part in condition[1:]:
        own = Trace()
        one = _OPERATORS[part[0]](part, snapshot, own)
        if one and own.cases and trace.cases:
            trace.add_cases(own)
        elif verdict:
            trace.seen += [seen for seen in own.seen if one and seen not in trace.seen]
        elif one:
            trace.add(own)
            verdict = True
            if not own.cases and not any(fact.startswith(SOURCE.name + ".") for fact, _, _ in own.seen):
                return True
        elif one is None:
            trace.unknown += own.unknown
            verdict = None
    return verdict


def negated(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """The opposite of a condition."""
    own = Trace()
    one = holds(condition[1], snapshot, own)
    if one is None:
        trace.unknown += own.unknown
        return None
    return not one


def python(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether the version of Python is in a range."""
    version = snapshot.python.get("version")
    specifier, admitted = condition[1:]
    if not version:
        return _any_python(specifier, admitted, snapshot, trace)
    version = version.rstrip("+")  # Debian and others mark a build from between two releases
    verdict = within(version, specifier, admitted)
    if version.count(".") == 1 and within(version + ".999", specifier, admitted) is not verdict:
        trace.missed("python.version", f"{version} does not say which patch release")
        return None
    if verdict:
        trace.saw("python", version, snapshot.python.get("executable") or snapshot.source)
    return verdict


def _any_python(specifier: str, admitted: list[Interval] | None, snapshot: Snapshot, trace: Trace) -> bool | None:
    """Whether all, or none, of the Pythons that a lock file was made for are in a range."""
    made_for = snapshot.target.get("requires_python")
    verdict = None
    if isinstance(made_for, str) and made_for and len(made_for) <= _LONGEST_SPECIFIER:
        verdict = covers(made_for, specifier, admitted)
    if verdict is None:
        trace.missed("python.version", "the target does not say which Python it is for")
    elif verdict:
        trace.saw("python", made_for, snapshot.source)
    return verdict


def trait(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether Python is of an implementation, free-threaded or a debug build."""
    name, wanted = condition[1:]
    value = snapshot.python.get(name)
    if value is None:
        trace.missed("python." + name, "the target does not say")
        return None
    if value == wanted:
        trace.saw("python." + name, value, snapshot.python.get("executable") or snapshot.source)
    return bool(value == wanted)


def _members(names: list[str], snapshot: Snapshot) -> list[Distribution]:
    return [snapshot.packages[name] for name in names if name in snapshot.packages]


def packages(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether one of some distributions is there in a range of versions."""
    _, names, specifier, admitted = condition
    members = _members(names, snapshot)
    if not members:
        return _absence(names[0], snapshot, trace, verdict=False)
    verdict: Verdict = False
    for member in members:
        one = None if member.version is None else within(member.version, specifier, admitted)
        if one:
            trace.saw("packages." + member.name, member.version, snapshot.says(member))
            return True
        if one is None:
            trace.missed("packages." + member.name, _no_version(member, snapshot))
            verdict = None
    return verdict


def _no_version(member: Distribution, snapshot: Snapshot) -> str:
    if member.version is not None:
        return f"{member.version!r} is not a PEP 440 version"
    reasons = (note.reason for note in snapshot.notes if note.fact == "packages." + member.name)
    return next(reasons, "its version is not known")


def _absence(name: str, snapshot: Snapshot, trace: Trace, *, verdict: bool) -> Verdict:
    """``verdict``, unless the target does not list everything that will be installed."""
    if snapshot.complete:
        return verdict
    trace.missed("packages." + name, f"{snapshot.source} does not list everything that will be installed")
    return None


def present(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether one of some distributions is there."""
    members = _members(condition[1], snapshot)
    if not members:
        return _absence(condition[1][0], snapshot, trace, verdict=False)
    trace.saw("packages." + members[0].name, members[0].version or "present", snapshot.says(members[0]))
    return True


def absent(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether none of some distributions is there."""
    if _members(condition[1], snapshot):
        return False
    verdict = _absence(condition[1][0], snapshot, trace, verdict=True)
    if verdict:
        trace.saw("packages." + condition[1][0], "not installed", snapshot.source)
    return verdict


def marker(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether a marker (PEP 508) holds."""
    verdict = markers.evaluate(condition[1], markers.variables(snapshot))
    if verdict is None:
        trace.missed("marker", f"the target does not settle {condition[1]}")
    elif verdict:
        trace.saw("marker", condition[1], snapshot.source)
    return verdict


def answer_of(kind: Kind[str, Any], key: str, snapshot: Snapshot, trace: Trace) -> Any:
    """The answer to a question; one that nobody could answer is noted, with its reason."""
    value = snapshot.facts.ask(kind, key)
    if isinstance(value, Unknown) and (kind is not PROCESS or snapshot.target.get("kind") == "process"):
        trace.missed(f"{kind.name}.{key}", value.reason)
    return value


#: The place of a module that a file of the project takes before any installed one.
LOCAL = "local"


def module(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether an import finds a module in some place first."""
    _, name, wanted = condition
    hidden = snapshot.facts.ask(LOCAL_MODULE, name) if wanted == LOCAL else None
    if isinstance(hidden, dict) and not hidden["namespace"]:
        trace.say(file=hidden["file"], module=name)
        trace.saw("module." + name, f"{hidden['file']} of the project", Location(hidden["file"]))
        return True
    value = answer_of(MODULE, name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    verdict: bool = value["kind"] == wanted
    if isinstance(hidden, dict) and value["kind"] == "missing":  # a directory gives way to any installed module
        trace.say(file=hidden["file"], module=name)
        value, verdict = {"kind": f"the directory {hidden['file']} of the project", "origin": hidden["file"]}, True
    if verdict:
        trace.saw("module." + name, value["kind"], value.get("origin") or snapshot.source)
    return verdict


def _named(condition: Condition, snapshot: Snapshot, trace: Trace, fits: Callable[[Any], Verdict]) -> Verdict:
    """Whether the fact that a condition names, of the machine or the process, passes a test."""
    kind, name = condition[:2]
    value = answer_of(_ROWS[kind], name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    verdict = fits(value)
    if verdict:
        shown = (f"process {snapshot.target.get('pid')}", snapshot.target.get("forked") if "forked" in name else None)
        source = ": ".join(filter(None, shown)) if kind == "process" else snapshot.source
        trace.saw(f"{kind}.{name}", value, source)
    return verdict


def same(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether a fact is just what is wanted."""
    return _named(condition, snapshot, trace, lambda value: bool(value == condition[2]))


def table(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether a fact is a flag as wanted, a version or number in a range, or a text that matches."""
    return _named(condition, snapshot, trace, lambda value: _compared(value, *condition[2:]))


def _compared(value: Any, wanted: Any, admitted: Any) -> Verdict:
    if value is None or isinstance(value, bool):
        return value is not None and bool(value == wanted)
    if isinstance(wanted, dict):
        import re

        return re.search(wanted["matches"], str(value)[:LONGEST_VALUE]) is not None
    return within(str(value), wanted, admitted)


def start_method(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """Whether one of some start methods is in use."""
    from envdoctor.engine.start_method import in_use

    library, chooses = condition[2:] if len(condition) > 2 else (None, None)  # noqa: PLR2004 - one of a library
    method, seen = in_use(snapshot, library, chooses)
    if method is None:
        trace.missed("start_method", "the target does not say; state it with --start-method")
        return None
    if method in condition[1]:
        for fact in seen:
            trace.saw(*fact)
        trace.say(start_method=method)
    return method in condition[1]


def _first(operator: str) -> Operator:
    """An operator that is imported when it is first used; one about a project only where there is a project."""
    kind = _ROWS[operator]
    name = kind.operators.get(operator, kind.decides)

    def beside(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
        there = snapshot.facts.ask(PROJECT, "there") is not False
        return kind.function("decides", name)(condition, snapshot, trace) if there else None

    def first(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
        _OPERATORS[operator] = found = kind.function("decides", name)
        return found(condition, snapshot, trace)  # type: ignore[no-any-return]

    return beside if kind.under == OF_PROJECT else first


_OPERATORS: dict[str, Operator] = {operator: _first(operator) for operator in _ROWS}
