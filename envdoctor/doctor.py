"""The whole story: examine a target, diagnose the snapshot, prescribe, report. On the plain path."""

from __future__ import annotations

from envdoctor.engine import diagnose as engine
from envdoctor.model import Report, UnknownFact
from envdoctor.probes import answered
from envdoctor.rulebase import load
from envdoctor.targets import project as beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.facts import Questions
    from envdoctor.model import Finding, Group, Ignore, Remedy, Snapshot
    from envdoctor.rulebase.compiled_cache import Base


def examine(  # noqa: PLR0913 - each is a separate option
    kind: str | None = None,
    value: str | None = None,
    *,
    start_method: str | None = None,
    rules: Sequence[str] = (),
    candidates: bool = False,
    project: str | None = None,
    surroundings: str | None = None,
    artifacts: Sequence[str] = (),
    **options: Any,
) -> Snapshot:
    """The facts of one target.

    ``kind`` is ``python``, ``requirements``, ``root``, ``pid`` or ``snapshot`` and ``value`` its path or number;
    without them it is the environment at hand. ``start_method`` states what the program will use; ``rules`` are
    directories of further rules, and ``candidates`` adds those that nobody has proven yet. ``project`` is a directory
    and ``artifacts`` are files that rules may ask about; nothing in them is executed. In place of a project,
    ``surroundings`` is the directory where the user is: only rules about what is installed look at it.
    ``requirements`` takes ``python_version``, ``platform``, ``machine`` and ``resolve``; ``root`` takes ``python``, the
    interpreter within it, and has the other environments as ``siblings`` otherwise. Where nothing is named, ``frames``
    are the files of a traceback, whose environment it then is.

    Raises :class:`~envdoctor.errors.TargetError` where the target cannot be examined.
    """
    from envdoctor import targets

    if kind is None:
        options["wanted"] = lambda: wanted(rules, candidates=candidates)
    elif kind in {"python", "root", "pid"}:
        options["wanted"] = wanted(rules, candidates=candidates)
    snapshot = targets.examine(kind, value, **options)
    if kind is not None:
        snapshot = snapshot.replace(target={**snapshot.target, "chosen": f"named by --{kind}"})
    if start_method is not None:
        snapshot = snapshot.replace(start_method={**snapshot.start_method, "stated": start_method})
    around = project or surroundings or beside.of_target(snapshot)
    every = (snapshot, *snapshot.siblings)
    first, *others = [beside.attach(one, around, artifacts, named=project is not None) for one in every]
    return first.replace(siblings=others) if others else first


def together(snapshots: Sequence[Snapshot], names: Sequence[str]) -> Snapshot:
    """One snapshot of several targets, each called by its name; they are judged one by one."""
    if len(snapshots) == 1:
        return snapshots[0]
    named = [one.replace(target={**one.target, "environment": name}) for one, name in zip(snapshots, names)]
    first, *others = named
    whole: Snapshot = first.replace(siblings=others, target={**first.target, "files": list(names)})
    return whole


def diagnose(snapshot: Snapshot, rules: Sequence[str] = ()) -> list[Finding]:
    """The findings of a snapshot, most severe first. ``rules`` are directories of further rules."""
    return list(prescribed(check(snapshot, rules)).findings)


