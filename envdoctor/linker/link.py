"""The whole of it: from installed distributions to what they miss of each other."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from envdoctor.errors import TargetError
from envdoctor.linker import remembered
from envdoctor.linker.conditions import Target
from envdoctor.linker.findings import Environment, absorbed, findings
from envdoctor.linker.layout import Layout
from envdoctor.linker.missing import Missing, Search
from envdoctor.linker.reach import Reach, starting
from envdoctor.linker.resolve import Resolver
from envdoctor.linker.standard import Standard
from envdoctor.linker.store import Store
from envdoctor.model import UnknownFact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from envdoctor.model import Distribution, Report


class Linked(NamedTuple):
    """What was found: missing references, how many were asked for in how many modules, and what stayed unknown."""

    missing: Sequence[Missing]
    modules: int
    asked: int
    unknown: Mapping[str, int]


def link(distributions: Iterable[Distribution], target: Target, tell: Callable[[str], None]) -> Linked:
    """Resolve what distributions take of each other; ``tell`` is called with what is being done.

    An environment that has not changed since it was looked at is not looked at again.
    """
    layout = Layout(distributions)
    file = remembered.path(layout, target)
    told = remembered.recall(file)
    if told is not None:
        return Linked(**{**told, "missing": [Missing(*one) for one in told["missing"]]})
    found = _resolved(layout, target, tell)
    remembered.keep(file, found._asdict())
    return found


def _resolved(layout: Layout, target: Target, tell: Callable[[str], None]) -> Linked:
    layout.list_modules()
    standard = Standard(target.minor)
    store = Store(layout, target, standard.matters)
    resolver = Resolver(layout, store, standard)
    resolver.starting = starting(layout)
    reach = Reach(layout, store, resolver, tell)
    reach.follow()
    tell("resolving")
    search = Search(layout, resolver, reach, standard)
    missing = list(search.all(sys.version_info[:2], target.minor))
    store.keep()
    unknown = dict(search.unknown)
    undecided = sum(one.severity == "info" for one in missing)
    if undecided:
        unknown["missing names under a condition that could not be decided"] = undecided
    if layout.blind:
        unknown["distributions whose modules are not listed"] = len(layout.blind)
    if reach.skipped:
        unknown["submodules that were not read, in distributions with many"] = sum(reach.skipped.values())
    return Linked(missing, len(reach.ways), search.asked, unknown)


def add_to(report: Report, tell: Callable[[str], None]) -> Report:
    """The report with what distributions miss of each other; what a rule has found already gains the evidence.

    Raises :class:`~envdoctor.errors.TargetError` where the target has no installed files, or its Python is not known.
    """
    snapshot = report.snapshot
    installed = [one for one in snapshot.packages.values() if one.path and one.location]
    if not installed:
        raise TargetError(
            "--link reads the files of installed distributions, and this target has none: give it an environment with "
            "--python, or a file system with --root"
        )
    python = str(snapshot.python.get("version", ""))
    numbers = python.split(".")
    if len(numbers) < len(("major", "minor")) or not numbers[1].isdigit():
        raise TargetError("--link needs to know the version of Python, and this target does not tell it")
    target = Target(
        (int(numbers[0]), int(numbers[1])),
        str(snapshot.platform.get("system", "linux")),
        str(snapshot.python.get("implementation", "cpython")).lower(),
    )
    linked = link(installed, target, tell)
    versions = {one.name: one.version for one in installed}
    found = findings(linked.missing, Environment(versions, python, Standard(target.minor)))
    reasons = [
        UnknownFact(rule=None, fact="linked", reason=f"{number} references: {reason}")
        for reason, number in sorted(linked.unknown.items(), key=lambda told: -told[1])
    ]
    linked_report: Report = report.replace(
        findings=absorbed(report.findings, found), unknown=[*report.unknown, *reasons]
    )
    return linked_report
