"""The whole story: examine a target, diagnose the snapshot, prescribe, report. On the plain path."""

from __future__ import annotations

from envdoctor.engine import diagnose as engine
from envdoctor.model import Report
from envdoctor.targets import project as beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from envdoctor.engine.index import Index
    from envdoctor.model import Finding, Snapshot


def examine(  # noqa: PLR0913 - each is an option of its own
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
    without them the active environment, or the running interpreter, is examined. ``start_method`` states what the
    program will use; ``rules`` are directories of further rules, and ``candidates`` adds rules that nobody has proven
    yet: both may ask for further facts. ``project`` is a
    directory and ``artifacts`` are files that rules may ask about; nothing in them is executed or loaded. In place of a
    project, ``surroundings`` is the directory where the user is: only rules about what is installed look at it.
    ``requirements`` takes ``python_version``, ``platform`` and ``machine``.

    Raises :class:`~envdoctor.errors.TargetError` where the target cannot be examined.
    """
    from envdoctor import targets

    if kind is None:
        options["wanted"] = lambda: wanted(rules, candidates=candidates)
    elif kind in {"python", "root", "pid"}:
        options["wanted"] = wanted(rules, candidates=candidates)
    snapshot = targets.examine(kind, value, **options)
    if start_method is not None:
        snapshot = snapshot.replace(start_method={**snapshot.start_method, "stated": start_method})
    around = surroundings or beside.of_target(snapshot)
    return beside.attach(snapshot, project or around, artifacts, named=project is not None)


def diagnose(snapshot: Snapshot, rules: Sequence[str] = ()) -> list[Finding]:
    """The findings of a snapshot, most severe first. ``rules`` are directories of further rules."""
    return list(check(snapshot, rules).findings)


def check(snapshot: Snapshot, rules: Sequence[str] = (), *, candidates: bool = False) -> Report:
    """Diagnose a snapshot and prescribe for each finding."""
    indexes = rule_bases(rules, candidates=candidates)
    findings, unknown = engine.diagnose(snapshot, indexes)
    return Report(
        snapshot=snapshot,
        findings=[prescribe(finding, snapshot) for finding in findings],
        unknown=unknown,
        rules=sum(index.rules for index in indexes),
    )


def prescribe(finding: Finding, snapshot: Snapshot) -> Finding:
    """The finding with a command for every remedy that one command line can carry out."""
    from envdoctor.remedies.commands import with_command

    remedies = [with_command(remedy, snapshot) for remedy in finding.remedies]
    prescribed: Finding = finding.replace(remedies=remedies)
    return prescribed


def link(report: Report, tell: Callable[[str], None]) -> Report:
    """The report with what installed distributions miss of each other and of Python; ``tell`` is called on the way."""
    from envdoctor.linker.link import add_to

    return add_to(report, tell)


def explain(text: str, snapshot: Snapshot | None, rules: Sequence[str] = (), *, candidates: bool = False) -> Report:
    """The rules whose symptoms a traceback or log shows, ranked, held against the environment where there is one."""
    from envdoctor.engine.explain import explain as explain_failures
    from envdoctor.probes.error_text import read

    report = explain_failures(read(text), snapshot, rule_bases(rules, candidates=candidates))
    found = report.findings
    prescribed: Report = report.replace(findings=[prescribe(one, report.snapshot) for one in found])
    return prescribed


def rule_bases(directories: Sequence[str] = (), *, candidates: bool = False) -> list[Index]:
    """The shipped rules, compiled in the wheel or on demand in a checkout, and those of further directories.

    ``candidates`` adds what is silent in an ordinary run, which never opens it.
    """
    from envdoctor.authoring.rulebase import further, shipped

    found = [shipped(), *(further(directory) for directory in directories)]
    if candidates:
        found += [shipped(silent=True), *(further(directory, silent=True) for directory in directories)]
    return found


def wanted(rules: Sequence[str] = (), *, candidates: bool = False) -> dict[str, list[str]]:
    """The keys that rules ask of a target, by kind of fact: what a saved snapshot has to record."""
    merged: dict[str, set[str]] = {}
    for index in rule_bases(rules, candidates=candidates):
        for kind, keys in index.wanted.items():
            merged.setdefault(kind, set()).update(keys)
    return {kind: sorted(keys) for kind, keys in merged.items()}


def with_known_packages(report: Report, rules: Sequence[str] = ()) -> Report:
    """The report with the installed distributions that some rule is about: what a maintainer looks for first."""
    from envdoctor.remedies.commands import installer

    indexes = rule_bases(rules)
    snapshot = report.snapshot
    known = [name for name in snapshot.packages if any(index.about(name) for index in indexes)]
    target = {"installer": installer(snapshot), **snapshot.target}
    named: Report = report.replace(known_packages=known, snapshot=snapshot.replace(target=target))
    return named
