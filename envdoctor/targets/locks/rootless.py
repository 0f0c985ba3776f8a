"""Lock files that leave out what the project itself requires, read with and without the project beside them."""

from __future__ import annotations

from envdoctor.engine.markers import Verdict
from envdoctor.targets.locks.graph import Required, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.targets.locks.contents import Entry
    from envdoctor.targets.locks.graph import Node
    from envdoctor.targets.marker_environment import Markers

_PROJECT = Verdict(holds=None, unknown=frozenset({"what the project itself requires"}))


def reach_from(nodes: Sequence[Node], roots: list[Required] | None, markers: Markers) -> list[Entry]:
    """The entries that the project's requirements reach.

    Where those are not known, what nothing in the file requires must have been asked for by the project, and what is
    only required under markers that do not hold may or may not have been.
    """
    if roots:
        return reach(nodes, roots, markers, newest=True)
    required = {edge.name for node in nodes for edge in node.edges}
    tops = [Required(name=name) for name in sorted({node.name for node in nodes} - required)]
    entries = reach(nodes, tops, markers)
    reached = {entry.name for entry in entries if entry.verdict.holds is not False}
    ruled_out = {node.name for node in nodes if node.verdict.holds is False}
    return [one if one.name in reached | ruled_out else _doubtful(one) for one in entries]


def _doubtful(entry: Entry) -> Entry:
    reason = (
        f"{entry.where}: {entry.name} {entry.version} is only needed elsewhere, unless the project itself requires it"
    )
    doubtful: Entry = entry.replace(version=None, verdict=_PROJECT, reason=f"{reason}; no pyproject.toml is beside")
    return doubtful