def check(
    snapshot: Snapshot,
    rules: Sequence[str] = (),
    *,
    candidates: bool = False,
    ignore: Sequence[Ignore] = (),
    link: Callable[[str], None] | None = None,
    fetch: bool = False,
) -> Report:
    """Diagnose a snapshot, and its siblings, and prescribe for each group of findings.

    :func:`prescribed` prescribes for each finding. Findings that ``ignore`` names are set apart, up to the day that it
    states. With ``link``, which is called to report progress, what installed distributions miss of each other and of
    Python is found too; :class:`~envdoctor.errors.TargetError` is raised where the target has no installed files. With
    ``fetch``, files of what is pinned, but not installed, are read from an index's wheels.
    """
    bases = load.further(rules)
    indexes = load.indexes(bases, candidates=candidates)
    parts = [diagnosed(one, indexes, left_out(bases)) for one in (snapshot, *snapshot.siblings)]
    if link is not None:
        from envdoctor.linker import given_to_workers

        parts = [linked(part, link, fetch=fetch, bases=bases) for part in parts]
        parts = [given_to_workers.add_to(part, indexes, link) for part in parts]
    if "environment" in snapshot.target:
        parts = [_placed(part) for part in parts]
    if ignore:
        parts = _without_ignored(parts, ignore)
    parts = [_grouped(part) if part.findings else part for part in parts]
    return _together(parts) if len(parts) > 1 else parts[0]


def diagnosed(snapshot: Snapshot, indexes: Sequence[Index], missed: Sequence[UnknownFact] = ()) -> Report:
    """The findings of one environment, and what could not be decided besides what was ``missed``."""
    candidates = engine.candidates(snapshot, indexes)
    snapshot = answered(snapshot, lambda now: engine.asked(candidates, now))
    findings, unknown = engine.diagnose(snapshot, candidates)
    rules = sum(index.rules for index in indexes)
    return Report(snapshot=snapshot, findings=findings, unknown=[*missed, *unknown], rules=rules)


def left_out(bases: Sequence[Base]) -> list[UnknownFact]:
    """The files of further rules that could not be read: of what they say nobody knows whether it holds."""
    return [
        UnknownFact(rule=None, fact=f"rules of {base.source.place}", reason=reason)
        for base in bases
        for reason in load.left_out(base)
    ]


def linked(
    part: Report, say: Callable[[str], None], *, fetch: bool = False, bases: Sequence[Base] | None = None
) -> Report:
    """The report of one environment with what distributions in it miss of each other, of Python and of the system."""
    from envdoctor.linker.link import add_to

    words = load.words(load.further() if bases is None else bases)
    snapshot = part.snapshot
    if fetch and not any(one.location for one in snapshot.packages.values()):
        from envdoctor.linker.fetch import fetched
        from envdoctor.linker.source_builds import failing

        snapshot, notes = fetched(snapshot, say)
        built = failing(snapshot, notes, say)
        part = part.replace(unknown=[*part.unknown, *notes], findings=[*part.findings, *built])
    report: Report = add_to(part.replace(snapshot=snapshot), say, words).replace(snapshot=part.snapshot)
    return report


def _placed(part: Report) -> Report:
    """The report with the environment in each of its findings."""
    environment = part.snapshot.target.get("environment")
    placed: Report = part.replace(findings=[one.replace(environment=environment) for one in part.findings])
    return placed


def _without_ignored(parts: Sequence[Report], ignore: Sequence[Ignore]) -> list[Report]:
    """The reports without what the user does not want to see; the first says which wishes are out of date."""
    import time

    from envdoctor.engine.ignored import set_apart

    every = [finding for part in parts for finding in part.findings]
    kept, ignored = set_apart(every, ignore, time.strftime("%Y-%m-%d"))
    changed: list[Report] = []
    for part in parts:
        known = [part.snapshot.target.get("environment"), *([None] if not changed else [])]
        mine = [finding for finding in kept if finding.environment in known]
        apart = [(finding, wish) for finding, wish in ignored if finding.environment in known]
        changed.append(part.replace(findings=mine, ignored=apart))
    return changed


def _together(parts: Sequence[Report]) -> Report:
    """One report of several environments."""
    joined: Report = parts[0].replace(
        findings=[finding for part in parts for finding in part.findings],
        groups=[group for part in parts for group in part.groups],
        ignored=[pair for part in parts for pair in part.ignored],
        unknown=[unknown for part in parts for unknown in part.unknown],
        parts=parts,
    )
    return joined


