"""From leads to rules of the status *candidate*: held against what is published, and written down."""

from __future__ import annotations

import datetime as dt
import json

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.engine.versions import within
from envdoctor.model import Record
from envdoctor.workshop.repodata import ABSENT, PYTHON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from envdoctor.probes.published import Release
    from envdoctor.workshop.repodata import Lead

    Wheels = Callable[[str], "list[Release] | None"]
    Requires = Callable[[Release], "list[str] | None"]

NOT_PUBLISHED = "one of the two is not on the index, or has no wheel"
NO_RELEASE = "no release is in its range"
SAYS_SO = "the wheel's own metadata says so already"
UNBOUND = "it is about all releases up to a day, which only the index knows"
#: Versions of Python in the order in which they are tried: what most releases are for comes first.
PYTHONS = ("3.10", "3.11", "3.9", "3.12", "3.8", "3.13", "3.7", "3.14")


class Candidate(Record):
    """A lead with what is known of its releases: the newest bad pair, and one that should work, where there is one."""

    lead: Lead
    releases: str
    python: str = ""
    bad: tuple[str, str] | None = None
    good: tuple[str, str] | None = None


def unconfirmed(lead: Lead) -> Candidate | str:
    """The candidate that a lead makes by itself, or why it makes none."""
    return UNBOUND if _is_open(lead) else Candidate(lead=lead, releases=lead.releases)


def _is_open(lead: Lead) -> bool:
    """Whether no version ends the releases that a lead is about: then their day does."""
    return not lead.releases or (lead.built is not None and not any(sign in lead.releases for sign in ("<", "==")))


def confirmed(lead: Lead, wheels: Wheels, requires: Requires) -> Candidate | str | None:
    """The candidate that a lead makes, or why it makes none, by what is published; ``None`` where nobody answers."""
    names = [lead.name] if lead.other == PYTHON else [lead.name, lead.other]
    found = [wheels(name) for name in names]
    if None in found:
        return None
    published = [one for one in found if one]
    if len(published) < len(names):
        return NOT_PUBLISHED
    subject = _concerned(lead, published[0])
    wrong, right = _parted(lead, published[-1])
    if not subject or (lead.other != PYTHON and not wrong):
        return NO_RELEASE
    if all(_says_so(lead, one, wrong, requires) for one in (subject[0], subject[-1])):
        return SAYS_SO
    return _with_cells(lead, subject[-1], wrong, right)


def _parted(lead: Lead, others: list[Release]) -> tuple[list[Release], list[Release]]:
    """The releases of the other distribution that are bad with the first, and those that are not."""
    if lead.other == PYTHON:
        return [], []
    if lead.bad == ABSENT:
        return others, []
    bad = [one for one in others if within(one.version, lead.bad)]
    return bad, [one for one in others if one not in bad]


def _concerned(lead: Lead, releases: Sequence[Release]) -> list[Release]:
    """The releases that a lead is about: by their version, or by the day on which they came."""
    releases = [one for one in releases if within(one.version, lead.releases)]
    if lead.built is None or not _is_open(lead):
        return list(releases)
    try:
        last = dt.datetime.fromtimestamp(lead.built / 1000, dt.timezone.utc).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return []
    return [one for one in releases if one.uploaded and one.uploaded <= last]


def _says_so(lead: Lead, release: Release, wrong: Sequence[Release], requires: Requires) -> bool:
    """Whether a release's own metadata keeps an installer from the pair."""
    if lead.other == PYTHON:
        return _excludes(release, lead.bad)
    stated = [one for one in map(requirement_of, requires(release) or ()) if one is not None]
    wanted = [one for one in stated if canonicalize_name(one.name) == lead.other and "extra" not in str(one.marker)]
    if not wanted or lead.bad == ABSENT:
        return bool(wanted)
    return not any(all(one.version in want.specifier for want in wanted) for one in wrong)


def _excludes(release: Release, pythons: str) -> bool:
    """Whether a release is for none of the versions of Python in a range."""
    inside = [f"3.{minor}" for minor in range(6, 16) if within(f"3.{minor}", pythons)]
    return bool(inside) and all(within(one, release.requires_python) is False for one in inside)


def _with_cells(lead: Lead, subject: Release, wrong: Sequence[Release], right: Sequence[Release]) -> Candidate:
    """The pair nearest to the edge on either side, on a Python that both are for."""
    below = not lead.bad.startswith("<")
    ordered = sorted(wrong, key=_version, reverse=not below)
    bad = ordered[0] if ordered and lead.bad != ABSENT else None
    good = _across(bad, right, below=below) if bad else None
    last = f"<={subject.version}" if _is_open(lead) else ""
    return Candidate(
        lead=lead,
        releases=",".join(filter(None, [lead.releases, last])),
        python=_python(lead, [one for one in (subject, bad, good) if one]),
        bad=(subject.version, bad.version if bad else ""),
        good=(subject.version, good.version) if good else None,
    )


