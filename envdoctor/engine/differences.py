"""What snapshots tell, as one table of texts, and where two of them differ. Pure."""

from __future__ import annotations

from envdoctor.engine.start_method import in_use
from envdoctor.facts import ENV, SYSTEM
from envdoctor.model import Difference, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envdoctor.facts import Questions
    from envdoctor.model import Finding, Snapshot

_OF_PYTHON = ("version", "implementation", "free_threaded", "debug")
_PACKAGES = "packages."


def asked(wanted: Mapping[str, Sequence[str]]) -> Questions:
    """What a comparison reads besides what is installed: the keys that rules ask for."""
    return {kind: wanted.get(kind.name, ()) for kind in (ENV, SYSTEM)}


def facts_of(snapshot: Snapshot, wanted: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """What a snapshot tells, by dotted fact; ``None`` for what is not set. What is unknown is not in it."""
    python = _python(snapshot)
    found: dict[str, str | None] = {"python": python} if python else {}
    found.update({f"platform.{key}": str(value) for key, value in snapshot.platform.items() if value})
    method = in_use(snapshot)[0]
    found.update({"start_method": method} if method else {})
    found.update({_PACKAGES + name: one.version for name, one in snapshot.packages.items() if one.version})
    for kind, keys in asked(wanted).items():
        for key in keys:
            value = snapshot.facts.ask(kind, key)
            if not isinstance(value, Unknown):
                found[f"{kind.name}.{key}"] = None if value is None else str(value)
    return found


def _python(snapshot: Snapshot) -> str:
    """The Python in words, with its implementation and traits where they are not the usual; empty if not known."""
    version, implementation, *_ = (str(snapshot.python.get(key) or "") for key in _OF_PYTHON)
    traits = [key.replace("_", "-") for key in _OF_PYTHON[2:] if snapshot.python.get(key)]
    name = implementation if implementation.lower() not in {"", "cpython"} else ""
    return " ".join(filter(None, [name, version, *traits])) if version else ""


def between(before: Snapshot, after: Snapshot, wanted: Mapping[str, Sequence[str]]) -> list[Difference]:
    """Where two snapshots differ, as far as both tell; of images that have several environments, in each of these."""
    pairs = [(None, before, after)]
    if before.siblings and after.siblings:
        sides = [
            {str(one.target.get("environment")): one for one in (side, *side.siblings)} for side in (before, after)
        ]
        pairs = [(name, sides[0][name], sides[1][name]) for name in sides[0] if name in sides[1]]  # type: ignore[misc]
    return [one for name, left, right in pairs for one in _of_pair(name, left, right, wanted)]


def _of_pair(
    environment: str | None, before: Snapshot, after: Snapshot, wanted: Mapping[str, Sequence[str]]
) -> Iterator[Difference]:
    left, right = facts_of(before, wanted), facts_of(after, wanted)
    packages = sorted(fact for fact in {*left, *right} if fact.startswith(_PACKAGES))
    for fact in [*(fact for fact in {**left, **right} if not fact.startswith(_PACKAGES)), *packages]:
        if (fact in left or _absent(before, fact)) and (fact in right or _absent(after, fact)):
            values = left.get(fact), right.get(fact)
            if values[0] != values[1]:
                yield Difference(fact=fact, before=values[0], after=values[1], environment=environment)


def _absent(snapshot: Snapshot, fact: str) -> bool:
    """Whether a distribution is known not to be there."""
    return fact.startswith(_PACKAGES) and snapshot.complete and fact[len(_PACKAGES) :] not in snapshot.packages


def about(finding: Finding, differences: Sequence[Difference]) -> list[Difference]:
    """The differences that a finding rests on: those of its evidence, and of the distributions that it names."""
    facts = {one.fact for one in finding.evidence}
    facts |= {fact.partition(".")[0] for fact in facts} | {_PACKAGES + name for name in finding.packages}
    facts |= {_PACKAGES + fact.partition(".")[2] for fact in facts}
    return [one for one in differences if one.fact in facts and one.environment in {None, finding.environment}]


def identity(finding: Finding) -> tuple[str, ...]:
    """What stays of a finding from one environment to another: its rule and the distributions that it is about."""
    return (finding.rule, finding.consumer or "", finding.environment or "", *sorted(finding.packages))
