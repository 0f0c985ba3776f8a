"""The basis of an evaluation, and what comes of a rule that holds. Pure."""

from __future__ import annotations

from envdoctor.model import Evidence, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


#: The name by which a case says that it is one severity less than its rule.
LESS = "less"


class Trace:
    """The basis of an evaluation: the evidence of what is true, and ``(fact, reason)`` of what is unknown.

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
        """Add what another evaluation is based on."""
        self.seen += other.seen
        self.cases += other.cases
        self.entries.update(other.entries)
        self.say(**other.names)

    def add_cases(self, other: Trace) -> None:
        """Add the findings of another condition about other places than those that there is one for already."""
        known = {seen[-1][2] for seen, _ in self.cases if seen}
        more = [one for one in other.seen if one not in self.seen]
        self.cases += [([*more, *seen], names) for seen, names in other.cases if seen and seen[-1][2] not in known]

    def saw(self, fact: str, value: object, source: str) -> None:
        """Note a fact that made a condition true."""
        self.seen.append((fact, value, source))

    def missed(self, fact: str, reason: str) -> None:
        """Note a fact that could not be read."""
        self.unknown.append((fact, reason))

    def evidence(self) -> list[Evidence]:
        """The facts that were seen, as evidence, which is only made for conditions that hold: most are false."""
        return evidence_of(self.seen)


def evidence_of(seen: Sequence[tuple[str, object, str]]) -> list[Evidence]:
    """Facts that were seen, each with its value and source, as evidence."""
    return [Evidence(fact=fact, value=str(value), source=source) for fact, value, source in seen]


class Match(Record):
    """A rule that holds: the evidence, the consumer that trips over it, and what its texts may name."""

    evidence: Sequence[Evidence]
    consumer: str | None = None
    names: Mapping[str, str] = {}
