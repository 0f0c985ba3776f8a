"""What the metadata of installed distributions contradicts: the duties of ``pip check``, as one fact.

Each kind of defect yields ``(distribution, evidence, names)``, where ``names`` are the words that a rule's texts may
use in braces.
"""

from __future__ import annotations

from envdoctor.engine.installed_requirements import is_name, name_of, normalise, unmet
from envdoctor.engine.markers import VARIABLES, variables
from envdoctor.engine.tags import mismatch
from envdoctor.engine.versions import within
from envdoctor.facts import INSTALLED, MARKER, METADATA, NOT_RECORDED
from envdoctor.model import Evidence, Location, Unknown, UnknownFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from envdoctor.facts import Kind
    from envdoctor.model import Distribution, Snapshot

    Defect = tuple[str, list[Evidence], dict[str, str]]

_OF_METADATA = frozenset(("missing", "incompatible", "requires-python", "platform"))
_OF_THE_SCAN = frozenset(("leftover", "unreadable", "drift"))
#: Distributions for older Pythons alone, whose modules newer ones have themselves and find first: they do no harm.
_BACKPORTS = frozenset(("dataclasses", "futures", "typing"))
#: A title has at most so many names.
MOST_NAMES = 3
#: The length at which a chain of requirements is cut: the reader wants to know who asked, not the whole graph.
CHAIN_LIMIT = 6


