"""Evaluates compiled conditions against a snapshot, three-valued: true, false, or unknown (``None``).

A compiled condition is a list: the name of an operator and its arguments, as ``rulebase.compile`` writes it. Nothing
here knows a rule, a package or YAML.
"""

from __future__ import annotations

from envdoctor.engine import markers, metadata_conflicts
from envdoctor.engine.versions import within
from envdoctor.facts import ENV, LIBRARY, LOCAL_MODULE, MODULE, PROCESS, PROJECT, SYSTEM
from envdoctor.model import Evidence, Location, Record, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Optional

    from envdoctor.facts import Kind
    from envdoctor.model import Distribution, Snapshot

    Verdict = Optional[bool]
    Condition = list[Any]


#: The characters of a value that a rule's expression may see at most: a search cannot be stopped.
LONGEST_VALUE = 4_000


class Trace:
    """What an evaluation rested on: the evidence of what is true, and ``(fact, reason)`` of what is unknown.

    ``names`` is what the texts of a rule may name, ``entries`` the configuration entries that held, by glob and key,
    and ``cases`` the further evidence and names of each of several findings that one condition makes.
    """

    __slots__ = ("cases", "entries", "names", "seen", "unknown")

    def __init__(self) -> None:
        self.seen: list[tuple[str, object, str]] = []
        self.unknown: list[tuple[str, str]] = []
        self.names: dict[str, str] = {}
        self.entries: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.cases: list[tuple[list[tuple[str, object, str]], dict[str, str]]] = []

    def say(self, **names: str) -> None:
        """Note what the texts of the rule may name; what was noted first stays."""
        self.names = {**names, **self.names}

    def split(self, seen: list[tuple[str, object, str]], names: dict[str, str]) -> None:
        """Note one of several findings."""
        self.cases.append((seen, names))

    def add(self, other: Trace) -> None:
        """Take over what another evaluation rested on."""
        self.seen += other.seen
        self.cases += other.cases
        self.entries.update(other.entries)
        self.say(**other.names)

    def saw(self, fact: str, value: object, source: str) -> None:
        """Note a fact that made a condition true."""
        self.seen.append((fact, value, source))

    def missed(self, fact: str, reason: str) -> None:
        """Note a fact that could not be read."""
        self.unknown.append((fact, reason))

    def evidence(self) -> list[Evidence]:
        """What was seen, as evidence; most conditions turn out false, so that it is only made for those that hold."""
        return _evidence(self.seen)


def _evidence(seen: Sequence[tuple[str, object, str]]) -> list[Evidence]:
    return [Evidence(fact=fact, value=str(value), source=source) for fact, value, source in seen]


class Match(Record):
    """A rule that holds: the evidence, the consumer that trips over it, and what its texts may name."""

    evidence: Sequence[Evidence]
    consumer: str | None = None
    names: Mapping[str, str] = {}


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
    trace = trace or Trace()
    own = Trace()
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
            Match(evidence=_evidence([*own.seen, *seen]), names={**own.names, **names}) for seen, names in own.cases
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
    return OPERATORS[condition[0]](condition, snapshot, trace)


