"""Lock files that say with each package what it requires: what is reached from the project, and in which version."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from envdoctor.engine.markers import CHOICES, NO, YES, Verdict
from envdoctor.engine.versions import within
from envdoctor.model import Record
from envdoctor.targets.locks.contents import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envdoctor.targets.marker_environment import Markers


class Required(Record):
    """A requirement: a name, the specifiers of which one must hold (none: any version), and a marker."""

    name: str
    specifiers: tuple[str, ...] = ()
    marker: str | None = None


class Node(Record):
    """A locked package and what it requires; ``verdict`` says whether its own markers allow it."""

    name: str
    version: str | None
    where: str
    edges: Sequence[Required] = ()
    verdict: Verdict = YES
    requires_python: str | None = None
    reason: str | None = None
    optional: bool = False


def reach(nodes: Sequence[Node], roots: Iterable[Required], markers: Markers, *, newest: bool = False) -> list[Entry]:
    """An entry for each node, with the verdict of the best path to it from the roots.

    Of several versions only those remain that everything which applies allows; ``newest`` says that the installer
    takes the newest of them.
    """
    by_name: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        by_name.setdefault(node.name, []).append(index)
    for name, indices in by_name.items():
        by_name[name] = _installable(nodes, indices, markers)
    walk = _Walk(nodes, by_name, markers)
    roots = list(roots)
    walk.run(roots)
    if walk.narrow(newest=newest):
        walk.run(roots)
    return [entry(node, verdict) for node, verdict in zip(nodes, walk.verdicts)]


class _Walk:
    def __init__(self, nodes: Sequence[Node], by_name: dict[str, list[int]], markers: Markers) -> None:
        self._nodes, self._by_name, self._markers = nodes, by_name, markers
        self.verdicts: list[Verdict] = []
        self._applied: dict[str, list[tuple[list[int], Verdict]]] = {}

    def run(self, roots: list[Required]) -> None:
        """Follow the edges from the roots until nothing new is reached."""
        self.verdicts, self._applied = [NO] * len(self._nodes), {}
        pending = [(edge, YES) for edge in roots]
        while pending:
            edge, verdict = pending.pop()
            verdict &= self._markers.holds(edge.marker)
            if verdict.holds is False:
                continue
            candidates = _candidates(self._nodes, self._by_name.get(edge.name, []), edge)
            if len(self._by_name.get(edge.name, [])) > 1:
                self._applied.setdefault(edge.name, []).append((candidates, verdict))
            for index in candidates:
                reached = self.verdicts[index] | (verdict & self._nodes[index].verdict)
                if reached != self.verdicts[index]:
                    self.verdicts[index] = reached
                    pending += [(onward, reached) for onward in self._nodes[index].edges]

    def narrow(self, *, newest: bool) -> bool:
        """Rule out the versions that some applying edge does not allow; whether any was."""
        narrowed = False
        for name, applied in self._applied.items():
            before = self._by_name[name]
            certain = [set(allowed) for allowed, verdict in applied if verdict.holds or verdict.unknown <= CHOICES]
            remaining = [index for index in before if all(index in allowed for allowed in certain)]
            if newest and len(certain) == len(applied):
                remaining = _newest(self._nodes, remaining)
            if remaining and len(remaining) < len(before):
                self._by_name[name] = remaining
                narrowed = True
        return narrowed


def _newest(nodes: Sequence[Node], indices: list[int]) -> list[int]:
    try:
        versions = [Version(nodes[index].version or "") for index in indices]
    except InvalidVersion:
        return indices
    return [index for index, version in zip(indices, versions) if version == max(versions)]


def entry(node: Node, verdict: Verdict) -> Entry:
    """A node as an entry."""
    return Entry(
        name=node.name,
        version=node.version,
        where=node.where,
        verdict=verdict,
        reason=node.reason,
        optional=node.optional,
    )


def _installable(nodes: Sequence[Node], indices: list[int], markers: Markers) -> list[int]:
    """Of several versions, those whose Requires-Python does not rule them out."""
    if len(indices) == 1:
        return indices
    fitting = [index for index in indices if markers.python_within(nodes[index].requires_python).holds is not False]
    return fitting or indices


def _candidates(nodes: Sequence[Node], indices: list[int], edge: Required) -> list[int]:
    """The versions an edge can mean: all of them, where it does not distinguish them."""
    if len(indices) == 1 or not edge.specifiers:
        return indices
    fitting = [index for index in indices if any(_holds(nodes[index].version, text) for text in edge.specifiers)]
    return fitting or indices


def _holds(version: str | None, specifier: str) -> bool:
    return version is None or specifier == "===" + version or within(version, specifier) is True