def _grouped(part: Report) -> Report:
    """The report with its findings in groups, what their commands depend on, and the line of a plan that is known."""
    from envdoctor.remedies import kept

    part = commandable(part)
    grouped: Report = part.replace(groups=groups(part.findings, part.snapshot), planned=kept.known(part))
    return grouped


def commandable(report: Report) -> Report:
    """The report of a snapshot of which everything is known that the commands of its findings depend on."""
    from envdoctor.remedies.commands import asked

    remedies = [remedy for finding in report.findings for remedy in finding.remedies]
    ready: Report = report.replace(snapshot=answered(report.snapshot, lambda now: asked(remedies, now)))
    return ready


def groups(findings: Sequence[Finding], snapshot: Snapshot) -> list[Group]:
    """The findings of each rule together, with one command for as many of them as one can serve."""
    from envdoctor.engine.groups import grouped
    from envdoctor.remedies.commands import joined

    def join(remedies: Sequence[Remedy]) -> Sequence[Remedy]:
        one = joined(remedies, snapshot) if len(remedies) > 1 else None
        return [one] if one else commanded(remedies, snapshot)

    return grouped(findings, join)


def commanded(remedies: Sequence[Remedy], snapshot: Snapshot) -> list[Remedy]:
    """The remedies that can be carried out, each with its command where one line does it."""
    from envdoctor.remedies.commands import with_command

    return [made for made in (with_command(remedy, snapshot) for remedy in remedies) if made]


def prescribed(report: Report) -> Report:
    """The report with one command for every remedy of each finding, which takes a while where it has many."""
    if report.parts:
        return _together([prescribed(part) for part in report.parts])
    each: Report = report.replace(
        findings=[one.replace(remedies=commanded(one.remedies, report.snapshot)) for one in report.findings]
    )
    return each


def of_machine(report: Report) -> Report:
    """The report of snapshots of which the machine is known as far as a page about it has room."""
    from envdoctor.renderers.markdown import ASKED

    snapshot = answered(report.snapshot, lambda _: ASKED)
    known: Report = report.replace(snapshot=snapshot, parts=[of_machine(part) for part in report.parts])
    return known


def rule_bases(directories: Sequence[str] = (), *, candidates: bool = False) -> list[Index]:
    """The shipped rules, compiled in the wheel or on demand in a checkout, those of packs, and of further directories.

    ``candidates`` adds what is silent in an ordinary run, which never opens it.
    """
    return load.indexes(load.further(directories), candidates=candidates)


def wanted(rules: Sequence[str] = (), *, candidates: bool = False) -> dict[str, list[str]]:
    """The keys that rules ask of a target, by kind of fact: what a saved snapshot has to record."""
    merged: dict[str, set[str]] = {}
    for index in rule_bases(rules, candidates=candidates):
        for kind, keys in index.wanted.items():
            merged.setdefault(kind, set()).update(keys)
    return {kind: sorted(keys) for kind, keys in merged.items()}


def asked_for(report: Report, rules: Sequence[str] = (), *, candidates: bool = False) -> Questions:
    """The facts that the rules ask for whose findings a report has."""
    names = {one.rule for one in report.findings}
    snapshot = report.snapshot
    found = engine.candidates(snapshot, rule_bases(rules, candidates=candidates))
    mine = [(index, [one for one in entries if index.texts(one)["id"] in names]) for index, entries in found]
    return engine.asked(mine, snapshot)


def with_known_packages(report: Report, rules: Sequence[str] = ()) -> Report:
    """The report with the installed distributions that some rule is about: what a maintainer looks for first."""
    from envdoctor.remedies.commands import installer

    indexes = rule_bases(rules)
    snapshot = commandable(report).snapshot
    known = [name for name in snapshot.packages if any(index.about(name) for index in indexes)]
    target = {"installer": installer(snapshot), **snapshot.target}
    parts = [with_known_packages(part, rules) for part in report.parts]
    named: Report = report.replace(known_packages=known, snapshot=snapshot.replace(target=target), parts=parts)
    return named
