"""Holds the cells of a rule's proof against the rule, and looks for a good cell just past each of its edges."""

from __future__ import annotations

from typing import Any

from envdoctor.engine.trace import Trace
from envdoctor.engine.versions import within
from envdoctor.facts import WORDS
from envdoctor.model import Record
from envdoctor.rulebase import record
from envdoctor.rulebase.compile import compile_rule
from envdoctor.rulebase.document import Complaint
from envdoctor.rulebase.sources import proof_of
from envdoctor.rulebase.when_tree import leaves
from envdoctor.workshop.cells import matched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from envdoctor.engine.trace import Match
    from envdoctor.rulebase.document import Where
    from envdoctor.rulebase.rule import Rule

    Cell = Mapping[str, Any]

#: The Pythons that a range is held against: a clause that all of them satisfy has no other side to prove.
PYTHONS = tuple(f"3.{minor}" for minor in range(6, 16))


class Subject:
    """A rule under examination, with what it is held against: known releases, and the rules of the base."""

    def __init__(
        self,
        rule: Rule,
        vocabulary: Mapping[str, Any],
        known: Mapping[str, list[str] | None],
        base: Collection[Subject] = (),
    ) -> None:
        self.rule = rule
        self.vocabulary = vocabulary
        self.known = known
        self.base = base
        self.match: Mapping[str, Any] = compile_rule(rule, vocabulary)["match"]
        self.axes = self._axes()

    def _axes(self) -> set[str]:
        """What the rule turns on: distributions with their families, and ``python``."""
        found = set(self.rule.consumers)
        for leaf in leaves(self.rule.when, ()):
            if leaf.fact == "packages":
                found.update(self.members(leaf.key))
            elif leaf.fact in {"python", "marker"}:
                found.add("python")
        return found

    def others(self) -> Iterator[Subject]:
        """The other rules of the base that cells can decide."""
        return (other for other in self.base if other.rule.id != self.rule.id and not other.about_metadata())

    def complaint(self, where: Where, message: str) -> Complaint:
        """A complaint about one place in the rule."""
        return Complaint(path=self.rule.path, line=self.rule.line(*where), message=message)

    def releases(self, name: str) -> list[str] | None:
        """The known releases of a distribution, ``None`` where the index was not asked or did not answer."""
        return self.known.get(name)

    def cells(self, *kinds: str) -> Iterator[tuple[Where, Cell]]:
        """The cells of the proof, with their key paths."""
        for kind in kinds or ("bad", "good"):
            for number, cell in enumerate(self.rule.proof[kind]):
                yield ("proof", kind, number), cell

    def members(self, name: str) -> list[str]:
        """The distributions that a name means: itself and its family."""
        return [name, *self.vocabulary.get("families", {}).get(name, ())]

    def matches(self, cell: Cell, trace: Trace | None = None) -> list[Match]:
        """How the rule holds in a cell."""
        return matched(self.match, cell, self.vocabulary, trace)

    def measured(self) -> dict[str, Any] | None:
        """The proof of the rule where it is up to date and measures edges."""
        found = record.read(proof_of(self.rule.path))
        if found is None or found.get("meaning", 1) < record.MEANING:
            return None
        return None if record.status(self.rule, self.vocabulary, found) == record.STALE else found

    def about_metadata(self) -> bool:
        """Whether the rule is about installed metadata, which only an environment that is built can show."""
        return "installed" in self.rule.when


def describe(where: Where, cell: Cell) -> str:
    """A cell in the words of a complaint."""
    packages = ", ".join(f"{name} {version}" for name, version in cell.get("packages", {}).items())
    return f"{where[1]} cell {where[2] + 1} (Python {cell.get('python', 'unsaid')}{', ' if packages else ''}{packages})"


def proof_contradicted(subject: Subject) -> Iterator[Complaint]:
    """Bad cells that the rule does not match, and good ones that it does."""
    if not (subject.rule.proof["bad"] or subject.rule.status):
        yield subject.complaint(("proof", "bad"), 'a proof needs a bad cell; write one such as {python: "3.11", ...}')
    if subject.about_metadata():
        return
    for where, cell in subject.cells():
        trace = Trace()
        found = subject.matches(cell, trace)
        if where[1] == "good" and found:
            hint = "narrow `when`, or correct the cell"
            yield subject.complaint(where, f"the rule matches {describe(where, cell)}; {hint}")
        elif where[1] == "bad" and not found:
            unknown = "; ".join(f"{fact} is unknown: {reason}" for fact, reason in trace.unknown)
            hint = unknown or "widen `when`, or correct the cell"
            yield subject.complaint(where, f"the rule does not match {describe(where, cell)}; {hint}")


class Bound(Record):
    """One clause of a range that a rule names, and the axis that it bounds: ``python`` or a distribution."""

    axis: str
    clause: str
    negated: bool
    where: Where

    def is_passed(self, version: str) -> bool:
        """Whether a version lies on the other side."""
        return within(version, self.clause) is self.negated

    def unproven(self) -> str:
        """The complaint that no cell is on the other side."""
        side = "inside" if self.negated else "outside"
        name = "Python" if self.axis == "python" else self.axis
        return f"no good cell is just past `{name} {self.clause}`; add a bad cell's copy with {name} {side} of it"


