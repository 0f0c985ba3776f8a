"""Applies the remedies of a rule to its bad cells, on paper: each must end the match, and none may begin another."""

from __future__ import annotations

import re
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.engine.installed_requirements import requirement_of
from envdoctor.engine.wording import fill
from envdoctor.remedy_kinds import KINDS
from envdoctor.rulebase.compile import compile_rule
from envdoctor.workshop.cells import matched
from envdoctor.workshop.lint_proof import PYTHONS, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.specifiers import SpecifierSet

    from envdoctor.rulebase.document import Complaint
    from envdoctor.workshop.cells import Cell
    from envdoctor.workshop.lint_proof import Subject

#: Means the newest release of a distribution whose releases are not known.
_NEWEST = "9999"


def remedies_without_effect(subject: Subject) -> Iterator[Complaint]:
    """Complain of safe remedies after which the rule still holds, and of any that raise another rule."""
    if subject.about_metadata():
        return
    for number, remedy in enumerate(subject.rule.remedies):
        if not KINDS[remedy["kind"]].moves or remedy["at"] == "build":
            continue
        for where, cell in subject.cells("bad"):
            for message in _faults(subject, remedy, cell, describe(where, cell)):
                yield subject.complaint(("remedies", number), message)


def _faults(subject: Subject, remedy: Mapping[str, Any], cell: Cell, place: str) -> Iterator[str]:
    """What is wrong with a remedy in one bad cell, in words."""
    cured = _cured(subject, remedy, cell) if _is_offered(subject, remedy, cell) else None
    if cured is None:
        return
    verb = f"`{remedy['kind']}: {remedy.get('requirement') or remedy.get('package') or '...'}`"
    if remedy["safety"] == "safe" and subject.matches(cured):
        hint = "change what it installs, or say `safety: manual`"
        yield f"after {verb} the rule still matches {place}; {hint}"
    for other in [] if _is_guess(subject, remedy) else _raised(subject, cell, cured):
        hint = "bound the version that it installs, or say `when:` to offer it elsewhere"
        yield f"{verb} raises the rule {other} in {place}; {hint}"


def _is_offered(subject: Subject, remedy: Mapping[str, Any], cell: Cell) -> bool:
    if "when" not in remedy:
        return True
    only = subject.rule.replace(when=remedy["when"], consumers={}, remedies=[])
    return bool(matched(compile_rule(only, subject.vocabulary)["match"], cell, subject.vocabulary))


def _cured(subject: Subject, remedy: Mapping[str, Any], cell: Cell) -> Cell | None:
    """The cell after a remedy, or ``None`` where no consumer in it has a release that the remedy could name."""
    cured: dict[str, Any] | None = None
    for match_ in subject.matches(cell):
        texts = remedy.get("requirements") or [remedy.get("requirement", "")]
        if any("{works}" in text for text in texts) and not match_.names.get("works"):
            continue
        cured = dict(cured or cell)
        cured["packages"] = dict(cured.get("packages", {}))
        wanted = [fill(text, match_.names) for text in texts if text]
        removed = [fill(text, match_.names) for text in remedy.get("package", "").split()]
        for name in removed:
            cured["packages"].pop(canonicalize_name(name), None)
        _install(subject, cured, wanted)
    return cured


def _install(subject: Subject, cell: dict[str, Any], wanted: Iterable[str]) -> None:
    """Install what is not satisfied yet, as installers do."""
    for text in wanted:
        parsed = requirement_of(text)
        if parsed is None:
            continue
        name = str(canonicalize_name(parsed.name))
        if name == "python":
            cell["python"] = _nearest(parsed.specifier, cell.get("python"))
            continue
        present = [member for member in subject.members(name) if member in cell["packages"]]
        for member in present or [name]:
            have = cell["packages"].get(member)
            if have is None or not parsed.specifier.contains(have, prereleases=True):
                cell["packages"][member] = _choose(parsed.specifier, subject.releases(member))
        cell["absent"] = [one for one in cell.get("absent", ()) if one != name]


def _choose(specifier: SpecifierSet, releases: Sequence[str] | None) -> str:
    """The release that an installer would take: the newest that satisfies, or the one at the edge of the range."""
    inside = [version for version in releases or () if specifier.contains(version)]
    inside = inside or [version for version in releases or () if specifier.contains(version, prereleases=True)]
    inside = inside or [version for version in _at_edges(specifier) if specifier.contains(version, prereleases=True)]
    return max(inside, key=Version) if inside else _NEWEST


def _nearest(specifier: SpecifierSet, present: str | None) -> str:
    """The Python that a person would move to: the nearest that satisfies."""
    inside = [version for version in PYTHONS if specifier.contains(version)]
    older = [version for version in inside if present and Version(version) <= Version(present)]
    return older[-1] if older else inside[0] if inside else _choose(specifier, None)


def _at_edges(specifier: SpecifierSet) -> list[str]:
    """A version on the near side of each clause."""
    found = []
    for clause in specifier:
        version = Version(clause.version.removesuffix(".*"))
        release = list(version.release)
        if clause.operator == ">":
            release[-1] += 1
        elif clause.operator == "<":
            release = _before(release)
        found.append(".".join(map(str, release)) if clause.operator in {">", "<"} else str(version))
    return found


def _before(release: list[int]) -> list[int]:
    """The parts of a version just below a release."""
    while release and not release[-1]:
        release.pop()
    return [*release[:-1], release[-1] - 1, 9999] if release else [0]


def _is_guess(subject: Subject, remedy: Mapping[str, Any]) -> bool:
    """Whether an installer would take a newest release that is not known here."""
    for text in remedy.get("requirements") or [remedy.get("requirement", "")]:
        name = re.split(r"[^\w.{}-]", text)[0]
        bounded = any(sign in text for sign in ("<", "==", "~="))
        if name != "python" and not bounded and not subject.releases(str(canonicalize_name(name))):
            return True
    return False


def _raised(subject: Subject, cell: Cell, cured: Cell) -> Iterator[str]:
    """The other rules that hold after a remedy and did not before."""
    before, after = cell.get("packages", {}), cured.get("packages", {})
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if cell.get("python") != cured.get("python"):
        changed.add("python")
    for other in subject.others():
        if changed & other.axes and other.matches(cured) and not other.matches(cell):
            yield other.rule.id