class Requirements:
    """The requirements of a snapshot's distributions, read in one pass when a rule first asks for them.

    ``notes`` say what of that, or of the defects, could not be read.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._unmet: list[tuple[Distribution, str, str, str]] | None = None
        self.notes: list[UnknownFact] = []
        self._parents: dict[str, str] | None = None

    def unmet(self) -> list[tuple[Distribution, str, str, str]]:
        """Every requirement that is missing or incompatible: its owner, which of both, its line and its name."""
        if self._unmet is None:
            every = list(_all_unmet(self._snapshot))
            self._unmet = [one for one in every if one[1] != "unreadable"]
            unread = [one[0].name for one in every if one[1] == "unreadable"]
            if unread:
                lines = f"{len(unread)} line{'s' * (len(unread) > 1)}"
                reason = (
                    f"{lines} in the metadata of {few(dict.fromkeys(unread))} cannot be read as requirements (PEP 508)"
                )
                self.notes.append(UnknownFact(rule=None, fact="requirements", reason=reason))
        return self._unmet

    def chain(self, name: str) -> list[str]:
        """The shortest way from a distribution that nothing requires down to ``name``, without ``name`` itself."""
        if self._parents is None:
            self._parents = _parents(self._snapshot)
        chain: list[str] = []
        while name in self._parents and self._parents[name] not in chain and len(chain) < CHAIN_LIMIT:
            name = self._parents[name]
            chain.insert(0, name)
        return chain


def asked(defects: Collection[str], snapshot: Snapshot) -> dict[Kind[Any, Any], dict[Any, None]]:
    """The questions that some kinds of defect ask of a target, by kind of fact."""
    wanted: dict[Kind[Any, Any], dict[Any, None]] = {}
    if _OF_METADATA.intersection(defects):
        wanted[METADATA] = dict.fromkeys((one.name, one.version) for one in snapshot.packages.values())
        wanted[MARKER] = dict.fromkeys(VARIABLES)
    listed = dict.fromkeys(sorted(_OF_THE_SCAN.intersection(defects)))
    return {**wanted, INSTALLED: listed} if listed else wanted


def defects(kind: str, snapshot: Snapshot, requirements: Requirements | None = None) -> Iterator[Defect]:
    """Yield the defects of one kind; see the rule language for the kinds.

    ``requirements`` are those of the snapshot, where several kinds are asked for.
    """
    return KINDS[kind](kind, snapshot, requirements or Requirements(snapshot))


def _unmet(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    for owner, found, line, name in requirements.unmet():
        if found != kind:
            continue
        have = snapshot.packages.get(name)
        requirement = line.partition(";")[0].strip()
        chain = " → ".join([*requirements.chain(owner.name), f"{owner.name} {owner.version}", requirement])
        evidence = [Evidence(fact="requirements." + owner.name, value=chain, source=snapshot.says(owner))]
        value = have.version or "unknown" if have else "not installed"
        evidence.append(Evidence(fact="packages." + name, value=value, source=snapshot.says(have)))
        yield (
            owner.name,
            evidence,
            {
                "distribution": owner.name,
                "requirement": requirement,
                "required": name,
                "found": value,
            },
        )


def _all_unmet(snapshot: Snapshot) -> Iterator[tuple[Distribution, str, str, str]]:
    variable = variables(snapshot)
    verdicts: dict[str, bool | None] = {}
    met: set[str] = set()
    for owner in snapshot.packages.values():
        lines = required_by(owner, snapshot)
        for found in unmet(lines, snapshot.packages, variable, verdicts, met) if lines else ():
            yield (owner, *found)


def required_by(owner: Distribution, snapshot: Snapshot) -> Sequence[str]:
    """The requirement lines of a distribution, none where they are not known."""
    lines = snapshot.facts.metadata(owner.name, owner.version).requires
    return () if isinstance(lines, Unknown) else lines


def _parents(snapshot: Snapshot) -> dict[str, str]:
    """The first distribution that requires each name outright."""
    parents: dict[str, str] = {}
    for owner in snapshot.packages.values():
        for line in required_by(owner, snapshot):
            name = "" if "extra" in line else name_of(line)
            if name != owner.name:
                parents.setdefault(name, owner.name)
    return parents


def _requires_python(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    version = snapshot.python.get("version")
    verdicts: dict[str, bool | None] = {}
    for owner in snapshot.packages.values() if version else ():
        specifier = snapshot.facts.metadata(owner.name, owner.version).requires_python
        if isinstance(specifier, Unknown) or not specifier or owner.name in _BACKPORTS:
            continue
        if specifier not in verdicts:
            verdicts[specifier] = within(str(version), specifier)
        if verdicts[specifier] is False:
            evidence = [
                Evidence(
                    fact="requires_python." + owner.name,
                    value=f"{owner.name} {owner.version} requires Python {specifier}",
                    source=snapshot.says(owner),
                ),
                Evidence(fact="python", value=str(version), source=snapshot.source),
            ]
            yield owner.name, evidence, {"distribution": owner.name, "requirement": specifier, "found": str(version)}


def _platform(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    for owner in snapshot.packages.values():
        tags = snapshot.facts.metadata(owner.name, owner.version).tags
        wrong = mismatch(tags, snapshot) if not isinstance(tags, Unknown) and tags else None
        if wrong:
            value = f"{owner.name} {owner.version} was built for {wrong}"
            evidence = [Evidence(fact="tags." + owner.name, value=value, source=snapshot.says(owner))]
            yield owner.name, evidence, {"distribution": owner.name, "requirement": wrong, "found": wrong}


def _duplicate(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    for other in snapshot.duplicates:
        first = snapshot.packages.get(other.name)
        if first is None or first.location != other.location:
            continue
        evidence = [
            Evidence(fact="packages." + one.name, value=str(one.version), source=snapshot.says(one))
            for one in (first, other)
        ]
        names = {"distribution": other.name, "requirement": str(other.version), "found": str(first.version)}
        yield other.name, evidence, names


def _listed(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    """``leftover`` and ``unreadable``: what the scan of the directories could not read."""
    found = snapshot.facts.ask(INSTALLED, kind)
    for path, reason in [] if isinstance(found, Unknown) else found:
        last = path.replace("\\", "/").rpartition("/")[2]
        stem = normalise(last.lstrip("~").partition("-")[0])
        name = stem if is_name(stem) else last
        evidence = [Evidence(fact="installed." + kind, value=reason, source=Location(path))]
        yield name, evidence, {"distribution": name, "requirement": path, "found": reason}


def _drift(kind: str, snapshot: Snapshot, requirements: Requirements) -> Iterator[Defect]:
    """One defect for all that is installed in another version than the project's lock file says."""
    found = snapshot.facts.ask(INSTALLED, kind)
    if isinstance(found, Unknown) and found.asked and found.reason != NOT_RECORDED:
        requirements.notes.append(UnknownFact(rule=None, fact="installed.drift", reason=found.reason))
    if isinstance(found, Unknown) or not found:
        return
    evidence = []
    for name, version, where in found:
        have = snapshot.packages[name]
        evidence.append(Evidence(fact="packages." + name, value=str(have.version), source=snapshot.says(have)))
        evidence.append(Evidence(fact="lock." + name, value=version, source=where))
    names = [name for name, _, _ in found]
    from envdoctor.tools import FORMATS

    lock = found[0][2].path.replace("\\", "/").rpartition("/")[2]
    said = {"found": few(names), "lock": lock, "sync": FORMATS[lock].sync}
    yield names[0], evidence, {"distribution": names[0], "requirement": lock, **said}


def few(names: Collection[str]) -> str:
    """The first names, and how many more there are."""
    first, rest = [*names][:MOST_NAMES], len([*names]) - MOST_NAMES
    return ", ".join(first) + (f" and {rest} more" if rest > 0 else "")


KINDS: dict[str, Callable[[str, Snapshot, Requirements], Iterator[Defect]]] = {
    "missing": _unmet,
    "incompatible": _unmet,
    "requires-python": _requires_python,
    "platform": _platform,
    "duplicate": _duplicate,
    "drift": _drift,
    "leftover": _listed,
    "unreadable": _listed,
}
