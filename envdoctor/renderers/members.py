"""Many environments at once, for a person, and as JSON whose shape ``docs/fleet.schema.json`` promises."""

from __future__ import annotations

from envdoctor._version import __version__
from envdoctor.renderers import layout, line
from envdoctor.renderers.comparison import change, name_of, of_difference
from envdoctor.renderers.json import dump, of_finding, of_target
from envdoctor.renderers.redaction import Redactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from envdoctor.model import Fleet, Kin

#: So many differences of a group are shown.
_MOST = 20


def text(fleet: Fleet) -> str:
    """The groups in words, ending in a newline."""
    return Redactor(personal=False).text("\n".join(_lines(fleet)) + "\n")


def _lines(fleet: Fleet) -> Iterator[str]:
    number = sum(len(group.names) for group in fleet.groups)
    yield f"{line.count(number, 'environment')} in {line.count(len(fleet.groups), 'group')}"
    for place, group in enumerate(fleet.groups):
        yield ""
        snapshot = group.report.snapshot
        size = line.count(len(snapshot.packages), "distribution")
        yield f"{line.count(len(group.names), 'environment')}: {line.few(group.names)}"
        yield f"  {line.python(snapshot)}, {size}: {layout.tally(group.report.findings)}"
        if place:
            yield from _apart(group)
        for finding in layout.ordered(group.report):
            yield f"  {finding.severity}: {line.one_line(finding.title)} ({finding.rule})"
            if finding.remedies:
                yield f"    fix: {layout.way(finding.remedies[0]).text}"
    if fleet.silent:
        yield ""
        yield "did not answer:"
        for name, reason in fleet.silent:
            yield f"  {line.one_line(name)}: {line.one_line(reason)}"


def _apart(group: Kin) -> Iterator[str]:
    yield f"  {line.count(len(group.differences), 'difference')} from the first group:"
    for one in group.differences[:_MOST]:
        remark = "  known to rules" if one.known and one.fact.startswith("packages.") else ""
        yield f"    {line.one_line(name_of(one))}  {line.one_line(change(one))}{remark}"
    if len(group.differences) > _MOST:
        yield f"    and {len(group.differences) - _MOST:,} more"


def document(fleet: Fleet) -> str:
    """The groups as one JSON document, without secrets."""
    groups = [
        {
            "names": group.names,
            "target": of_target(group.report),
            "findings": [of_finding(one) for one in layout.ordered(group.report)],
            "differences": [of_difference(one) for one in group.differences],
        }
        for group in fleet.groups
    ]
    silent = [{"name": name, "reason": reason} for name, reason in fleet.silent]
    return dump(Redactor(personal=False).data({"envdoctor": __version__, "groups": groups, "silent": silent}))