def edges(rule: Rule) -> Iterator[Bound]:
    """Every edge that the condition and the consumers of a rule name.

    Of a consumer it is the edge towards what works: what is older than the range is broken in other ways.
    """
    for leaf in leaves(rule.when, ("when",)):
        ranged = leaf.fact == "packages" and leaf.value not in {"present", "absent"}
        if ranged or (leaf.fact == "python" and leaf.key == "version"):
            axis = leaf.key if ranged else "python"
            yield from _edges(axis, leaf.value, leaf.where, negated=leaf.negated)
    for name, line in rule.consumers.items():
        for edge in _edges(name, line["bad"], ("consumers", name), negated=False):
            if edge.is_passed(line["works"]) if line["works"] else edge.clause[0] == "<":
                yield edge


def _edges(axis: str, specifier: str, where: Where, *, negated: bool) -> Iterator[Bound]:
    for clause in specifier.split(","):
        if clause.strip():
            yield Bound(axis=axis, clause=clause.strip(), negated=negated, where=where)


def edges_unproven(subject: Subject) -> Iterator[Complaint]:
    """Edges without a good cell that differs from a bad one by this axis alone, and consumers without a bad cell."""
    if subject.about_metadata():
        return
    bad = [cell for _, cell in subject.cells("bad")]
    lonely = [name for name in subject.rule.consumers if not any(name in cell.get("packages", {}) for cell in bad)]
    yield from _consumers_contradicted(subject)
    for name in lonely:
        hint = f'add one such as {{python: "3.11", packages: {{{name}: "...", ...}}}}'
        yield subject.complaint(("consumers", name), f"the consumer `{name}` has no bad cell; {hint}")
    for edge in edges(subject.rule):
        if edge.axis not in lonely and _has_other_side(subject, edge) and not _is_proven(subject, edge, bad):
            yield subject.complaint(edge.where, edge.unproven())


def _consumers_contradicted(subject: Subject) -> Iterator[Complaint]:
    """Consumers whose first release that works is stated to be bad."""
    for name, line in subject.rule.consumers.items():
        if line["works"] and within(line["works"], line["bad"]):
            hint = "write the first release that works, outside of `bad`"
            yield subject.complaint(("consumers", name), f"{name} {line['works']} lies in its bad range; {hint}")


def _has_other_side(subject: Subject, edge: Bound) -> bool:
    versions = PYTHONS if edge.axis == "python" else subject.releases(edge.axis)
    if not versions:
        consumer = subject.rule.consumers.get(edge.axis)
        return consumer is None or consumer["works"] is not None
    return any(edge.is_passed(version) for version in versions)


def _is_proven(subject: Subject, edge: Bound, bad: list[Cell]) -> bool:
    for good in _beyond(subject, edge, subject.cells("good")):
        if any(subject.matches(_with_axis(subject, edge.axis, good, cell)) for cell in bad):
            return True
    return _is_border(subject, edge, bad) or _is_measured(subject, edge)


def _is_measured(subject: Subject, edge: Bound) -> bool:
    """Whether the proof shows that a range of releases begins there, below which nothing has to work."""
    ends = (subject.measured() or {}).get("edges", ()) if edge.clause.startswith(">") and edge.axis != "python" else ()
    below = (one for one in ends if (one["side"], one["kind"]) == ("lower", "good") and one.get("shown"))
    return any(one["axis"] in subject.members(edge.axis) for one in below)


def _is_border(subject: Subject, edge: Bound, bad: list[Cell]) -> bool:
    """Whether another rule begins on the other side, so that nothing good can be there."""
    others = [other for other in subject.others() if edge.axis in other.axes]
    for there in (cell for other in others for cell in _beyond(subject, edge, other.cells("bad"))):
        moved = [_with_axis(subject, edge.axis, cell, there) for cell in bad]
        if any(not subject.matches(cell) and any(other.matches(cell) for other in others) for cell in moved):
            return True
    return False


def _beyond(subject: Subject, edge: Bound, cells: Iterable[tuple[Where, Cell]]) -> Iterator[Cell]:
    """The cells that lie on the other side of an edge."""
    for _, cell in cells:
        if any(map(edge.is_passed, _values(subject, edge.axis, cell))):
            yield cell


def _values(subject: Subject, axis: str, cell: Cell) -> list[str]:
    if axis == "python":
        return [cell["python"]] if "python" in cell else []
    packages = cell.get("packages", {})
    return [packages[name] for name in subject.members(axis) if name in packages]


def _with_axis(subject: Subject, axis: str, cell: Cell, other: Cell) -> Cell:
    """A cell with what another says on one axis."""
    if axis == "python":
        return {**cell, "python": other["python"]} if "python" in other else cell
    members = subject.members(axis)
    packages = {name: version for name, version in cell.get("packages", {}).items() if name not in members}
    packages.update({name: version for name, version in other.get("packages", {}).items() if name in members})
    return {**cell, "packages": packages}


def project_unproven(subject: Subject) -> Iterator[Complaint]:
    """Rules about a project or an artefact without a good cell that differs from a bad one by its repair alone."""
    named = {leaf.fact: leaf.where for leaf in leaves(subject.rule.when, ("when",)) if WORDS[leaf.fact].repaired}
    for fact, where in named.items():
        entry = WORDS[fact].repaired
        repaired = [cell for _, cell in subject.cells("good") if entry in cell]
        broken = [cell[entry] for _, cell in subject.cells("bad") if entry in cell]
        if not any(subject.matches({**cell, entry: content}) for cell in repaired for content in broken):
            hint = f"add a bad cell's copy whose `{entry}` are repaired"
            yield subject.complaint(where, f"no good cell shows that the rule is silent on what is repaired; {hint}")