def _all(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    verdict: Verdict = True
    for part in condition[1:]:
        one = OPERATORS[part[0]](part, snapshot, trace)
        if one is False:
            return False
        if one is None:
            verdict = None
    return verdict


def _any(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    verdict: Verdict = False
    for part in condition[1:]:
        own = Trace()
        one = OPERATORS[part[0]](part, snapshot, own)
        if one:
            trace.add(own)
            return True
        if one is None:
            trace.unknown += own.unknown
            verdict = None
    return verdict


def _not(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    own = Trace()
    one = holds(condition[1], snapshot, own)
    if one is None:
        trace.unknown += own.unknown
        return None
    return not one


def _python(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    version = snapshot.python.get("version")
    specifier, admitted = condition[1:]
    if not version:
        from envdoctor.engine.open_versions import any_python

        return any_python(specifier, admitted, snapshot, trace)
    version = version.rstrip("+")  # Debian and others mark a build from between two releases
    verdict = within(version, specifier, admitted)
    if version.count(".") == 1 and within(version + ".999", specifier, admitted) is not verdict:
        trace.missed("python.version", f"{version} does not say which patch release")
        return None
    if verdict:
        trace.saw("python", version, snapshot.python.get("executable") or snapshot.source)
    return verdict


def _trait(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
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


def _packages(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
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
    for note in snapshot.notes:
        if note.fact == "packages." + member.name:
            return note.reason
    return "its version is not known"


def _absence(name: str, snapshot: Snapshot, trace: Trace, *, verdict: bool) -> Verdict:
    """``verdict``, unless the target does not list everything that will be installed."""
    if snapshot.complete:
        return verdict
    trace.missed("packages." + name, f"{snapshot.source} does not list everything that will be installed")
    return None


def _present(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    members = _members(condition[1], snapshot)
    if not members:
        return _absence(condition[1][0], snapshot, trace, verdict=False)
    trace.saw("packages." + members[0].name, members[0].version or "present", snapshot.says(members[0]))
    return True


def _absent(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    if _members(condition[1], snapshot):
        return False
    verdict = _absence(condition[1][0], snapshot, trace, verdict=True)
    if verdict:
        trace.saw("packages." + condition[1][0], "not installed", snapshot.source)
    return verdict


def _marker(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    verdict = markers.evaluate(condition[1], markers.variables(snapshot))
    if verdict is None:
        trace.missed("marker", f"the target does not settle {condition[1]}")
    elif verdict:
        trace.saw("marker", condition[1], snapshot.source)
    return verdict


def _look(kind: Kind[str, Any], key: str, snapshot: Snapshot, trace: Trace) -> Any:
    value = snapshot.facts.ask(kind, key)
    if isinstance(value, Unknown) and (kind is not PROCESS or snapshot.target.get("kind") == "process"):
        trace.missed(f"{kind.name}.{key}", value.reason)
    return value


def _env(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    _, name, test, wanted = condition
    value = _look(ENV, name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    if test == "is":
        verdict = (value is not None) is (wanted == "set")
    elif value is None:
        verdict = False
    elif test == "equals":
        verdict = value == wanted
    elif len(value) > LONGEST_VALUE:
        trace.missed("env." + name, "its value is too long to be searched")
        return None
    else:
        import re

        match = re.search(wanted, value)
        verdict, wanted = match is not None, match[0] or "matches" if match else ""
    if verdict:
        trace.saw("env." + name, wanted, "the environment")
    return verdict


#: The place of a module that a file of the project takes before any installed one.
LOCAL = "local"


def _module(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    _, name, wanted = condition
    hidden = snapshot.facts.ask(LOCAL_MODULE, name) if wanted == LOCAL else None
    if isinstance(hidden, dict) and not hidden["namespace"]:
        trace.say(file=hidden["file"], module=name)
        trace.saw("module." + name, f"{hidden['file']} of the project", Location(hidden["file"]))
        return True
    value = _look(MODULE, name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    verdict: bool = value["kind"] == wanted
    if isinstance(hidden, dict) and value["kind"] == "missing":  # a directory gives way to any installed module
        trace.say(file=hidden["file"], module=name)
        value, verdict = {"kind": f"the directory {hidden['file']} of the project", "origin": hidden["file"]}, True
    if verdict:
        trace.saw("module." + name, value["kind"], value.get("origin") or snapshot.source)
    return verdict


#: The facts about the machine or the process, by the operator that compares them.
OF_MACHINE: Mapping[str, Kind[str, Any]] = {"system": SYSTEM, "process": PROCESS, "library": LIBRARY}


def _table(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """A fact about the machine or the process: a flag, a version or number in a range, or a text that matches."""
    kind, name, wanted, admitted = condition
    value = _look(OF_MACHINE[kind], name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    if value is None or isinstance(value, bool):
        verdict: Verdict = value is not None and value == wanted
    elif isinstance(wanted, dict):
        import re

        verdict = re.search(wanted["matches"], str(value)[:LONGEST_VALUE]) is not None
    else:
        verdict = within(str(value), wanted, admitted)
    if verdict:
        trace.saw(
            f"{kind}.{name}", value, f"process {snapshot.target.get('pid')}" if kind == "process" else snapshot.source
        )
    return verdict


def _library(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    _, name, wanted = condition
    value = _look(LIBRARY, name, snapshot, trace)
    if isinstance(value, Unknown):
        return None
    if value == wanted:
        trace.saw("library." + name, value, snapshot.source)
    return bool(value == wanted)


def _start_method(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
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


def _project(condition: Condition, snapshot: Snapshot, trace: Trace) -> Verdict:
    """A fact of the project's files or of an artefact, whose operators are imported when there is something to ask."""
    if snapshot.facts.ask(PROJECT, "there") is False:
        return None
    from envdoctor.engine import project_operators

    return project_operators.OPERATORS[condition[0]](condition, snapshot, trace)


OPERATORS: dict[str, Callable[[Condition, Snapshot, Trace], Verdict]] = {
    "all": _all,
    "any": _any,
    "not": _not,
    "python": _python,
    "trait": _trait,
    "packages": _packages,
    "present": _present,
    "absent": _absent,
    "marker": _marker,
    "env": _env,
    "module": _module,
    "system": _table,
    "process": _table,
    "library": _library,
    "start_method": _start_method,
    **dict.fromkeys(("config", "source", "artifact", "shadowed"), _project),
}
