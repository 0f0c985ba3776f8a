"""Lock files that say with each package what it requires: what is reached from the project, and in which version."""

from __future__ import annotations

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.model import Record
from envdoctor.targets.locks.contents import Entry
from envdoctor.targets.markers import NO, YES, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envdoctor.targets.markers import Markers


class Edge(Record):
    """A requirement: a name, the specifiers of which one must hold (none: any version), and a marker."""

    name: str
    specifiers: tuple[str, ...] = ()
    marker: str | None = None


class Node(Record):
    """A locked package and what it requires; ``verdict`` says whether its own markers allow it."""

    name: str
    version: str | None
    where: str
    edges: Sequence[Edge] = ()
    verdict: Verdict = YES
    requires_python: str | None = None
    reason: str | None = None


def reach(nodes: Sequence[Node], roots: Iterable[Edge], markers: Markers) -> list[Entry]:
    """An entry for each node, with the verdict of the best path to it from the roots."""
    by_name: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        by_name.setdefault(node.name, []).append(index)
    verdicts = [NO] * len(nodes)
    for name, indices in by_name.items():
        by_name[name] = _installable(nodes, indices, markers)
    pending = [(edge, YES) for edge in roots]
    while pending:
        edge, verdict = pending.pop()
        verdict &= markers.holds(edge.marker)
        if verdict.holds is False:
            continue
        for index in _candidates(nodes, by_name.get(edge.name, []), edge):
            reached = verdicts[index] | (verdict & nodes[index].verdict)
            if reached != verdicts[index]:
                verdicts[index] = reached
                pending += [(onward, reached) for onward in nodes[index].edges]
    return [entry(node, verdict) for node, verdict in zip(nodes, verdicts)]


def entry(node: Node, verdict: Verdict) -> Entry:
    """A node as an entry."""
    return Entry(name=node.name, version=node.version, where=node.where, verdict=verdict, reason=node.reason)


def _installable(nodes: Sequence[Node], indices: list[int], markers: Markers) -> list[int]:
    """Of several versions, those whose Requires-Python does not rule them out."""
    if len(indices) == 1:
        return indices
    fitting = [index for index in indices if markers.python_within(nodes[index].requires_python).holds is not False]
    return fitting or indices


def _candidates(nodes: Sequence[Node], indices: list[int], edge: Edge) -> list[int]:
    """The versions an edge can mean: all of them, where it does not tell them apart."""
    if len(indices) == 1 or not edge.specifiers:
        return indices
    fitting = [index for index in indices if any(_holds(nodes[index].version, text) for text in edge.specifiers)]
    return fitting or indices


def _holds(version: str | None, specifier: str) -> bool:
    if version is None or specifier == "===" + version:
        return True
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False