def _version(release: Release) -> Version:
    return Version(release.version)


def _across(bad: Release, right: Sequence[Release], *, below: bool) -> Release | None:
    """The release nearest to a bad one on the side that works."""
    beside = [one for one in right if (_version(one) < _version(bad)) is below]
    if not beside:
        return None
    return beside[-1] if below else beside[0]


def _python(lead: Lead, releases: Sequence[Release]) -> str:
    """A Python that a lead is about and that all of some releases are for; empty where there is none."""
    allowed = [*(one.requires_python for one in releases), *([lead.bad] if lead.other == PYTHON else [])]
    return next((one for one in PYTHONS if all(within(one, each) is not False for each in allowed)), "")


# --- what is written -------------------------------------------------------------------------------------------------


def text(candidate: Candidate, source: str, address: str) -> str:
    """The rule file of a candidate. ``source`` says where the lead is from, ``address`` is where it can be read."""
    lead = candidate.lead
    said = f"{lead.name} {candidate.releases or 'of any release'} may not work {_with(lead)}"
    lines = [
        f"# Imported from {source}.",
        "# Its licence is BSD-3-Clause. A lead, not a fact: verify and bisect it, and cite what people saw.",
        *_besides(lead),
        f"id: {lead.id()}",
        "status: candidate",
        f"title: {_quoted(said)}",
        "severity: warning",
        "impact: crash",
        "when:",
        *_when(candidate),
        "why: >",
        f"  Packagers of another channel {_narrowed(lead)} in metadata that was already published.",
        "remedies:",
        *(f"  - {line}" for line in _remedies(candidate)),
        "references:",
        *(f"  - {_quoted(one)}" for one in (address, *lead.patch.urls)),
        *_proof(candidate),
    ]
    return "\n".join(lines) + "\n"


def _besides(lead: Lead) -> Iterator[str]:
    """What a patch asks besides versions, for who runs it: no rule can ask the same."""
    for key in ("has_depends", "not_has_depends", "has_constrains", "not_has_constrains", "artifact_in"):
        if key in lead.patch.condition:
            yield f"# It is stated under a further condition, {key}: {_quoted(lead.patch.condition[key])}"


def _with(lead: Lead) -> str:
    other = "Python" if lead.other == PYTHON else lead.other
    return f"without {other}" if lead.bad == ABSENT else f"with {other} {lead.bad}"


def _narrowed(lead: Lead) -> str:
    return f"added {lead.other}" if lead.bad == ABSENT else f"left {lead.other} {lead.bad} out"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _when(candidate: Candidate) -> Iterator[str]:
    lead = candidate.lead
    first = f"{lead.name}: {_quoted(candidate.releases) if candidate.releases else 'present'}"
    if lead.other == PYTHON:
        yield f"  python: {_quoted(lead.bad)}"
        yield f"  packages: {{{first}}}"
    else:
        yield f"  packages: {{{first}, {lead.other}: {ABSENT if lead.bad == ABSENT else _quoted(lead.bad)}}}"


def _remedies(candidate: Candidate) -> Iterator[str]:
    lead = candidate.lead
    sign = "".join(one for one in lead.bad if one in "<>=!")
    edge = lead.bad[len(sign) :]
    other = {">=": "<", ">": "<=", "<": ">=", "<=": ">", "==": "!="}.get(sign, "")
    verb = {">=": "downgrade", ">": "downgrade", "<": "upgrade", "<=": "upgrade", "==": "pin"}.get(sign, "install")
    yield f"{verb}: {_quoted(lead.other + other + edge if lead.bad != ABSENT else lead.other)}"


def _proof(candidate: Candidate) -> Iterator[str]:
    if not candidate.python or candidate.bad is None:
        return
    lead = candidate.lead
    yield "proof:"
    yield f"  script: import {lead.name.replace('-', '_')}"
    for kind, pair in (("bad", candidate.bad), ("good", candidate.good)):
        if pair is not None:
            packages = {lead.name: pair[0], **({lead.other: pair[1]} if pair[1] else {})}
            shown = ", ".join(f"{name}: {_quoted(version)}" for name, version in packages.items())
            yield f"  {kind}: [{{python: {_quoted(candidate.python)}, packages: {{{shown}}}}}]"
