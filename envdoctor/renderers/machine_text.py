"""What the formats for other programs share: a finding's place in the checkout, its text, and its fingerprint."""

from __future__ import annotations

import hashlib
import os

from envdoctor.model import Location
from envdoctor.renderers import layout, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from envdoctor.model import Finding, Report


def place(finding: Finding) -> Location | None:
    """The file that a finding is about, and its line where that is known; ``None`` where it rests on no file.

    A file in the checkout comes before what lies elsewhere. It is relative to the current directory where it is in it.
    """
    found = [_relative(one.location) for one in finding.evidence if one.location is not None]
    return min(found, key=lambda one: (os.path.isabs(one.path), one.line is None), default=None)


def _relative(location: Location) -> Location:
    path = os.path.relpath(location.path) if os.path.isabs(location.path) else location.path
    outside = path == os.pardir or path.startswith(os.pardir + os.sep)
    return Location(location.path if outside else path.replace(os.sep, "/"), location.line)


def text(finding: Finding, report: Report) -> str:
    """What a finding says, a line each: why it is one, the facts that it rests on, and what cures it."""
    facts = "; ".join(f"{layout.found(one)} ({layout.near(one.source, report)})" for one in finding.evidence)
    cures = [layout.way(remedy) for remedy in finding.remedies]
    lines = [line.one_line(finding.why), f"Found: {facts}"]
    lines += [f"Fix: {cure.text}" + (f" ({cure.tag})" if cure.tag else "") for cure in cures]
    return "\n".join(filter(None, lines))


def fingerprint(finding: Finding) -> str:
    """A text that stays the same while the finding does, whatever the releases and the lines are: 64 hex digits."""
    where = place(finding)
    path = where.path if where is not None and not os.path.isabs(where.path) else ""
    facts = sorted({one.fact for one in finding.evidence})
    parts = (finding.rule, finding.consumer or "", *sorted(finding.packages), *facts, path)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
